"""Names the project of a session: an identity, and the name that people see.

The identity is the repository of the nearest folder above with a `.git`: its remote, as the server finds it; or else
the real path of git's common folder. A folder without a repository is its own project, known by its real path. So
clones and worktrees of one repository are one project, and a fork under another owner is another one. An identity is in
composed Unicode (NFC), because macOS writes one name in two forms.

Of a remote the scheme, a password and a usual port are left out, so that a clone over HTTPS and one over SSH are the
same. Another port stays, and the user of a path that begins in a home folder: both lead to other repositories. Aliases
(`insteadOf`) of the repository and of the user's `.gitconfig` are replaced. A remote of a helper (`ext::…`), which may
lead anywhere, is none.

The name is that of the folder. A second identity of the same name gets a name with the end of its identity:
`workdir (acme/alpha)`. The store keeps with each transcript its folder, its project's name and its identity
(`KnownFolder`), so a name belongs to the identity that had it first, and a folder that is gone keeps its project.

Four small files are read: the user's `.gitconfig`; `.git` where it is a file; the pointer back from the repository (a
worktree's `gitdir`, a submodule's `core.worktree`), without which the folder is its own project; and `config`. What
lies within the folder is its own, as a `.git` folder is. A `.git` that is a link is not followed: anybody can make one
to a repository that is not theirs.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from picomem.blake2b import blake2b
from picomem.errors import Conflict
from picomem.light_dataclass import dataclass
from picomem.paths import is_local, real_path
from picomem.records.episode import KnownFolder

_LONGEST_NAME = 200  # characters
_LONGEST_POINTER = 4_096  # bytes of a `.git` file
_LONGEST_CONFIG = 64 * 1024
_LONGEST_REPOSITORY = 300  # characters
_DEEPEST = 64  # folders between a repository and one of its folders
_POINTER = b"gitdir:"
_REMOTE = r'\[remote "([^"\n]{1,100})"\]'
_CORE = r"\[(core)\]"
_ALIASED = r'(?i)\[url "([^"\n]{1,500})"\]'
_VALUE = r'[^=]+=((?:[^"\\#;]|\\.|"(?:[^"\\]|\\.)*")*)(?:[#;].*)?'
_HELPER = r"\w+::"
_WITH_SCHEME = r"(?i)([a-z][a-z0-9+.-]{1,20})://(?:([^/@:\s]*)(?::[^/@\s]*)?@)?([^/:\s]+)(?::(\d*))?/(.+)"
_LIKE_SCP = r"(?:([^/@:\s]+)@)?([\w.-]+):(?![/\\]{2})(.+)"
_USUAL_PORTS = {"ssh": "22", "git+ssh": "22", "ssh+git": "22", "git": "9418", "http": "80", "https": "443"}
_SHARED_USERS = ("", "git")  # of a server that gives everybody the same paths
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO would let us wait for its writer
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on this machine: its name, its main folder, git's common folder, and its identity: the remote, or
    else the common folder."""

    name: str
    folder: str
    common: str
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

    def known_folder(self, fits: Callable[[str], bool]) -> str:
        """The folder of known sessions that fits, if only one does; otherwise an empty string."""
        self._known = self._read_known() if self._known is None else self._known
        fitting = {folder.cwd for folder in self._known if folder.cwd and fits(folder.cwd)}
        return fitting.pop() if len(fitting) == 1 else ""


def project_of(cwd: str, known: Iterable[KnownFolder] = ()) -> str:
    """The project of a session that began in this folder; empty where no folder is known."""
    return project_and_repository(cwd, known)[0]


def project_and_repository(cwd: str, known: Iterable[KnownFolder] = ()) -> tuple[str, str]:
    """The name of the project of a session that began in this folder, and its identity; empty where that is the folder
    itself. `known` are the folders of the sessions that were read before, the first one first."""
    if not cwd:
        return "", ""
    folders = list(known)
    real = real_path(cwd)
    if repository := _repository_of(real):
        identity, name = repository.identity, repository.name
        # Before it had a remote, or was a repository, the same place had these.
        identities = {identity, repository.common, repository.folder, _composed(repository.folder)}
    elif gone := _known_above(cwd, folders):
        identity, name, identities = gone.repository, plain_name(gone.project, {gone.repository}), {gone.repository}
    else:
        identity, name, identities = _bounded(real), _folder_name(real), {_bounded(real), real}
    if not name:
        return "", ""
    name = unicodedata.normalize("NFC", name)
    return project_name(name, identity, identities, folders), identity if identity != cwd else ""


def project_name(name: str, identity: str, identities: set[str], known: list[KnownFolder]) -> str:
    """The name of the project with this identity: the one that it has, or else the shortest that is free. Pure.

    `identities` are those that the same place had before, and the present one: what was said there before it had a
    remote belongs to the first one.
    """
    owners = owners_of_names(known)
    for folder in known:
        if folder.identity == identity and identity in owners[folder.project]:
            return folder.project
    for folder in known:
        if folder.identity in identities and owners[folder.project] <= identities:
            return folder.project
    name = "".join(char if char.isprintable() else " " for char in name[:_LONGEST_NAME])
    taken = owners.keys() | _plain_names(owners).values()
    return next(candidate for candidate in _candidates(name, identity) if candidate not in taken)


