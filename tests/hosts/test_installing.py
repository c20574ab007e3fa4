"""Installing in hosts leaves the rest of their settings as it was, and uninstalling restores them to the byte."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from tests.hosts.conftest import RunPicomem, tree

from picomem.hosts.host import Host, Reach
from picomem.hosts.installing import FileChange, HostPlan, install, plan_install, plan_uninstall, uninstall
from picomem.hosts.known_hosts import CLAUDE_CODE, CODEX, CURSOR, HOSTS, OPENCODE
from picomem.hosts.program import Machine, Program
from picomem.hosts.settings_files import replace_settings

_REACHES = [
    (host, reach)
    for host in HOSTS
    for reach in ("user", "project")
    if host.files(Machine(Path("/h"), Path("/p"), {}, "linux"), reach)
]
_each_host = pytest.mark.parametrize(
    ("host", "reach"), [pytest.param(host, reach, id=f"{host.name}-{reach}") for host, reach in _REACHES]
)
# By syntax: what other people have there, with comments where the syntax has them.
_JSON = """{
\t"theme": "dark", "list": [1,2 , 3],
\t"mcpServers": { "other": {"command": "x"} },
\t"servers": {},
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "hooks": [ { "type": "command", "command": "say done" } ] }
\t\t],
\t\t"PreToolUse": []
\t}
}
"""
_COMMENTED = """// mine
{
  "theme": "dark", // of course
  /* servers */
  "mcpServers": {
    "other": {"command": "x"}, // theirs
  },
  "hooks": { "Stop": [ {"hooks": []} /* none */ ] }, // end
}"""
_THEIRS = {
    "json": [_JSON, "{}", "{\n}\n", "", "\n"],
    "json5": [
        _JSON,
        _COMMENTED,
        "{}",
        "{\n}\n",
        "",
        "\n",
        "{ mcp: { servers: { other: { command: 'x' }, }, }, }\n",
        "{\n  // nothing yet\n}\n",
    ],
    "toml": ['# mine\nmodel = "x" # c\n\n[mcp_servers.other]\ncommand = "x"\n', 'model = "x"', "", "\n\n"],
}


def _install(host: Host, machine: Machine, reach: Reach, program: Program) -> bool:
    """Install, and say whether anything changed."""
    plan = plan_install(host, machine, reach, program)
    assert plan.problem is None, plan.problem
    done = install(plan, program)
    assert done.problem is None, done.problem
    return done.is_change


def _uninstall(host: Host, machine: Machine) -> None:
    for plan in plan_uninstall(host, machine):
        assert uninstall(plan, machine).problem is None


def _root(machine: Machine, reach: Reach) -> Path:
    return machine.home if reach == "user" else machine.folder


def _roots(machine: Machine) -> tuple[Any, Any]:
    return tree(machine.home), tree(machine.folder)


@_each_host
def test_files_that_are_not_there_are_made_and_removed_again(
    host: Host, reach: Reach, machine: Machine, program: Program
) -> None:
    assert _install(host, machine, reach, program)
    files = host.files(machine, reach)
    assert all("picomem" in file.path.read_text() for file in files)
    assert {file.path.stat().st_mode & 0o777 for file in files} == ({0o600} if reach == "user" else {0o666 & ~_umask()})
    installed = _roots(machine)
    assert not _install(host, machine, reach, program), "the second install changed something"
    assert _roots(machine) == installed
    _uninstall(host, machine)
    assert [name for root in _roots(machine) for name, content in root.items() if content is not None] == []
    assert not any(
        file.path.parent.exists() for file in files if file.path.parent not in (machine.home, machine.folder)
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("layout", ["lf", "crlf", "bom"])
@_each_host
def test_other_peoples_entries_stay_and_an_uninstall_restores_every_byte(
    host: Host, reach: Reach, layout: str, machine: Machine, program: Program
) -> None:
    files = host.files(machine, reach)
    for number in range(max(len(_THEIRS[file.syntax]) for file in files)):
        for file in files:
            theirs = _THEIRS[file.syntax]
            text = theirs[min(number, len(theirs) - 1)]
            content = {"lf": text, "crlf": text.replace("\n", "\r\n"), "bom": "\ufeff" + text}[layout].encode()
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_bytes(content)
            file.path.chmod(0o640)
        before = _roots(machine)
        assert _install(host, machine, reach, program)
        for file in files:
            text = file.path.read_bytes().decode()
            assert file.path.stat().st_mode & 0o777 == 0o640
            assert ("\ufeff" in text) == (layout == "bom")
            if b"\r\n" in (before[reach == "project"][str(file.path.relative_to(_root(machine, reach)))] or b""):
                assert "\n" not in text.replace("\r\n", "")
            assert file.path.with_name(file.path.name + ".picomem-backup").exists()
        assert not _install(host, machine, reach, program)
        _uninstall(host, machine)
        assert _roots(machine) == before


@pytest.mark.parametrize("content", [b'{"mcpServers": {', b"\xff\xfe{}", b"[]", b'x = "unclosed', b'{"hooks": 5, "a"'])
@_each_host
def test_a_broken_file_is_left_alone_with_a_sentence(
    host: Host, reach: Reach, content: bytes, machine: Machine, program: Program
) -> None:
    for file in host.files(machine, reach):
        file.path.parent.mkdir(parents=True, exist_ok=True)
        file.path.write_bytes(content)
    before = _roots(machine)
    plan = plan_install(host, machine, reach, program)
    assert plan.problem is not None
    assert str(plan.problem).startswith(f"{host.files(machine, reach)[0].path} is left as it is: ")
    assert _roots(machine) == before


@_each_host
def test_a_list_of_servers_that_is_no_object_is_left_alone(
    host: Host, reach: Reach, machine: Machine, program: Program
) -> None:
    file = next(file for file in host.files(machine, reach) if file.servers)
    if file.syntax == "toml":
        return  # test_toml_edit has the same
    file.path.parent.mkdir(parents=True, exist_ok=True)
    for odd in (None, 5, "picomem", ["picomem"]):
        entry: Any = odd
        for key in reversed(file.servers):
            entry = {key: entry}
        file.path.write_text(json.dumps(entry))
        assert "is not an object" in str(plan_install(host, machine, reach, program).problem)
        _uninstall(host, machine)
        assert file.path.read_text() == json.dumps(entry)


@_each_host
def test_a_linked_settings_file_stays_a_link(host: Host, reach: Reach, machine: Machine, program: Program) -> None:
    dotfiles = machine.home / "dotfiles"
    dotfiles.mkdir()
    for file in host.files(machine, reach):
        file.path.parent.mkdir(parents=True, exist_ok=True)
        (dotfiles / file.path.name).write_text(_THEIRS[file.syntax][0])
        file.path.symlink_to(dotfiles / file.path.name)
    before = _roots(machine)
    _install(host, machine, reach, program)
    for file in host.files(machine, reach):
        assert file.path.is_symlink()
        assert "picomem" in (dotfiles / file.path.name).read_text()
    _uninstall(host, machine)
    assert all(file.path.is_symlink() for file in host.files(machine, reach))
    assert _roots(machine) == before


@_each_host
def test_a_read_only_file_is_left_alone(host: Host, reach: Reach, machine: Machine, program: Program) -> None:
    for file in host.files(machine, reach):
        file.path.parent.mkdir(parents=True, exist_ok=True)
        file.path.write_text(_THEIRS[file.syntax][0])
        file.path.chmod(0o444)
    before = _roots(machine)
    plan = plan_install(host, machine, reach, program)
    assert "is read-only" in str(plan.problem)
    assert "is read-only" in str(install(HostPlan(host, reach, [FileChange(file, "", "x")]), program).problem)
    assert _roots(machine) == before


@_each_host
def test_an_outdated_entry_is_updated_and_keeps_what_the_user_added(
    host: Host, reach: Reach, machine: Machine, program: Program
) -> None:
    _install(
        host,
        machine,
        reach,
        Program("/gone/picomem", "/gone/picomem-hook", ("--db", "/gone.db"), {"PICOMEM_DATA_DIR": "/g"}),
    )
    for file in host.files(machine, reach):
        text = file.path.read_text()
        file.path.write_text(
            text.replace('"command":', '"disabled": true, "command":') if file.syntax != "toml" else text
        )
    assert _install(host, machine, reach, program)
    for file in host.files(machine, reach):
        assert "gone" not in file.path.read_text()
        assert file.syntax == "toml" or "disabled" in file.path.read_text()
        assert file.path.read_text().count("/picomem-hook") == (len(host.hooks) if file.has_hooks else 0)
    assert not _install(host, machine, reach, program)


_CODEX_ENTRY = """model = "x"

