"""What a host is to start: the programs `picomem` and `picomem-hook` of this installation, and on which store."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput
from picomem.hosts.machine import Machine
from picomem.light_dataclass import dataclass, field
from picomem.paths import named_path

NAME = "picomem"  # of the programs, and of the entry in a host's list of MCP servers
HOOK_NAME = "picomem-hook"
# Where the store and the settings are; a host that a desktop starts has another environment than the terminal.
_KEPT_VARIABLES = ("PICOMEM_DATA_DIR", "PICOMEM_CONFIG")
_HOOK_PROGRAM = re.compile(r"(?:^|[\s\"'/\\])picomem-hook(?:\.exe)?(?=$|[\s\"'])")


@dataclass(frozen=True, slots=True)
class Program:
    """`options` choose the store and the user; `env` are variables that a host must set."""

    path: str
    hook_path: str
    options: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    def mcp_arguments(self) -> list[str]:
        """The arguments with which the program serves MCP."""
        return ["mcp", *self.options]

    def hook_command(self) -> str:
        """The command line of a hook, for a shell."""
        words = [self.hook_path, *self.options]
        if self.env:
            words = ["env", *(f"{name}={value}" for name, value in self.env.items()), *words]
        return shlex.join(words)


def installed_program(machine: Machine, started_as: str, *, database: str | None, user: str | None) -> Program:
    """The programs of this installation, by absolute paths. `started_as` is `sys.argv[0]`.

    A link such as that of `uv tool install` is kept: it stays when its target moves. Raises InvalidInput where picomem
    is not installed as a program.
    """
    path = _console_script(machine, Path(started_as))
    hook = next((hook for folder in (path, path.resolve()) if _is_file(hook := _beside(folder, HOOK_NAME))), None)
    if hook is None:
        raise InvalidInput(f"There is no program {HOOK_NAME} beside {path}; install picomem again.")
    database = database or machine.env.get("PICOMEM_DB")
    options: list[str] = []
    if database:
        options += ["--db", str(named_path(database).absolute())]
    if user:
        options += ["--user", user]
    env = {name: str(machine.named(name, machine.home)) for name in _KEPT_VARIABLES if machine.env.get(name)}
    for text in (str(path), str(hook), *options, *env.values()):
        _check_text(text)
    return Program(str(path), str(hook), tuple(options), env)


def is_short_lived(program: Program) -> bool:
    """Whether the program is in a cache of uv, as that of `uvx` is, and may be gone tomorrow."""
    parts = Path(program.path).resolve().parts
    return any(part.startswith("archive-v") for part in parts) and "uv" in parts


def is_hook_command(command: Any) -> bool:
    """Whether the command line of a hook runs `picomem-hook`."""
    return isinstance(command, str) and _HOOK_PROGRAM.search(command) is not None


def is_mcp_command(words: Sequence[str]) -> bool:
    """Whether a command serves MCP with picomem."""
    program = re.split(r"[/\\]", words[0])[-1].removesuffix(".exe") if words else ""
    return (program == NAME or ("-m" in words and NAME in words)) and "mcp" in words


def _console_script(machine: Machine, started_as: Path) -> Path:
    beside_python = _beside(Path(sys.executable), NAME)
    candidates = [started_as.absolute()] if started_as.stem == NAME else []
    for path in (*candidates, beside_python, machine.program(NAME)):
        if path and _is_file(path):
            return path
    raise InvalidInput(f"picomem is not installed as a program here; install it, as with `uv tool install {NAME}`.")


def _beside(path: Path, name: str) -> Path:
    return path.with_name(name + (".exe" if sys.platform == "win32" else ""))


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        shown = text.encode("utf-8", "backslashreplace").decode()
        raise InvalidInput(f"{shown} is not UTF-8, so no settings file can name it; rename it.") from error


def _is_file(path: Path) -> bool:
    return path.is_file()
