"""Detects whether a damaged log (`-wal`) holds changes that SQLite cannot see any more.

SQLite reads the frames of a log up to the first wrong checksum. It does not report the frames after it, and overwrites
them with the next change. Two things show that there were more:

- **The log itself.** The header of a frame holds the salts of the log's current generation, and, in the last frame of a
  transaction, a commit mark. Each checksum continues that of the previous frame. Two commit marks in frames that
  continue each other are two transactions, and the second began after the first had been synced. A power cut or a
  failed write leaves at most one commit mark after the valid frames, or several that do not continue each other.
- **The index of the log (`-shm`)**, if a killed process left it. It counts the committed frames, which were synced
  before.

Two cases remain invisible: the last transaction of a log without an index, and a truncated log without an index. The
formats are those of sqlite.org/fileformat2.html (4.1–4.3) and sqlite.org/walformat.html (2.1).
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from struct import unpack_from
from typing import NamedTuple

from picomem import paths
from picomem.errors import InvalidInput, NotFound
from picomem.store.file_bytes import ReadAt, opened_database, opened_log

LOG_HEADER, FRAME_HEADER = 32, 24
_BYTE_ORDERS = {0x377F0682: "little", 0x377F0683: "big"}  # of the words that are summed, by the magic number
_INDEX_HEADER = 48  # it stands there twice
_FOREIGN_FRAMES = 64  # in a row: what lies behind them is of an earlier round of the log

_Sums = tuple[int, int]


class LogIndex(NamedTuple):
    """The contents of a log's index, before SQLite rebuilds it."""

    frames: int
    salts: bytes


class _Frame(NamedTuple):
    """The header of a frame; `size` is that of the database in pages where a transaction ends, and 0 elsewhere."""

    page: int
    size: int
    salts: bytes
    sums: _Sums


class _LogPage(NamedTuple):
    number: int
    content: bytes


def read_index(path: Path) -> LogIndex | None:
    """The index of the log of a database that this process does not have open; None where none can be read."""
    try:
        with paths.open_regular(Path(f"{path}-shm"), buffering=2 * _INDEX_HEADER) as file:
            head = file.read(2 * _INDEX_HEADER)
    except (NotFound, InvalidInput, OSError):
        return None
    if len(head) < 2 * _INDEX_HEADER or head[:_INDEX_HEADER] != head[_INDEX_HEADER:] or not head[12]:
        return None  # torn, or never made
    return LogIndex(unpack_from("=I", head, 16)[0], head[32:40])


def has_lost_changes(path: Path, valid: int | None, index: LogIndex | None) -> bool:
    """Return whether the log of a database held more than its `valid` frames; None: they are counted, which takes long.

    `index` is as it was before the database was opened. Other processes may write meanwhile. Raises apsw.Error where
    the log cannot be read.
    """
    with opened_log(Path(f"{path}-wal")) as read:
        header = read(0, LOG_HEADER)
        if len(header) < LOG_HEADER:
            return False
        magic, _, page_size = unpack_from(">III", header)
        order = _BYTE_ORDERS.get(magic, sys.byteorder)
        if _checksum(header[:24], order, (0, 0)) == unpack_from(">II", header, 24):
            log = _Log(read, page_size, order, header[16:24], unpack_from(">II", header, 24))
            if valid is None:
                valid = log.count_valid()
            is_short = index is not None and index.salts == log.salts and index.frames > valid
            is_lost = (is_short or log.has_commits_after(valid)) and log.is_broken_after(valid)
        else:
            is_lost = not valid and _holds_more_than_database(path, read, order)
        # Another process may have begun the log anew meanwhile.
        return is_lost and read(0, LOG_HEADER) == header


def _holds_more_than_database(path: Path, read: ReadAt, order: str) -> bool:
    """Return whether a log whose header is damaged holds pages that the database does not.

    A power cut may tear the header when the log is begun anew, and then all that the log held is in the database.
    """
    with opened_database(path) as read_database:
        head = read_database(0, 18)
        page_size = 65536 if head[16:] == b"\0\1" else int.from_bytes(head[16:])
        if page_size < 512 or page_size.bit_count() != 1:
            return False
        salts = Counter(read(LOG_HEADER + number * (FRAME_HEADER + page_size) + 8, 8) for number in range(8))
        log = _Log(read, page_size, order, salts.most_common(1)[0][0], (0, 0))
        return any(read_database((page.number - 1) * page_size, page_size) != page.content for page in log.pages())


