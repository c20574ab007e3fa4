"""Names the project of a session: by the folder in which it began, or by the repository of a linked git worktree.

Only one small file of the folder is read, `.git`. Paths in it are treated as text and not opened. So a forged file can
name another project, as the folder itself can, but cannot lead to another file. A folder that no longer exists, or is
on another machine, names its project by its path alone.
"""

from __future__ import annotations

import os
import stat
from pathlib import PurePath, PurePosixPath, PureWindowsPath

_LONGEST_NAME = 200  # characters
_LONGEST_POINTER = 4_096  # bytes of a `.git` file
_POINTER = b"gitdir:"
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO would let us wait for its writer
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


def project_of(cwd: str) -> str:
    """The project of a session that began in this folder; empty where no folder is known."""
    if not cwd:
        return ""
    path = PureWindowsPath(cwd) if "\\" in cwd else PurePosixPath(cwd)
    name = repository_name(cwd, _git_file(cwd)) or path.name
    return "".join(char if char.isprintable() else " " for char in name[:_LONGEST_NAME])


def repository_name(cwd: str, git_file: bytes) -> str:
    """The name of the repository that a worktree's `.git` file points into; empty where it is no worktree's. Pure.

    Git writes `gitdir: REPOSITORY/.git/worktrees/NAME`, or `BARE.git/worktrees/NAME` for a bare repository; the path
    may be relative to the worktree.
    """
    if not git_file.startswith(_POINTER) or len(git_file) > _LONGEST_POINTER:
        return ""
    pointer = git_file.removeprefix(_POINTER).strip().decode("utf-8", "replace")
    own_folder = PurePath(os.path.normpath(PurePath(cwd, pointer)))
    if own_folder.parent.name != "worktrees":  # a submodule's lies in `modules`
        return ""
    common = own_folder.parent.parent
    return common.parent.name if common.name.startswith(".") else common.name.removesuffix(".git")


def _git_file(cwd: str) -> bytes:
    """The beginning of the folder's `.git` file; nothing where it is no regular file of this machine."""
    # A path with two leading slashes or backslashes may name another machine.
    if not PurePath(cwd).is_absolute() or cwd.startswith(("//", "\\\\")):
        return b""
    try:
        descriptor = os.open(PurePath(cwd, ".git"), _FLAGS)
    except (OSError, ValueError):  # ValueError: no name of a file
        return b""
    try:
        is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _LONGEST_POINTER + 1) if is_regular else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
