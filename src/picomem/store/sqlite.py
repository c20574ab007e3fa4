"""SQLite, through apsw.

How it is used, and why:

- WAL with `synchronous=FULL`. With NORMAL a power cut loses rows that were already acknowledged.
- Every write begins IMMEDIATE. A transaction that reads first and writes later fails with "busy" when another
  process wrote in between, whatever the busy timeout says; one that takes the lock at once only waits.
- One writer connection a process, behind a lock; a reader connection a thread. A read sees one snapshot.
- `secure_delete` here and in full text: what is purged is overwritten, not only unlinked.
- Files are 0600 and their folder 0700, whatever the umask.
- A folder that cannot be written is opened as far as that is possible: read-only, then as an immutable file.
- Errors of the library are turned into picomem's at this one place.

A fresh database is made by running every migration in one transaction, so it equals a migrated one by construction.
"""

from __future__ import annotations

import errno
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from picomem import errors
from picomem.paths import hold_database, make_private_dir, release_database
from picomem.store import ballast, meta
from picomem.store.connector import Row, Transaction
from picomem.store.file_bytes import database_head
from picomem.store.lost_files import look_for_lost_files
from picomem.store.row_hash import COLUMNS, is_whole
from picomem.store.seals import reseal, restore, seal, select, write
from picomem.store.search import varints
from picomem.store.statements import schema, statement
from picomem.store.tolerant import rows_of, undecoded_rows
from picomem.text.terms import VERSION as TERMS_VERSION

APPLICATION_ID = 0x5069636F  # "Pico": how `file` and we know the database
MIGRATIONS = ("0001", "0002", "0003", "0004", "0005", "0006")
SCHEMA_VERSION = len(MIGRATIONS)
BUSY_MILLISECONDS = 30_000
_CLOSING_SECONDS = 5
_CONTRADICTIONS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError)


