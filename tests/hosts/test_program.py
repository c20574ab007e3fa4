"""Which programs the entries name."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cases import each_case

from picomem.errors import InvalidInput
from picomem.hosts.program import (
    Machine,
    Program,
    hook_invocation,
    installed_program,
    is_edited_hook,
    is_mcp_command,
    is_short_lived,
)


def test_a_link_to_the_program_is_kept_because_its_target_may_move(machine: Machine, programs: Path) -> None:
    links = machine.home / "bin"
    links.mkdir()
    (links / "picomem").symlink_to(programs / "picomem")
    program = installed_program(machine, str(links / "picomem"), database=None, user=None)
    assert (program.path, program.hook_path) == (str(links / "picomem"), str(programs / "picomem-hook"))
    (links / "picomem-hook").symlink_to(programs / "picomem-hook")
    assert installed_program(machine, str(links / "picomem"), database=None, user=None).hook_path == str(
        links / "picomem-hook"
    )


def test_a_program_in_the_cache_of_uv_is_short_lived(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / ".cache" / "uv" / "archive-v0" / "x" / "bin"
    folder.mkdir(parents=True)
    for name in ("picomem", "picomem-hook"):
        (folder / name).touch()
    program = installed_program(machine, str(folder / "picomem"), database=None, user=None)
    assert is_short_lived(program)


def test_a_path_that_is_no_text_is_refused(machine: Machine, programs: Path) -> None:
    with pytest.raises(InvalidInput, match="is not UTF-8"):
        installed_program(machine, str(programs / "picomem"), database="/tmp/\udcff.db", user=None)


@each_case(
    ("command", "is_ours"),
    [
        ("/usr/bin/picomem-hook", True),
        ("env PICOMEM_DATA_DIR=/d '/my tools/picomem-hook' --db /x.db", True),
        (r'"C:\Program Files\picomem-hook.exe"', True),
        ("picomem-hook", True),
        ("picomem-hooks", False),
        ("my-picomem-hook2", False),
        ("cat picomem-hook.txt", False),
        ("picomem-hook --db '/a;b&c.db' --user ann --wait 0.5", True),
        ("A=b picomem-hook --user '#1'", True),
        ("/usr/bin/env A=b picomem-hook\n", True),
        ("./teams-own.sh # not picomem-hook", False),
        ("./guard.sh --allow picomem-hook", False),
        ("logger 'ran after picomem-hook'; ~/bin/my-backup.sh", False),
        ("picomem-hook; ./backup.sh", False),
        ("picomem-hook && ./backup.sh", False),
        ("picomem-hook | tee log", False),
        ("picomem-hook --user ann;./backup.sh", False),
        ("picomem-hook --user ann|tee", False),
        ("picomem-hook --user `./backup.sh`", False),
        ("picomem-hook --db /x.db\n./backup.sh", False),
        ("picomem-hook --user\nann", False),
        ("picomem-hook --theirs 1", False),
        ("picomem-hook --db", False),
        ("picomem-hook ./backup.sh", False),
        ("env A=b ./backup.sh picomem-hook", False),
        ("env A=b", False),
        ("'picomem-hook", False),
        ("", False),
        (None, False),
    ],
)
def test_a_hook_of_picomem_is_known_by_its_program(command: str | None, is_ours: bool) -> None:
    assert (hook_invocation(command) is not None) == is_ours


@each_case(
    ("command", "is_edited"),
    [
        ("picomem-hook 2>/dev/null", True),
        ("/my/picomem-hook --db /x.db >> ~/hook.log 2>&1", True),
        ("nice -n 5 /usr/bin/picomem-hook", True),
        ("timeout 5 env A=b picomem-hook", True),
        ("A=b nohup picomem-hook &", True),
        ("./backup.sh; picomem-hook", True),
        ("picomem-hook && ./backup.sh", True),
        ("test -f ~/.on || '/my tools/picomem-hook'", True),
        ("if [ -d .git ]; then picomem-hook; fi", True),
        ("bash -c 'cd /x && picomem-hook --wait 1'", True),
        ("sh -c picomem-hook", True),
        ("./prepare.sh\npicomem-hook", True),
        ("echo $(picomem-hook)", True),
        ("picomem-hook --theirs 1", True),
        ("picomem-hook", False),
        ("env PICOMEM_DATA_DIR=/d picomem-hook --db /x.db", False),
        ("picomem-hooks 2>/dev/null", False),
        ("./teams-own.sh # not picomem-hook", False),
        ("./guard.sh --allow picomem-hook", False),
        ("logger 'ran after picomem-hook'; ~/bin/my-backup.sh", False),
        ("cat < picomem-hook", False),
        ("./run.sh > picomem-hook", False),
        ("env A=b ./backup.sh picomem-hook", False),
        ("bash -c 'echo picomem-hook'", False),
        ("'picomem-hook", False),
        ("", False),
        (None, False),
    ],
)
def test_a_hook_that_somebody_extended_is_known(command: str | None, is_edited: bool) -> None:
    assert is_edited_hook(command) == is_edited


def test_a_hook_invocation_names_the_variables_the_program_and_its_options() -> None:
    program = Program("/x/picomem", "/my tools/picomem-hook", ("--db", "/a b.db"), {"PICOMEM_DATA_DIR": "/d e"})
    assert hook_invocation(program.hook_command()) == (
        ("/my tools/picomem-hook", "--db", "/a b.db"),
        {"PICOMEM_DATA_DIR": "/d e"},
    )


@each_case(
    ("words", "is_ours"),
    [
        (["picomem", "mcp"], True),
        (["/usr/bin/picomem", "--db", "x", "mcp"], True),
        (["python3", "-m", "picomem", "mcp"], True),
        (["picomem", "serve"], False),
        (["npx", "picomem-viewer", "mcp"], False),
        (["C:\\tools\\picomem.exe", "mcp"], True),
        (["uv", "run", "-m", "picomem", "mcp"], True),
        (["/venv/bin/python3.12", "-X", "utf8", "-I", "-m", "picomem", "--db", "x", "mcp"], True),
        (["py", "-m", "picomem", "mcp"], True),
        (["uvx", "picomem", "mcp"], True),
        (["uvx", "picomem@latest", "mcp"], True),
        (["uvx", "--python", "3.12", "--from=picomem[all]", "picomem", "mcp"], True),
        (["uv", "tool", "run", "picomem", "mcp"], True),
        (["uv", "run", "--directory", "/src", "picomem", "mcp"], True),
        (["/usr/bin/uv", "--quiet", "run", "python", "-m", "picomem", "mcp"], True),
        (["pipx", "run", "picomem", "mcp"], True),
        (["docker", "run", "-m", "512m", "picomem", "mcp"], False),
        (["docker", "run", "--name", "python", "-m", "picomem", "mcp"], False),
        (["python", "server.py", "-m", "picomem", "mcp"], False),
        (["python", "-m", "other", "picomem", "mcp"], False),
        (["python", "-m"], False),
        (["uvx", "other", "picomem", "mcp"], False),
        (["uvx", "--from", "picomem"], False),
        (["uv", "run", "serve.py", "picomem", "mcp"], False),
        (["uv", "pip", "run", "picomem", "mcp"], False),
        (["uvx"], False),
        (["uv", "run"], False),
        (["mcp", "picomem"], False),
        ([], False),
    ],
)
def test_a_server_of_picomem_is_known_by_its_command(words: list[str], is_ours: bool) -> None:
    assert is_mcp_command(words) == is_ours
