"""The exports of chat services: a `conversations.json`, alone or in the zip archive in which it comes.

The file is one array with a conversation an element, and may have gigabytes. So it is read element by element, with a
scanner that knows strings and brackets; only the conversation at hand is parsed. A conversation that is too long is
passed over. Of an archive only the members of these names are unpacked, as streams and within a bound; nothing is
written, and no path in it is followed.

A turn's place is the offset of its conversation and its number in there: a message has no place of its own, because
services write messages in another order than they were said.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from picomem.errors import InvalidInput
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, record_of
from picomem.paths import open_regular

LARGEST = 2 << 30  # bytes of a file, and of what its members unpack to
LONGEST = 64 << 20  # bytes of a conversation
_MOST_UNPACKED = 200  # times the size of a packed member: text is packed to a tenth, bombs to a thousandth
_MEMBER = re.compile(r"(?:[^/\\.][^/\\]{0,199}/){0,3}conversations(?:-\d{1,4})?\.json")
_CHUNK = 1 << 18
_START = 1 << 16
_TOKEN = re.compile(rb'["\\\[\]{}]')
_ZIP = b"PK\x03\x04"


class ExportedConversation(NamedTuple):
    """A conversation and where it begins; None for one that is too long, or no JSON object."""

    offset: int
    record: Record | None

    def line(self, number: int) -> Line:
        """The place of a turn in it."""
        return Line(self.offset + number, self.offset + number + 1, b"")


def begins_with(path: Path, head: bytes, name: bytes) -> bool:
    """Return whether a file is an array of objects the first of which has that field, or an archive with one."""
    if head.startswith(_ZIP):
        try:
            with _members(path) as members:
                head = next(members, io.BytesIO()).read(_START)
        except InvalidInput:
            return False
    return re.match(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{", head) is not None and name in head


def conversations(path: Path) -> Iterator[ExportedConversation]:
    """The conversations of an export. Raises NotFound, and InvalidInput where it is not whole."""
    with _members(path) as members:
        base = 0
        for member in members:
            size = 0
            for offset, end, data in _elements(path, member):
                yield ExportedConversation(base + offset, None if data is None else record_of(data))
                size = end
            base += size + 1


@contextmanager
def _members(path: Path) -> Iterator[Iterator[BinaryIO]]:
    """The array in a file, or those in an archive. Raises NotFound and InvalidInput."""
    with open_regular(path) as file:
        if file.seek(0, io.SEEK_END) > LARGEST:
            raise InvalidInput(f"{path} is larger than {LARGEST >> 20:,} MiB; split it.")
        file.seek(0)
        if not file.peek(4).startswith(_ZIP):
            yield iter([file])
            return
        try:
            with zipfile.ZipFile(file) as archive:
                yield _unpacked(path, archive)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise InvalidInput(f"{path} is damaged, encrypted or packed in an unknown way; unpack it.") from error


def _unpacked(path: Path, archive: zipfile.ZipFile) -> Iterator[BinaryIO]:
    entries = sorted(
        (entry for entry in archive.infolist() if _MEMBER.fullmatch(entry.filename)), key=lambda entry: entry.filename
    )
    if not entries:
        raise InvalidInput(f"{path} holds no conversations.json; name the archive that the service sent.")
    unpacked, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    if unpacked > LARGEST or unpacked > max(_START, packed * _MOST_UNPACKED):
        raise InvalidInput(f"{path} would unpack to {unpacked >> 20:,} MiB, which is no export of conversations.")
    for entry in entries:
        with archive.open(entry) as member:
            yield cast(BinaryIO, member)


def _elements(path: Path, stream: BinaryIO) -> Iterator[tuple[int, int, bytes | None]]:
    """The objects of an array: where each begins and ends, and its bytes; None for one that is too long."""
    depth = read = start = 0
    strings = _Strings()
    kept: bytearray | None = None
    while chunk := stream.read(_CHUNK):
        taken = 0  # of this chunk, into the object at hand
        for token in _TOKEN.finditer(chunk):
            at, sign = read + token.start(), token.group()
            if strings.hold(at, sign):
                continue
            if sign in b"[{":
                depth += 1
                if depth == 2:
                    start, taken, kept = at, token.start(), bytearray()
            elif sign in b"]}":
                depth -= 1
                if depth == 1:
                    whole = _lengthened(kept, chunk[taken : token.end()])
                    yield start, at + 1, None if whole is None else bytes(whole)
                    kept = None
                elif depth <= 0:
                    return
        kept = _lengthened(kept, chunk[taken:])
        read += len(chunk)
    raise InvalidInput(f"{path} is not a whole export of conversations; download it again.")


class _Strings:
    """Knows which signs of JSON stand in a string."""

    def __init__(self) -> None:
        self._is_inside = False
        self._escaped = -1  # the place of a character that a backslash takes the meaning of

    def hold(self, at: int, sign: bytes) -> bool:
        """Return whether the next sign is a part of a string, or one of its quotation marks."""
        if not self._is_inside:
            self._is_inside = sign == b'"'
            return self._is_inside
        if at != self._escaped:
            self._escaped = at + 1 if sign == b"\\" else self._escaped
            self._is_inside = sign != b'"'
        return True


def _lengthened(kept: bytearray | None, piece: bytes) -> bytearray | None:
    """The beginning of an object, lengthened by what follows; None where there is none, or it is too long."""
    if kept is None or len(kept) + len(piece) > LONGEST:
        return None
    kept += piece
    return kept
