"""How SQLite looks up what a statement asks for, without statistics of the rows."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from picomem.app import open_engine
from picomem.store import sql_statements
from picomem.store.sqlite.transaction import statement

pytestmark = pytest.mark.sqlite_file("asks SQLite how it searches")

_OF_A_USER = re.compile(r"SEARCH (\w+) USING .*INDEX \w+ \(user_id=\?\)$")
_SQL = Path(sql_statements.__file__).parent / "sql"
_NAMES = sorted(
    name
    for file in _SQL.glob("*.sql")
    if "postgres" not in file.name
    for name in re.findall(r"^-- name: (\w+)", file.read_text("utf-8"), re.MULTILINE)
)


@pytest.mark.requirement("A5")
def test_no_statement_reads_all_rows_of_a_user_where_an_index_leads_to_those_it_asks_for(tmp_path: Path) -> None:
    """37 §2.3. Without statistics SQLite takes a user for a few rows, and an order for dearer than a search."""
    path = tmp_path / "store.db"
    with open_engine(path, embedder="none") as engine:
        engine.remember("The crane stands at the quay")
    store = apsw.Connection(str(path))
    indexes: dict[str, list[list[str]]] = {}
    for table, index in store.execute("SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index'"):
        indexes.setdefault(table, []).append([row[2] for row in store.execute(f"PRAGMA index_info({index})")])
    reads_all = []
    for name in _NAMES:
        sql = statement(name)
        values = dict.fromkeys(re.findall(r":(\w+)", sql), 1)
        equal = set(re.findall(r"\b(?:WHERE|AND|ON)\s+(?:\w\.)?(\w+) = :\w+", sql))
        for *_, told in store.execute(f"EXPLAIN QUERY PLAN {sql}", values):
            if (match := _OF_A_USER.match(told)) and any(
                len(columns) > 1 and set(columns[:2]) <= equal for columns in indexes.get(match[1], ())
            ):
                reads_all.append((name, told))
    assert reads_all == []
