"""Maintenance of the whole file of a SQLite store."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from picomem import errors
from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE
from picomem.store.files import ballast, daily_copies, file_checks
from picomem.store.files.copying import back_up
from picomem.store.files.daily_copies import Damage
from picomem.store.files.file_checks import FileCheck
from picomem.store.files.sealed_files import is_sealed
from picomem.store.row_hash import COLUMNS
from picomem.store.sqlite.errors import translated
from picomem.store.sqlite.schema import difference
from picomem.store.sqlite.transaction import SqliteTransaction

if TYPE_CHECKING:
    from picomem.store.sqlite.connector import SqliteConnector


class SqliteMaintenance:
    """The file of a connector: its log counts as part of it."""

    def __init__(self, connector: SqliteConnector) -> None:
        self._connector = connector
        self._path = connector.path

    def place(self) -> str:
        status = self._path.stat()
        return f"{status.st_dev} {status.st_ino}"

    def size(self) -> int:
        return self._path.stat().st_size + self._connector.log_size()

    def files(self) -> list[Path]:
        """The database, its log, and a journal, those that are there; the index of the log holds no content."""
        named = (self._path, *(Path(f"{self._path}{end}") for end in ("-wal", "-journal")))
        return [path for path in named if path.exists()]

    def is_sealed(self) -> bool:
        return is_sealed(self._path)

    def copy_to(self, target: Path) -> None:
        """Copy the store to a new file while others may write."""
        back_up(self._path, target)

    def integrity(self) -> list[str]:
        """The problems that SQLite's own check finds in the file, a sentence each."""
        # A connection of its own: FTS5 checks with what the connection has cached, and a reader's cache may be stale.
        with translated(self._path), closing(self._connector.open_reader()) as connection:
            differing = difference(connection)
            said: list[str] = []
            if not differing.would_run():  # which this check would run
                try:
                    said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
                except apsw.SQLError as error:  # a full text that SQLite cannot even open
                    said = [str(error)]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        problems = [f"the file is damaged: {problem}" for problem in said if problem != "ok"]
        return problems + differing.problems() + [f"a row of {row[0]} has lost the row it belongs to" for row in broken]

    def left_alone(self) -> list[str]:
        """See `Maintenance.left_alone`."""
        with translated(self._path), closing(self._connector.open_reader()) as connection:
            return difference(connection).left_alone()

    def silent_machines(self) -> list[str]:
        return []

    def words_integrity(self, source: str) -> str:
        """The problems that the own check of full text finds."""
        with translated(self._path), closing(self._connector.open_reader()) as connection:
            rows = connection.execute(f"PRAGMA integrity_check({source}_words)").fetchall()
        return "" if rows == [("ok",)] else f"the full-text index of the {source} rows is damaged"

    def has_damaged_index(self) -> bool:
        with translated(self._path), closing(self._connector.open_reader()) as connection:
            checks = (connection.execute(f"PRAGMA integrity_check({table})").fetchall() for table in COLUMNS)
            return any(said != [("ok",)] for said in checks)

    def copy_daily(self, now: Micros, most_bytes: int) -> None:
        if self._connector.read_only:
            return
        with self._connector.read() as tx:
            last = file_checks.last_check(tx)
        if last is not None and last.is_recent(now):
            return
        # Noted before as well, so that a check that takes too long, and is killed, is not tried at every call.
        was_damaged = last is not None and last.is_damaged
        with self._connector.write(EVERYONE) as tx:
            file_checks.note(tx, FileCheck(now, was_damaged))
        if last is None:
            return  # a new store has nothing to fall back on
        damage = self._find_damage(now, most_bytes)
        is_damaged = damage is Damage.FILE
        if is_damaged != was_damaged:
            with self._connector.write(EVERYONE) as tx:
                file_checks.note(tx, FileCheck(now, is_damaged))
        if damage is Damage.ROWS or (is_damaged and not was_damaged):
            self._connector.warn_of_damage()

    def _find_damage(self, now: Micros, most_bytes: int) -> Damage:
        """Copy and check the store; without a copy, where there is no room for one."""
        size = self.size()
        if size <= most_bytes and daily_copies.has_room(self._path, size):
            try:
                return daily_copies.make(self._path, now)
            except errors.Corrupt:
                return Damage.FILE
            except (errors.StoreError, OSError):
                pass  # the disk is full meanwhile, or a purge has removed the copy
        with translated(self._path), closing(self._connector.open_reader()) as reader:
            return daily_copies.find_damage(reader)

    def restore_command(self) -> str:
        return daily_copies.restore_command(self._path)

    def repair(self) -> AbstractContextManager[SqliteTransaction]:
        return self._connector.repair()

    def give_up_ballast(self) -> bool:
        """Free the room that is kept for a full disk; whether there was any."""
        return ballast.give_up(self._path)

    def copies_out_of_reach(self) -> str:
        return ""

    def leave_no_trace(self, wait_seconds: float, scope: Scope | None = None) -> None:  # noqa: ARG002 - of the protocol
        """Merge full text, write the file anew, and empty the log.

        `secure_delete` overwrites what is deleted, but a page that was balanced may keep a copy in its gap, and full
        text the beginning of a word that no document has any more as the mark where a page begins. Merged segments and
        VACUUM hold nothing but what stays; the log holds what was until it is cut, for which nobody may be reading.
        The daily copies go as well.
        """
        had_copies = daily_copies.remove(self._path)  # first, because the rest needs room
        with self._connector.write(EVERYONE) as tx:
            tx.search.merge()
            if had_copies:
                file_checks.make_due(tx)
        waiting = errors.Locked(CodedText("failure.log_being_read", path=str(self._path), command=Command("purge")))
        with self._connector.alone(wait_seconds) as connection:
            try:
                try:
                    connection.execute("VACUUM")
                except apsw.FullError:
                    self.give_up_ballast()
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)  # the log takes room, too
                    connection.execute("VACUUM")
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                daily_copies.remove(self._path)  # one that another process has made meanwhile
            except apsw.BusyError as error:
                raise waiting from error
            except apsw.FullError as error:
                raise errors.DiskFull(
                    CodedText(
                        "failure.no_room_to_purge",
                        path=str(self._path),
                        megabytes=-(-2 * self.size() // 1_000_000),
                        command=Command("purge"),
                    )
                ) from error
