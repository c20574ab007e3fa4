"""Opens the SQLite files of stores, each with its key. Nothing else opens one (databases of hosts have no key of ours).

A sealed store is encrypted page by page, its log too, with AEGIS-256 by SQLite3 Multiple Ciphers, which comes with
`apsw-sqlite3mc`. The key is 256 random bits: to derive one from a pass phrase would cost each opening 30–130 ms.

The file itself says that it is sealed, so no marker beside it can be lost or contradict it. A plain database begins
with SQLite's name. A sealed one begins with 16 random bytes, and then has the next eight bytes of SQLite's header as
they are, by which each page has 64 bytes at its end for the cipher. A plain store has none there, unless it was sealed.

If no key opens the first page, either the key is wrong or the page is damaged, and the file cannot tell which. The
daily copies can: if the key opens one of them, the page is damaged (see `SqliteConnector`).
"""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import apsw

from picomem.coded_text import CodedText, Command
from picomem.errors import Sealed
from picomem.store.files import store_keys
from picomem.store.files.file_bytes import database_head

_PLAIN = b"SQLite format 3\0"
_SALT = 16  # bytes at the beginning of a sealed file
_OF_CIPHER = bytes((64, 64, 32, 32))  # bytes 20 to 23: room at the end of a page, and three constants of SQLite's
_WRITE = apsw.SQLITE_OPEN_READWRITE
_IN_FILES, _IN_MEMORY = 1, 2  # of `temp_store`
_LIBRARY = "pip install --force-reinstall apsw-sqlite3mc"


def connect(
    path: Path,
    *,
    key: str | None = None,
    flags: int = _WRITE | apsw.SQLITE_OPEN_CREATE,
    vfs: str | None = None,
    immutable: bool = False,
) -> apsw.Connection:
    """Open a file with its key, "" for a plain one; None: whichever key opens it. Raises apsw.Error, and Sealed."""
    if key is None:
        key = key_of(path, vfs, immutable=immutable)
    name = str(path)
    if immutable:
        name, flags = f"{path.resolve().as_uri()}?immutable=1", flags | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(name, flags=flags, vfs=vfs)
    if key:
        connection.pragma("cipher", "aegis")
        connection.pragma("key", f"x'{key}'")
    # No temporary file is encrypted, so those of a sealed store are in memory. That of VACUUM is as large as the store.
    connection.pragma("temp_store", _IN_MEMORY if key else _IN_FILES)
    return connection


def connect_immutable(path: Path, *, key: str | None = None) -> apsw.Connection:
    """Open a file that nobody writes to, so that nothing is written beside it. Raises apsw.Error, and Sealed."""
    return connect(path, key=key, flags=apsw.SQLITE_OPEN_READONLY, immutable=True)


def salt_of(path: Path) -> bytes:
    """The first bytes of a sealed file, which no other has, not even a copy; empty for a plain one. Raises
    apsw.Error."""
    head = database_head(path, _SALT + 8)
    is_sealed = head[20:24] == _OF_CIPHER and not head.startswith(_PLAIN)
    return head[:_SALT] if is_sealed else b""


def is_sealed(path: Path) -> bool:
    """Return whether a file is a sealed store, of whatever key; False for one that cannot be read."""
    try:
        return bool(salt_of(path))
    except apsw.Error:
        return False


def key_of(path: Path, vfs: str | None = None, *, immutable: bool = False) -> str:
    """The key of a file, "" for a plain one; for an empty one the key that a new store gets. Raises Sealed.

    With `immutable` nobody writes to the file, and nothing is written beside it."""
    try:
        if not path.stat().st_size:
            return _with_library(path, store_keys.key_for_new(path))
    except OSError:
        return ""  # opening it gives a better message
    if not is_sealed(path):
        return ""
    is_given = False
    for key in store_keys.keys_for(path):
        is_given = True
        if _opens(path, _with_library(path, key), vfs, immutable=immutable):
            return key
    if is_given:
        raise Sealed(CodedText("failure.sealed_wrong_key", path=str(path)))
    if store_keys.is_locked(path):
        raise Sealed(CodedText("failure.sealed_locked", path=str(path), command=Command("unlock")))
    raise Sealed(CodedText("failure.sealed_no_key", path=str(path)))


def key_opens_copy(path: Path) -> bool:
    """Return whether a key that was found opens a sealed daily copy of a store, so it is the right one."""
    for copy in filter(is_sealed, path.parent.glob(f"{path.name}.daily-*")):
        with suppress(apsw.Error, Sealed):
            key_of(copy, immutable=True)
            return True
    return False


def _with_library(path: Path, key: str) -> str:
    if key and not hasattr(apsw, "mc_version"):  # another package has put plain apsw in its place
        raise Sealed(CodedText("failure.sealed_library", path=str(path), install=_LIBRARY))
    return key


def _opens(path: Path, key: str, vfs: str | None, *, immutable: bool) -> bool:
    """Return whether a key opens the first page of a file. Where a killed process has torn that, the log has it."""
    ways = (True,) if immutable else (True, False)
    return any(_is_readable(path, key, vfs, immutable=alone) for alone in ways)


def _is_readable(path: Path, key: str, vfs: str | None, *, immutable: bool) -> bool:
    flags = apsw.SQLITE_OPEN_READONLY if immutable else _WRITE
    with suppress(apsw.Error), closing(connect(path, key=key, flags=flags, vfs=vfs, immutable=immutable)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # the log is for the real opening to merge
        connection.set_busy_timeout(30_000)
        connection.pragma("user_version")
        return True
    return False
