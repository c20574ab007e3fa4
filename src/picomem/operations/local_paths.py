"""Removes the folders of the server's machine from results, for callers over a network. Pure.

A field whose metadata has `is_path` holds a path, a mapping of paths, or sentences that name some. A caller over a
network gets the names of the files: they tell two transcripts apart, and say nothing of the machine.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from picomem.light_dataclass import fields, replace

_IN_SENTENCE = re.compile(r"(?<![\w/.])(?:/|[A-Za-z]:\\)[^\s:;,“”]+")
_SEPARATOR = re.compile(r"[/\\]")


def without_folders(result: Any) -> Any:
    """A result with the names of files in place of their paths."""
    kind = type(result)
    if not hasattr(kind, "__dataclass_fields__"):
        return result
    changes: dict[str, Any] = {}
    for name, is_path in _field_kinds(kind):
        value = getattr(result, name)
        shown = _file_names(value) if is_path else _nested(value)
        if shown is not value:
            changes[name] = shown
    return replace(result, **changes) if changes else result


@cache
def _field_kinds(kind: type) -> tuple[tuple[str, bool], ...]:
    return tuple((declared.name, bool(declared.metadata.get("is_path"))) for declared in fields(kind))


def _nested(value: Any) -> Any:
    if not isinstance(value, list):
        return without_folders(value)
    if not value or not hasattr(type(value[0]), "__dataclass_fields__"):
        return value
    return [without_folders(member) for member in value]


def _file_names(value: Any) -> Any:
    if isinstance(value, str):
        return _file_name(value)
    if isinstance(value, dict):
        return {_file_name(path): count for path, count in value.items()}
    return [_IN_SENTENCE.sub(lambda match: _file_name(match.group()), sentence) for sentence in value]


def _file_name(path: str) -> str:
    return _SEPARATOR.split(path.rstrip("/\\"))[-1]
