"""The file format of a kept transcript: its redacted records, each with its position in the original transcript.

    a header, JSON            the transcript, and how far it was copied
    offset end record         a line for each record; pointers into the transcript find it by these offsets
    digest                    of all lines before it

All of this is one zstd frame. A file is never changed in place: it is written beside its name, synced and renamed. So a
reader sees a complete copy or none, and a process may be killed at any point.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from picomem.errors import DiskFull, InvalidInput, StoreError
from picomem.ingest import reader
from picomem.ingest.reader import Line
from picomem.light_dataclass import asdict, dataclass
from picomem.paths import make_private_dir, sync_folder

ENDING = ".copy.zst"
_FORM = "picomem transcript copy 1"
_LONGEST = 2 * reader.LONGEST  # a redacted record may be a little longer than the record
_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyHeader:
    """The header of a copy. The transcript was copied up to `end`, and `fingerprint` is that of the transcript before
    it."""

    transcript: str
    host: str
    session: str
    generation: int
    fingerprint: str
    end: int
    form: str = _FORM


def header_of(path: Path) -> CopyHeader:
    """The header of a copy; the rest is not checked. Raises NotFound or InvalidInput."""
    for line in reader.lines(path, longest=_LONGEST):
        return _header(path, line)
    raise _damaged(path)


def records_of(path: Path) -> Iterator[Line]:
    """The records of a copy. Raises NotFound, or InvalidInput for a damaged one, at its end at the latest: a record
    counts only when all were read."""
    digest = blake2b(digest_size=32)
    waiting: bytes | None = None
    for number, line in enumerate(reader.lines(path, longest=_LONGEST)):
        if line.data is None:
            raise _damaged(path)
        if number == 0:
            _header(path, line)
            _add(digest, line.data)
            continue
        if waiting is not None:
            _add(digest, waiting)
            yield _record(path, waiting)
        waiting = line.data
    if waiting is None or waiting.decode("ascii", "replace") != digest.hexdigest():
        raise _damaged(path)


def write_copy(
    path: Path, header: CopyHeader, records: Iterable[Line], written: int, put: Callable[[Callable[[], None]], bool]
) -> bool:
    """Write a copy whose file has the time `written` (nanoseconds) of its transcript; whether it took its place.

    `put` decides that: it calls the function it is given, which renames the file, or does not. Raises StoreError where
    the file cannot be written.
    """
    spare = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        make_private_dir(path.parent)
        try:
            _write(spare, header, records)
            os.utime(spare, ns=(written, written))

            def rename() -> None:
                spare.replace(path)

            is_put = put(rename)
            if is_put:
                sync_folder(path.parent)
        finally:
            spare.unlink(missing_ok=True)
    except OSError as error:
        kind = DiskFull if error.errno == errno.ENOSPC else StoreError
        raise kind(f"{path} cannot be written: {error.strerror or error}.") from error
    return is_put


def _write(path: Path, header: CopyHeader, records: Iterable[Line]) -> None:
    import zstandard

    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    digest = blake2b(digest_size=32)
    with os.fdopen(descriptor, "wb") as file:
        with zstandard.ZstdCompressor(level=_LEVEL).stream_writer(file, closefd=False) as stream:

            def put_line(data: bytes) -> None:
                _add(digest, data)
                stream.write(data + b"\n")

            put_line(json.dumps(asdict(header)).encode())
            for record in records:
                if record.data is not None:
                    put_line(b"%d %d %b" % (record.offset, record.end, record.data))
            stream.write(digest.hexdigest().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def texts_of(path: Path) -> Iterator[bytes]:
    """The bytes of a copy for a search: its header and each record, as it stands there and with its texts unescaped.
    Raises as `records_of` does."""
    yield json.dumps(asdict(header_of(path)), ensure_ascii=False).encode("utf-8", "surrogatepass")
    for record in records_of(path):
        yield searchable(record.data or b"")


def searchable(data: bytes) -> bytes:
    """A record, and its texts without the escapes of JSON."""
    try:
        texts = "\n".join(_strings(json.loads(data)))
    except (ValueError, RecursionError):
        return data
    return data + b"\n" + texts.encode("utf-8", "ignore")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _strings(item)


def _add(digest: blake2b, data: bytes) -> None:
    digest.update(len(data).to_bytes(8, "big"))
    digest.update(data)


def _header(path: Path, line: Line) -> CopyHeader:
    try:
        header = CopyHeader(**json.loads(line.data or b""))
    except (ValueError, TypeError) as error:
        raise _damaged(path) from error
    if header.form != _FORM:
        raise InvalidInput(f"{path} was written by another version of picomem; delete it to have it made again.")
    return header


def _record(path: Path, data: bytes) -> Line:
    try:
        offset, end, record = data.split(b" ", 2)
        return Line(int(offset), int(end), record)
    except ValueError as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} is damaged; delete it, and picomem copies the transcript again if it is still there.")
