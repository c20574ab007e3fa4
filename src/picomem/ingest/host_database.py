"""Reads the SQLite database of another program, which may be using it.

- The database is opened read-only, and each look at it is one short statement. In write-ahead mode a reader neither
  waits for a writer nor holds one up; what is written meanwhile is read the next time.
- If no `-wal` file lies beside it, nobody has it open. Then it is read as a file that does not change, because a usual
  connection would leave a `-wal` and a `-shm` file behind. A change is detected after each statement, and
  then the statement is made again.
- A database that is locked for longer than a moment is reported, and read the next time.

Its content is not trusted, and nothing of its schema runs. No module of virtual tables is loaded, and whatever a view
would read is denied, so only ordinary tables can be read. The pages of a damaged file may form a circle, so a statement
ends after so many steps as a sound file of this size can need.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.source import LOG, SourceState, look_at

_PATIENCE = 500  # milliseconds to wait for a lock
_TRIES = 5
_LEAST_STEPS = 10_000_000  # of SQLite's machine in one statement
_STEPS_FOR_BYTE = 4  # a row takes about as many steps as it has bytes
_STEPS_AT_ONCE = 100_000
_PAGE_BYTES = 16 << 20  # after which a statement ends, however many rows are left

Row = tuple[Any, ...]


class HostDatabase:
    """Statements on another program's database, one at a time: no transaction is open between two of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: dict[str, set[str]] = {}
        self._connection: apsw.Connection | None = None
        self._at_rest: SourceState | None = None
        self._steps_left = 0

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def columns(self, table: str) -> set[str]:
        """The columns of a table; none where there is no such table."""
        if table not in self._columns:
            is_ordinary = self.select(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?", table
            )
            rows = self.select("SELECT name FROM pragma_table_info(?)", table) if is_ordinary else []
            self._columns[table] = {str(name) for (name,) in rows}
        return self._columns[table]

    def select(self, statement: str, *values: Any) -> list[Row]:
        """The rows. Raises NotFound or InvalidInput."""
        try:
            for _ in range(_TRIES):
                rows = self._rows(statement, values)
                if self._at_rest is None or self._at_rest == self._rest():
                    return rows
                self.close()  # somebody opened it meanwhile
        except apsw.InterruptError as error:
            raise InvalidInput(f"{self._path} cannot be read: it takes more steps than its size explains.") from error
        except apsw.BusyError as error:
            raise InvalidInput(f"{self._path} is locked by another program; try again in a moment.") from error
        except (apsw.Error, UnicodeDecodeError) as error:
            self.close()
            if not self._path.exists():
                raise NotFound(f"There is no file {self._path}.") from error
            raise InvalidInput(f"{self._path} cannot be read: {error}.") from error
        raise InvalidInput(f"{self._path} keeps changing; try again in a moment.")

    def _rows(self, statement: str, values: Sequence[Any]) -> list[Row]:
        if self._connection is None or (self._at_rest is not None and self._at_rest != self._rest()):
            self._open()
        assert self._connection is not None
        rows: list[Row] = []
        size = 0
        self._steps_left = _LEAST_STEPS + _STEPS_FOR_BYTE * self._size()
        with closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(statement, tuple(values)):
                rows.append(row)
                size += sum(len(value) for value in row if isinstance(value, bytes))
                if size > _PAGE_BYTES and len(rows) > 1:
                    break
        return rows

    def _open(self) -> None:
        self.close()
        self._at_rest = self._rest()
        uri = f"{self._path.absolute().as_uri()}?mode=ro{'' if self._at_rest is None else '&immutable=1'}"
        self._connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        self._connection.set_busy_timeout(_PATIENCE)
        self._connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        self._connection.drop_modules(())
        self._connection.authorizer = _allow_tables
        self._connection.set_progress_handler(self._is_too_long, _STEPS_AT_ONCE)

    def _is_too_long(self) -> bool:
        self._steps_left -= _STEPS_AT_ONCE
        return self._steps_left < 0

    def _size(self) -> int:
        """The bytes of the file, and of its log."""
        return sum(look_at(path).size for path in (self._path, self._path.with_name(self._path.name + LOG)))

    def _rest(self) -> SourceState | None:
        """The state of the file while nobody has it open; None if somebody may have."""
        beside = (self._path.with_name(self._path.name + end) for end in ("-wal", "-shm", "-journal"))
        return None if any(path.exists() for path in beside) else look_at(self._path)


def _allow_tables(_action: int, _first: str | None, _second: str | None, _base: str | None, view: str | None) -> int:
    """Deny what is read on behalf of a view."""
    return apsw.SQLITE_OK if view is None else apsw.SQLITE_DENY
