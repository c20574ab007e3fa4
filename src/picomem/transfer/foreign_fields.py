"""Reads JSON fields of other programs: a field that is missing, or has another type, is empty. Pure."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import Any

from picomem.clock import Micros, parse_iso
from picomem.errors import InvalidTime
from picomem.ingest.record_fields import moment


def text_of(record: object, *names: str) -> str:
    """The first of these fields that is a text with something in it."""
    if isinstance(record, dict):
        for name in names:
            value = record.get(name)
            if isinstance(value, str) and value.strip():
                return value
    return ""


def list_of(record: object, name: str) -> list[Any]:
    """A field that is a list."""
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, list) else []


def names_of(record: object, name: str) -> tuple[str, ...]:
    """The texts of a field that is a list of texts, or a single text."""
    value = record.get(name) if isinstance(record, dict) else None
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(entry for entry in values if isinstance(entry, str) and entry.strip())


def time_of(record: object, *names: str, zone: tzinfo = UTC) -> Micros | None:
    """The first of these fields that is a time: ISO 8601, or seconds or milliseconds since 1970."""
    for name in names:
        value = record.get(name) if isinstance(record, dict) else None
        at = moment_of(value, zone)
        if at is not None:
            return at
    return None


def moment_of(value: object, zone: tzinfo = UTC) -> Micros | None:
    """A time as other programs write it; None for what is none."""
    try:
        if isinstance(value, str) and value.strip():
            return parse_iso(value, zone)
    except InvalidTime:
        return None
    return moment(value)
