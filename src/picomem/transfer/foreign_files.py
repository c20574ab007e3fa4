"""What is read of other programs' files: no more than fits, and fields as they may be there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from picomem.clock import Micros, parse_iso
from picomem.errors import InvalidInput, InvalidTime, NotFound
from picomem.ingest import reader
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import moment
from picomem.paths import read_regular, status_of

LARGEST = 2 << 30  # bytes of a file that is read line by line, also after it is unpacked
LARGEST_DOCUMENT = 256 << 20  # bytes of a file that is held in memory


def check_size(path: Path, most: int = LARGEST) -> int:
    """The size of a file. Raises NotFound, and InvalidInput for one that is too large."""
    status = status_of(path)
    if status is None:
        raise NotFound(f"There is no file {path}.")
    if status.st_size > most:
        raise InvalidInput(f"{path} is larger than {most >> 20:,} MiB; split it.")
    return status.st_size


def bounded_lines(path: Path, longest: int) -> Iterator[Line]:
    """The records of a file, one a line, which may be packed with gzip or zstd. An unfinished last one is given too,
    and so is each of several in a line. Raises NotFound and InvalidInput."""
    check_size(path)
    for line in reader.all_records(path, longest=longest):
        if line.end > LARGEST:
            raise InvalidInput(f"{path} is larger than {LARGEST >> 20:,} MiB when it is unpacked; split it.")
        yield line


def json_of(data: bytes | str) -> Any:
    """A JSON value. Raises InvalidInput, without the end of a sentence."""
    try:
        return json.loads(data, strict=False)
    except RecursionError:
        raise InvalidInput("it is nested too deeply") from None
    except ValueError:
        raise InvalidInput("it is not whole JSON") from None


def json_document(path: Path) -> Any:
    """The JSON document of a file. Raises NotFound and InvalidInput."""
    data = read_regular(path, most=LARGEST_DOCUMENT)
    try:
        return json_of(data)
    except InvalidInput as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error


# Reads JSON fields of other programs: a field that is missing, or has another type, is empty. Pure.


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
