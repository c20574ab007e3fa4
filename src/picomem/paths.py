"""The locations of picomem's files, their modes (folders 0700, files 0600), and the safe opening of named files.

Every file that a user or a setting names is opened by `open_regular` or read by `read_regular`: regular files only, so
that reading never blocks on a pipe or continues for ever on a device.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import DEFAULT_BUFFER_SIZE, BufferedReader, FileIO
from pathlib import Path

from picomem.errors import InvalidInput, NotFound

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from typing import TextIO

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NEW |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_MARKS = (  # byte order marks; that of UTF-32 begins like that of UTF-16
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_FEWEST_PER_NUL = 10  # characters of a text that holds one by accident

_SERVER = "postgresql://"
_USER, _OPTIONS = r"//[^/?]*@", r"(?s)\?.*"
_ADDRESS = r"[A-Za-z][A-Za-z0-9+.-]+:"  # two characters at least: C: is a drive
_HOST = r"(?:\[[^\]@/?]*\]|[^@:/?,\[\]]*)(?::\d*)?"
_READABLE = rf"(?s){_SERVER}(?:[^@/?]*@)?{_HOST}(?:,{_HOST})*(?:/[^@/?]*)?(?:\?.*)?"
_KEYWORDS = r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*="  # of libpq

_open_databases: Counter[Path] = Counter()
_suffixes: dict[Path, tuple[str, ...]] = {}
_open_databases_lock = threading.Lock()


def data_dir() -> Path:
    """The data directory: `$PICOMEM_DATA_DIR`, or the platform's own place for a user's data."""
    chosen = os.environ.get("PICOMEM_DATA_DIR")
    if chosen:
        return named_path(chosen)
    # platformdirs costs 20 ms to import, and on Linux its answer is this one line.
    if os.name == "posix" and os.uname().sysname == "Linux":
        base = os.environ.get("XDG_DATA_HOME")
        return (Path(base) if base else home_folder() / ".local" / "share") / "picomem"
    import platformdirs

    return Path(platformdirs.user_data_dir("picomem", appauthor=False))


def home_folder() -> Path:
    """The user's home folder. Raises InvalidInput where there is none to be found."""
    try:
        return Path.home()
    except RuntimeError:
        raise InvalidInput("The home folder cannot be found ($HOME names none); set HOME to a folder.") from None


def named_database() -> str:
    """The database that the environment names (`$PICOMEM_DB`); empty where it names none."""
    return os.environ.get("PICOMEM_DB", "")


def named_store(setting: str = "") -> str:
    """The store that the environment names, or else the settings; empty where nobody names one."""
    return named_database() or setting


def database_path(folder: str = "", named: str = "") -> Path:
    """The database file that is `named`; or `picomem.db` in `folder`, or where none is given in the data directory.

    Raises InvalidInput for the address of a server.
    """
    if named:
        return database_file(named)
    return (named_path(folder) if folder else data_dir()) / "picomem.db"


def is_server(text: str) -> bool:
    """Return whether a store is named by the address of a server."""
    return text.startswith(_SERVER)


def without_password(address: str) -> str:
    """The address of a server as sentences name it: without user, password and options.

    Where an address cannot be divided for certain, any part of it may be of the password, so none is shown."""
    if not re.fullmatch(_READABLE, address):
        return f"{_SERVER}…"
    return re.sub(_OPTIONS, "", re.sub(_USER, "//", address))


def check_address(address: str) -> None:
    """Raise InvalidInput for an address of a server whose host and password cannot be told apart."""
    if not re.fullmatch(_READABLE, address):
        raise InvalidInput(
            f"The address of the database cannot be read; write {_SERVER}USER@HOST/DATABASE, with a number for a port, "
            "and in a password %40 for @, %2F for / and %3F for ?."
        )


def database_file(text: str) -> Path:
    """The database file that a person named. Raises InvalidInput for the address of a server."""
    address = re.match(_ADDRESS, text)
    if address is None:
        if re.match(_KEYWORDS, text):  # the rest may hold a password
            raise InvalidInput(
                f"A store on a server is named by an address; write {_SERVER}USER@HOST/DATABASE, or name a file (one "
                "whose name begins so with ./ before it)."
            )
        return named_path(text)
    if is_server(text):
        raise InvalidInput(f"{without_password(text)} is a store on a server, and this takes a file; name a file.")
    # The rest of an address may hold a password.
    raise InvalidInput(
        f"“{address[0]}” begins an address of a kind that picomem does not know; write {_SERVER}…, or name a file (one "
        f"whose name begins so as ./{address[0]}…)."
    )