def owners_of_names(known: Iterable[KnownFolder]) -> dict[str, set[str]]:
    """The identities that each name of a project belongs to. Pure.

    They are the first identity that had it, and later ones of the same place up to its first remote. Another identity
    that has the name as well, because two processes read its first sessions at once, does not own it.
    """
    owners: dict[str, set[str]] = {}
    places: dict[str, tuple[str, set[str]]] = {}
    for folder in known:
        place, cwds = places.setdefault(folder.project, (folder.identity.removesuffix("/.git"), {folder.cwd}))
        owned, without_remote = owners.setdefault(folder.project, {folder.identity}), {place, f"{place}/.git"}
        is_there = folder.cwd in cwds or f"{folder.cwd}/".startswith(f"{place}/")
        if is_there and (folder.identity in without_remote or owned <= without_remote):
            owned.add(folder.identity)
            cwds.add(folder.cwd)
    return owners


def shown_names(known: Iterable[KnownFolder]) -> dict[str, str]:
    """The names that people see where they are others than those that the store holds: of two projects of one name the
    first is told apart from the second as well. Pure."""
    folders = list(known)
    names = owners_of_names(folders)
    shared = {plain for name, plain in _plain_names(names).items() if plain != name}
    shown: dict[str, str] = {}
    for folder in folders:
        if folder.project in shared and folder.project not in shown:
            others = (other for other in _candidates(folder.project, folder.identity) if other != folder.project)
            shown[folder.project] = next(other for other in others if other not in names)
    return shown


def stored_name(name: str, known: list[KnownFolder]) -> str:
    """The name that the store holds for the name of a project that a person gave; one that nothing fits stays as it is.
    Pure. Raises Conflict where several projects fit."""
    names = owners_of_names(known)
    if name in names:
        return name
    fitting = [stored for stored, shown in shown_names(known).items() if shown == name]
    fitting = fitting or [stored for stored, plain in _plain_names(names).items() if plain == name]
    if len(fitting) > 1:
        raise Conflict(f"Several projects are called “{name}”: {', '.join(sorted(fitting))}; give one of these names.")
    return fitting[0] if fitting else name


def _candidates(name: str, identity: str) -> Iterator[str]:
    yield name
    parts = [part for part in re.split(r"[/\\]", identity.removesuffix("/.git")) if part]
    for count in range(min(2, len(parts)), len(parts) + 1):
        about = "".join(char if char.isprintable() else " " for char in "/".join(parts[-count:]))
        if len(name) + len(about) + 3 <= _LONGEST_NAME:
            yield f"{name} ({about})"
    for length in (8, 16, 32):
        yield f"{name[: _LONGEST_NAME - 35]} ({_digest(identity)[:length]})"


def _bounded(identity: str) -> str:
    """An identity that a row holds, composed; of a longer one the beginning and a digest."""
    identity = _composed(identity)
    is_short = len(identity) <= _LONGEST_REPOSITORY
    return identity if is_short else f"{identity[: _LONGEST_REPOSITORY - 33]} {_digest(identity)}"


def _composed(path: str) -> str:
    """A path in composed Unicode, unless another folder has that name."""
    composed = unicodedata.normalize("NFC", path)
    if composed == path or not is_local(path):
        return composed
    try:
        return composed if Path(path).samefile(composed) else path
    except OSError:  # one of the two is not there
        return composed


def _digest(identity: str) -> str:
    return blake2b(identity.encode("utf-8", "replace"), digest_size=16).hexdigest()


def plain_name(project: str, identities: Iterable[str]) -> str:
    """The name of a project without what tells it, by one of its identities, from others of its name. Pure."""
    plain = (project[: match.start()] for match in re.finditer(r" \(", project))
    return next((name for name in plain for identity in identities if project in _candidates(name, identity)), project)


def _plain_names(owners: dict[str, set[str]]) -> dict[str, str]:
    return {name: plain_name(name, identities) for name, identities in owners.items()}


def _folder_name(cwd: str) -> str:
    return (PureWindowsPath(cwd) if "\\" in cwd else PurePosixPath(cwd)).name


def _known_above(cwd: str, known: list[KnownFolder]) -> KnownFolder | None:
    """What is known of a folder that is there no more, if it was in a repository when a session was read."""
    if not known or not is_local(cwd) or Path(cwd).exists():
        return None
    folders = {unicodedata.normalize("NFC", folder.cwd): folder for folder in reversed(known) if folder.repository}
    path = PurePath(unicodedata.normalize("NFC", cwd))
    return next((folders[str(above)] for above in (path, *path.parents) if str(above) in folders), None)