class SqliteTransaction(Transaction):
    """A transaction on one connection."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def all(self, name: str, /, **values: object) -> list[Row]:
        return self._rows(statement(name), values)

    def one(self, name: str, /, **values: object) -> Row | None:
        try:
            return next(iter(self._connection.execute(statement(name), values)), None)  # type: ignore[arg-type]
        except UnicodeDecodeError:
            return next(iter(self._rows(statement(name), values)), None)
        except apsw.Error as error:
            raise translation(error, self._path) from error

    def run(self, name: str, /, **values: object) -> int:
        if (found := seal(name)) is not None:
            return write(found, statement(name), values, self._rows, self._run)
        return self._run(statement(name), values)

    def run_many(self, name: str, rows: Iterable[Mapping[str, object]], /) -> None:
        found = seal(name)
        try:
            self._connection.executemany(statement(name), rows if found is None else map(found.sealed, rows))  # type: ignore[arg-type]
        except apsw.Error as error:
            raise translation(error, self._path) from error

    def reseal(self, table: str, row: Row) -> None:
        reseal(table, row, self._rows, self._run)

    def undecoded(self, table: str) -> Iterator[Row]:
        try:
            yield from undecoded_rows(self._connection, select(table, "TRUE"))
        except apsw.Error as error:
            raise translation(error, self._path) from error

    def restore(self, table: str, was: Row, row: Row) -> int:
        return restore(table, was, row, self._run)

    def indexed_words(self, source: str) -> Iterator[Row]:
        connection = self._connection
        query_only = connection.pragma("query_only")
        try:
            connection.pragma("query_only", False)  # of the temporary table alone
            connection.execute(
                f"CREATE VIRTUAL TABLE temp.instances USING fts5vocab (main, {source}_words, 'instance')"
            )
            try:
                yield from connection.execute("SELECT term, doc, col, offset FROM temp.instances")
            finally:
                connection.execute("DROP TABLE temp.instances")
            for doc, sizes in connection.execute(f"SELECT id, sz FROM {source}_words_docsize"):
                for column, size in enumerate(varints(sizes)):
                    yield doc, column, size
        except UnicodeDecodeError:
            yield ("a word that is no UTF-8",)
        except apsw.Error as error:
            raise translation(error, self._path) from error
        finally:
            connection.pragma("query_only", query_only)

    def rebuild_indexes(self) -> bool:
        try:
            self._connection.execute("REINDEX")
        except (apsw.CorruptError, apsw.ConstraintError):
            return False
        return True

    def next_docs(self, count: int = 1) -> int:
        last = meta.next_doc(self) + count
        meta.put(self, "next_doc", str(last))
        return last - count + 1

    def _rows(self, sql: str, values: Mapping[str, object]) -> list[Row]:
        try:
            return rows_of(self._connection, sql, values)
        except apsw.Error as error:
            raise translation(error, self._path) from error

    def _run(self, sql: str, values: Mapping[str, object]) -> int:
        try:
            self._connection.execute(sql, values)  # type: ignore[arg-type]
        except apsw.Error as error:
            raise translation(error, self._path) from error
        return self._connection.changes()


class SqliteConnector:
    """One SQLite file. Raises NotADatabase, NewerSchema, ReadOnly, Locked, DiskFull or StoreError on opening."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self.path = path = path.absolute()  # the working directory may change while it is open
        self.name = str(path)
        self.read_only = False
        self._vfs = vfs
        self._writer: apsw.Connection | None = None
        self._lock = threading.RLock()
        self._readers_lock = threading.Lock()
        self._depth = 0
        self._owner = 0
        self._local = threading.local()
        # Weak, so that the reader of a thread that has ended is closed with it.
        self._readers: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._is_held = False
        self._is_closed = False
        self._is_full = False  # whether it is read-only for want of room
        try:
            with translated(path):
                self._open()
        except BaseException as error:
            self.close()  # an open connection would leave its -wal and -shm beside a file that was refused
            if isinstance(error, errors.Corrupt):
                # The doctor opens the file as everybody does, so it is of no help here.
                raise errors.Corrupt(
                    f"{path} is too damaged to be opened; put a copy in its place, or move it away and begin anew."
                ) from error
            raise

    def _open(self) -> None:
        new = self._create_missing_file()
        hold_database(self.path)
        self._is_held = True
        if not new:
            look_for_lost_files(self.path)
        refuse_another_programs(self.path)
        try:
            try:
                self._open_writer()
            except (apsw.FullError, apsw.IOError):
                if not ballast.give_up_some(self.path):
                    raise
                self._close_writer()
                self._open_writer()
            ballast.keep(self.path)
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.FullError, apsw.IOError) as error:
            if new or (isinstance(error, apsw.IOError) and not _is_full(error)):
                raise
            self._close_writer()
            self.read_only = True
            self._is_full = isinstance(error, apsw.FullError | apsw.IOError)
            if self._is_unmade():
                raise (errors.DiskFull if self._is_full else errors.ReadOnly)(
                    f"{self.path} was never finished, since its disk was full or it could not be written; nothing is "
                    "in it. Make room or name another file, and store something."
                ) from error
            with self.read() as tx:
                if tx.one("has_meta") is None:
                    raise errors.NotADatabase() from error
            if self._reader().pragma("user_version") != SCHEMA_VERSION:
                raise errors.ReadOnly(
                    f"{self.path} was written by an older picomem and cannot be brought up to date here, for it cannot "
                    "be written; open it once where it can."
                ) from error

    def _is_unmade(self) -> bool:
        """Whether the file has no table yet: it was cut off while it was made."""
        return next(self._reader().execute("SELECT 1 FROM sqlite_schema LIMIT 1"), None) is None

    def _open_writer(self) -> None:
        self._writer = self._connect(apsw.SQLITE_OPEN_READWRITE)
        if self._writer.readonly("main"):  # SQLite opens a file that it may not write for reading only
            raise apsw.ReadOnlyError("the file may not be written")
        check_version(self._writer, self.path)
        self._prepare(self._writer)

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _create_missing_file(self) -> bool:
        """Make the file, private, where there is none; whether it was made."""
        try:
            str(self.path).encode()  # SQLite takes names in UTF-8 only
        except UnicodeEncodeError:
            raise errors.StoreError(f"{self.path} is no name in UTF-8; choose another path for the database.") from None
        try:
            if self.path.is_dir():
                raise IsADirectoryError
            if self.path.exists():
                if not self.path.is_file():
                    raise errors.NotADatabase(f"{self.path} is not a regular file; name another file with --db.")
                if self.path.stat().st_nlink > 1:
                    raise errors.StoreError(
                        f"{self.path} has a second name (a hard link), and SQLite keeps a log for each name, so rows "
                        "would be lost; remove the other name, or make a copy in its place."
                    )
                return False
            make_private_dir(self.path.parent)
            # O_EXCL: closing a descriptor of a file that another thread has made and opened meanwhile would drop its
            # locks.
            os.close(
                os.open(self.path.resolve(), os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
            )
        except RuntimeError:  # what Path.resolve raises for a loop of links, before Python 3.13
            raise errors.StoreError(
                f"{self.path} is a link that leads back to itself; choose another path for the database."
            ) from None
        except (FileExistsError, NotADirectoryError):
            if self.path.exists():
                return False
            raise errors.StoreError(
                f"{self.path.parent} is a file, not a folder; choose another path for the database."
            ) from None
        except IsADirectoryError:
            raise errors.NotADatabase(f"{self.path} is a folder; name a file for the database.") from None
        except PermissionError:
            raise errors.ReadOnly(
                f"{self.path} does not exist and cannot be created there; choose a folder that you may write to."
            ) from None
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            kind = errors.DiskFull if full else errors.ReadOnly if error.errno == errno.EROFS else errors.StoreError
            raise kind(f"{self.path} cannot be created: {error.strerror}.") from error
        return True

    def _connect(self, flags: int, immutable: bool = False) -> apsw.Connection:
        name = str(self.path)
        if immutable:
            flags |= apsw.SQLITE_OPEN_URI
            name = self.path.resolve().as_uri() + "?immutable=1"
        connection = apsw.Connection(name, flags=flags, vfs=self._vfs)
        connection.set_busy_handler(_persistent(BUSY_MILLISECONDS / 1000))
        connection.pragma("foreign_keys", True)
        connection.pragma("secure_delete", True)
        connection.pragma("cache_size", -16_000)
        return connection

    def _prepare(self, connection: apsw.Connection) -> None:
        """WAL, FULL, and the schema of this version."""
        self._switch_to_wal(connection)
        connection.pragma("synchronous", 2)
        connection.pragma("journal_size_limit", 64 << 20)
        if connection.pragma("user_version") == SCHEMA_VERSION:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been faster: the version counts from inside the lock.
            check_version(connection, self.path)
            for number in range(int(connection.pragma("user_version")), SCHEMA_VERSION):  # type: ignore[arg-type]
                connection.execute(schema(MIGRATIONS[number]))
                if number == 0:
                    connection.execute(schema("search_sqlite"))
                    connection.execute(statement("first_meta"), {"key": os.urandom(32).hex(), "terms": TERMS_VERSION})
                    connection.pragma("application_id", APPLICATION_ID)
                if number == 2:
                    connection.execute(schema("search_sqlite_0003"))
                if number == 5:
                    from picomem.store.row_hash_migration import hash_rows

                    hash_rows(connection)
            connection.pragma("user_version", SCHEMA_VERSION)
            connection.execute("COMMIT")
        except BaseException:
            if not connection.get_autocommit():  # SQLite rolls back by itself where the disk failed
                connection.execute("ROLLBACK")
            raise

    @staticmethod
    def _switch_to_wal(connection: apsw.Connection) -> None:
        """SQLite waits for no lock here, so of several processes that make the file at once all but one would fail."""
        deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
        while connection.pragma("journal_mode") != "wal":
            try:
                connection.pragma("journal_mode", "wal")
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        """A snapshot. Inside a write of the same thread it sees what that write has done so far."""
        self._refuse_closed()
        with translated(self.path), self._blaming_damage():
            if self._depth and self._owns_lock():
                yield SqliteTransaction(self._writer, self.path)  # type: ignore[arg-type]
                return
            connection = self._reader()
            outermost = connection.get_autocommit()
            if outermost:
                connection.execute("BEGIN")
            try:
                yield SqliteTransaction(connection, self.path)
            finally:
                if outermost and not connection.get_autocommit():
                    connection.execute("COMMIT")

    @contextmanager
    def write(self, *, rebuilding: bool = False) -> Iterator[SqliteTransaction]:
        """One transaction: all of it or nothing. Raises ReadOnly, Locked, DiskFull or StoreError.

        Where full text was made by another version of the analyser, only a caller that is `rebuilding` it may write:
        what the old version put in could not be taken out again.
        """
        self._refuse_closed()
        if self._is_full:
            raise errors.DiskFull()
        if self._writer is None:
            raise errors.ReadOnly(
                f"{self.path} cannot be written here; recall works, changes do not. Check the rights of the folder."
            )
        with self._lock, translated(self.path), self._blaming_damage():
            if self._depth:
                yield SqliteTransaction(self._writer, self.path)
                return
            self._writer.execute("BEGIN IMMEDIATE")
            self._depth, self._owner = 1, threading.get_ident()
            try:
                if not rebuilding:
                    self._refuse_other_terms()
                yield SqliteTransaction(self._writer, self.path)
                self._writer.execute("COMMIT")
            finally:
                self._depth = 0
                if not self._writer.get_autocommit():
                    self._writer.execute("ROLLBACK")

    @contextmanager
    def _blaming_damage(self) -> Iterator[None]:
        """Turn what a damaged file leads to, where rows contradict each other, into Corrupt.

        A row that is lost between two statements ends in an error of Python's own somewhere above. Whether damage is
        the cause is looked up only then; if the file is whole the error is a mistake in the program, and goes on.
        """
        try:
            yield
        except UnicodeEncodeError as error:  # a caller's: no text that was read holds half a surrogate pair
            raise errors.InvalidInput(
                "A text or a name is not valid Unicode, so no database can hold it; give it as UTF-8."
            ) from error
        except _CONTRADICTIONS as error:
            if not self._is_damaged():
                raise
            raise errors.Corrupt(
                f"{self.path} is damaged and contradicts itself, so nothing was written; run `picomem doctor --repair`."
            ) from error

    def _is_damaged(self) -> bool:
        try:
            with closing(self._open_reader()) as connection:
                return connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)] or any(
                    not is_whole(table, row)
                    for table in COLUMNS
                    for row in rows_of(connection, select(table, "TRUE"), {})
                )
        except (apsw.Error, errors.StoreError):
            return True

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise errors.StoreError(f"{self.path} was closed; open it again.")

    def _refuse_other_terms(self) -> None:
        if meta.value(SqliteTransaction(self._writer, self.path), "terms_version") != TERMS_VERSION:  # type: ignore[arg-type]
            raise errors.StoreError(
                f"The full text in {self.path} was made by another version of picomem; nothing can be stored until "
                "`picomem doctor --repair` has made it anew."
            )

    def _owns_lock(self) -> bool:
        return self._owner == threading.get_ident()

    def _reader(self) -> apsw.Connection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._open_reader()
            self._local.connection = connection
            with self._readers_lock:  # not the writer's: a thread's first read must not wait for a long write
                self._readers.add(connection)
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
            if self._log_size():
                raise
            connection = self._connect(apsw.SQLITE_OPEN_READONLY, immutable=True)
            check_version(connection, self.path)
        return connection

    def connection(self) -> apsw.Connection:
        """The writer, for `doctor` and for tests that look at the file itself. Raises ReadOnly."""
        if self._writer is None:
            raise errors.ReadOnly()
        return self._writer

    def integrity(self) -> list[str]:
        """What SQLite's own check finds in the file, a sentence each."""
        # A connection of its own: FTS5 checks with what the connection has cached, and a reader's cache may be stale.
        with translated(self.path), closing(self._open_reader()) as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        problems = [f"the file is damaged: {problem}" for problem in found if problem != "ok"]
        return problems + [f"a row of {row[0]} has lost the row it belongs to" for row in broken]

    def words_integrity(self, source: str) -> str:
        """What full text's own check finds."""
        with translated(self.path), closing(self._open_reader()) as connection:
            found = connection.execute(f"PRAGMA integrity_check({source}_words)").fetchall()
        return "" if found == [("ok",)] else f"the full-text index of the {source} rows is damaged"

    def _log_size(self) -> int:
        log = Path(f"{self.path}-wal")
        return log.stat().st_size if log.exists() else 0

    def size(self) -> int:
        return self.path.stat().st_size + self._log_size()

    def files(self) -> list[Path]:
        """The database, its log, and a journal, those that are there; the index of the log holds no content."""
        named = (self.path, *(Path(f"{self.path}{end}") for end in ("-wal", "-journal")))
        return [path for path in named if path.exists()]

    def give_up_ballast(self) -> bool:
        """Free the room that is kept for a full disk; whether there was any."""
        return ballast.give_up(self.path)

    def leave_no_trace(self, wait_seconds: float) -> None:
        """Merge full text, write the file anew, and empty the log.

        `secure_delete` overwrites what is deleted, but a page that was balanced may keep a copy in its gap, and full
        text the beginning of a word that no document has any more as the mark where a page begins. Merged segments and
        VACUUM hold nothing but what stays; the log holds what was until it is cut, for which nobody may be reading.
        """
        self._merge_words()
        connection = self.connection()
        waiting = errors.Locked(
            f"{self.path} is being read by another process, so its log cannot be emptied yet and still holds what was "
            "taken out. Run `picomem purge` again when that has finished."
        )
        with self._lock, translated(self.path):
            connection.set_busy_handler(_persistent(wait_seconds))
            try:
                connection.execute("VACUUM")
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError as error:
                raise waiting from error
            except apsw.FullError as error:
                raise errors.DiskFull(
                    f"The disk is too full to write {self.path} anew: what was purged is deleted, and traces of it may "
                    f"be left in the file. Free {-(-2 * self.size() // 1_000_000)} MB and run `picomem purge` again."
                ) from error
            finally:
                connection.set_busy_handler(_persistent(BUSY_MILLISECONDS / 1000))

    def _merge_words(self) -> None:
        """Write each full-text index anew, as one segment. One that is one segment already SQLite leaves as it is, so
        a word is put in, and taken out again."""
        with self.write() as tx:
            for source, texts in (("memory", ("name", "body")), ("episode", ("body",)), ("note", ("name", "body"))):
                word = {"doc": tx.next_docs(), **dict.fromkeys(texts, "purged")}
                tx.run(f"{source}_words_add", **word)
                tx.run(f"{source}_words_optimize")
                tx.run(f"{source}_words_remove", **word)

    def close(self) -> None:
        """Close every connection; the last one out folds the WAL into the file.

        A thread that is in the middle of a statement is waited for, and interrupted after some seconds.
        """
        self._is_closed = True
        with self._lock:
            with self._readers_lock:
                for connection in list(self._readers):
                    _close(connection)
                self._readers.clear()
            self._local = threading.local()
            self._close_writer()
            if self._is_held:
                self._is_held = False
                release_database(self.path)


