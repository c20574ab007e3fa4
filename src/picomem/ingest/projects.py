"""Names the project of a session: by the repository of the folder in which it began, or by the folder itself.

The repository is that of the nearest folder above with a `.git`. A linked worktree belongs to its repository, and a
clone to the project of the first clone that was seen, because their remote is the same. The store keeps with each
transcript its folder, its project and its repository; so a folder that is gone keeps its project as well.

Three small files are read: `.git` where it is a file, the pointer back from the repository, without which nothing else
that the file names is opened, and `config`. So a forged file can name another project, as the folder itself can, but
cannot lead to another file.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from picomem.light_dataclass import dataclass
from picomem.records.episode import KnownFolder

_LONGEST_NAME = 200  # characters
_LONGEST_POINTER = 4_096  # bytes of a `.git` file
_LONGEST_CONFIG = 64 * 1024
_LONGEST_REPOSITORY = 300  # characters
_DEEPEST = 64  # folders between a repository and one of its folders
_POINTER = b"gitdir:"
_REMOTE = r'\[remote "([^"\n]{1,100})"\]'
_URL = r"url\s*=\s*(\S{1,500})"
_WITH_SCHEME = r"(?i)[a-z][a-z0-9+.-]{1,20}://(?:[^/@\s]*@)?([^/:\s]+)(?::\d+)?/(.+)"
_LIKE_SCP = r"(?:[^/@:\s]+@)?([\w.-]+):(?![/\\]{2})(.+)"
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO would let us wait for its writer
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on this machine: its name, its main folder, and what clones of it share: the remote, or else the
    path of git's common folder."""

    name: str
    folder: str
    identity: str


class ProjectNames:
    """Names the projects of the sessions that are read one after the other; `read_known` reads what the store knows."""

    def __init__(self, read_known: Callable[[], list[KnownFolder]]) -> None:
        self._read_known = read_known
        self._known: list[KnownFolder] | None = None
        self._named: dict[str, KnownFolder] = {}

    def of(self, cwd: str) -> KnownFolder:
        """A folder with its project and its repository."""
        if cwd not in self._named:
            self._known = self._read_known() if self._known is None else self._known
            self._named[cwd] = KnownFolder(cwd, *project_and_repository(cwd, self._known))
            self._known.append(self._named[cwd])
        return self._named[cwd]


def project_of(cwd: str, known: Iterable[KnownFolder] = ()) -> str:
    """The project of a session that began in this folder; empty where no folder is known."""
    return project_and_repository(cwd, known)[0]


def project_and_repository(cwd: str, known: Iterable[KnownFolder] = ()) -> tuple[str, str]:
    """The project of a session that began in this folder, and the identity of its repository; empty where there is
    none. `known` are the folders of the sessions that were read before, the first one first."""
    if not cwd:
        return "", ""
    repository = _repository_of(cwd)
    folders = list(known)
    if repository:
        name = _known_project(repository, folders) or repository.name
    else:
        path = PureWindowsPath(cwd) if "\\" in cwd else PurePosixPath(cwd)
        name = _project_of_gone(cwd, folders) or path.name
    return "".join(char if char.isprintable() else " " for char in name[:_LONGEST_NAME]), (
        repository.identity if repository else ""
    )


def _known_project(repository: Repository, known: list[KnownFolder]) -> str:
    """The project that sessions of the repository have; what its main folder has had from the beginning stays."""
    same_folder = (folder.project for folder in known if folder.cwd == repository.folder)
    same_remote = (folder.project for folder in known if folder.repository == repository.identity)
    return next(same_folder, "") or next(same_remote, "")


def _project_of_gone(cwd: str, known: list[KnownFolder]) -> str:
    """The project of a folder that is there no more, if it was in a repository when a session was read."""
    if not known or not _is_local(cwd) or Path(cwd).exists():
        return ""
    above = [cwd, *map(str, PurePath(cwd).parents)]
    projects = {folder.cwd: folder.project for folder in reversed(known) if folder.repository}
    return next((projects[path] for path in above if path in projects), "")


