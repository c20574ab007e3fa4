"""The programs that a host starts: `picomem` and `picomem-hook` of this installation, and the store that they open."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from shutil import which
from typing import Any

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, field
from picomem.paths import database_file, home_folder, is_server, named_path

# The machine on which picomem looks for hosts: home folder, current folder, environment, operating system.


@dataclass(frozen=True, slots=True)
class Machine:
    """`system` is Python's `sys.platform`."""

    home: Path
    folder: Path
    env: Mapping[str, str]
    system: str

    def has_program(self, name: str) -> bool:
        """Return whether a program of this name is on the PATH."""
        return self.program(name) is not None

    def program(self, name: str) -> Path | None:
        """The program of this name on the PATH."""
        path = which(name, path=self.env.get("PATH", os.defpath))
        return Path(path).absolute() if path else None

    def named(self, variable: str, default: Path) -> Path:
        """The path that a variable of the environment names."""
        value = self.env.get(variable)
        return named_path(value).absolute() if value else default


def this_machine() -> Machine:
    """The machine and the environment of this process. Raises InvalidInput where there is no home folder."""
    return Machine(home_folder(), Path.cwd(), os.environ, sys.platform)


NAME = "picomem"  # of the programs, and of the entry in a host's list of MCP servers
HOOK_NAME = "picomem-hook"
# Where the store and the settings are; a host that a desktop starts has another environment than the terminal.
_KEPT_VARIABLES = ("PICOMEM_DATA_DIR", "PICOMEM_CONFIG")
STORE_VARIABLES = ("PICOMEM_DB", *_KEPT_VARIABLES)  # that choose a store; an install decides about all of them
_HOOK_OPTIONS = frozenset(("--db", "--user", "--wait"))  # each with a value
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_SHELL_OPERATOR = re.compile(r"[;&|<>()`\n]")
_PYTHON = re.compile(r"pythonw?(?:\d+(?:\.\d+)*)?|pyw?")
_PYTHON_VALUES = frozenset(("-X", "-W"))  # options of Python that the next word belongs to
_LAUNCHER_VALUES = frozenset(
    ("--from", "--with", "--python", "-p", "--directory", "--project", "--package", "--extra", "--group", "--spec")
)  # the same of uv and pipx
_OPERATORS = ";&|<>()`"
_KEYWORDS = frozenset("if then elif else while until do ! { time".split())
_SHELLS = frozenset("sh bash dash zsh ksh fish".split())
# Programs that start the program that follows their options.
_STARTERS = frozenset("nice ionice nohup timeout exec command sudo stdbuf setsid chrt taskset xargs".split())
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


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

    def hook_command(self, old_words: Sequence[str] = (), old_env: Mapping[str, str] | None = None) -> str:
        """The command line of a hook, for a shell. Of one that is there already, the time limit and the variables that
        choose no store stay."""
        wait = dict(pairwise(old_words)).get("--wait")
        words = [self.hook_path, *self.options, *(["--wait", wait] if wait else [])]
        others = {name: value for name, value in (old_env or {}).items() if name not in STORE_VARIABLES}
        if env := others | dict(self.env):
            words = ["env", *(f"{name}={value}" for name, value in env.items()), *words]
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
    if database and is_server(database):
        raise InvalidInput(
            "An address may hold a password, so it is not written into the settings of other programs; set `database` "
            "in [data] of your settings file, and install without --db and $PICOMEM_DB."
        )
    if database:
        options += ["--db", str(database_file(database).absolute())]
    if user:
        options += ["--user", user]
    env = {name: str(machine.named(name, machine.home)) for name in _KEPT_VARIABLES if machine.env.get(name)}
    for text in (str(path), str(hook), *options, *env.values()):
        _check_text(text)
    return Program(str(path), str(hook), tuple(options), env)


def is_short_lived(program: Program) -> bool:
    """Return whether the program is in a cache of uv, as that of `uvx` is, and may be gone tomorrow."""
    parts = Path(program.path).resolve().parts
    return any(part.startswith("archive-v") for part in parts) and "uv" in parts