[mcp_servers.picomem] # since May
# the disk is slow
startup_timeout_sec = 30
command = "{program}" # moved twice
args = ["mcp"]

[mcp_servers.picomem.env] # mine
# no colours
NO_COLOR = "1"{variables}
"""
_OPENCODE_ENTRY = """{{
  "mcp": {{
    // since May
    "picomem": {{
      "command": ["{program}", "mcp"], // moved twice
      /* until the disk is fast */ "enabled": false,
      "environment": {{
        // no colours
        "NO_COLOR": "1",{variables}
      }},
    }},
  }},
}}
"""


@pytest.mark.parametrize(
    ("host", "entry", "variables"),
    [
        (CODEX, _CODEX_ENTRY, '\nPICOMEM_DATA_DIR = "/gone"'),
        (OPENCODE, _OPENCODE_ENTRY, '\n        "PICOMEM_DATA_DIR": "/gone",'),
    ],
    ids=["codex", "opencode"],
)
def test_what_the_user_set_in_the_entry_of_the_server_stays(
    host: Host, entry: str, variables: str, machine: Machine, program: Program
) -> None:
    settings = host.files(machine, "user")[0].path
    settings.parent.mkdir(parents=True)
    as_installed = entry.format(program=program.path, variables="")
    for text in (as_installed, entry.format(program="/gone/picomem", variables=variables)):
        settings.write_text(text)
        _install(host, machine, "user", program)
        assert settings.read_text() == as_installed


def test_what_the_user_set_in_a_hook_stays(machine: Machine, program: Program) -> None:
    _install(CLAUDE_CODE, machine, "user", program)
    settings = machine.home / ".claude" / "settings.json"
    changed = settings.read_text().replace('"timeout": 5', '"timeout": 60, "statusMessage": "remembering"')
    changed = changed.replace('"async": true', '"async": false')
    written, hook = json.dumps(program.hook_command()), shlex.quote(program.hook_path)
    as_installed = changed.replace(written, f'"env NO_COLOR=1 {hook} --wait 2"')
    for text in (
        changed.replace(written, f'"NO_COLOR=1 {hook} --wait 2"'),
        changed.replace(written, '"env NO_COLOR=1 PICOMEM_DATA_DIR=/gone /gone/picomem-hook --db /gone.db --wait 2"'),
    ):
        settings.write_text(text)
        assert _install(CLAUDE_CODE, machine, "user", program) == ("gone" in text)
        assert settings.read_text() == (as_installed if "gone" in text else text)


def test_a_store_that_the_user_put_into_an_entry_is_the_installs_to_choose(machine: Machine, program: Program) -> None:
    settings = machine.home / ".cursor" / "mcp.json"
    settings.parent.mkdir()
    env = {"PICOMEM_DB": "/old.db", "LANG": "C", "PICOMEM_CONFIG": "/old.toml"}
    server = {"command": "uvx", "args": ["picomem", "mcp", "--db", "/old.db"], "env": env, "timeout": 5}
    settings.write_text(json.dumps({"mcpServers": {"picomem": server}}))

    _install(CURSOR, machine, "user", program)

    server |= {"command": program.path, "args": ["mcp"], "env": {"LANG": "C"}}
    assert json.loads(settings.read_text()) == {"mcpServers": {"picomem": server}}


@pytest.mark.parametrize(
    "server",
    [
        {"url": "http://127.0.0.1:8765/mcp"},
        {"command": "docker", "args": ["run", "-m", "512m", "picomem", "mcp"]},
        None,
    ],
    ids=["url", "docker", "null"],
)
@_each_host
def test_another_server_of_that_name_is_left_alone(
    host: Host, reach: Reach, server: dict[str, Any] | None, machine: Machine, program: Program
) -> None:
    file = next(file for file in host.files(machine, reach) if file.servers)
    if file.syntax == "toml" and server is None:
        return  # TOML has no null
    entry: dict[str, Any] = {"picomem": server}
    for key in reversed(file.servers):
        entry = {key: entry}
    text = json.dumps(entry)
    if file.syntax == "toml" and server is not None:
        text = "[mcp_servers.picomem]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in server.items())
    file.path.parent.mkdir(parents=True, exist_ok=True)
    file.path.write_text(text)
    plan = plan_install(host, machine, reach, program)
    assert "give that another name" in str(plan.problem)
    _uninstall(host, machine)
    assert file.path.read_text() == text


@pytest.mark.parametrize(
    "command",
    [
        "./teams-own.sh # not picomem-hook",
        "./guard.sh --allow picomem-hook",
        "logger 'ran after picomem-hook'; ~/bin/my-backup.sh",
    ],
)
def test_a_hook_of_others_that_mentions_picomem_hook_stays(command: str, machine: Machine, program: Program) -> None:
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}, indent=2)
    settings.write_text(text)
    _install(CLAUDE_CODE, machine, "user", program)
    commands = [group["hooks"][0]["command"] for group in json.loads(settings.read_text())["hooks"]["Stop"]]
    assert commands == [command, program.hook_command()]
    _uninstall(CLAUDE_CODE, machine)
    assert settings.read_text() == text


@pytest.mark.parametrize("command", ["{} 2>/dev/null", "nice {}", "test -f ~/.on && {}"])
def test_a_hook_that_somebody_extended_stays_and_gets_no_second_beside_it(
    command: str, machine: Machine, program: Program
) -> None:
    settings = machine.home / ".claude" / "settings.json"
    _install(CLAUDE_CODE, machine, "user", program)
    whole = settings.read_text()
    written = json.dumps(program.hook_command())
    extended = json.dumps(command.format(program.hook_command()))
    text = whole.replace(written, extended, 1)
    settings.write_text(text)
    assert not _install(CLAUDE_CODE, machine, "user", program)
    assert settings.read_text() == text
    (plan,) = [plan for plan in plan_uninstall(CLAUDE_CODE, machine) if plan.edited_hooks]
    ((path, hook),) = plan.edited_hooks
    assert (path, hook.command) == (settings, command.format(program.hook_command()))
    _uninstall(CLAUDE_CODE, machine)
    left = json.loads(settings.read_text())["hooks"]
    assert left == {
        hook.event: [{"hooks": [json.loads(whole)["hooks"][hook.event][0]["hooks"][0] | {"command": hook.command}]}]
    }


@pytest.mark.parametrize("escape", [r"\ud83d", r"\udc80", r"\u0000"])
@_each_host
def test_an_escape_that_is_no_character_in_an_entry_of_picomem_stays(
    host: Host, reach: Reach, escape: str, machine: Machine, program: Program
) -> None:
    _install(host, machine, reach, Program("/gone/picomem", "/gone/picomem-hook"))
    files = [file for file in host.files(machine, reach) if file.syntax != "toml"]
    for file in files:
        text = file.path.read_text().replace('"command":', f'"note": "{escape}", "command":')
        file.path.write_text(text)
    assert _install(host, machine, reach, program)
    for file in files:
        text = file.path.read_text()
        assert escape in text
        assert "gone" not in text
    _uninstall(host, machine)
    assert not any(file.path.exists() for file in files)


@_each_host
def test_a_file_with_another_hard_link_is_left_alone(
    host: Host, reach: Reach, machine: Machine, program: Program
) -> None:
    for file in host.files(machine, reach):
        file.path.parent.mkdir(parents=True, exist_ok=True)
        file.path.write_text(_THEIRS[file.syntax][0])
        file.path.with_name(f"{file.path.name}-linked").hardlink_to(file.path)
    before = _roots(machine)
    plan = plan_install(host, machine, reach, program)
    assert "has another hard link" in str(plan.problem)
    assert "has another hard link" in str(install(HostPlan(host, reach, [FileChange(file, "", "x")]), program).problem)
    assert _roots(machine) == before
    assert all(file.path.stat().st_nlink == 2 for file in host.files(machine, reach))


def test_an_install_into_a_large_file_takes_a_few_times_as_long_as_reading_it(
    machine: Machine, program: Program
) -> None:
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    history = {f"/work/{number}": [{"display": "word " * 9, "n": number}] * 10 for number in range(2_000)}
    settings.write_text(json.dumps({"projects": history}, indent=2))
    started = process_time()
    json.loads(settings.read_text())
    reading = process_time() - started

    started = process_time()
    assert _install(CLAUDE_CODE, machine, "user", program)

    assert process_time() - started < max(0.5, 60 * reading)


def test_what_a_killed_process_left_is_removed(machine: Machine, program: Program) -> None:
    config = machine.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("# mine\n")
    before = _roots(machine)
    spares = [config.with_name(f".config.toml{ending}.picomem-{2**30}") for ending in ("", ".picomem-backup")]
    for change in (lambda: _install(CODEX, machine, "user", program), lambda: _uninstall(CODEX, machine)):
        for spare in spares:
            spare.write_text("half")
        others = config.with_name(".config.toml.picomem-notes")
        others.write_text("theirs")
        change()
        assert [spare for spare in spares if spare.exists()] == []
        others.unlink()
    assert _roots(machine) == before


def test_what_another_program_writes_meanwhile_stays(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text("theirs")
    writes = iter(["", "theirs, changed\n", "theirs, changed twice\n", ""])

    def edit(text: str | None) -> str:
        if written := next(writes):
            settings.write_text(written)
        return f"{text}ours"

    assert replace_settings(settings, edit, lambda _: False, is_private=True)[1] == "theirs, changed twice\nours"
    assert settings.read_text() == "theirs, changed twice\nours"
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_a_copy_stays_where_the_file_changed_since(home: Path, run_picomem: RunPicomem) -> None:
    (home / ".cursor").mkdir()
    settings = home / ".cursor" / "mcp.json"
    settings.write_text("{}")
    assert run_picomem("install", "cursor").code == 0
    settings.write_text(settings.read_text().replace("{", '{"theirs": 1, ', 1))
    done = run_picomem("uninstall", "cursor")
    assert f"the copy from before stays in {settings}.picomem-backup" in done.out
    assert json.loads(settings.read_text()) == {"theirs": 1}
    assert Path(f"{settings}.picomem-backup").read_text() == "{}"
    assert run_picomem("install", "cursor").code == 0
    assert json.loads(Path(f"{settings}.picomem-backup").read_text()) == {"theirs": 1}


def test_two_installs_at_once_leave_one_entry_of_each(home: Path, programs: Path, run_picomem: RunPicomem) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(_JSON)
    before = tree(home)
    code = (
        "import sys; sys.argv = sys.argv[1:]; from picomem.cli.main import main; sys.stdin.readline(); "
        "sys.exit(main(['install', 'claude-code']))"
    )
    env = {"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, programs / "picomem"],
            env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0, 0]
    for process in running:
        process.stdin.close()
    text = (home / ".claude" / "settings.json").read_text()
    assert text.count("picomem-hook") == 6
    assert list(json.loads((home / ".claude.json").read_text())["mcpServers"]) == ["picomem"]
    assert run_picomem("uninstall", "--yes").code == 0
    assert tree(home) == before
