"""Writes a store anew in its place, sealed with a key or plain.

    lock the store → its log into its file → all of it into a new file → check → log and index away → take its place

The lock is held from the first step to the last, so no change is lost. Whenever the process is killed, the store has
its name, and is the old one until the last step (see replacing.py), which removes the old file. A killed process leaves
the new file at most, which the next run removes.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import apsw

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.paths import spares_of
from picomem.store.files.copying import Telling, copy_store
from picomem.store.files.daily_copies import Damage, find_damage
from picomem.store.files.replacing import remove_store, replace_store
from picomem.store.files.sealed_files import connect, connect_immutable
from picomem.store.sqlite.errors import translated

_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name"


def reseal(path: Path, key: str, tell: Telling = lambda _: None) -> None:
    """Write the store anew with this key, plain with "". Raises Corrupt for a damaged store, Sealed without its present
    key, Locked, and StoreError; then it is as it was."""
    path = Path(os.path.realpath(path))
    new = path.with_name(f".{path.name}.{os.getpid()}")

    def write() -> None:
        for spare in spares_of(path):
            remove_store(spare)
        copy_store(path, new, key, tell)
        _check(path, new, key)

    try:
        replace_store(path, new, "", write)
    finally:
        remove_store(new)


def _check(path: Path, new: Path, key: str) -> None:
    """Raise Corrupt unless the new file is whole and has as many rows as the store."""
    with translated(path), closing(connect(path, flags=apsw.SQLITE_OPEN_READWRITE)) as store:
        expected = _counts(store)
    with translated(new), closing(connect_immutable(new, key=key)) as copy:
        if find_damage(copy) is Damage.FILE or _counts(copy) != expected:
            problem = "its copy is not whole"
            raise Corrupt(CodedText("failure.damaged_file", path=str(path), problem=problem, command=Command("doctor")))


def _counts(connection: apsw.Connection) -> list[object]:
    names = [str(name) for (name,) in connection.execute(_TABLES)]
    return [(name, connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()) for name in names]
