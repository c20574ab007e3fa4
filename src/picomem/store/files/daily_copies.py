"""The verified copies of a store, which are made once a day and kept beside it: `memory.db.daily-20261128T031500Z`.

A copy is what a reader sees of the store at one moment. All of it is checked: each page, index and full text by SQLite,
and each row by its hash. What is wrong with the copy is wrong with the store. Two copies are kept: the newest, unless
its pages or indexes are damaged, and the newest before it, or the newest whole one where rows are damaged. A purge
removes the copies, and the next write that looks after the store makes one anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from enum import Enum
from pathlib import Path
from shlex import quote

import apsw

from picomem.clock import Micros, file_stamp
from picomem.errors import Sealed
from picomem.paths import sync_folder
from picomem.store.files import ballast
from picomem.store.files.copying import copy_store
from picomem.store.files.sealed_files import connect_immutable
from picomem.store.hash_upkeep import select
from picomem.store.row_hash import COLUMNS, is_whole

_SPARE_ROOM = 16 << 20  # bytes that a copy leaves free, beside the size of another


class Damage(Enum):
    """What is damaged in a store: nothing, rows, or the file with its indexes and full text."""

    NONE = "none"
    ROWS = "rows"
    FILE = "file"


def has_room(database: Path, size: int) -> bool:
    """Return whether a copy of so many bytes leaves room for another, and for the store to go on."""
    return ballast.free_bytes(database.parent) > 2 * size + _SPARE_ROOM


def make(database: Path, now: Micros) -> Damage:
    """Copy a store, and keep the copy unless the file is damaged; what is damaged. Raises StoreError, and OSError where
    a purge or another process has removed the copy meanwhile."""
    for unfinished in _files(database, f".{database.name}.daily-"):
        unfinished.unlink(missing_ok=True)  # of a process that was killed
    spare = database.with_name(f".{database.name}.daily-{os.getpid()}")
    try:
        copy_store(database, spare)
        damage = _damage_of_copy(spare)
        if damage is Damage.FILE:
            return damage
        spare.rename(database.with_name(f"{database.name}.daily-{file_stamp(now)}"))
        sync_folder(database.parent)
    finally:
        spare.unlink(missing_ok=True)
    copies = _copies(database)
    kept = copies[:2] if damage is Damage.NONE else [copies[0], newest(database)]
    for old in copies:
        if old not in kept:
            old.unlink(missing_ok=True)
    return damage


def newest(database: Path) -> Path | None:
    """The newest copy that is still whole; None where there is none."""
    return next((copy for copy in _copies(database) if _damage_of_copy(copy) is Damage.NONE), None)


def restore_command(database: Path) -> str:
    """The command that restores the newest whole copy; empty where there is none."""
    copy = newest(database)
    return f"picomem restore {quote(str(copy))} --db {quote(str(database))}" if copy else ""


def remove(database: Path) -> bool:
    """Remove every copy, finished or not; whether there were any. Raises OSError."""
    start = f"{database.name}.daily-"  # of what lies beside an opened copy as well
    copies = [*_files(database, start), *_files(database, f".{start}")]
    for copy in copies:
        copy.unlink(missing_ok=True)
    return bool(copies)


def find_damage(reader: apsw.Connection) -> Damage:
    """Compare the pages, indexes and full text of a store with one another, and each row with its hash."""
    try:
        if reader.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
            return Damage.FILE
        rows_are_whole = all(is_whole(table, row) for table in COLUMNS for row in _rows(reader, table))
    except apsw.CorruptError:
        return Damage.FILE
    except UnicodeDecodeError:
        return Damage.ROWS
    return Damage.NONE if rows_are_whole else Damage.ROWS


def _damage_of_copy(copy: Path) -> Damage:
    """What is damaged in a store that nobody writes to. Nothing is written beside it."""
    with suppress(apsw.Error, Sealed), closing(connect_immutable(copy)) as reader:
        reader.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        return find_damage(reader)
    return Damage.FILE


def _rows(reader: apsw.Connection, table: str) -> Iterator[tuple[object, ...]]:
    return reader.execute(select(table, "TRUE"))


def _files(database: Path, start: str) -> list[Path]:
    return [file for file in database.parent.iterdir() if file.name.startswith(start)]


def _copies(database: Path) -> list[Path]:
    """The copies that are there, the newest first."""
    named = re.compile(rf"{re.escape(database.name)}\.daily-\d{{8}}T\d{{6}}Z")
    return sorted((file for file in database.parent.iterdir() if named.fullmatch(file.name)), reverse=True)
