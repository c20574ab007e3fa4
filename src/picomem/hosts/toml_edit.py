"""Inserts and removes one table of a TOML document, or sets one key, as text: every other byte stays the same. Pure.

A table has its own lines: `[mcp_servers.picomem]`, the keys, and perhaps further tables below it, such as
`[mcp_servers.picomem.env]`. A new table goes to the end of the document. Python's parser checks each edit: the document
must have the same content afterwards, except for that table. `remove_table` undoes `put_table` to the byte.
"""

from __future__ import annotations

import json
import re
import tomllib
from io import StringIO
from typing import Any

from picomem.errors import InvalidInput

Table = tuple[str, ...]  # its keys, from the root

# What may hide the beginning of a table: strings (which may have several lines), and comments.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n', re.DOTALL
)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


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
    """The text with a table: in the place of the one that is there, or at the end. Raises InvalidInput."""
    before = parse_toml(text)
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(key)} = {_value(value)}" for key, value in values.items())]
    table = line_end.join(lines)
    blocks = _blocks(text, path)
    # A document whose last line has no end gets a table without one too, so that a removal knows of it.
    has_end = not text or text.endswith("\n")
    if blocks:
        (start, end), *others = blocks
        after = _without(text, others)[end:]
        text = text[:start] + table + (line_end if text.endswith("\n", 0, end) else "") + after
    elif text:
        text += (line_end if has_end else 2 * line_end) + table + (line_end if has_end else "")
    else:
        text = table + line_end
    _check(before, text, path, values)
    return text


def set_key(text: str, path: Table, key: str, value: str) -> str:
    """The text with a key of a table set to a text; comments stay, also behind the value. Raises InvalidInput where the
    table, or the old value, does not stand in lines of its own."""
    before = parse_toml(text)
    table = table_at(before, path)
    if table is None:
        return put_table(text, path, {key: value})
    start = next((place for place, keys in _headers(text) if keys == path), None)
    if start is not None:
        after = _with_key(text, start, key, value, is_there=key in table)
        if _says(after, before, path, {**table, key: value}):
            return after
    shown = ".".join(path)
    raise InvalidInput(f"“{key}” cannot be set there; write {_key(key)} = {_value(value)} below [{shown}]")


def remove_table(text: str, path: Table) -> str:
    """The text without a table, the tables below it, and an empty line before each. Raises InvalidInput."""
    before = parse_toml(text)
    blocks = _blocks(text, path)
    if not blocks:
        raise InvalidInput(f"“{'.'.join(path)}” is not a table in lines of its own")
    text = _without(text, blocks)
    _check(before, text, path, None)
    return text


def _with_key(text: str, start: int, key: str, value: str, *, is_there: bool) -> str:
    """The text with a key in the table whose header begins at `start`."""
    header_end = text.find("\n", start) + 1 or len(text)
    if not is_there:
        line_end = "\r\n" if "\r\n" in text else "\n"
        before = text[:header_end] if text.endswith("\n", 0, header_end) else text[:header_end] + line_end
        return f"{before}{_key(key)} = {_value(value)}{line_end}{text[header_end:]}"
    end = next((place for place, _ in _headers(text) if place > start), len(text))
    assignment = rf"(?m)^([ \t]*{re.escape(_key(key))}[ \t]*=[ \t]*)(\"[^\"\n]*\"|'[^'\n]*')"
    old = re.compile(assignment).search(text, header_end, end)
    return text[: old.start(2)] + _value(value) + text[old.end(2) :] if old else text


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
    headers: list[tuple[int, Table]] = []
    depth, line = 0, 0
    for token in _TOKEN.finditer(text):
        kind = token.group()
        if kind == "\n":
            line = token.end()
        elif kind == "[" and not depth and not text[line : token.start()].strip():
            headers.append((line, _keys(text, line)))
            depth = 1
        elif kind in "[{":
            depth += 1
        elif kind in "]}":
            depth -= 1
    return headers


def _keys(text: str, line: int) -> Table:
    header = text[line:].partition("\n")[0].rstrip("\r")
    value: Any = tomllib.loads(header)
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
