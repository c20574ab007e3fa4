"""Opens files in a folder that others may write to, so that nothing outside it can be read through it.

A path is never passed to the system as a whole. From the folder's own descriptor, each component is opened relative
to the one before (`openat`), and a symbolic link is refused at every step (`O_NOFOLLOW`). So it does not matter what
is swapped during the walk: the opened file lies where we walked. It must then be a regular file whose one link is the
name that was opened (a hard link may lead to any file of the disk), and not too large. A FIFO or a device is opened
without waiting, recognised, and closed unread. A check of the path's text or of `realpath` alone proves nothing,
because the file may be replaced before it is opened.

If the system cannot open relative to a descriptor (Windows), the components are checked one by one, and the file is
opened by its path. Then it must be the file that was checked, and lie in the folder by its real path. Someone who
swaps folders between these steps, and swaps them back in time, can get past that; POSIX has no such gap.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import dataclass

LARGEST = 4 << 20  # bytes; a larger file is no note
DEEPEST = 16  # folders within folders
_LONGEST_NAME = 1_024  # characters of a whole name

RELATIVE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FILE = (
    os.O_RDONLY
    | _NO_LINK
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO would let us wait for its writer
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file as a folder lists it. `stamp` differs once the file was changed or replaced; `modified` is in
    nanoseconds since 1970."""

    parts: Parts
    stamp: str
    modified: int
    device: int
    inode: int


def parts_of(name: str) -> Parts:
    """The parts of a relative name as we hand it out. Raises InvalidInput for anything else.

    What is refused here could not leave the folder either; but it is no name of ours, and the sentence says so.
    """
    parts = tuple(name.split("/"))
    wrong = (
        len(name) > _LONGEST_NAME
        or not name.isprintable()
        or "\\" in name
        or len(parts) > DEEPEST
        or any(part.startswith(".") or not part for part in parts)  # "..", hidden files, an absolute path
        or (os.name == "nt" and any(":" in part or part[-1] in ". " for part in parts))  # streams, drives, aliases
    )
    if wrong:
        raise InvalidInput(
            f"“{_short(name)}” is not the path of a note; write it as memory_search does, like memory/2026-05-03.md"
        )
    return parts


def listing(folder: Path, enter: Callable[[Parts], bool], wanted: Callable[[Parts], bool]) -> Iterator[Listed]:
    """The regular files under a folder that are `wanted`, in order, from the folders in it that one may `enter`.

    Links, hidden files and names that are no line of text are passed over, and so is what cannot be read.
    """
    try:
        with _descriptor(folder) as top:
            yield from _listed(top, folder, (), enter, wanted)
    except OSError:
        return  # the folder is not there, or closed to us: there are no notes in it


def read(folder: Path, parts: Parts) -> tuple[bytes, Listed]:
    """The bytes of one file under a folder, and how it was listed when it was opened.

    Raises NotFound where there is no such file, and InvalidInput where it is none that may be read.
    """
    name = "/".join(parts)
    try:
        descriptor, status = _opened(folder, parts) if RELATIVE else _opened_by_path(folder, parts)
        try:
            data = _all_of(descriptor)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"There is no note “{_short(name)}”.") from None
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise InvalidInput(f"{_short(name)} cannot be read: {why}.") from error
    if len(data) > LARGEST:
        raise InvalidInput(f"{_short(name)} is larger than {LARGEST >> 20} MiB, the limit for a note.")
    return data, _as_listed(parts, status)


