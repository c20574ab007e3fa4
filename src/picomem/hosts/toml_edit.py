"""Inserts, changes and removes one table of a TOML document as text: every other byte stays the same. Pure.

A table has its own lines: `[mcp_servers.picomem]`, the keys, and perhaps further tables below it, such as
`[mcp_servers.picomem.env]`. A new table goes to the end of the document; in one that is there, only the keys whose
values differ are edited. Python's parser checks each edit: the document must have the same content afterwards, except
for that table. `remove_table` undoes `put_table` to the byte.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from io import StringIO
from typing import Any

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass

Table = tuple[str, ...]  # its keys, from the root

# What may hide the beginning of a table: strings (which may have several lines), and comments.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n', re.DOTALL
)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NAME = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_ASSIGNED = re.compile(rf"[ \t]*({_NAME}(?:[ \t]*\.[ \t]*{_NAME})*)[ \t]*=[ \t]*")
_IS_HEADER = re.compile(r"[ \t]*\[")


@dataclass(frozen=True, slots=True)
class Assignment:
    """A key with its value: the keys from the root, its lines [start, end), and its value [value_start, value_end)."""

    path: Table
    start: int
    value_start: int
    value_end: int
    end: int


def parse_toml(text: str) -> dict[str, Any]:
    """The document. Raises InvalidInput, whose message is the end of a sentence about the file."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"line \d+", str(error))
        raise InvalidInput(f"{place.group() if place else 'the text'} is not valid TOML") from error
    except ValueError as error:  # Python reads no number of thousands of digits
        raise InvalidInput("it holds a number that is too long") from error


def table_at(document: dict[str, Any], path: Table) -> Any:
    """The value at a path; None where there is none."""
    value: Any = document
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put_table(text: str, path: Table, values: dict[str, Any]) -> str:
    """The text with a table of these values: a new one at the end, or the one that is there, whose other lines and
    comments stay. Raises InvalidInput."""
    before = parse_toml(text)
    line_end = _line_end(text)
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(key)} = {_value(value)}" for key, value in values.items())]
    table = line_end.join(lines)
    # A document whose last line has no end gets a table without one too, so that a removal knows of it.
    has_end = not text or text.endswith("\n")
    if _blocks(text, path):
        text = _with_values(text, path, table_at(before, path), values)
    elif text:
        text += (line_end if has_end else 2 * line_end) + table + (line_end if has_end else "")
    else:
        text = table + line_end
    _check(before, text, path, values)
    return text


def set_key(text: str, path: Table, key: str, value: str | int) -> str:
    """The text with a key of a table set to a value. Raises InvalidInput where the table has no lines of its own."""
    table = table_at(parse_toml(text), path)
    try:
        return put_table(text, path, {**(table if isinstance(table, dict) else {}), key: value})
    except InvalidInput as error:
        shown = ".".join(path)
        raise InvalidInput(
            f"“{key}” cannot be set there; write {_key(key)} = {_value(value)} below [{shown}]"
        ) from error


def remove_table(text: str, path: Table) -> str:
    """The text without a table, the tables below it, and an empty line before each. Raises InvalidInput."""
    before = parse_toml(text)
    blocks = _blocks(text, path)
    if not blocks:
        raise InvalidInput(f"“{'.'.join(path)}” is not a table in lines of its own")
    text = _without(text, blocks)
    _check(before, text, path, None)
    return text


def _with_values(text: str, path: Table, before: dict[str, Any], after: dict[str, Any]) -> str:
    """The text in which a table that has the values `before` has those of `after`."""
    for key in before.keys() - after.keys():
        text = _without_key(text, (*path, key))
    for key, value in after.items():
        old, inner = before.get(key), (*path, key)
        if key in before and repr(old) == repr(value):
            continue
        assignment = next((item for item in _assignments(text) if item.path == inner), None)
        if assignment:
            text = text[: assignment.value_start] + _value(value) + text[assignment.value_end :]
        elif isinstance(old, dict) and isinstance(value, dict):
            text = _with_values(text, inner, old, value)
        else:
            text = _with_key(_without_key(text, inner), path, key, value)
    return text


def _with_key(text: str, path: Table, key: str, value: Any) -> str:
    """The text with a new key of a table; the same text where the table has no header."""
    start = next((place for place, keys in _headers(text) if keys == path), None)
    if start is None:
        return text
    end = text.find("\n", start) + 1 or len(text)
    header = text[:end] if text.endswith("\n", 0, end) else text[:end] + _line_end(text)
    return f"{header}{_key(key)} = {_value(value)}{_line_end(text)}{text[end:]}"


