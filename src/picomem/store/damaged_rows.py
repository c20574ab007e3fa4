"""Reads damaged rows as far as possible, for a repair, a purge and a scrub, which handle every row."""

from __future__ import annotations

import json
from collections.abc import Iterable

from picomem.records.kinds import Kind, Origin, Source
from picomem.records.scope import LOCAL_USER, LONGEST
from picomem.store.connector import Row
from picomem.store.row_hash import COLUMNS, is_whole
from picomem.text.storable import plain

_REALS = {"importance"}
_INTEGERS = frozenset(
    "version pinned valid_from known_from created_at tokens doc at child_version parent_version generation size cursor "
    "turns updated_at first_turn last_turn part start_offset end_offset left_out budget last_active_at "
    "last_consolidated_seq consolidation_failures seq message_count covered_seq first_seq last_seq before_seq "
    "before_turn "
    "before_failures summarised day calls input_tokens output_tokens modified_at first_line last_line "
    "exported_at is_group said_at due_at attempts".split()
)
_MAY_BE_NULL = {
    "memories": {"valid_to", "known_to", "expires_at", "closed_by", "path"},
    "changes": {"before", "after", "idempotency_key", "request_hash"},
    "transcripts": {"started_at", "ended_at", "policy_by"},
    "episodes": {"started_at", "ended_at", "tags"},
    "sessions": {"archived_at", "last_consolidated_at"},
    "consolidations": {"before_at"},
    "tombstones": {"size"},
    "access_tokens": {"expires_at", "revoked_at"},
    "contacts": {"revoked_at"},
}
_OF_A_SCOPE = {"user_id", "agent", "project", "session"}
_CHOICES = {
    ("memories", "kind"): (set(Kind), Kind.FACT.value),
    ("memories", "origin"): (set(Origin), Origin.OTHER.value),
    ("memories", "source"): (set(Source), Source.MANUAL.value),
    ("memories", "pinned"): ({0, 1}, 0),
    ("episodes", "origin"): (set(Origin), Origin.OTHER.value),
    ("transcripts", "send_policy"): ({"private", "deny"}, "deny"),
}
_LISTS = {"memories": ("tags", "related")}
_UNREADABLE = '["(damaged)"]'
_NULL_TEXTS = set("closed_by path idempotency_key request_hash policy_by".split())


def readable(table: str, row: Row) -> Row:
    """A whole row as it is, and a damaged one as far as it can be read."""
    return row if is_whole(table, row) else legible(table, row)


def legible(table: str, row: Row) -> Row:
    """A row with a plain value of the column's type in place of each that is of another type."""
    may_be_null = _MAY_BE_NULL.get(table, set())
    values = [
        None if value is None and name in may_be_null else _typed(name, name in may_be_null, value)
        for name, value in zip(COLUMNS[table], row, strict=False)
    ]
    for (of, name), (known, plain_value) in _CHOICES.items():
        place = COLUMNS[table].index(name) if of == table else -1
        if place >= 0 and values[place] not in known:
            values[place] = plain_value
    for name in _LISTS.get(table, ()):
        place = COLUMNS[table].index(name)
        values[place] = _list(str(values[place]))
    return (*values, *row[len(values) :])


def _list(stored: str) -> str:
    try:
        return stored if isinstance(json.loads(stored), list) else _UNREADABLE
    except ValueError:
        return _UNREADABLE


def _typed(name: str, may_be_null: bool, value: object) -> object:
    if name in _REALS:
        return min(1.0, max(0.0, value)) if isinstance(value, float) and value == value else 0.5
    if name in _INTEGERS or (may_be_null and name not in _NULL_TEXTS):
        return value if isinstance(value, int) else 0
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""
    return _owner(name, text) if name in _OF_A_SCOPE else text


def _owner(name: str, text: str) -> str:
    """A part of a scope, which must be one plain line."""
    line = "".join(letter for letter in plain(text) if letter.isprintable())[:LONGEST]
    return line if line.strip() or name != "user_id" else LOCAL_USER


def of_types(row: Iterable[object], types: Iterable[type]) -> Row:
    """The values of an index, which has no hash: a value of another type than the column's, which only damage makes, is
    replaced by the empty one of that type, and the bytes of a text by the text."""
    return tuple(_of_type(value, type_) for value, type_ in zip(row, types, strict=True))


def _of_type(value: object, type_: type) -> object:
    if isinstance(value, type_) or (type_ is float and isinstance(value, int)):
        return value
    return value.decode("utf-8", "replace") if type_ is str and isinstance(value, bytes) else type_()
