"""The daily note, `memory/YYYY-MM-DD.md` of a workspace: it receives what should be kept while the store is down.

Others may write in that folder too, so the file is opened as `safe_opening.py` does it: one path component at a time,
from the folder's own descriptor, never through a link. It must be a regular file with no other name. Text is only
ever appended, in one write, so that two processes do not mix their lines.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.notes.safe_opening import RELATIVE

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_APPEND = (
    os.O_WRONLY
    | os.O_APPEND
    | os.O_CREAT
    | _NO_LINK
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO would let us wait for its reader
    | getattr(os, "O_CLOEXEC", 0)
)


def append(workspace: Path, day: str, text: str) -> str:
    """Append a text, which is redacted already, to the note of a day; its path in the workspace.

    Raises InvalidInput where that cannot be done, or a link stands on the way.
    """
    name = f"memory/{day}.md"
    try:
        if RELATIVE:
            _append_relative(workspace, f"{day}.md", text)
        else:
            _append_by_path(workspace, f"{day}.md", text)
    except OSError as error:
        why = "a link is on the way to it" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror
        raise InvalidInput(f"{name} in {workspace} cannot be written: {why}.") from error
    return name


def is_writable(workspace: Path) -> bool:
    """Return whether anything can be stored in a workspace. A folder that is not there is no workspace."""
    return workspace.is_dir() and os.access(workspace, os.W_OK | os.X_OK)


def _append_relative(workspace: Path, name: str, text: str) -> None:
    top = os.open(workspace, _FOLDER)
    try:
        with suppress(FileExistsError):  # or something else of that name, which is refused below
            os.mkdir("memory", 0o700, dir_fd=top)
        at = os.open("memory", _FOLDER | _NO_LINK, dir_fd=top)
    finally:
        os.close(top)
    try:
        descriptor = os.open(name, _APPEND, 0o600, dir_fd=at)
    finally:
        os.close(at)
    _write(descriptor, text)


def _append_by_path(workspace: Path, name: str, text: str) -> None:
    folder = workspace / "memory"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    if folder.is_symlink() or path.is_symlink():
        raise OSError(errno.ELOOP, "a link is on the way to it")
    _write(os.open(path, _APPEND, 0o600), text)


def _write(descriptor: int, text: str) -> None:
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_nlink != 1:
            raise OSError(errno.EMLINK, "it has another name elsewhere (a hard link)")
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
