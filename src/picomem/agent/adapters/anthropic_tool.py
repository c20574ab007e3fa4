"""picomem as the storage of Claude's memory tool (`memory_20250818`): the files under `/memories`, kept as memories.

    from picomem.agent.adapters.anthropic_tool import memory_tool

    client.beta.messages.run_tools(…, tools=[memory_tool(picomem.open())])

`ClaudeMemory` works without Anthropic's library. It takes a command and returns the text for the model, worded like the
library's own file store, which Claude knows. A file holds 8,000 characters.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from picomem.emulation.agent_store import OriginOf
from picomem.engine.agent_texts import agent_files
from picomem.engine.engine import Engine
from picomem.errors import Conflict, InvalidInput, NotFound, PicomemError
from picomem.records.kinds import Origin
from picomem.records.untrusted_fence import fenced

ROOT = "/memories"
_DEEPEST = 2  # levels that a listing shows
COMMANDS: dict[str, tuple[str, ...]] = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}


class ClaudeMemory:
    """The six commands, on an open engine, which is not closed. `actor` is who has changed memory; `origin_of` tells
    the origin of what it writes, where it has read untrusted text."""

    def __init__(self, engine: Engine, *, actor: str = "agent:claude", origin_of: OriginOf | None = None) -> None:
        self._files = agent_files(engine.acting_as(actor, agent=True), origin_of)

    def run(self, command: Mapping[str, Any]) -> str:
        """Do a command, as Claude sends it; what to answer. Raises InvalidInput, NotFound, Conflict or Refused."""
        name = command.get("command")
        if name not in COMMANDS:
            raise InvalidInput(f"There is no command “{str(name)[:40]}”; there are {', '.join(COMMANDS)}.")
        missing = [field for field in COMMANDS[name] if command.get(field) is None]
        if missing:
            raise InvalidInput(f"{name} needs “{missing[0]}”.")
        return getattr(self, f"_{name}")(command)

    def _view(self, command: Mapping[str, Any]) -> str:
        path = _within(command["path"])
        if path and (file := self._files.read(path)) is not None:
            lines = file.text.split("\n")
            first, last = _range(command.get("view_range"), len(lines))
            shown = _quoted(_numbered(lines, first, last), file.origin)
            return f"Here's the content of {command['path']} with line numbers:\n{shown}"
        below = self._files.paths(f"{path}/" if path else "")
        if path and not below:
            raise NotFound(f"The path {command['path']} does not exist. Please provide a valid path.")
        return self._listed(command["path"].rstrip("/"), path, below)

    def _create(self, command: Mapping[str, Any]) -> str:
        path = _file(command["path"])
        if self._files.read(path) is not None:
            raise Conflict(f"File {command['path']} already exists")
        self._files.write(path, command["file_text"], expected=None)
        return f"File created successfully at: {command['path']}"

    def _str_replace(self, command: Mapping[str, Any]) -> str:
        path, old = _file(command["path"]), command["old_str"]
        file = self._found(command["path"], path)
        at = [number for number, _ in _places(file.text, old)]
        if not at:
            raise InvalidInput(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {command['path']}."
            )
        if len(at) > 1:
            raise InvalidInput(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(map(str, at))}. Please ensure it is unique"
            )
        text = file.text.replace(old, command.get("new_str") or "", 1)
        self._files.write(path, text, expected=file.version)
        shown = _quoted(_numbered(text.split("\n"), max(1, at[0] - 2), at[0] + 2), file.origin)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def _insert(self, command: Mapping[str, Any]) -> str:
        path, line = _file(command["path"]), command["insert_line"]
        file = self._found(command["path"], path)
        lines = file.text.split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if not isinstance(line, int) or not 0 <= line <= len(lines):
            raise InvalidInput(
                f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, command["insert_text"].rstrip("\n"))
        self._files.write(path, "\n".join(lines) + "\n", expected=file.version)
        return f"The file {command['path']} has been edited."

    def _delete(self, command: Mapping[str, Any]) -> str:
        path = _within(command["path"])
        if not path:
            raise InvalidInput(f"Cannot delete the {ROOT} directory itself")
        gone = [path] if self._files.read(path) is not None else self._files.paths(f"{path}/")
        if not gone:
            raise NotFound(f"The path {command['path']} does not exist")
        for gone_path in gone:
            file = self._files.read(gone_path)
            if file is not None:
                self._files.delete(gone_path, expected=file.version)
        return f"Successfully deleted {command['path']}"

    def _rename(self, command: Mapping[str, Any]) -> str:
        if not _within(command["old_path"]):
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        old, new = _file(command["old_path"]), _file(command["new_path"])
        moved = [(old, new)] if self._files.read(old) is not None else []
        moved += [(inner, new + inner[len(old) :]) for inner in self._files.paths(f"{old}/") if not moved]
        if not moved:
            raise NotFound(f"The path {command['old_path']} does not exist")
        if self._files.read(new) is not None or self._files.paths(f"{new}/"):
            raise Conflict(f"The destination {command['new_path']} already exists")
        for source, target in moved:
            self._files.move(source, target)
        return f"Successfully renamed {command['old_path']} to {command['new_path']}"

    def _found(self, shown: str, path: str) -> Any:
        file = self._files.read(path)
        if file is None:
            raise NotFound(f"The path {shown} does not exist. Please provide a valid path.")
        return file

    def _listed(self, shown: str, path: str, below: list[str]) -> str:
        sizes: dict[str, int] = {}
        for inner in below:
            text = self._files.read(inner)
            parts = inner[len(path) + 1 if path else 0 :].split("/")
            for depth in range(1, min(len(parts), _DEEPEST) + 1):
                folder = "/" if depth < len(parts) else ""
                name = "/".join(parts[:depth]) + folder
                sizes[name] = sizes.get(name, 0) + (len(text.text.encode()) if text else 0)
        head = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
        total = sum(size for name, size in sizes.items() if "/" not in name.rstrip("/"))
        lines = [f"{_size(total)}\t{shown}", *(f"{_size(sizes[name])}\t{shown}/{name}" for name in sorted(sizes))]
        return "\n".join([head, *lines])


def memory_tool(engine: Engine, *, actor: str = "agent:claude") -> Any:
    """The tool for `client.beta.messages.run_tools`. Needs Anthropic's library."""
    from anthropic.lib.tools import BetaAbstractMemoryTool  # noqa: PLC0415 - an extra
    from anthropic.lib.tools._beta_functions import ToolError  # noqa: PLC0415 - an extra

    memory = ClaudeMemory(engine, actor=actor)

    def run(command: Any) -> str:
        try:
            return memory.run(command.model_dump())
        except PicomemError as error:
            raise ToolError(str(error)) from error

    methods = {name: lambda _self, command: run(command) for name in COMMANDS}
    return type("PicomemMemoryTool", (BetaAbstractMemoryTool,), methods)()


