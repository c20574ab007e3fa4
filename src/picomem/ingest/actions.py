"""The actions of an agent, one short line for each call of a tool. Pure.

    ran mix test --failed (Run the failed tests)
    edited lib/spotter/renderer.ex
    wrote assets/test/highlight.test.js
    read lib/spotter/parser.ex
    searched agentId in test/fixtures
    fetched https://example.org/issues/1343

Every host names its tools differently, so the arguments of a call decide its kind. Of a command the line holds the
first 200 characters, of a patch the names of the files. Other arguments, and the output of the tool, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST_ACTION = 200  # characters of a command, a path or a pattern
_MOST_FILES = 20  # of one patch
_PATHS = ("file_path", "notebook_path", "path", "filePath", "file")
_COMMANDS = ("command", "cmd")
_READS = re.compile(r"(?i)read|view|open|cat")
_WRITES = re.compile(r"(?i)write|create")
_EDITS = re.compile(r"(?i)edit|patch|replace|insert")
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_VERBS = {"Add": "wrote", "Update": "edited", "Delete": "deleted"}


def actions_of(tool: str, given: Mapping[str, Any], cwd: str = "") -> tuple[str, ...]:
    """The actions of a call of `tool`; empty if it touched no file and ran nothing."""
    return tuple(dict.fromkeys(_actions(tool, given, cwd)))


def _actions(tool: str, given: Mapping[str, Any], cwd: str) -> Iterator[str]:
    command = command_of(given)
    patched = _PATCHED.findall(command or _text(given, ("input", "patch")))
    if patched:
        for what, path in patched[:_MOST_FILES]:
            yield f"{_VERBS[what]} {_path(path, cwd)}"
    elif command:
        said = _short(_text(given, ("description",)))
        yield f"ran {_short(command)}" + (f" ({said})" if said else "")
    elif pattern := _text(given, ("pattern",)):
        place = _text(given, _PATHS)
        yield f"searched {_short(pattern)}" + (f" in {_path(place, cwd)}" if place else "")
    elif path := _text(given, _PATHS):
        if verb := _verb(tool):
            yield f"{verb} {_path(path, cwd)}"
    elif query := _text(given, ("query",)):
        yield f"searched {_short(query)}"
    elif url := _text(given, ("url",)):
        yield f"fetched {_short(url)}"


def _verb(tool: str) -> str:
    for verb, shape in (("edited", _EDITS), ("wrote", _WRITES), ("read", _READS)):
        if shape.search(tool):
            return verb
    return ""


def command_of(given: Mapping[str, Any]) -> str:
    """The command of a call, as for a shell; empty where the call runs none. Hosts write a command as a text, or as a
    list of which a shell may be the first."""
    value = next((given[name] for name in _COMMANDS if given.get(name)), "")
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        is_script = len(value) > 2 and value[1] in ("-c", "-lc", "-ic", "/c", "-Command")
        return value[2] if is_script else " ".join(value)
    return value if isinstance(value, str) else ""


def _text(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str) and value.strip()), "")


def _path(path: str, cwd: str) -> str:
    return _short(path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path)


def _short(text: str) -> str:
    return " ".join(text[: 4 * LONGEST_ACTION].split())[:LONGEST_ACTION]