def _without_key(text: str, path: Table) -> str:
    """The text without a key, in whatever lines it has its value."""
    for item in reversed(list(_assignments(text))):
        if item.path[: len(path)] == path:
            before = text[: item.start]
            text = (before if text.endswith("\n", 0, item.end) else _without_line_end(before)) + text[item.end :]
    return _without(text, _blocks(text, path))


def _check(before: dict[str, Any], text: str, path: Table, values: dict[str, Any] | None) -> None:
    """Raise InvalidInput where an edited text says anything else than the text before, but for the table."""
    if not _says(text, before, path, values):
        shown = ".".join(path)
        raise InvalidInput(f"“{shown}” cannot be edited there; write [{shown}] as a table of its own")


def _says(text: str, before: dict[str, Any], path: Table, values: dict[str, Any] | None) -> bool:
    """Return whether a text says the same as the document before, but for a table with these values."""
    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    # As text, since a number that is not one (nan) equals nothing.
    return table_at(after, path) == values and repr(_rest(before, path)) == repr(_rest(after, path))


def _rest(document: dict[str, Any], path: Table) -> dict[str, Any]:
    """A document without a value, and without the tables that only held it."""
    rest = dict(document)
    inner = rest.pop(path[0], None)
    if len(path) > 1 and isinstance(inner, dict) and (inner := _rest(inner, path[1:])):
        rest[path[0]] = inner
    return rest


def _blocks(text: str, path: Table) -> list[tuple[int, int]]:
    """Return where the table and those below it stand: from the header to the end of the last line with a key or a
    value. Empty lines and comments after that belong to what follows."""
    blocks: list[tuple[int, int]] = []
    headers = _headers(text)
    for (start, keys), following in zip(headers, [*(place for place, _ in headers[1:]), len(text)]):
        if keys[: len(path)] == path:
            # Not splitlines, which also splits at separators that TOML allows within a comment or a string.
            lines = StringIO(text[start:following], newline="\n").readlines()
            while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
                lines.pop()
            blocks.append((start, start + sum(map(len, lines))))
    return blocks


def _headers(text: str) -> list[tuple[int, Table]]:
    """Return where each table begins, and its keys. `text` is TOML."""
    return [(start, _keys(text, start)) for start, _ in _statements(text) if _IS_HEADER.match(text, start)]


def _assignments(text: str) -> Iterator[Assignment]:
    """Every key that has a value in its own lines. `text` is TOML."""
    table: Table = ()
    for start, end in _statements(text):
        if _IS_HEADER.match(text, start):
            table = _keys(text, start)
        elif assigned := _ASSIGNED.match(text, start, end):
            comment = next((place for place, depth in _comments(text, assigned.end(), end) if not depth), end)
            value = text[assigned.end() : comment].rstrip()
            path = (*table, *_keys_of(tomllib.loads(f"{assigned.group(1)} = 0")))
            yield Assignment(path, start, assigned.end(), assigned.end() + len(value), end)


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """The lines of a document, where a value of several lines is one with its key: their beginnings and ends."""
    depth, start = 0, 0
    for token in _TOKEN.finditer(text):
        kind = token.group()
        if kind in "[{":
            depth += 1
        elif kind in "]}":
            depth -= 1
        elif kind == "\n" and not depth:
            yield start, token.end()
            start = token.end()
    if start < len(text):
        yield start, len(text)


def _comments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The comments between two places, each with the number of brackets around it."""
    depth = 0
    for token in _TOKEN.finditer(text, start, end):
        kind = token.group()
        depth += (kind in "[{") - (kind in "]}")
        if kind.startswith("#"):
            yield token.start(), depth


def _keys(text: str, line: int) -> Table:
    end = text.find("\n", line)
    return _keys_of(tomllib.loads(text[line : len(text) if end < 0 else end].rstrip("\r")))


def _keys_of(value: Any) -> Table:
    """The keys on the only path through a document."""
    keys: list[str] = []
    while isinstance(value, list | dict) and value:
        if isinstance(value, list):
            value = value[0]
        else:
            ((key, value),) = value.items()
            keys.append(key)
    return tuple(keys)


def _without(text: str, blocks: list[tuple[int, int]]) -> str:
    """The text without blocks, an empty line before each, and the line end before a block that ends without one."""
    for start, end in reversed(blocks):
        before = text[:start]
        if re.search(r"(?:\A|\n)\r?\n\Z", before):
            before = _without_line_end(before)
        if not text.endswith("\n", 0, end):
            before = _without_line_end(before)
        text = before + text[end:]
    return text


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str | bool):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
