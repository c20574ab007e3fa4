"""A write transaction is of one user, or says that it is of everyone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.databases import Database
from tests.engine_parts import connector_of

from picomem.records.scope import Scope
from picomem.store import doc_numbers
from picomem.store.connector import EVERYONE, Connector
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.tables import user_entries

pytestmark = pytest.mark.requirement("X11")

MIA, ANN = Scope("mia"), Scope("ann")


@pytest.fixture
def connector(db: Path, database: Database) -> Iterator[Connector]:
    with closing(database.connect(db)) as opened:
        yield opened


def test_a_statement_of_another_user_is_refused_and_nothing_of_the_transaction_stays(connector) -> None:
    with pytest.raises(RuntimeError, match="put_user_mark is of user ann"), connector.write(MIA) as tx:
        user_entries.put(tx, MIA, "colour", "red")
        user_entries.put(tx, ANN, "colour", "blue")
    with connector.read() as tx:
        assert user_entries.value(tx, MIA, "colour") is None
        assert user_entries.value(tx, ANN, "colour") is None


def test_every_way_to_run_a_statement_is_guarded(connector) -> None:
    with connector.write(MIA) as tx:
        for run in (tx.all, tx.one, tx.run):
            with pytest.raises(RuntimeError):
                run("user_marks", user="ann")
        with pytest.raises(RuntimeError):
            tx.run_many("remove_user_mark", [{"user": "mia", "name": "a"}, {"user": "ann", "name": "a"}])


def test_a_narrower_scope_of_the_same_user_may_be_written(connector) -> None:
    with connector.write(Scope("mia", project="harbour")) as tx, connector.write(Scope("mia", "coder")) as inner:
        user_entries.put(tx, MIA, "colour", "red")
        assert user_entries.value(inner, MIA, "colour") == "red"


def test_a_transaction_of_one_user_is_not_joined_by_another(connector) -> None:
    for scope in (ANN, EVERYONE):
        with pytest.raises(RuntimeError, match="within one of mia"), connector.write(MIA), connector.write(scope):
            pass
    with connector.write(ANN) as tx:
        user_entries.put(tx, ANN, "colour", "blue")


def test_a_transaction_of_everyone_writes_rows_of_each(connector) -> None:
    with connector.write(EVERYONE) as tx:
        user_entries.put(tx, MIA, "colour", "red")
        with connector.write(ANN) as inner:
            user_entries.put(inner, ANN, "colour", "blue")


@pytest.mark.sqlite_file("only full text in a file needs ranges of numbers")
def test_numbers_of_documents_come_from_a_range_of_the_user_and_are_never_given_out_twice(connector) -> None:
    taken: dict[str, list[int]] = {}
    for scope, count in ((MIA, 2), (ANN, 1), (MIA, 3), (ANN, 2)):
        with connector.write(scope) as tx:
            first = tx.next_docs(scope, count)
            taken.setdefault(scope.user, []).extend(range(first, first + count))
            assert tx.last_doc(scope) == first + count - 1
    assert taken == {"mia": [1, 2, 3, 4, 5], "ann": [(1 << 32) + number for number in (1, 2, 3)]}


@pytest.mark.sqlite_file("reads the rows of FTS5's numbers, which only SQLite has")
def test_handing_out_numbers_writes_to_a_row_of_the_user_alone(connector) -> None:
    with connector.write(EVERYONE) as tx:
        for scope in (MIA, ANN):
            tx.next_docs(scope)
    before = _rows(connector)
    with connector.write(MIA) as tx:
        tx.next_docs(MIA, 7)
    assert [user for user, row in _rows(connector).items() if row != before[user]] == ["mia"]


def test_a_user_whose_everything_was_purged_gets_no_number_again(db: Path, open_engine) -> None:
    with open_engine(user="mia") as engine:
        engine.remember("The harbour keeps its ledgers dry", key="harbour")
        with connector_of(engine).read() as tx:
            last = tx.last_doc(MIA)  # type: ignore[attr-defined]
        engine.purge(everything=True)
        engine.remember("The harbour keeps its ledgers wet", key="harbour")
        with connector_of(engine).read() as tx:
            assert doc_numbers.highest_taken(tx, MIA) > last


def _rows(connector: Connector) -> dict[str, tuple]:
    assert isinstance(connector, SqliteConnector)
    rows = connector.connection().execute("SELECT user_id, * FROM doc_ranges").fetchall()
    return {str(user): tuple(row) for user, *row in rows}