class _Log:
    """The frames of a log, counted from 1."""

    def __init__(self, read: ReadAt, page_size: int, order: str, salts: bytes, sums: _Sums) -> None:
        """`salts` are those of its present round, `sums` the checksum of its header."""
        self.salts = salts
        self._read = read
        self._page_size = page_size
        self._order = order
        self._sums = sums

    def count_valid(self) -> int:
        """The frames that SQLite sees: those before the first that does not continue the one before it, up to the last
        commit mark."""
        valid = 0
        for number in count(1):
            frame = self._frame(number)
            if frame is None or frame.salts != self.salts or not self._continues(number, frame):
                return valid
            if frame.size:
                valid = number
        raise AssertionError  # a log has an end

    def has_commits_after(self, valid: int) -> bool:
        """Return whether two transactions that follow each other stand behind the valid frames."""
        commits = sum(1 for _, frame in self._frames_after(valid) if frame.size and frame.salts == self.salts)
        return commits > 1 and next(self._later_commits(valid), None) is not None

    def is_broken_after(self, valid: int) -> bool:
        """Return whether the frames behind the valid ones break off before the next commit mark.

        Where they do not, SQLite counts them by now, or another process is about to begin the log anew.
        """
        for number in count(valid + 1):
            frame = self._frame(number)
            if frame is None or frame.salts != self.salts or not self._continues(number, frame):
                return True
            if frame.size:
                return False
        raise AssertionError  # a log has an end

    def pages(self) -> Iterator[_LogPage]:
        """The pages of the database as the last transaction left them that continues another."""
        *_, last = (0, *self._later_commits(0))
        size = frame.size if (frame := self._frame(last)) else 0
        numbers = {
            frame.page: number
            for number, frame in self._frames_after(0)
            if number <= last and frame.salts == self.salts and frame.page <= size
        }
        for page, number in numbers.items():
            yield _LogPage(page, self._content(number))

    def _later_commits(self, valid: int) -> Iterator[int]:
        """The frames behind the valid ones that end a transaction which continues another."""
        has_commit = False
        for number, frame in self._frames_after(valid):
            if frame.salts != self.salts or not self._continues(number, frame):
                has_commit = False
            if frame.salts == self.salts and frame.size:
                if has_commit:
                    yield number
                has_commit = True

    def _frames_after(self, valid: int) -> Iterator[tuple[int, _Frame]]:
        """The frames behind the valid ones, with their numbers, as far as this round of the log may reach."""
        foreign = 0
        for number in count(valid + 1):
            frame = self._frame(number)
            if frame is None or foreign == _FOREIGN_FRAMES:
                return
            foreign = foreign + 1 if frame.salts != self.salts else 0
            yield number, frame

    def _frame(self, number: int) -> _Frame | None:
        """The header of a frame; None where the log has no such frame, or not the whole of it."""
        head = self._read(self._offset(number), FRAME_HEADER) if number else b""
        if len(head) < FRAME_HEADER or not self._read(self._offset(number + 1) - 1, 1):
            return None
        page, size = unpack_from(">II", head)
        return _Frame(page, size, head[8:16], unpack_from(">II", head, 16))

    def _content(self, number: int) -> bytes:
        return self._read(self._offset(number) + FRAME_HEADER, self._page_size)

    def _continues(self, number: int, frame: _Frame) -> bool:
        """Return whether the checksum of a frame continues that of the frame before it."""
        before = self._frame(number - 1)
        if before is not None and before.salts != frame.salts:
            return False
        head, content = self._read(self._offset(number), 8), self._content(number)
        sums = self._sums if before is None else before.sums
        # The log may have become shorter meanwhile.
        return len(content) == self._page_size and _checksum(head + content, self._order, sums) == frame.sums

    def _offset(self, number: int) -> int:
        return LOG_HEADER + (number - 1) * (FRAME_HEADER + self._page_size)


def _checksum(content: bytes, order: str, sums: _Sums) -> _Sums:
    """The checksum of SQLite's logs over some words, continued from another."""
    words = array("I", content)
    if order != sys.byteorder:
        words.byteswap()
    first, second = sums
    pairs = iter(words)
    for even, odd in zip(pairs, pairs, strict=True):
        first = first + even + second & 0xFFFFFFFF
        second = second + odd + first & 0xFFFFFFFF
    return first, second
