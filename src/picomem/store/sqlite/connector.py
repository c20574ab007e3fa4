"""SQLite, through apsw.

How it is used, and why:

- WAL with `synchronous=FULL`. With NORMAL a power cut loses rows that were already acknowledged.
- Every write begins IMMEDIATE. A transaction that reads first and writes later fails with "busy" when another
  process wrote in between, whatever the busy timeout says; one that takes the lock at once only waits.
- One writer connection a process, behind a lock; a reader connection a thread. A read sees one snapshot.
- `secure_delete` here and in full text: what is purged is overwritten, not only unlinked.
- Files are 0600 and their folder 0700, whatever the umask.
- A folder that cannot be written is opened as far as that is possible: read-only, then as an immutable file.

Beside it: `transaction.py` runs statements, `schema.py` makes the tables, `maintenance.py`
looks after the file, `errors.py` turns the library's errors into picomem's.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from picomem import errors
from picomem.coded_text import CodedText, Command
from picomem.paths import hold_database, release_database
from picomem.records.scope import Scope
from picomem.store.chain_key import ChainKeyFile, key_file
from picomem.store.connector import Everyone, Maintenance, Several
from picomem.store.files import ballast
from picomem.store.files.database_files import SUFFIXES, log_size, make_log_writable
from picomem.store.files.file_checks import last_check
from picomem.store.files.lost_files import LogIndex, look_for_lost_files, read_log_index, warn_of_cut_log
from picomem.store.files.new_file import create_missing_file
from picomem.store.files.opened_files import OpenedFiles, StoreIdentity
from picomem.store.files.sealed_files import connect, key_of, key_opens_copy
from picomem.store.schema_versions import latest_version
from picomem.store.sqlite import connection as sqlite_connection
from picomem.store.sqlite.errors import BUSY_MILLISECONDS, ask_again_for, lacks_room_for_log_index, translated
from picomem.store.sqlite.schema import SchemaDifference, check_version, difference, prepare, refuse_another_programs
from picomem.store.sqlite.transaction import SqliteTransaction
from picomem.store.tables import meta
from picomem.text.terms import VERSION as TERMS_VERSION

_MOST_NAMED = 5  # differences of the schema in a warning
_CACHE = 16_000  # KiB of pages that the writer keeps, and the reader of the first thread
_FURTHER_CACHE = 2_000  # of each further reader: a server has twenty, and its many users ask for different pages
# Nothing of a schema that somebody else wrote runs. Foreign keys need no triggers of the schema.
_OFF = (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_VIEW, apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA)


class SqliteConnector:
    """One SQLite file. Raises NotADatabase, NewerSchema, ReadOnly, Locked, DiskFull or StoreError on opening."""

    def __init__(
        self, path: Path, *, vfs: str | None = None, is_examined: bool = False, chain_key: ChainKeyFile | None = None
    ) -> None:
        """`chain_key` is the key of the record of changes, by default a file beside the store; `is_examined` says that
        a doctor looks into the file next, whose findings a warning would only repeat under the name of a copy."""
        self._named = path.absolute()  # the working directory may change while it is open
        self.path = path = self._named  # of the file itself, see _open
        self.name = str(path)
        self.chain_key = chain_key or key_file(Path(os.path.realpath(path)))
        self.read_only = False
        self._vfs = vfs
        self._key: str | None = None  # "" for a plain store; kept, since a place of keys may be locked meanwhile
        self._is_examined = is_examined
        self._writer: apsw.Connection | None = None
        self._lock = threading.RLock()
        self._readers_lock = threading.Lock()
        self._depth = 0
        self._owner = 0
        self._user: str | None = None  # whose transaction it is that is under way; None: everyone's
        self._local = threading.local()
        # Weak, so that the reader of a thread that has ended is closed with it.
        self._readers: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._is_held = False
        self._is_closed = False
        self._disk_is_full = False  # whether it is read-only for want of room
        self._log_index: LogIndex | None = None  # as it was before the file was opened
        self._files: OpenedFiles | None = None
        self._identity: StoreIdentity | None = None
        self._foreign = ""  # parts of the schema that are not picomem's, and would run at a write
        self._is_overwritten = False  # whether the file holds another store by now
        try:
            with translated(path):
                self._open()
        except BaseException as error:
            self.close()  # an open connection would leave its -wal and -shm beside a file that was refused
            if isinstance(error, errors.Corrupt) or (isinstance(error, errors.Sealed) and key_opens_copy(path)):
                # The doctor opens the file as everybody does, so it is of no help here.
                raise errors.Corrupt(f"{path} is too damaged to be opened; {self._way_back()}.") from error
            raise

    def _open(self) -> None:
        new = create_missing_file(self._named)
        if self._named.is_symlink():
            self.path = Path(os.path.realpath(self._named))  # SQLite keeps the log beside the file, not beside the link
        self._files = OpenedFiles(self.path, self._named)
        hold_database(self.path, SUFFIXES, self._look_at_log_index)
        self._is_held = True
        if not new:
            look_for_lost_files(self.path)
        refuse_another_programs(self.path)
        make_log_writable(self.path)
        try:
            try:
                self._open_writer()
            except (apsw.FullError, apsw.IOError):
                if not ballast.give_up_some(self.path):
                    raise
                self._close_writer()
                self._open_writer()
            ballast.keep(self.path)
            self._files.note_log()
            self._note_identity(new=new)
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.FullError, apsw.IOError) as error:
            if new or (isinstance(error, apsw.IOError) and not lacks_room_for_log_index(error)):
                raise
            self._open_for_reading(error)
        if not new:
            self._look_at_schema()
            self._warn_if_damage_was_found()

    def _way_back(self) -> str:
        from picomem.store.files.daily_copies import restore_command  # noqa: PLC0415 - a recall does not need it

        command = restore_command(self.path)
        if not command:
            return "put a copy in its place, or move it away and begin anew"
        return f"restore its newest whole copy with `{command}`"

    def _open_for_reading(self, error: apsw.Error) -> None:
        """Go on without a writer, which could not be opened because of this error."""
        self._close_writer()
        self.read_only = True
        self._disk_is_full = isinstance(error, apsw.FullError | apsw.IOError)
        if self._is_unmade():
            raise (errors.DiskFull if self._disk_is_full else errors.ReadOnly)(
                f"{self.path} was never finished, since its disk was full or it could not be written; nothing is "
                "in it. Make room or name another file, and store something."
            ) from error
        check_version(self._reader(), self.path)
        if self._reader().pragma("user_version") != latest_version():
            raise errors.ReadOnly(
                f"{self.path} was written by an older picomem and cannot be brought up to date here, for it cannot "
                "be written; open it once where it can."
            ) from error

    def warn_of_damage(self) -> None:
        """Log that the daily check has found damage."""
        import logging  # noqa: PLC0415 - a recall does not need it

        logging.getLogger("picomem").warning(
            "%s is damaged, so answers may leave something out; run `picomem doctor --repair`, which says what only a "
            "copy brings back.",
            self.path,
        )

    def _warn_if_damage_was_found(self) -> None:
        with suppress(errors.StoreError, apsw.Error), self.read() as tx:  # a damaged store is told by who reads it
            last = last_check(tx)
            if last is not None and last.is_damaged and not self._is_examined:
                self.warn_of_damage()

    def _look_at_schema(self) -> None:
        """Name what differs from the schema that picomem makes, and write nothing where it would run."""
        with self._snapshot() as connection:
            differing = difference(connection)
        self._foreign = ", ".join(differing.would_run())
        if (problems := differing.problems()) and not self._is_examined:
            import logging  # noqa: PLC0415 - a recall does not need it

            logging.getLogger("picomem").warning(
                "In %s, %s; %s.", self.path, "; ".join(problems[:_MOST_NAMED]), self._schema_remedy(differing)
            )

    def _schema_remedy(self, differing: SchemaDifference) -> str:
        if differing.can_be_mended():
            return "run `picomem doctor --repair` on that store"
        return "put a copy in its place" if self._foreign else "picomem neither reads nor removes it"

    def _look_at_log_index(self) -> None:
        self._log_index = read_log_index(self.path)

    def _is_unmade(self) -> bool:
        """Return whether the file has no table yet: it was cut off while it was made."""
        return next(self._reader().execute("SELECT 1 FROM sqlite_schema LIMIT 1"), None) is None

    def _open_writer(self) -> None:
        self._writer = self._connect(apsw.SQLITE_OPEN_READWRITE)
        if self._writer.readonly("main"):  # SQLite opens a file that it may not write for reading only
            raise apsw.ReadOnlyError("the file may not be written")
        check_version(self._writer, self.path)
        if self._log_index is not None:
            valid, _ = self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
            warn_of_cut_log(self.path, valid, self._log_index)
        self._switch_to_wal(self._writer)
        self._writer.pragma("synchronous", 2)
        self._writer.pragma("journal_size_limit", 64 << 20)
        prepare(self._writer, self.path)

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _connect(self, flags: int, immutable: bool = False) -> apsw.Connection:
        if self._key is None:
            self._key = key_of(self.path, self._vfs)
        connection = connect(self.path, key=self._key, flags=flags, vfs=self._vfs, immutable=immutable)
        connection.set_busy_handler(ask_again_for(BUSY_MILLISECONDS / 1000))
        for setting in _OFF:
            connection.config(setting, 0)
        connection.pragma("foreign_keys", True)
        connection.pragma("secure_delete", True)
        connection.pragma("cache_size", -_CACHE)
        return connection

    _switch_to_wal = staticmethod(sqlite_connection.switch_to_wal)

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        """A snapshot. Inside a write of the same thread it sees what that write has done so far."""
        with self._snapshot() as connection:
            yield SqliteTransaction(connection, self.path, None, self.chain_key)

    @contextmanager
    def _snapshot(self) -> Iterator[apsw.Connection]:
        self._refuse_closed()
        with translated(self.path), sqlite_connection.refusing_invalid_unicode():
            if self._depth and self._owns_lock():
                yield self._writer  # type: ignore[misc]
                return
            self._refuse_moved()  # even where the reader is open already
            connection = self._reader()
            outermost = connection.get_autocommit()
            if outermost:
                connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if outermost and not connection.get_autocommit():
                    with suppress(apsw.CorruptError):  # an error of full text comes again here; who read it knows it
                        connection.execute("COMMIT")

    @contextmanager
    def write(
        self, scope: Scope | Several | Everyone, *, wait_seconds: float | None = None
    ) -> Iterator[SqliteTransaction]:
        """One transaction: all of it or nothing. Raises ReadOnly, Locked, DiskFull or StoreError.

        Raises StoreError as well where full text was made by another version of the analyser: what that version put in
        could not be taken out again.
        """
        user = scope.user if isinstance(scope, Scope) else None
        if self._foreign:
            raise errors.StoreError(
                CodedText(
                    "failure.foreign_change",
                    path=str(self.path),
                    what=self._foreign,
                    command=Command("doctor", repair=True),
                )
            )
        with self._begun(user, wait_seconds) as writer:
            tx = SqliteTransaction(writer, self.path, user, self.chain_key)
            self._refuse_other_terms(tx)
            yield tx

    @contextmanager
    def repair(self) -> Iterator[SqliteTransaction]:
        """See `Maintenance.repair`. Full text may be of another version, because a repair makes it anew."""
        with self._begun(None) as writer:
            yield SqliteTransaction(writer, self.path, None, self.chain_key)
        with self._lock, translated(self.path):
            self._note_identity()  # a repair may have given the store another key
            self._look_at_schema()

    @contextmanager
    def _begun(self, user: str | None, wait_seconds: float | None = None) -> Iterator[apsw.Connection]:
        """The writer in a transaction of a user, or of everyone; nested calls join the outer one."""
        self._refuse_closed()
        if self._disk_is_full:
            raise errors.DiskFull()
        writer = self._writer
        if writer is None:
            raise errors.ReadOnly(
                f"{self.path} cannot be written here; recall works, changes do not. Check the rights of the folder."
            )
        with self._locked(wait_seconds), translated(self.path), sqlite_connection.refusing_invalid_unicode():
            if self._depth:
                if self._user not in (None, user):
                    raise RuntimeError(f"A transaction of {user or 'everyone'} begins within one of {self._user}.")
                yield writer
                return
            try:
                self._refuse_moved()
            except errors.FilesMoved:
                self._spare_others_files()
                raise
            sqlite_connection.begin(writer, wait_seconds)
            self._depth, self._owner, self._user = 1, threading.get_ident(), user
            try:
                self._refuse_overwritten()
                yield writer
                self._refuse_moved()
                self._refuse_overwritten()
                writer.execute("COMMIT")
                ballast.keep(self.path)
            finally:
                self._depth = 0
                if not writer.get_autocommit():
                    writer.execute("ROLLBACK")

    @contextmanager
    def _locked(self, wait_seconds: float | None) -> Iterator[None]:
        """This process's own turn to write. Raises Locked where another thread keeps it for so long."""
        if not self._lock.acquire(timeout=-1 if wait_seconds is None else wait_seconds):
            raise errors.Locked()
        try:
            yield
        finally:
            self._lock.release()

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise errors.StoreError(f"{self.path} was closed; open it again.")

    def _refuse_moved(self) -> None:
        if self._files is None:
            return
        try:
            self._files.check()
        except errors.FilesMoved:
            self._refuse_closed()  # the log of a store that another thread has just closed is gone, and rightly
            raise

    def _note_identity(self, *, new: bool = False) -> None:
        """Note by what the store is known again. A new one stands in the log alone until that is merged."""
        if self._writer is None or self._vfs is not None:
            return
        if new:
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self.chain_key.find_or_make()  # while there is room on the disk
        self._forget_identity()
        self._identity = StoreIdentity(self.path, self._writer)

    def _forget_identity(self) -> None:
        if self._identity is not None:
            self._identity.close()
            self._identity = None

    def _refuse_overwritten(self) -> None:
        """Raise FilesMoved where another store was written into the file. Only in this process's turn to write."""
        if self._identity is None:
            return
        fresh: list[apsw.Connection] = []

        def look() -> apsw.Connection:
            fresh.append(self._connect(apsw.SQLITE_OPEN_READWRITE))
            return fresh[0]

        try:
            self._is_overwritten = self._is_overwritten or self._identity.is_lost(look)
        finally:
            for connection in fresh:
                sqlite_connection.leave_log_alone(connection)
                connection.close()
        if self._is_overwritten:
            raise errors.FilesMoved(
                f"{self.path} was overwritten with another store while it was open, so nothing was stored; restart the "
                "program that uses it."
            )

    def _spare_others_files(self) -> None:
        """Leave nothing beside a database that was put in the place of this one, and take nothing from it.

        A log that stays is taken for that database's own. SQLite does not merge it at the close once the database has
        moved, but deletes by its name what stands in the place of a log that was replaced.
        """
        if self._writer is None or self._files is None:
            return
        with suppress(apsw.Error, errors.StoreError):
            self._refuse_overwritten()
        if self._is_overwritten or self._files.is_log_replaced():
            sqlite_connection.leave_log_alone(self._writer)
        if self._files.is_database_moved():
            self._writer.set_busy_handler(ask_again_for(1))
            with suppress(apsw.Error):  # it is in the middle of a transaction, or others read
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._writer.set_busy_handler(ask_again_for(BUSY_MILLISECONDS / 1000))

    def _refuse_other_terms(self, tx: SqliteTransaction) -> None:
        if meta.value(tx, "terms_version") != TERMS_VERSION:
            raise errors.StoreError(
                CodedText("failure.other_full_text", place=str(self.path), command=Command("doctor", repair=True))
            )

    def _owns_lock(self) -> bool:
        return self._owner == threading.get_ident()

    def _reader(self) -> apsw.Connection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self.open_reader()
            self._local.connection = connection
            with self._readers_lock:  # not the writer's: a thread's first read must not wait for a long write
                if self._readers:
                    connection.pragma("cache_size", -_FURTHER_CACHE)
                self._readers.add(connection)
        return connection

    def open_reader(self) -> apsw.Connection:
        self._refuse_moved()
        connection = self._open_reader()
        try:
            self._refuse_moved()  # another file may have been put in its place since the last look
        except errors.FilesMoved:
            connection.close()
            raise
        return connection

    def _open_reader(self) -> apsw.Connection:
        if not self.read_only:
            # A reader of a WAL database writes to the -shm file, so it is opened for both and told not to change.
            connection = self._connect(apsw.SQLITE_OPEN_READWRITE)
            connection.pragma("query_only", True)
            return connection
        try:
            connection = self._connect(apsw.SQLITE_OPEN_READONLY)
            connection.pragma("user_version")
            check_version(connection, self.path)
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
            # Without the log's index, which cannot be made here, the log cannot be read.
            if self.log_size():
                raise
            connection = self._connect(apsw.SQLITE_OPEN_READONLY, immutable=True)
            check_version(connection, self.path)
        return connection

    @property
    def maintenance(self) -> Maintenance:
        """Maintenance of the file as a whole."""
        from picomem.store.sqlite.maintenance import SqliteMaintenance  # noqa: PLC0415 - a recall does not need it

        return SqliteMaintenance(self)

    def connection(self) -> apsw.Connection:
        """The writer, for `doctor` and for tests that look at the file itself. Raises ReadOnly."""
        if self._writer is None:
            raise errors.ReadOnly()
        return self._writer

    def log_size(self) -> int:
        return log_size(self.path)

    @contextmanager
    def alone(self, wait_seconds: float) -> Iterator[apsw.Connection]:
        """The writer outside of any transaction, for work on the whole file. It waits that long for other processes."""
        connection = self.connection()
        self._refuse_moved()
        with self._lock, translated(self.path):
            self._refuse_overwritten()
            connection.set_busy_handler(ask_again_for(wait_seconds))
            try:
                yield connection
            finally:
                connection.set_busy_handler(ask_again_for(BUSY_MILLISECONDS / 1000))

    def close(self) -> None:
        """Close every connection; the last one out folds the WAL into the file.

        A thread that is in the middle of a statement is waited for, and interrupted after some seconds.
        """
        self._is_closed = True
        with self._lock:
            self._spare_others_files()
            with self._readers_lock:
                for connection in list(self._readers):
                    sqlite_connection.close(connection)
                self._readers.clear()
            self._local = threading.local()
            self._close_writer()
            self._forget_identity()
            self._remove_orphaned_log()
            if self._is_held:
                self._is_held = False
                release_database(self.path)

    def _remove_orphaned_log(self) -> None:
        """Keep the log of a store that was overwritten from the store that stands in its file now."""
        if self._is_overwritten:
            with suppress(OSError):  # nothing more can be done
                Path(f"{self.path}-wal").unlink(missing_ok=True)
                Path(f"{self.path}-shm").unlink(missing_ok=True)
