"""`pytest --sealed`: every store that a test makes is sealed, and a test that looks into one by hand has the key."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import apsw

import picomem
from picomem.store.files.decrypted_pages import content
from picomem.store.files.sealed_files import is_sealed

KEY = "5ea1" * 16
_SOURCES = Path(picomem.__file__).parent
_TESTS = Path(__file__).parent


def seal_new_stores() -> None:
    """Give this process, and those that it starts, the key of new stores."""
    os.environ["PICOMEM_STORE_KEY"] = KEY
    apsw.connection_hooks.append(_give_key)


def is_setting(variable: str) -> bool:
    """Return whether a variable is a setting of picomem's, which no test takes over but the key of `--sealed`."""
    return variable.startswith("PICOMEM_") and os.environ.get(variable) != KEY


def below_cipher(vfs: str) -> str:
    """A VFS of a test under the one that encrypts, so that it sees what reaches the disk."""
    return f"multipleciphers-{vfs}" if os.environ.get("PICOMEM_STORE_KEY") else vfs


def stored_bytes(path: Path) -> bytes:
    """The bytes of a file; of a sealed store those of its decrypted pages, which a search is about."""
    return b"".join(content(path)) if is_sealed(path) else path.read_bytes()


def _give_key(connection: apsw.Connection) -> None:
    """Give a connection the key where a test has opened it; picomem must give its own."""
    if connection.filename and _is_opened_by_test() and is_sealed(Path(connection.filename)):
        connection.pragma("cipher", "aegis")
        connection.pragma("key", f"x'{KEY}'")


def _is_opened_by_test() -> bool:
    frame = sys._getframe(2)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if _TESTS in file.parents or _SOURCES in file.parents:
            return _TESTS in file.parents
        frame = frame.f_back
    return False
