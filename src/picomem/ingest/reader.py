"""Reads the bytes of a transcript as complete lines, with the byte range of each.

Transcripts grow while they are read. So a line counts only when its newline is there: an unfinished last line is
neither returned nor consumed, and the next reading, from the last line's `end`, gets it whole. Offsets count
*decompressed* bytes, so a pointer means the same in `x.jsonl`, `x.jsonl.zst` and `x.jsonl.gz`.

A program that was killed while it wrote, and files that were joined, leave several records in one line, or part of one
and a whole one behind it. `records` returns each as a line of its own.

Memory is bounded by one line: a line over `longest` is skipped in chunks and returned without data, so that the
parser can count it. Compression is recognised by the content, not by the name (archives have odd suffixes).
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from picomem.errors import InvalidInput
from picomem.paths import open_regular

LONGEST = 8 * 1024 * 1024
MOST_BLANK = 1_000_000  # lines in a row: a packed file of a few KB may hold hundreds of millions
_SAMPLE_BLANK = 100_000  # blank lines, after which nothing else is looked for
_SAMPLE_LINES = 20
_LARGE_SAMPLE_LINES = 200
_SAMPLE_BYTES = 256 * 1024 * 1024  # read in search of them: a file may be one line of many gigabytes
_SHORT = 32 * 1024  # bytes of a sampled line; a longer one is shortened
_PIECE = 256 * 1024
_PRINT = 4096
_BOM = b"\xef\xbb\xbf"
# NUL: a file system that lost power leaves blocks of them in front of the next append. RS: RFC 7464 puts it in front of
# each record.
_PADDING = b" \t\r\n\0\x1e"
_PADDING_AT_START = re.compile(rb"(?:[ \t\r\n\0\x1e]|\xef\xbb\xbf)*+")
_PADDING_AT_END = re.compile(rb"(?:[ \t\r\n\0\x1e]|\xbf\xbb\xef)*+")  # read backwards
# The history that a zstd frame may ask us to hold, in bytes: what `zstd --long` (27) writes. By default compressors use
# 8 MiB at most.
WINDOW = 1 << 27
PACKED = (".zst", ".gz")  # the endings that compressors give
# An object that follows none of `_BEFORE_VALUE` directly. (The lookbehind is second: a search for one byte is fast.)
_OBJECT = re.compile(rb'\{(?<![:\[,]\{)[ \t]*+"[\w-]{1,60}"[ \t]*:')
_BEFORE_VALUE = b":[,"  # what stands before an object within JSON
_GZIP = b"\x1f\x8b"


class Line(NamedTuple):
    """One complete line: its byte range (end exclusive, with a newline that ends it) and its bytes without the newline.

    `data` is None where the line is longer than the reader was told to hold.
    """

    offset: int
    end: int
    data: bytes | None


def lines(path: Path, offset: int = 0, *, longest: int = LONGEST) -> Iterator[Line]:
    """The complete lines of a transcript from byte `offset` on; blank lines are passed over, `MOST_BLANK` in a row.

    A last line without a newline is complete if it is a whole JSON object, which no part of a longer one can be; a
    program that writes no newline at the end would lose it otherwise. Raises NotFound or InvalidInput (not a regular
    file, cannot be read, damaged compression, more blank lines than that); the lines before the damage are given first.
    """
    with _opened(path, offset) as stream:
        yield from _split(path, stream, offset, longest)


def records(path: Path, offset: int = 0) -> Iterator[Line]:
    """The lines of a transcript as `lines` gives them. Where several records stand in one line, or one behind a part of
    another, each is given as a line of its own."""
    with _opened(path, offset) as stream:
        yield from _split(path, stream, offset, LONGEST, is_apart=True)


def all_records(path: Path, *, longest: int) -> Iterator[Line]:
    """The records of a file that does not grow: as `records` and `lines` give them, and an unfinished last one too."""
    with _opened(path, 0) as stream:
        yield from _split(path, stream, 0, longest, is_apart=True, is_ended=True)


class Sample(NamedTuple):
    """Return the beginning of a file, by which its format is recognised.

    `unreadable` says that lines longer than `LONGEST` stand where the first lines should be, and no record among them.
    `is_whole` says that there are no more lines.
    """

    head: bytes
    unreadable: bool
    is_whole: bool


def head(path: Path) -> bytes:
    """The first lines of a transcript, decompressed and shortened; see `sample`. Raises as `lines` does."""
    return sample(path).head


def sample(path: Path, *, large: bool = False) -> Sample:
    """The first lines that are not blank, decompressed: twenty, or if it is `large` 200. Raises as `lines` does.

    A line of more than 32 KiB stands there as the same JSON object with its long strings and lists cut, so that the
    sample is small however long the lines are. A line that is no JSON object, or longer than `LONGEST`, is cut.
    """
    most = _LARGE_SAMPLE_LINES if large else _SAMPLE_LINES
    kept: list[bytes] = []
    too_long, read, blank = 0, 0, 0
    with _opened(path, 0) as stream:
        while (
            len(kept) < most
            and read < _SAMPLE_BYTES
            and blank < _SAMPLE_BLANK
            and (data := stream.readline(LONGEST + 1))
        ):
            read += len(data)
            end = b"\n" if data.endswith(b"\n") else b""
            if not end and len(data) > LONGEST:
                too_long += 1
                read += _pass_line(stream, _SAMPLE_BYTES - read) or 0
                kept.append(data[:_SHORT] + b"\n")
            elif line := _bare(data):
                short = line if len(line) <= _SHORT else _shortened(line)
                kept.append((short or line[:_SHORT]) + end)
            else:
                blank += 1
    return Sample(b"".join(kept), too_long > 0 and not any(map(_is_json, kept)), len(kept) < most)


def fingerprint(path: Path, upto: int) -> str:
    """A fingerprint of the bytes before `upto`, to detect a rewrite without reading all of them again.

    A digest of the first 4 KiB and of the last 4 KiB before `upto` (bytes of the file for a plain file; for
    a compressed one its first 4 KiB, as it is never appended to). Empty where the file is shorter than
    `upto`: it was truncated or replaced. A caller stores it with the offset and starts at 0 when it no
    longer matches.
    """
    with _regular(path) as file:
        start = file.read(min(_PRINT, upto))
        digest = blake2b(start, digest_size=12)
        if not _compressed(start):
            file.seek(max(upto - _PRINT, 0))
            end = file.read(min(_PRINT, upto))
            if len(end) < min(_PRINT, upto):
                return ""
            digest.update(end)
        return digest.hexdigest()


@contextmanager
def _opened(path: Path, offset: int) -> Iterator[BinaryIO]:
    """The decompressed bytes from `offset` on; empty where the file ends before it."""
    with _regular(path) as file:
        try:
            if _compressed(file.peek(4)):
                yield from _decompressed(path, file, offset)
            else:
                file.seek(offset)
                yield file
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error


def _decompressed(path: Path, file: io.BufferedReader, offset: int) -> Iterator[BinaryIO]:
    unpack = _unzipped if file.peek(2).startswith(_GZIP) else _zstd_decompressed
    with unpack(path, file) as stream:
        left = offset
        while left and (piece := stream.read(min(left, _PIECE))):
            left -= len(piece)
        yield stream


@contextmanager
def _unzipped(path: Path, file: BinaryIO) -> Iterator[BinaryIO]:
    try:
        yield io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=file)), _PIECE)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _damaged(path) from error


@contextmanager
def _zstd_decompressed(path: Path, file: BinaryIO) -> Iterator[BinaryIO]:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(
        file, read_size=_PIECE, read_across_frames=True
    )
    try:
        yield io.BufferedReader(cast(io.RawIOBase, reader), _PIECE)
    except zstandard.ZstdError as error:
        if needs_too_much_memory(error):
            raise InvalidInput(
                f"{path} was compressed with a window of more than {WINDOW >> 20} MiB, which takes too much memory to "
                "read; unpack it with `zstd -d --long=31`, or compress it again without --long."
            ) from error
        raise _damaged(path) from error


def _damaged(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} is damaged: its compressed data cannot be read to the end.")


def needs_too_much_memory(error: Exception) -> bool:
    """Return whether a frame was refused for its window (ZSTD_error_frameParameter_windowTooLarge, which only has a
    text)."""
    return "too much memory" in str(error)


def _regular(path: Path) -> io.BufferedReader:
    return open_regular(path, buffering=_PIECE)


def _compressed(start: bytes) -> bool:
    # RFC 8878: 3.1.1 a frame's magic number; 3.1.2 a skippable frame's. RFC 1952: 2.3.1 that of gzip.
    return (
        start[:2] == _GZIP
        or start[:4] == b"\x28\xb5\x2f\xfd"
        or (start[1:4] == b"\x2a\x4d\x18" and start[0] & 0xF0 == 0x50)
    )


def _split(
    path: Path, stream: BinaryIO, offset: int, longest: int, *, is_apart: bool = False, is_ended: bool = False
) -> Iterator[Line]:
    """The lines. With `is_apart`, each record of a line is a line. With `is_ended` nothing will be added to the file,
    so its last line is given in any case."""
    position, blank = offset, 0
    while data := stream.readline(longest + 1):
        start, position = position, position + len(data)
        if not data.endswith(b"\n"):
            if len(data) > longest:
                rest = _pass_line(stream)
                if rest is None:
                    if is_ended:
                        yield Line(start, position, None)
                    return
                position += rest
                yield Line(start, position, None)
                continue
            if not (is_ended or _is_object(data)):
                yield from _finished(start, position, data) if is_apart else ()
                return
        bare = _bare(data)
        if bare or (start == 0 and b"\0" in data):  # of a first line that was lost, its reader is told
            blank = 0
            yield from _apart(start, position, data, bare) if is_apart else [Line(start, position, bare)]
            continue
        blank += 1
        if blank == MOST_BLANK:
            raise InvalidInput(f"{path} has more than {MOST_BLANK:,} empty lines in a row; remove them.")


def _finished(start: int, end: int, data: bytes) -> Iterator[Line]:
    """The records of a last line that are finished: those before the last one, and that if it is an object."""
    *before, last = _apart(start, end, data, _bare(data))
    yield from before
    if before and _is_object(last.data or b""):
        yield last


def _apart(start: int, end: int, data: bytes, bare: bytes) -> Iterator[Line]:
    """The records of a line; `bare` is its `data` without what stands around it. Usually there is one."""
    begins = list(_begins(bare))
    if not begins:
        yield Line(start, end, bare)
        return
    base = start + data.find(bare)
    offsets = [start, *(base + first for first in begins), end]
    for (first, behind), (line, next_line) in zip(pairwise([0, *begins, len(bare)]), pairwise(offsets), strict=True):
        yield Line(line, next_line, _without_padding_at_end(bare[first:behind]))


def _begins(line: bytes) -> Iterator[int]:
    """The places of the objects that are not a part of what stands before them: no JSON has an object there. (In a
    string, the quotation mark of a name is escaped.)"""
    passed = 0
    for match in _OBJECT.finditer(line):
        before = _without_padding_at_end(line[passed : match.start()])
        if before and before[-1] not in _BEFORE_VALUE:
            yield match.start()
        passed = match.end() - 1  # the colon, so that an object behind it is a part


def _bare(data: bytes) -> bytes:
    """Return a line without the padding around it. A byte order mark is padding, because files were joined."""
    data = data.strip(_PADDING)
    if data.startswith(_BOM) and (padding := _PADDING_AT_START.match(data)):
        data = data[padding.end() :]
    return _without_padding_at_end(data)


def _without_padding_at_end(data: bytes) -> bytes:
    bare = data.rstrip(_PADDING)
    if bare.endswith(_BOM):
        padding = _PADDING_AT_END.match(bare[::-1])
        bare = bare[: len(bare) - (padding.end() if padding else 0)]
    return bare


def _pass_line(stream: BinaryIO, most: int | None = None) -> int | None:
    """Pass over the rest of a line, or `most` bytes of it; its length with the newline, or None where the newline is
    not there yet."""
    passed = 0
    while piece := stream.readline(_PIECE):
        passed += len(piece)
        if piece.endswith(b"\n") or (most is not None and passed >= most):
            return passed
    return None


def _is_object(data: bytes) -> bool:
    return _bare(data).startswith(b"{") and _is_json(data)


def _is_json(data: bytes) -> bool:
    try:
        json.loads(_bare(data))
    except (ValueError, RecursionError):
        return False
    return True


def _shortened(data: bytes) -> bytes:
    """A JSON object with its long parts cut; empty where `data` is none, or stays long."""
    try:
        record = json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return b""
    if not isinstance(record, dict):
        return b""
    short = json.dumps(_pruned(record), separators=(",", ":")).encode()
    return short if len(short) <= _SHORT else b""


def _pruned(value: Any, depth: int = 6) -> Any:
    """A JSON value with the same types and names, but short."""
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, list):
        return [_pruned(inner, depth - 1) for inner in value[:8]] if depth else []
    if isinstance(value, dict):
        return {name[:200]: _pruned(inner, depth - 1) for name, inner in list(value.items())[:100]} if depth else {}
    return value