def _close(connection: apsw.Connection) -> None:
    deadline = time.monotonic() + _CLOSING_SECONDS
    while True:
        try:
            return connection.close()
        except apsw.ThreadingViolationError:  # another thread runs a statement on it
            if time.monotonic() > deadline:
                connection.interrupt()
            time.sleep(0.002)


def _persistent(seconds: float) -> Callable[[int], bool]:
    """A busy handler that asks for the lock every two milliseconds, for so many seconds.

    SQLite's own handler soon asks ten times a second only. A process that writes without a pause leaves the lock free
    for about a millisecond between two transactions, so that handler can miss every gap for half a minute.
    """
    deadline = 0.0

    def ask_again(refusals: int) -> bool:
        nonlocal deadline
        if refusals == 0:
            deadline = time.monotonic() + seconds
        time.sleep(0.002)
        return time.monotonic() < deadline

    return ask_again


def refuse_another_programs(path: Path) -> None:
    """Refuse a database of another program by its header alone, so that not even its log is touched.

    The header (sqlite.org/fileformat.html) holds the schema cookie at 40, user_version at 60 and application_id at
    68, each 4 bytes, big-endian. All three are 0 in a database whose making has not left the log yet; what the log
    holds is for `check_version`.
    """
    try:
        head = database_head(path, 72)
    except apsw.Error:
        return  # opening says it better
    cookie, version, application = (int.from_bytes(head[at : at + 4], "big") for at in (40, 60, 68))
    if head.startswith(b"SQLite format 3\0") and application != APPLICATION_ID and (cookie or version or application):
        raise errors.NotADatabase(
            f"{path} is a database of another program; name another file with --db, and nothing of it is touched."
        )


