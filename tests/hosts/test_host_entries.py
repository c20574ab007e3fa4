"""The entries of picomem in any settings file: added, noticed and taken out, with nothing else changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.amounts import amount
from tests.hosts.documents import json_documents, toml_documents

from picomem.errors import PicomemError
from picomem.hosts.host import Host, SettingsFile
from picomem.hosts.host_entries import own_entries, with_entries, without_entries
from picomem.hosts.known_hosts import HOSTS
from picomem.hosts.program import NAME, Machine, Program

_MACHINE = Machine(Path("/home/ann"), Path("/work"), {}, "linux")
_FILES = [(host, file) for host in HOSTS for file in host.files(_MACHINE, "user")]
_PROGRAMS = st.builds(
    Program,
    path=st.sampled_from(["/usr/bin/picomem", '/opt/my tools/"x"/picomem', "C:\\Program Files\\picomem.exe"]),
    hook_path=st.sampled_from(["/usr/bin/picomem-hook", "/opt/it's/picomem-hook"]),
    options=st.sampled_from([(), ("--db", "/a b/ü.db"), ("--user", "ann")]),
    env=st.sampled_from([{}, {"PICOMEM_DATA_DIR": "/d"}]),
)


@settings(max_examples=amount(60, 20_000))
@given(st.sampled_from(_FILES), _PROGRAMS, st.data(), st.sampled_from(["", "\ufeff"]))
def test_an_install_and_an_uninstall_leave_every_byte_as_it_was(
    pair: tuple[Host, SettingsFile], program: Program, data: Any, bom: str
) -> None:
    host, file = pair
    text = bom + data.draw(
        toml_documents()
        if file.syntax == "toml"
        else json_documents(relaxed=file.syntax == "json5").map(lambda d: d[0])
    )
    try:
        edited = with_entries(text, file, host, program)
    except PicomemError:
        assume(False)
        return
    own = own_entries(edited, file)
    assert [(server.name, server.words) for server in own.servers] == (
        [(NAME, (program.path, "mcp", *program.options))] if file.servers else []
    )
    commands = {(hook.event, hook.command) for hook in own.hooks}
    expected = {(entry.event, program.hook_command()) for entry in host.hooks}
    assert commands == (expected if file.has_hooks else set())
    assert with_entries(edited, file, host, program) == edited
    other = Program("/elsewhere/picomem", "/elsewhere/picomem-hook", ("--db", "/other.db"))
    assert own_entries(with_entries(edited, file, host, other), file) != own
    assert without_entries(edited, file, text) == text
    assert without_entries(with_entries(edited, file, host, other), file, text) == text
