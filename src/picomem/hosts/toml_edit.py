"""Inserts, changes and removes one table of a TOML document: every other byte stays the same. Pure.

A table has its own lines: `[mcp_servers.picomem]`, the keys, and perhaps further tables below it, such as
`[mcp_servers.picomem.env]`. A new table goes to the end of the document; in one that is there, `tomlkit` edits only the
keys whose values differ. Python's parser checks each edit: the document must have the same content afterwards, except
for that table. `remove_table` undoes `put_table` to the byte.

`tomlkit` is loaded where a document is edited, not where one is read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from io import StringIO
from itertools import count
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, InlineTable, Item, Key, Table, Whitespace

from picomem.errors import InvalidInput

Path = tuple[str, ...]  # the keys of a table, from the root


def parse_toml(text: str) -> dict[str, Any]:
    """The document. Raises InvalidInput, whose message is the end of a sentence about the file."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"line \d+", str(error))
        raise InvalidInput(f"{place.group() if place else 'the text'} is not valid TOML") from error
    except ValueError as error:  # Python reads no number of thousands of digits
        raise InvalidInput("it holds a number that is too long") from error


def table_at(document: Any, path: Path) -> Any:
    """The value at a path; None where there is none."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def put_table(text: str, path: Path, values: dict[str, Any]) -> str:
    """The text with a table of these values: a new one at the end, or the one that is there, whose other lines and
    comments stay. Raises InvalidInput."""
    before = parse_toml(text)
    existing = table_at(before, path)
    if isinstance(existing, dict):
        has_end = text.endswith("\n")
        text += "" if has_end else _line_end(text)
        for key, value in existing.items():
            if isinstance(value, dict) and not isinstance(values.get(key), dict):
                text = _without_table(text, (*path, key))
        document = _parsed(text)
        _set(table_at(document, path), existing, values, _line_end(text))
        text = document.as_string() if has_end else _without_line_end(document.as_string())
    else:
        text = _with_table(text, path, values)
    _check(before, text, path, values)
    return text


def set_key(text: str, path: Path, key: str, value: str | int) -> str:
    """The text with a key of a table set to a value. Raises InvalidInput."""
    table = table_at(parse_toml(text), path)
    return put_table(text, path, {**(table if isinstance(table, dict) else {}), key: value})


def remove_table(text: str, path: Path) -> str:
    """The text without a table, the tables below it, and an empty line before each. Raises InvalidInput."""
    before = parse_toml(text)
    text = _without_table(text, path)
    _check(before, text, path, None)
    return text


def _parsed(text: str) -> Any:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidInput(f"it cannot be edited: {error}") from error


def _with_table(text: str, path: Path, values: dict[str, Any]) -> str:
    """The text with a new table at its end."""
    document: Any = tomlkit.table()
    for key, value in values.items():
        document[key] = _item(value)
    for key in reversed(path):
        document = {key: document}
    line_end = _line_end(text)
    table = tomlkit.dumps(document).rstrip("\n").replace("\n", line_end)
    if not text or text.endswith("\n"):
        return f"{text}{line_end if text else ''}{table}{line_end}"
    return f"{text}{2 * line_end}{table}"  # without a line end, so that a removal knows that the text had none


def _set(table: Any, before: dict[str, Any], values: dict[str, Any], line_end: str) -> None:
    """Give a table of a parsed document, which has the values `before`, these values."""
    for key in before.keys() - values.keys():
        table.pop(key, None)
    for key, value in values.items():
        old = before.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not isinstance(table[key], InlineTable):
            _set(table[key], old, value, line_end)
        elif key in table and repr(old) != repr(value):
            table[key] = _item(value)
        elif key not in table:
            new, body = _item(value), table.value.body if isinstance(table, Table) else []
            new.trivia.trail = line_end
            end = len(body)
            while end and isinstance(body[end - 1][1], Comment | Whitespace):
                end -= 1
            body[end:], following = [], body[end:]  # a comment at the end is about the next table
            table[key] = new
            body += following


def _item(value: Any) -> Item:
    if not isinstance(value, dict):
        return tomlkit.item(value)
    inline = tomlkit.inline_table()
    inline.update(value)
    return inline


def _without_table(text: str, path: Path) -> str:
    """The text without the lines of a table and of those below it: from each header to the last line with a key or a
    value. Empty lines and comments after that belong to what follows; an empty line before a header goes with it."""
    document = _parsed(text)
    mark = next(mark for number in count() if (mark := f"\ue000{number}:") not in text)
    _mark_headers(document.body, (), path, mark)
    kept, *tables = document.as_string().split(mark)
    for table in tables:
        is_kept, table = table[0] == "1", table[1:]
        if is_kept:
            kept += table
            continue
        # Not splitlines, which also splits at separators that TOML allows within a comment or a string.
        lines = StringIO(table, newline="\n").readlines()
        while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
            lines.pop()
        if re.search(r"(?:\A|\n)\r?\n\Z", kept):
            kept = _without_line_end(kept)
        if not lines[-1].endswith("\n"):
            kept = _without_line_end(kept)
        kept += table[sum(map(len, lines)) :]
    return kept


def _mark_headers(body: Iterable[tuple[Key | None, Item]], parents: Path, path: Path, mark: str) -> None:
    """Put a mark before each header, and whether it stays."""
    for key, item in body:
        for table in item.body if isinstance(item, AoT) else (item,):
            if key is not None and isinstance(table, Table):
                keys = (*parents, key.key)
                table.trivia.indent = f"{mark}{int(keys[: len(path)] != path)}{table.trivia.indent}"
                _mark_headers(table.value.body, keys, path, mark)


def _check(before: dict[str, Any], text: str, path: Path, values: dict[str, Any] | None) -> None:
    """Raise InvalidInput where an edited text says anything else than the text before, but for the table."""
    try:
        after = tomllib.loads(text)
        # As text, since a number that is not one (nan) equals nothing.
        is_right = table_at(after, path) == values and repr(_rest(before, path)) == repr(_rest(after, path))
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        shown = ".".join(path)
        raise InvalidInput(f"“{shown}” cannot be edited there; write [{shown}] as a table of its own")


def _rest(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """A document without a value, and without the tables that only held it."""
    rest = dict(document)
    inner = rest.pop(path[0], None)
    if len(path) > 1 and isinstance(inner, dict) and (inner := _rest(inner, path[1:])):
        rest[path[0]] = inner
    return rest


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