def make_private_dir(folder: Path) -> None:
    """Create `folder` and what is missing above it, readable by its owner alone."""
    missing = [folder, *folder.parents]
    for step in reversed([p for p in missing if not p.exists()]):
        step.mkdir(mode=0o700, exist_ok=True)
        step.chmod(0o700)  # mkdir's mode is narrowed by the umask, never widened; a umask of 777 would lock us out


def sync_folder(folder: Path) -> None:
    """Let the names of a folder outlast a power cut."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def private_umask() -> None:
    """Make every file that this process creates from now on private (those beside a database among them)."""
    os.umask(0o077)


def named_path(text: str) -> Path:
    """A path as a person wrote it, with `~` expanded. Raises InvalidInput."""
    if "\0" in text:
        raise InvalidInput("A path holds a NUL character; name another file.")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise InvalidInput(f"{text} names a home folder that does not exist; write the whole path.") from None


def status_of(path: Path | str) -> os.stat_result | None:
    """The status of a file or folder, None where there is none. Raises InvalidInput where that cannot be told."""
    try:
        return os.stat(path)  # noqa: PTH116  # to make a `Path` of a name takes longer than the look
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read: {_reason(error)}.") from error


def is_folder(path: Path) -> bool:
    """Return whether a path leads to a folder. Raises InvalidInput where that cannot be told."""
    status = status_of(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def is_regular(path: Path) -> bool:
    """Return whether a path leads to a regular file. Raises InvalidInput where that cannot be told."""
    status = status_of(path)
    return status is not None and stat.S_ISREG(status.st_mode)


def open_regular(path: Path, *, buffering: int = DEFAULT_BUFFER_SIZE) -> BufferedReader:
    """Open a regular file to read. Raises NotFound, and InvalidInput for anything else that is not readable."""
    status = status_of(path)
    if status is None:
        raise NotFound(f"There is no file {path}.")
    _check_regular(path, status)
    _refuse_open_database(path, status)
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {_reason(error)}.") from error
    try:
        _check_regular(path, os.fstat(descriptor))  # something else may have taken its place meanwhile
    except InvalidInput:
        os.close(descriptor)
        raise
    return BufferedReader(FileIO(descriptor), buffering)


def read_regular(path: Path, *, most: int, too_large: str = "") -> bytes:
    """The content of a regular file of at most `most` bytes. Raises NotFound and InvalidInput; `too_large` is the
    message for a larger file that nobody named."""
    with open_regular(path) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            content = b"" if size > most else file.read(most + 1)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {_reason(error)}.") from error
    if size > most or len(content) > most:
        raise InvalidInput(too_large or f"{path} is larger than {size_shown(most)}; name a smaller file.")
    return content


def decoded(data: bytes, path: Path, errors: str = "replace") -> str:
    """The text of a person's file, by its byte order mark, or else as UTF-8. Raises InvalidInput for what is no text,
    such as UTF-16 without the mark; and UnicodeDecodeError if `errors` is "strict"."""
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    text = data[len(mark) :].decode(encoding, errors)
    if "\0" in text and (mark or "\ufffd" in text or text.count("\0") * _FEWEST_PER_NUL > len(text)):
        raise InvalidInput(f"{path} is no text in UTF-8; save it in that encoding, and name it again.")
    return text


def read_text(path: Path, *, most: int, too_large: str = "", errors: str = "replace") -> str:
    """The text of a person's file. Raises as `read_regular` and `decoded`."""
    return decoded(read_regular(path, most=most, too_large=too_large), path, errors)


def hold_database(path: Path, suffixes: tuple[str, ...], look: Callable[[], None] = lambda: None) -> None:
    """Note that this process has a database open, whose files have its name and one of these endings ("" for itself).

    `look` runs before that, and no other thread opens a database meanwhile: it may read files that an open database
    must not be read beside. Each call is taken back by one of `release_database`.
    """
    with _open_databases_lock:
        look()
        _open_databases[path.absolute()] += 1
        _suffixes[path.absolute()] = suffixes