def _within(path: Any) -> str:
    """A path below `/memories`, without that and without `.` and `..`; empty for the folder itself. Raises
    InvalidInput."""
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise InvalidInput(f"Path must start with {ROOT}, got: {str(path)[:80]}")
    inside = posixpath.normpath(path[len(ROOT) + 1 :].lstrip("/") or ".")
    if inside == ".." or inside.startswith("../"):
        raise InvalidInput(f"Path {path[:80]} would escape {ROOT} directory")
    return "" if inside == "." else inside


def _file(path: Any) -> str:
    inside = _within(path)
    if not inside:
        raise InvalidInput(f"The path {ROOT} is not a file.")
    return inside


def _range(given: Any, lines: int) -> tuple[int, int]:
    """From the first to the last line that is asked for, from 1."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        return 1, lines
    first, last = given
    return max(1, first), lines if last == -1 else min(last, lines)


def _numbered(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines[first - 1 : last], first))


def _quoted(lines: str, origin: Origin) -> str:
    """Lines of a file; those that nobody trusted wrote as data."""
    return lines if origin.trusted else fenced(lines, origin)


def _places(text: str, part: str) -> list[tuple[int, int]]:
    """Return where a part stands: the line, from 1, and the character."""
    places = []
    at = text.find(part) if part else -1
    while at >= 0:
        places.append((text[:at].count("\n") + 1, at))
        at = text.find(part, at + 1)
    return places


def _size(count: int) -> str:
    """As `du -h` says it."""
    for unit in ("B", "K", "M"):
        if count < 1024 or unit == "M":
            return f"{count:.1f}{unit}".replace(".0", "")
        count = count / 1024  # type: ignore[assignment]
    raise AssertionError
