"""The interface of a host: a program in which people use agents, whose settings files name MCP servers and hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from picomem.hosts.program import Machine, Program
from picomem.light_dataclass import dataclass
from picomem.text.json_edit import Syntax

if TYPE_CHECKING:
    from picomem.hosts.host_entries import HookCommand

Reach = Literal["user", "project"]  # whose settings: those of all the user's work, or those of one project
REACHES: tuple[Reach, ...] = ("user", "project")
# The names of the hosts of known_hosts.py, which a help text needs and the hosts themselves are too much for.
HOST_NAMES = ("claude-code", "codex", "openclaw", "cursor", "vscode", "gemini-cli", "opencode")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file of a host. `servers` are the keys under which MCP servers stand by name, empty where none do;
    with `has_hooks` its `hooks` hold a list of groups for each event."""

    path: Path
    syntax: Syntax | Literal["toml"]
    servers: tuple[str, ...] = ()
    has_hooks: bool = False


@dataclass(frozen=True, slots=True)
class HookEntry:
    """An event at which the host runs the hook, for at most so many seconds. The host does not wait if `is_async`.

    The hook itself ends sooner (hooks/hook.py); the rest is for starting it on a busy machine."""

    event: str
    is_async: bool = False
    seconds: int = 5

    def handler(self, command: str) -> dict[str, Any]:
        """The hook as the hosts' settings write it."""
        handler: dict[str, Any] = {"type": "command", "command": command, "timeout": self.seconds}
        return {**handler, "async": True} if self.is_async else handler


@dataclass(frozen=True, slots=True)
class Host:
    """`folders(machine)` and `programs` on the PATH say whether the host is on the machine.
    `files(machine, reach)` are its settings files; none where the host has no such settings. `server(program)` is the
    entry of an MCP server. `distilling` are the arguments with which its first program answers a prompt on standard
    input without hooks, and keeps no transcript; none where it cannot. `distilling_price` tells a person which model
    that is, and what a session costs. `remarks` say what the user still has to do, by reach. `untrusted(texts, hooks)`
    counts the hooks of picomem, each with its file, that the host does not run yet, as far as the texts of its files
    show.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    folders: Callable[[Machine], Sequence[Path]]
    files: Callable[[Machine, Reach], Sequence[SettingsFile]]
    server: Callable[[Program], dict[str, Any]]
    hooks: tuple[HookEntry, ...] = ()
    distilling: tuple[str, ...] = ()
    distilling_price: str = ""
    remarks: Callable[[Reach], Sequence[str]] = lambda _: ()
    untrusted: Callable[[Mapping[Path, str], Sequence[tuple[Path, HookCommand]]], int] = lambda _texts, _hooks: 0

    def reached_files(self, machine: Machine) -> Iterator[tuple[Reach, Sequence[SettingsFile]]]:
        """The settings files of each reach that has any. In the home folder some of a project's are the user's own;
        they stand there alone."""
        own = {file.path.resolve() for file in self.files(machine, "user")}
        for reach in REACHES:
            files = self.files(machine, reach)
            files = [file for file in files if reach == "user" or file.path.resolve() not in own]
            if files:
                yield reach, files

    def is_on(self, machine: Machine) -> bool:
        """Return whether the host is on the machine."""
        return any(folder.is_dir() for folder in self.folders(machine)) or any(map(machine.has_program, self.programs))


def plain_server(program: Program) -> dict[str, Any]:
    """An MCP server on stdin and stdout, as most hosts write it."""
    entry: dict[str, Any] = {"command": program.path, "args": program.mcp_arguments()}
    return {**entry, "env": dict(program.env)} if program.env else entry


def typed_server(program: Program) -> dict[str, Any]:
    """The same with its type."""
    return {"type": "stdio", **plain_server(program)}
