"""The hash of a row, which detects a flipped bit anywhere in the row.

Every row that is not derived holds in `row_hash` a hash of all its other columns. The format, which other programs may
rely on:

    row_hash = lower-case hex of BLAKE2b with a digest of 16 bytes, over the UTF-8 of one JSON array
    array    = [table, value, value, …], the values in the order of COLUMNS

The JSON has no white space and escapes only what JSON requires. An integer is written in decimal, a REAL as the
shortest decimal number that reads back as the same double and always with a point or an exponent, NULL as null.
The user's id is one of the values, so a row that was moved to another user does not match either. `content_hash` is
something else: a hash of a text alone, by which equal texts are looked up.

This module does not use a database. `hash_upkeep.py` writes the hashes, and each reader of rows compares them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from picomem.blake2b import blake2b
from picomem.light_dataclass import fields

_Record = TypeVar("_Record")

COLUMNS: dict[str, tuple[str, ...]] = {
    table: tuple(names.split())
    for table, names in {
        "meta": "name value",
        "user_marks": "name value user_id",
        "doc_ranges": "last_doc user_id",
        "memories": "id version user_id agent project session key kind content context importance pinned tags related "
        "origin source valid_from valid_to known_from known_to expires_at created_at tokens change_id doc closed_by "
        "path",
        "changes": "id run at actor verb decision reason memory_id before after candidate undoes content_hash user_id "
        "idempotency_key request_hash seq salt sealed link",
        "handouts": "id at actor verb ids seq salt sealed link user_id",
        "lineage": "child_kind child_id child_version parent_kind parent_id parent_version role change_id user_id",
        "transcripts": "id host path session agent project branch cwd title parent_session send_policy started_at "
        "ended_at generation size fingerprint cursor state turns skipped updated_at abandoned user_id policy_by "
        "repository",
        "episodes": "id transcript_id first_turn last_turn part start_offset end_offset role origin branch category "
        "key preview summary importance started_at ended_at tokens identity created_at doc user_id actions outcomes "
        "suggested tags",
        "index_pages": "page tokens left_out made_from agent project budget user_id",
        "sessions": "id agent project channel channel_id title state permissions forked_from created_at last_active_at "
        "archived_at last_consolidated_seq last_consolidated_at consolidation_failures user_id",
        "messages": "session_id seq id role content tool_calls tool_call_id origin tokens created_at user_id",
        "session_summaries": "session_id summary message_count covered_seq created_at updated_at origin user_id",
        "consolidations": "run session_id first_seq last_seq before_seq before_at before_failures before_summary "
        "summarised episodes change_id generator at user_id",
        "transcript_consolidations": "run transcript_id first_turn last_turn before_turn generation episodes change_id "
        "generator at user_id",
        "spending": "day model calls input_tokens output_tokens user_id",
        "note_files": "root path stamp modified_at content_hash user_id",
        "note_sections": "doc root path heading first_line last_line content tokens part user_id",
        "tombstones": "digest size user_id",
        "exports": "path agent project budget content_hash exported_at user_id",
        "access_tokens": "id digest label permissions created_at expires_at revoked_at user_id",
        "channel_messages": "id channel account conversation direction native_id address is_group text context state "
        "reason session_id message_id said_at created_at due_at attempts user_id",
        "contacts": "channel account native_id person created_at user_id sender revoked_at",
        "pairings": "code channel account native_ids name created_at expires_at user_id",
    }.items()
}
KEYS: dict[str, tuple[str, ...]] = {
    table: tuple(names.split())
    for table, names in {
        "meta": "name",
        "user_marks": "user_id name",
        "doc_ranges": "user_id",
        "memories": "user_id id version",
        "changes": "user_id id",
        "handouts": "user_id id",
        "lineage": "user_id child_kind child_id child_version parent_kind parent_id parent_version role",
        "transcripts": "user_id id",
        "episodes": "user_id id",
        "index_pages": "user_id agent project budget",
        "sessions": "user_id id",
        "messages": "user_id session_id seq",
        "session_summaries": "user_id session_id",
        "consolidations": "user_id run",
        "transcript_consolidations": "user_id run",
        "spending": "user_id day model",
        "note_files": "user_id root path",
        "note_sections": "user_id doc",
        "tombstones": "user_id digest",
        "exports": "user_id path",
        "access_tokens": "user_id id",
        "channel_messages": "user_id id",
        "contacts": "user_id channel account native_id",
        "pairings": "user_id code",
    }.items()
}
REALS: dict[str, tuple[int, ...]] = {
    table: tuple(place for place, name in enumerate(names) if name == "importance") for table, names in COLUMNS.items()
}

encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def by_name(table: str, row: Sequence[Any]) -> dict[str, Any]:
    """The columns of a row by their names; the hash behind them is left out."""
    return dict(zip(COLUMNS[table], row, strict=False))


def record_of(kind: Callable[..., _Record], values: Mapping[str, Any], /, **others: Any) -> _Record:
    """A row as a record: its columns in the fields of the same names, and `others`, which are named or written in
    another way."""
    return kind(**{name: values[name] for name in _fields_of(kind) if name in values} | others)


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def row_hash(table: str, values: Iterable[object]) -> str:
    """The hash of a row, given its columns in the order of COLUMNS; empty, which no row has, for what is no row: a
    damaged file gives bytes where a text should be."""
    try:
        array = encoded([table, *values])
    except TypeError:
        return ""
    return blake2b(array.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def whole_rows(table: str, rows: Iterable[tuple[Any, ...]], damaged: list[str] | None = None) -> list[tuple[Any, ...]]:
    """The rows that match their hash. The keys of the others are put on `damaged`."""
    whole: list[tuple[Any, ...]] = []
    for row in rows:
        if is_whole(table, row):
            whole.append(row)
        elif damaged is not None:
            values = by_name(table, row)
            damaged.append(" ".join([table, *(str(values[name]) for name in KEYS[table])]))
    return whole


def is_whole(table: str, row: Sequence[object]) -> bool:
    """Return whether a row matches its hash, which stands behind the columns."""
    stored = row[-1]
    return stored != "" and stored == row_hash(table, row[:-1])
