"""Opens files of other programs within limits: regular files of a limited size, JSON of a limited depth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, NotFound
from picomem.ingest import reader
from picomem.ingest.reader import Line
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
