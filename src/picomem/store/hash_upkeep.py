"""Updates the hash of each row (see row_hash.py) with every statement that writes one.

Callers write columns and never a hash, so none of them can forget it:

- An INSERT gets the hash of its values.
- Before an UPDATE, or an INSERT that changes columns of an existing row, the affected rows are read. Afterwards each
  row that matched its hash gets a new one. A row that was damaged before keeps a wrong hash, so no write makes a
  damaged row look intact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from picomem.store.connector import Row
from picomem.store.row_hash import COLUMNS, KEYS, REALS, is_whole, row_hash
from picomem.store.sql_statements import statement

Values = Mapping[str, object]
Select = Callable[[str, Values], list[Row]]  # the rows of an SQL text
Run = Callable[[str, Values], int]  # how many rows an SQL text changed

_COMMENT = r"\A(?:--[^\n]*\n)+"
_INSERT = r"(?s)INSERT INTO (\w+) \(([^()]*)\)\s*VALUES \(([^()]*)\)(.*)"
_UPDATE = r"(?s)UPDATE (\w+) SET .*?\sWHERE (.*)"


class HashedWrite(NamedTuple):
    """A statement that writes rows with a hash. `values` names what an INSERT gives, in the order of COLUMNS; it is
    empty for an UPDATE. `before` selects the rows of which some columns are changed; it is empty where there can be
    none."""

    table: str
    values: tuple[str, ...]
    before: str

    def with_hash(self, values: Values) -> Values:
        """The values of an INSERT with the hash of the row that they make."""
        row = [values[name] for name in self.values]
        for place in REALS[self.table]:
            row[place] = float(row[place])  # type: ignore[arg-type]
        return {**values, "row_hash": row_hash(self.table, row)}


@cache
def hashed_write(name: str, database: str = "sqlite") -> HashedWrite | None:
    """The statement of that name as a `HashedWrite`; None if it writes no rows with a hash."""
    text = re.sub(_COMMENT, "", statement(name, database))
    if match := re.match(_UPDATE, text):
        table, condition = match.groups()
        return HashedWrite(table, (), select(table, condition)) if table in COLUMNS else None
    match = re.match(_INSERT, text)
    if match is None or match[1] not in COLUMNS:
        return None
    table, names, given, rest = match.groups()
    parameters = given.replace(":", " ").replace(",", " ").split()
    value_of = dict(zip(names.replace(",", " ").split(), parameters, strict=True))
    before = ""
    if "DO UPDATE" in rest and "row_hash = excluded.row_hash" not in rest:
        before = select(table, " AND ".join(f"{key} = :{value_of[key]}" for key in KEYS[table]))
    return HashedWrite(table, tuple(value_of[column] for column in COLUMNS[table]), before)


def write(written: HashedWrite, sql: str, values: Values, rows_of: Select, run: Run) -> int:
    """Run a statement and give each row that it writes its new hash; return how many rows it changed."""
    if written.values:
        values = written.with_hash(values)
    before = rows_of(written.before, values) if written.before else []
    count = run(sql, values)
    for row in before:
        if is_whole(written.table, row):
            renew_hash(written.table, row, rows_of, run)
    return count


def renew_hash(table: str, row: Row, rows_of: Select, run: Run) -> None:
    """Give the row with the key of `row` the hash of what it says now."""
    key = {name: row[COLUMNS[table].index(name)] for name in KEYS[table]}
    condition = " AND ".join(f"{name} = :{name}" for name in key)
    for now in rows_of(select(table, condition), key):
        digest = row_hash(table, now[:-1])
        run(f"UPDATE {table} SET row_hash = :row_hash WHERE {condition}", {**key, "row_hash": digest})


def overwrite(table: str, row: Row, run: Run) -> int:
    """Write a row with its hash over the one that has its key; how many rows that were."""
    columns = dict(zip((*COLUMNS[table], "row_hash"), row, strict=True))
    changes = ", ".join(f"{name} = :{name}" for name in columns if name not in KEYS[table])
    condition = " AND ".join(f"{name} = :{name}" for name in KEYS[table])
    return run(f"UPDATE {table} SET {changes} WHERE {condition}", columns)


def select(table: str, condition: str) -> str:
    """The statement that reads whole rows, as `is_whole` takes them."""
    return f"SELECT {', '.join(COLUMNS[table])}, row_hash FROM {table} WHERE {condition}"