def _check(opened: os.stat_result, named: os.stat_result) -> None:
    """Return whether what was opened may be read. `named` is what its name stands for after it was opened."""
    if not stat.S_ISREG(opened.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if not os.path.samestat(opened, named):
        raise OSError(errno.EAGAIN, "it was replaced while it was opened")
    if opened.st_nlink != 1 or named.st_nlink != 1:
        raise OSError(errno.EMLINK, "it has another name elsewhere (a hard link)")


def _check_name(descriptor: int, at: int, name: str) -> None:
    """Return whether a file that was seen with one link has it here.

    A hard link could be opened and then removed, and the file elsewhere be seen with one link. Linux tells under
    which name a descriptor was opened, and that the name is gone when it is: a name that still stands stood when the
    links were counted. A removal that had only counted down by then holds the folder's lock, so reading the folder
    waits for it to finish. Elsewhere there is no such sign, and who can make and remove links to a file between two
    system calls of ours may pass.
    """
    with os.scandir(at) as entries:
        next(entries, None)
    try:
        opened, folder = (str(Path(f"/proc/self/fd/{number}").readlink()) for number in (descriptor, at))
    except FileNotFoundError:
        return  # not Linux
    if opened != f"{folder.rstrip('/')}/{name}":
        raise OSError(errno.EAGAIN, "it was replaced while it was opened")


def _all_of(descriptor: int) -> bytes:
    """The bytes of the file, up to one more than allowed, which shows that it is too large."""
    pieces: list[bytes] = []
    left = LARGEST + 1
    while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _opened(folder: Path, parts: Parts) -> tuple[int, os.stat_result]:
    at = os.open(folder, _FOLDER)
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER | _NO_LINK, dir_fd=at)
            os.close(at)
            at = below
        descriptor = os.open(parts[-1], _FILE, dir_fd=at)
        try:
            status = os.fstat(descriptor)
            _check(status, os.stat(parts[-1], dir_fd=at, follow_symlinks=False))
            _check_name(descriptor, at, parts[-1])
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor, status
    finally:
        os.close(at)


def _opened_by_path(folder: Path, parts: Parts) -> tuple[int, os.stat_result]:
    path = folder
    for part in parts:
        path = path / part
        if _is_link(os.lstat(path)):
            raise OSError(errno.ELOOP, "a link is on the way to it")
    descriptor = os.open(path, _FILE)
    try:
        status = os.fstat(descriptor)
        _check(status, os.lstat(path))
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            raise OSError(errno.ELOOP, "a link is on the way to it")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status


def _listed(
    at: int | Path, folder: Path, above: Parts, enter: Callable[[Parts], bool], wanted: Callable[[Parts], bool]
) -> Iterator[Listed]:
    with os.scandir(at) as entries:
        by_name = sorted(entries, key=lambda entry: entry.name)
    for entry in by_name:
        parts = (*above, entry.name)
        try:
            parts_of("/".join(parts))
            seen = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(seen.st_mode) and wanted(parts):
                if not RELATIVE:
                    seen = os.lstat(folder.joinpath(*parts))  # Windows lists no link count and no inode
                yield _as_listed(parts, seen)
            elif stat.S_ISDIR(seen.st_mode) and enter(parts):
                with _descriptor(entry.name if RELATIVE else folder.joinpath(*parts), at) as below:
                    yield from _listed(below, folder, parts, enter, wanted)
        except (OSError, InvalidInput):
            continue  # gone in the meantime, closed to us, or with a name that is none of ours


@contextmanager
def _descriptor(folder: str | Path, at: int | Path | None = None) -> Iterator[int | Path]:
    """A folder, open; below the top one only if it is no link. Where the system has no such thing, its path."""
    if not RELATIVE:
        if at is not None and _is_link(os.lstat(folder)):
            raise OSError(errno.ELOOP, "a link")
        yield Path(folder)
        return
    descriptor = os.open(folder, _FOLDER) if at is None else os.open(folder, _FOLDER | _NO_LINK, dir_fd=at)  # type: ignore[arg-type]
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_link(status: os.stat_result) -> bool:
    """A symbolic link, or Windows' junction and its kin."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_reparse_tag", 0))


def _as_listed(parts: Parts, status: os.stat_result) -> Listed:
    stamp = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
    return Listed(parts, stamp, status.st_mtime_ns, status.st_dev, status.st_ino)


def _short(name: str) -> str:
    shown = name if name.isprintable() else ascii(name)[1:-1]
    return shown if len(shown) <= 80 else shown[:80] + "…"
