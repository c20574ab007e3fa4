"""A disk that can lose its power, or fail, at any operation: a VFS for SQLite over the real one.

    SQLite → write, truncate → what everybody reads (the real file)
                             ↘ `Disk`: pending, until the file is synced → kept

What a cut leaves of a file is what was kept, and of what was pending whatever the drive came to: nothing, all of it,
the first operations, any of them, or single sectors, some of them garbled. Files are independent. A file that was
never synced may not be there at all, and one whose deletion was not synced may be back. That is the model which
SQLite's authors test against (sqlite.org/testing.html, "Crash Testing", and sqlite.org/atomiccommit.html, section 2):
a write may be torn between sectors and reordered between syncs, and touches no byte outside of it.

An image is taken without stopping the program: what the disk holds after a cut depends on nothing that comes later,
so one run gives as many cuts as wanted. `Fault` makes operations fail instead.

The -shm file is memory, not disk: SQLite's own code keeps it, and no image has it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
LOSSES = ("nothing", "everything", "the first", "any", "sectors")  # what remains of the pending operations

_Operation = tuple[int, bytes | None]  # offset and data; or the new size and None


@dataclass(slots=True)
class _File:
    kept: bytearray | None = None  # None: after a cut there is no such file
    pending: list[_Operation] = field(default_factory=list)
    deleted: bool = False

    def content(self) -> bytearray:
        """What is read now, pending operations included."""
        data = bytearray(self.kept or b"")
        for operation in self.pending:
            _apply(data, operation)
        return data


@dataclass(slots=True)
class Fault:
    """Fail the operation `at` (counted from 1 after `arm`), or with `lasting` that one and all after it.

    `hit` counts the operations that failed. `full` is a disk without room: it refuses writes and nothing else.
    """

    at: int
    full: bool = False
    lasting: bool = False
    operations: frozenset[str] = frozenset({"write", "sync", "truncate"})
    seen: int = 0
    hit: int = 0

    def check(self, operation: str) -> None:
        if operation not in (frozenset({"write"}) if self.full else self.operations):
            return
        self.seen += 1
        if self.seen != self.at and not (self.lasting and self.seen > self.at):
            return
        self.hit += 1
        raise _error(operation, self.full)


def _error(operation: str, full: bool) -> apsw.Error:
    if full:
        return apsw.FullError("no room left (made by the test)")
    error: Any = apsw.IOError(f"{operation} failed (made by the test)")
    error.extendedresult = {
        "write": apsw.SQLITE_IOERR_WRITE,
        "sync": apsw.SQLITE_IOERR_FSYNC,
        "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    }[operation]
    return error


class Disk:
    """What would be on the platter, file by file. `watch` is called before every operation, with its number."""

    def __init__(self) -> None:
        self.files: dict[str, _File] = {}
        self.operations = 0
        self.watch: Callable[[int], None] | None = None
        self.fault: Fault | None = None

    def before(self, operation: str) -> None:
        self.operations += 1
        if self.watch is not None:
            self.watch(self.operations)
        if self.fault is not None:
            self.fault.check(operation)

    def opened(self, name: str) -> None:
        """Know a file. One that was there before anybody looked is on the platter already."""
        known = self.files.get(name)
        if known is None:
            there = Path(name).read_bytes()
            self.files[name] = _File(bytearray(there) if there else None)
        elif known.deleted:
            self.files[name] = _File()

    def synced(self, name: str) -> None:
        file = self.files[name]
        if file.kept is None and name.endswith(("-wal", "-journal")):
            # With the first sync of such a file SQLite syncs its folder, and with it what was deleted there.
            for other in self.files.values():
                if other.deleted:
                    other.kept, other.pending = None, []
        file.kept, file.pending = file.content(), []

    def deleted(self, name: str, lasting: bool) -> None:
        file = self.files.get(name)
        if file is not None:
            file.deleted = True
            if lasting:
                file.kept, file.pending = None, []

    def cut(self, seed: str, folder: Path) -> None:
        """Write into `folder` what a power cut now would leave of each file; the seed decides what that is."""
        folder.mkdir()
        for name, file in self.files.items():
            rng = random.Random(f"{seed} {Path(name).name}")
            data = _left_of(file, rng)
            if data is not None:
                (folder / Path(name).name).write_bytes(data)


def _left_of(file: _File, rng: random.Random) -> bytearray | None:
    if file.deleted and rng.random() < 0.5:
        return None
    loss = rng.choice(LOSSES)
    count = {"nothing": 0, "the first": rng.randint(0, len(file.pending))}.get(loss, len(file.pending))
    if file.kept is None and (not count or rng.random() < 0.3):
        return None
    data = bytearray(file.kept or b"")
    for operation in file.pending[:count]:
        if loss == "any" and rng.random() < 0.5:
            continue
        for part in _sectors(operation, rng) if loss == "sectors" else (operation,):
            _apply(data, part)
    return data


def _sectors(operation: _Operation, rng: random.Random) -> Iterator[_Operation]:
    """The sectors of a write that arrived: most as they were written, some not at all, a few as noise."""
    offset, data = operation
    if data is None:
        if rng.random() < 0.5:
            yield operation
        return
    start = 0
    while start < len(data):
        end = min(len(data), start + SECTOR - (offset + start) % SECTOR)
        chance = rng.random()
        if chance < 0.6:
            yield offset + start, data[start:end]
        elif chance < 0.7:
            yield offset + start, rng.randbytes(end - start)
        start = end


def _apply(data: bytearray, operation: _Operation) -> None:
    offset, written = operation
    if written is None:
        del data[offset:]
        return
    if len(data) < offset:
        data.extend(bytes(offset - len(data)))
    data[offset : offset + len(written)] = written


def _below() -> str:
    """The file system under the watched one; of a sealed store not the default, which would encrypt once more."""
    return "unix" if os.environ.get("PICOMEM_STORE_KEY") else ""


class _WatchedFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename, flags: list[int]) -> None:
        super().__init__(_below(), name, flags)
        self._disk = disk
        self._name = name if isinstance(name, str) else name.filename()
        disk.opened(self._name)

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name, as those below
        self._disk.before("write")
        super().xWrite(data, offset)
        self._disk.files[self._name].pending.append((offset, bytes(data)))

    def xTruncate(self, newsize):  # noqa: N802
        self._disk.before("truncate")
        super().xTruncate(newsize)
        self._disk.files[self._name].pending.append((newsize, None))

    def xSync(self, flags):  # noqa: N802
        # The real sync is left out: here the platter is `Disk`, and the test would wait for another one.
        self._disk.before("sync")
        self._disk.synced(self._name)


class _WatchedVFS(apsw.VFS):
    def __init__(self, name: str) -> None:
        super().__init__(name, _below())
        self.disk = Disk()

    def xOpen(self, name, flags):  # noqa: N802
        if name is None:
            return super().xOpen(name, flags)  # a temporary file: nothing of it outlives a cut
        return _WatchedFile(self.disk, name, flags)

    def xDelete(self, filename, syncdir):  # noqa: N802
        self.disk.before("delete")
        super().xDelete(filename, syncdir)
        self.disk.deleted(filename, syncdir)


# For good: the layer that encrypts keeps pointers to the layers below it.
_layers: dict[str, _WatchedVFS] = {}


@contextmanager
def watched_disk(name: str) -> Iterator[Disk]:
    """A disk, with a VFS of that name in front of it for as long as the context lasts."""
    layer = _layers.get(name) or _layers.setdefault(name, _WatchedVFS(name))
    layer.disk = Disk()
    yield layer.disk