def hook_invocation(command: Any) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """The program and arguments of a hook of picomem, and the variables it gets; None for a hook of anybody else.

    A command line that does more than run `picomem-hook` belongs to somebody else, who would lose the rest of it.
    """
    if not isinstance(command, str) or _SHELL_OPERATOR.search(_QUOTED.sub("", command.strip())):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    words, env = _without_variables(words)
    if not words or _program_name(words[0]) != HOOK_NAME:
        return None
    options = words[1:]
    if len(options) % 2 or not _HOOK_OPTIONS.issuperset(options[::2]):
        return None
    return tuple(words), env


def is_edited_hook(command: Any) -> bool:
    """Return whether somebody extended a hook of picomem: the command line starts `picomem-hook`, but not as picomem
    writes it. It may only start it under a condition; a mention in a comment or as an argument starts nothing."""
    if not isinstance(command, str) or HOOK_NAME not in command or hook_invocation(command) is not None:
        return False
    return any(_starts_hook(words) for line in command.splitlines() for words in _simple_commands(line))


def _starts_hook(words: Sequence[str]) -> bool:
    while words and words[0] in _KEYWORDS:
        words = words[1:]
    words, _ = _without_variables(words)
    if not words:
        return False
    program = _program_name(words[0])
    if program in _SHELLS and "-c" in words[:-1]:
        script = words[words.index("-c") + 1]
        return hook_invocation(script) is not None or is_edited_hook(script)
    started = words[1:] if program in _STARTERS or program in _SHELLS else ()
    return HOOK_NAME in (program, *map(_program_name, started))


def _simple_commands(line: str) -> list[list[str]]:
    """The words of each command of a shell's line, without redirections; none where it is no such line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        return []
    commands: list[list[str]] = [[]]
    is_target = False
    for token in tokens:
        if token.strip(_OPERATORS):
            if not is_target:
                commands[-1].append(token)
            is_target = False
        elif "<" in token or ">" in token:
            is_target = True
        else:
            commands.append([])
    return commands


def is_mcp_command(words: Sequence[str]) -> bool:
    """Return whether a command serves MCP with picomem: started directly, with Python's `-m`, or with uv or pipx."""
    words = _without_launcher(words)
    program = _program_name(words[0]) if words else ""
    if _PYTHON.fullmatch(program):
        words = _without_options(words[1:], _PYTHON_VALUES)
    if list(words[:2]) == ["-m", NAME]:
        return "mcp" in words[2:]
    return program == NAME and "mcp" in words[1:]


def _without_launcher(words: Sequence[str]) -> Sequence[str]:
    """The command that `uvx`, `uv run`, `uv tool run` or `pipx run` starts, without the version of its program."""
    launcher = _program_name(words[0]) if words else ""
    if launcher not in ("uv", "uvx", "pipx"):
        return words
    launched = _without_options(words[1:], _LAUNCHER_VALUES)
    if launcher != "uvx":
        if launcher == "uv" and launched[:1] == ["tool"]:
            launched = launched[1:]
        if launched[:1] != ["run"]:
            return words
        launched = _without_options(launched[1:], _LAUNCHER_VALUES)
    return [launched[0].partition("@")[0], *launched[1:]] if launched else []


def _without_options(words: Sequence[str], with_value: Collection[str]) -> list[str]:
    """The words from the first one that is neither an option nor the value of one. `-m` is no option here."""
    words = list(words)
    while words and words[0].startswith("-") and words[0] != "-m":
        words = words[2 if words[0] in with_value else 1 :]
    return words


def _without_variables(words: Sequence[str]) -> tuple[Sequence[str], dict[str, str]]:
    """The words of a command without leading assignments (`env A=b …`), and the variables that they set."""
    start = 1 if words and _program_name(words[0]) == "env" else 0
    end = start
    while end < len(words) and _ASSIGNMENT.match(words[end]):
        end += 1
    return words[end:], dict(word.split("=", 1) for word in words[start:end])


def _program_name(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].removesuffix(".exe")


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