def release_database(path: Path) -> None:
    """Note that one opening of a database has ended."""
    with _open_databases_lock:
        _open_databases.subtract([path.absolute()])
        if _open_databases[path.absolute()] <= 0:
            del _open_databases[path.absolute()]
            _suffixes.pop(path.absolute(), None)


def open_databases() -> list[Path]:
    """The databases that this process has open."""
    return list(_open_databases)


def open_database_suffix(path: Path) -> str | None:
    """Return which file of a database that this process has open a path leads to: one of the endings given to
    `hold_database`.

    None where it leads to none of them. Raises InvalidInput where that cannot be told.
    """
    status = status_of(path)
    return None if status is None else _open_database_suffix(status)


def _open_database_suffix(status: os.stat_result) -> str | None:
    for database in open_databases():
        for suffix in _suffixes.get(database, ()):
            held = status_of(f"{database}{suffix}")
            if held is not None and os.path.samestat(status, held):
                return suffix
    return None


def refuse_open_database(path: Path) -> None:
    """Raise InvalidInput where a path leads to a database file that this process has open.

    POSIX drops all locks of a process on a file when the process closes any descriptor of the file, a
    database's among them; another process could then write in the middle of a transaction.
    """
    status = status_of(path)
    if status is not None:
        _refuse_open_database(path, status)


def _refuse_open_database(path: Path, status: os.stat_result) -> None:
    if _open_database_suffix(status) is not None:
        raise InvalidInput(f"{path} is the memory database that is open; name another file.")


def spares_of(path: Path) -> list[Path]:
    """The files that `write_whole` makes beside a file before they take its place; they stay where it is killed."""
    start = f".{path.name}."
    beside = (path.with_name(entry.name) for entry in os.scandir(path.parent) if entry.name.startswith(start))
    return sorted(spare for spare in beside if spare.name.removeprefix(start).isdecimal())


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new, never a part. Raises InvalidInput."""
    with written_whole(path) as file:
        file.write(text)


def check_folder_of(path: Path) -> None:
    """Raise NotFound where a file that somebody named would need a new folder: a slip, or a disk that is not there."""
    if not is_folder(path.parent):
        raise NotFound(f"There is no folder {path.parent}; make it with mkdir, or name another file.")


@contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[TextIO]:
    """A file to write to, which takes its place under its name when it is complete; if it is `private`, for its owner
    alone. Raises InvalidInput."""
    status = status_of(path)
    if status is not None:
        _check_regular(path, status)
        refuse_open_database(path)
    try:
        spare = path.with_name(f".{path.name}.{os.getpid()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _open_new(spare, private=private) as file:
                yield file
            spare.replace(path)
        finally:
            spare.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be written: {_reason(error)}.") from error


def _open_new(path: Path, *, private: bool) -> TextIO:
    """Make a file to write to. What a process that was killed, or anybody else, left under its name goes; a link there
    is not followed, so nothing that it leads to is written over."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, _NEW, 0o600 if private else 0o666)
    if private and os.name == "posix":
        os.fchmod(descriptor, 0o600)  # a umask may have taken the owner's right to read
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="")


def _check_regular(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise InvalidInput(f"{path} is a folder; name a file.")
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"{path} is not a regular file; name one that is.")


def _reason(error: OSError | ValueError) -> str:
    """Return why a path could not be used, as the end of a sentence."""
    if not isinstance(error, OSError):  # NUL, or a character that no file name can hold
        return "no file can have such a name"
    if error.errno == errno.ENAMETOOLONG:
        return "the name is too long"
    return error.strerror or str(error)


def size_shown(most: int) -> str:
    """A limit in bytes, for people."""
    return f"{most >> 20} MiB" if most >= 1 << 20 else f"{most:,} bytes"


def is_local(path: str) -> bool:
    """Return whether a path is absolute and of this machine; two leading slashes or backslashes may name another."""
    return Path(path).is_absolute() and not path.startswith(("//", "\\\\")) and "\0" not in path


def real_path(path: str) -> str:
    """A path of this machine without the links in it; any other path as it is."""
    return os.path.realpath(path) if is_local(path) else path