def check_version(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file that is not ours (unless it is empty) and one that a newer picomem wrote."""
    ours = connection.pragma("application_id") == APPLICATION_ID
    version = int(connection.pragma("user_version"))  # type: ignore[arg-type]
    if not ours and (version or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()):
        raise errors.NotADatabase(
            f"{path} is a database of another program; name another file with --db, and nothing of it is touched."
        )
    if version > SCHEMA_VERSION:
        raise errors.NewerSchema(
            f"{path} was written by a newer picomem (schema {version}, this one knows {SCHEMA_VERSION}); "
            "upgrade picomem to open it."
        )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the library's errors into picomem's."""
    try:
        yield
    except apsw.Error as error:
        raise translation(error, path) from error


def _is_full(error: apsw.Error) -> bool:
    """Whether there was no room for the index of the log, which SQLite calls a failure of the disk."""
    # An error of apsw's own, as that a connection is closed, has no code of SQLite's.
    return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE


def translation(error: apsw.Error, path: Path) -> errors.StoreError:
    """The error of ours for one of the library's, with a sentence that says what to do."""
    if isinstance(error, apsw.NotADBError):
        return errors.NotADatabase(f"{path} is not a database; name another file with --db.")
    if isinstance(error, apsw.CorruptError):
        return errors.Corrupt(f"{path} is damaged ({error}); run `picomem doctor` to see what can be read.")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return errors.Locked(
            f"{path} has been locked by another process for {BUSY_MILLISECONDS // 1000} seconds; "
            "nothing was written. Try again when it has finished."
        )
    if isinstance(error, apsw.FullError) or _is_full(error):
        return errors.DiskFull()
    if isinstance(error, apsw.NoMemError):
        return errors.OutOfMemory()
    if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.PermissionsError):
        return errors.ReadOnly(
            f"{path} cannot be opened for writing ({error}); check the rights of the file and its folder."
        )
    if isinstance(error, apsw.SQLError):
        return errors.Corrupt(f"{path} lacks a part of what it should hold ({error}); run `picomem doctor --repair`.")
    return errors.StoreError(f"{path} could not be read or written: {error}.")