def _repository_of(cwd: str) -> Repository | None:
    """The repository that a folder is in. The home folder as a repository, of settings mostly, has no other folders."""
    if not _is_local(cwd):
        return None
    home = PurePath(os.environ.get("HOME") or os.environ.get("USERPROFILE") or "/")
    for number, folder in enumerate((PurePath(cwd), *PurePath(cwd).parents)):
        if number >= _DEEPEST or (number and folder in (home, PurePath(folder.anchor))):
            return None
        pointer = _small_file(folder / ".git", _LONGEST_POINTER)
        if pointer:
            return _linked(folder, pointer)
        if config := _small_file(folder / ".git" / "config", _LONGEST_CONFIG):
            return _repository(folder.name, str(folder), str(folder / ".git"), config)
    return None


def _linked(folder: PurePath, pointer: bytes) -> Repository:
    """The repository of a folder with a `.git` file: a worktree's, or the folder itself, such as a submodule."""
    name, common = repository_of_pointer(str(folder), pointer)
    if not name:
        return Repository(folder.name, str(folder), str(folder))
    main = str(common.parent) if common.name.startswith(".") else str(common)
    own = PurePath(os.path.normpath(PurePath(folder, _target(pointer))))
    back = _small_file(own / "gitdir", _LONGEST_POINTER).strip().decode("utf-8", "replace")
    is_mutual = _is_local(str(own)) and back and os.path.normpath(PurePath(own, back)) == str(folder / ".git")
    return _repository(name, main, str(common), _small_file(common / "config", _LONGEST_CONFIG) if is_mutual else b"")


def _repository(name: str, folder: str, common: str, config: bytes) -> Repository:
    remote = remote_of(config.decode("utf-8", "replace")) if len(config) <= _LONGEST_CONFIG else ""
    return Repository(name, folder, (remote or common)[:_LONGEST_REPOSITORY])


def repository_of_pointer(cwd: str, git_file: bytes) -> tuple[str, PurePath]:
    """The name of the repository that a worktree's `.git` file points into, and git's common folder; an empty name
    where it is no worktree's. Pure.

    Git writes `gitdir: REPOSITORY/.git/worktrees/NAME`, or `BARE.git/worktrees/NAME` for a bare repository; the path
    may be relative to the worktree.
    """
    if not git_file.startswith(_POINTER) or len(git_file) > _LONGEST_POINTER:
        return "", PurePath(cwd)
    own_folder = PurePath(os.path.normpath(PurePath(cwd, _target(git_file))))
    if own_folder.parent.name != "worktrees":  # a submodule's lies in `modules`
        return "", PurePath(cwd)
    common = own_folder.parent.parent
    return common.parent.name if common.name.startswith(".") else common.name.removesuffix(".git"), common


def remote_of(config: str) -> str:
    """The remote of a repository by its configuration: `origin`, or else the first, as host and path; empty where there
    is none. The scheme, the user, a password and the port are left out. Pure."""
    remotes: dict[str, str] = {}
    section = ""
    for line in map(str.strip, config.splitlines()):
        if line.startswith("["):
            named = re.match(_REMOTE, line)
            section = named[1] if named else ""
        elif section and (url := re.match(_URL, line)):
            remotes.setdefault(section, url[1])
    url = remotes.get("origin") or next(iter(remotes.values()), "")
    if match := re.match(_WITH_SCHEME, url) or re.match(_LIKE_SCP, url):
        path = re.split(r"[?#]", match[2])[0].strip("/").removesuffix(".git")
        return f"{match[1].lower()}/{path}"
    return url.removeprefix("file://").rstrip("/").removesuffix(".git") if url.startswith(("/", "file:///")) else ""


def _target(git_file: bytes) -> str:
    return git_file.removeprefix(_POINTER).strip().decode("utf-8", "replace")


def _is_local(path: str) -> bool:
    """Return whether a path is absolute and of this machine; two leading slashes or backslashes may name another."""
    return PurePath(path).is_absolute() and not path.startswith(("//", "\\\\")) and "\0" not in path


def _small_file(path: PurePath, most: int) -> bytes:
    """The beginning of a file; nothing where it is no regular file."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):  # ValueError: no name of a file
        return b""
    try:
        is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, most + 1) if is_regular else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
