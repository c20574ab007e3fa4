"""Reads the records of hosts, in which nothing can be relied on. Pure."""

from __future__ import annotations

import json
from datetime import UTC, tzinfo
from typing import Any

from picomem.clock import LATEST, Micros, parse_iso
from picomem.errors import InvalidTime
from picomem.ingest.noise import framing_tag

Record = dict[str, Any]  # a JSON object as a host wrote it: nothing in it can be relied on
_LONGEST_FIELD = 1000
_DECODER = json.JSONDecoder(strict=False)  # a raw control character in a string is no reason to lose the line


def record_of(data: bytes) -> Record | None:
    """The JSON object of a line; bytes that are not UTF-8 become U+FFFD. None where it is none."""
    try:
        record = _DECODER.decode(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def first_records(head: bytes, most: int | None = None) -> list[Record]:
    """The JSON objects among the first complete lines of a file: `most` lines, or all that the sample has."""
    complete = head.split(b"\n")
    # The last piece may be cut; it counts if it is whole (a file of one line without a newline).
    return [record for data in complete[:most] if (record := record_of(data.strip(b" \t\r\0"))) is not None]


def texts(content: object, kinds: tuple[str, ...] = ("text",)) -> tuple[str, list[str]]:
    """The visible text of a message's content (a string, or blocks), and the types of the other blocks.

    A block that is the host's as a whole is left out here: joined with the others it could not be told from them.
    """
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        return "", []
    said: list[str] = []
    others: list[str] = []
    for block in content:
        if isinstance(block, str):
            said.append(block)
        elif isinstance(block, dict):
            text, kind = block.get("text"), block.get("type")
            if kind in kinds and isinstance(text, str):
                said += [] if framing_tag(text) else [text]
            else:
                others.append(kind if isinstance(kind, str) else "")
    return "\n\n".join(said), others


def inner(record: Record, name: str) -> Record:
    """The object under `name`; an empty one where there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Record]:
    """The objects in a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def moment(value: object, zone: tzinfo | None = UTC) -> Micros | None:
    """A host's time: ISO 8601 (in `zone` where it says none; None is the machine's), or seconds, milliseconds or
    microseconds since 1970.

    None where it cannot be read.
    """
    if isinstance(value, str):
        try:
            return parse_iso(value, zone) if len(value) <= 64 else None
        except InvalidTime:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LATEST:
        return None
    scale = 1_000_000 if value < 1e11 else 1000 if value < 1e14 else 1
    at = int(value * scale)
    return at if at <= LATEST else None


def short(value: object) -> str:
    """An id as a host wrote it; empty where it is no text, cut where it is no id."""
    return value[:200] if isinstance(value, str) else str(value) if type(value) is int else ""