def _repository_of(cwd: str) -> Repository | None:
    """The repository that a folder is in. The home folder as a repository, of settings mostly, has no other folders."""
    if not is_local(cwd):
        return None
    home = PurePath(real_path(os.environ.get("HOME") or os.environ.get("USERPROFILE") or "/"))
    for number, folder in enumerate((PurePath(cwd), *PurePath(cwd).parents)):
        if number >= _DEEPEST or (number and folder in (home, PurePath(folder.anchor))):
            return None
        if os.path.islink(folder / ".git"):  # noqa: PTH114  # a `Path` raises for a name that is too long
            return _own_repository(folder)
        if pointer := _small_file(folder / ".git", _LONGEST_POINTER):
            return _linked(folder, pointer)
        if config := _small_file(folder / ".git" / "config", _LONGEST_CONFIG):
            return _repository(folder.name, str(folder), str(folder / ".git"), config)
    return None


def _linked(folder: PurePath, pointer: bytes) -> Repository:
    """The repository of a folder with a `.git` file, if that points back: a worktree's, or the folder's own one, which
    lies elsewhere as a submodule's does; or else the folder itself."""
    own = os.path.normpath(PurePath(folder, _target(pointer)))
    if not pointer.startswith(_POINTER) or not is_local(own):
        return _own_repository(folder)
    name, common = repository_of_pointer(str(folder), pointer)
    if name:
        back = _small_file(PurePath(own, "gitdir"), _LONGEST_POINTER).strip().decode("utf-8", "replace")
        if not back or os.path.realpath(PurePath(own, back)) != str(folder / ".git"):
            return _own_repository(folder)
        common = PurePath(os.path.realpath(common))
        main = str(common.parent) if common.name.startswith(".") else str(common)
        return _repository(name, main, str(common), _small_file(common / "config", _LONGEST_CONFIG))
    config = _small_file(PurePath(own, "config"), _LONGEST_CONFIG)
    back = next((value for _, value in _values_of(config.decode("utf-8", "replace"), _CORE, "worktree")), "")
    points_back = back and os.path.realpath(PurePath(own, back)) == str(folder)
    if config and (points_back or PurePath(os.path.realpath(own)).is_relative_to(folder)):
        return _repository(folder.name, str(folder), os.path.realpath(own), config)
    return _own_repository(folder)


def _own_repository(folder: PurePath) -> Repository:
    return Repository(folder.name, str(folder), _bounded(str(folder)), _bounded(str(folder)))


def _repository(name: str, folder: str, common: str, config: bytes) -> Repository:
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    users = _small_file(PurePath(home, ".gitconfig"), _LONGEST_CONFIG) if home else b""
    is_whole = max(len(config), len(users)) <= _LONGEST_CONFIG
    remote = remote_of(*(text.decode("utf-8", "backslashreplace") for text in (config, users))) if is_whole else ""
    return Repository(name, folder, _bounded(common), _bounded(remote or common))


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


def remote_of(config: str, users: str = "") -> str:
    """The remote of a repository by its configuration: `origin`, or else the first, as host and path; empty where there
    is none. What does not tell one repository from another is left out, see above; `users` is the user's configuration,
    of aliases. Pure."""
    remotes: dict[str, str] = {}
    for name, url in _values_of(config, _REMOTE, "url"):
        remotes.setdefault(name, url)
    url = remotes.get("origin", next(iter(remotes.values()), ""))
    aliases = [(alias, base) for base, alias in _values_of(f"{users}\n{config}", _ALIASED, "insteadof")]
    fitting = [(alias, base) for alias, base in aliases if alias and url.startswith(alias)]
    if fitting:  # as git does, the longest one
        alias, base = max(fitting, key=lambda pair: len(pair[0]))
        url = base + url[len(alias) :]
    if re.match(_HELPER, url):
        return ""
    if match := re.match(_WITH_SCHEME, url):
        scheme, user, host, port, path = match.groups(default="")
        return _at_host(host if port in ("", _USUAL_PORTS.get(scheme.lower())) else f"{host}:{port}", user, f"/{path}")
    if match := re.match(_LIKE_SCP, url):
        user, host, path = match.groups(default="")
        return _at_host(host, user, path if path.startswith("/") else f"/~/{path}")
    return url.removeprefix("file://").rstrip("/").removesuffix(".git") if url.startswith(("/", "file:///")) else ""


def _values_of(config: str, section: str, name: str) -> Iterator[tuple[str, str]]:
    """The name of the section, and the value, of each value `name` in the sections of a kind; an empty value where it
    cannot be read to its end."""
    within = ""
    for line in map(str.strip, config.split("\n")):
        if line.startswith("["):
            named = re.match(section, line)
            within = named[1] if named else ""
        elif within and line.partition("=")[0].rstrip().lower() == name:
            value = re.fullmatch(_VALUE, line)
            yield within, re.sub(r'(\\.)|"', r"\1", value[1].strip()) if value else ""


def _at_host(host: str, user: str, path: str) -> str:
    """A remote by its host and its path. A query, which may hold a password, stands as its digest."""
    path, _, query = path.partition("#")[0].partition("?")
    if path.startswith("/~/"):
        path = path[3:] if user in _SHARED_USERS else f"~{user}/{path[3:]}"
    path = path.strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}?{_digest(query)[:16]}" if query else f"{host.lower()}/{path}"


def _target(git_file: bytes) -> str:
    return git_file.removeprefix(_POINTER).strip().decode("utf-8", "replace")


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
