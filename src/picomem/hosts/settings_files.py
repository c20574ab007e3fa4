"""Reads and replaces a host's settings file: under a lock, in one step, with a backup copy beside it.

Hosts write these files too, without our lock. So a file that changed after it was read is read again before it is
replaced.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from picomem.errors import Conflict, InvalidInput, NotFound
from picomem.paths import make_private_dir, read_regular, size_shown, status_of, sync_folder

BACKUP_ENDING = ".picomem-backup"
_LARGEST = 64 << 20
_LOCK_SECONDS = 10.0
_TRIES = 5


def read_settings(path: Path) -> str | None:
    """The text of a file; None where there is no file. Raises InvalidInput."""
    content = _content(path)
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InvalidInput("it is not UTF-8") from None


def check_writable(path: Path) -> None:
    """Raise InvalidInput where replacing a file would go against its owner's wish, although the system permits it: the
    owner made the file read-only, or gave it a second hard link, which would keep the old text."""
    status = status_of(path)
    if status is None:
        return
    if not status.st_mode & 0o222:
        raise InvalidInput("it is read-only; make it writable first")
    if status.st_nlink > 1:
        raise InvalidInput("it has another hard link, which would keep the old text; make that a symbolic link first")


def backup_of(path: Path) -> Path:
    """Return where the copy of a file stands that was made before the first change."""
    return path.with_name(path.name + BACKUP_ENDING)


def replace_settings(
    path: Path, edit: Callable[[str | None], str | None], keeps_copy: Callable[[str], bool], *, is_private: bool
) -> tuple[str | None, str | None]:
    """Replace the text of a file by `edit(text)`; None stands for no file. What was there, and what is there now.

    `keeps_copy(text)` says whether to keep a copy of the text that is replaced. A new file is `is_private` to its
    owner, or as the umask says. A link is followed. Raises InvalidInput, Conflict, and what `edit` raises.
    """
    target = Path(os.path.realpath(path))
    for _ in range(_TRIES):
        with _locked_folder(target.parent, makes=edit(read_settings(path)) is not None, is_private=is_private):
            for changed in (target, backup_of(path)):
                _remove_spares(changed)
            before = read_settings(target)
            after = edit(before)
            if after == before:
                return before, after
            check_writable(target)
            if before is not None and keeps_copy(before):
                _write(backup_of(path), before.encode(), _mode(target), lambda: True)
            if _replace(target, before, after, is_private):
                return before, after
    raise Conflict("another program keeps changing it; close that program and try again")


def remove_backup(path: Path) -> None:
    """Remove the copy of a file."""
    backup_of(path).unlink(missing_ok=True)


def remove_empty_folder(folder: Path) -> None:
    """Remove a folder that holds nothing."""
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise InvalidInput(f"{folder} cannot be removed: {error.strerror}.") from error


def _content(path: Path) -> bytes | None:
    try:
        too_large = f"it is larger than {size_shown(_LARGEST)}; make it smaller first"
        return read_regular(path, most=_LARGEST, too_large=too_large)
    except NotFound:
        return None


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _replace(target: Path, before: str | None, after: str | None, is_private: bool) -> bool:
    """Put a text in the place of another; False where another program changed the file since."""

    def is_unchanged() -> bool:
        return _content(target) == (None if before is None else before.encode())

    try:
        if after is not None:
            mode = _mode(target) if before is not None else 0o600 if is_private else 0o666 & ~_umask()
            return _write(target, after.encode(), mode, is_unchanged)
        if is_unchanged():
            target.unlink()
            return True
        return False
    except OSError as error:
        raise InvalidInput(f"it cannot be written: {error.strerror}") from error


def _write(path: Path, content: bytes, mode: int, may_replace: Callable[[], bool]) -> bool:
    """Write a file in one step: a reader sees the old one or the new one, and so does a machine after a power cut."""
    spare = path.with_name(f"{_spare_prefix(path)}{os.getpid()}")
    try:
        spare.unlink(missing_ok=True)
        with open(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
            file.write(content)
            spare.chmod(mode)
            file.flush()
            os.fsync(file.fileno())
        if not may_replace():
            return False
        spare.replace(path)
    finally:
        spare.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def _spare_prefix(path: Path) -> str:
    return f".{path.name}.picomem-"


def _remove_spares(path: Path) -> None:
    """Remove the unfinished files that killed processes left. The lock is held, so no running process needs them."""
    prefix = _spare_prefix(path)
    for spare in path.parent.glob(f"{glob.escape(prefix)}*"):
        if spare.name.removeprefix(prefix).isdecimal():
            with suppress(OSError):  # it is in nobody's way
                spare.unlink()


def _make_folder(folder: Path, is_private: bool) -> None:
    if is_private:
        make_private_dir(folder)
    else:
        folder.mkdir(parents=True, exist_ok=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def _locked_folder(folder: Path, *, makes: bool, is_private: bool) -> Iterator[None]:
    """Hold a lock on a folder, which is made where that is asked for. No file of a lock is left behind."""
    if os.name != "posix":  # pragma: no cover - there, only the look before a file is replaced protects it
        if makes:
            _make_folder(folder, is_private)
        yield
        return
    try:
        descriptor = _lock(folder, makes=makes, is_private=is_private)
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)
    except OSError as error:
        raise InvalidInput(f"it cannot be written: {error.strerror}") from error


def _lock(folder: Path, *, makes: bool, is_private: bool) -> int | None:
    """Open and lock a folder; None where there is none and none is to be made. Raises OSError, or Conflict."""
    import fcntl  # noqa: PLC0415 - not on Windows

    deadline = time.monotonic() + _LOCK_SECONDS
    while makes or folder.is_dir():
        if makes:
            _make_folder(folder, is_private)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        is_held = False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_held = folder.is_dir() and os.path.samestat(folder.stat(), os.fstat(descriptor))
            if is_held:
                return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Conflict(f"another program holds the lock of {folder}; try again when it has ended") from None
            time.sleep(0.02)
        finally:
            if not is_held:
                os.close(descriptor)
    return None
