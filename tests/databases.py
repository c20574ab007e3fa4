"""The databases that the tests run on: `pytest --database NAME` chooses one, or `$PICOMEM_TEST_DATABASE`.

A test runs on each of them unless it is marked `sqlite_file`, with the reason why it needs SQLite's file. On PostgreSQL a
path stands for a database of the server that the tests start (`postgres_server.py`). `plain` is the same with a role that
owns nothing, and `pgbouncer` the same through PgBouncer in transaction mode, where that is installed. `citus-fake` is a
stand-in for Citus (`citus_fake.sql`), as the plain role, and what reaches the server is held against what Citus takes.
`citus` is a real one, where `$PICOMEM_TEST_CITUS_DSN` has the addresses of a superuser `postgres` on its machines, the
coordinator first, and spaces between them; one machine is enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import picomem
from picomem.engine.engine import Engine
from picomem.store.connector import Connector
from picomem.store.full_text import holds_the_words
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.tables import users, vector_rows
from tests.sqlite_file import digests, disagreements, rows_of

MARKER = "sqlite_file"
FAKE = "citus-fake"
CITUS = ("citus", FAKE)


class Database(NamedTuple):
    """`connect(path)` opens the store of that path, or makes it. `disagreements(path)` tells where full text or vectors
    differ from what the rows would give, a sentence each. `named(path)` is what a command or `picomem.open` takes for the
    store of that path, and `files(path)` where its bytes are now. `digests(path, user)` has for each table a digest
    of the rows of all users but one. `rows(path, statement)` runs a statement there beside picomem, as its owner.
    `forget(folder)` drops what a test made outside of its folder for paths in it."""

    name: str
    connect: Callable[[Path], Connector]
    disagreements: Callable[[Path], list[str]]
    files: Callable[[Path], list[Path]]
    digests: Callable[[Path, str], dict[str, str]]
    rows: Callable[[Path, str], list[tuple[Any, ...]]]
    named: Callable[[Path], str] = str
    forget: Callable[[Path], None] = lambda _: None


def _on_server(name: str) -> Database:
    """The server of the tests, as the owner of the store, as a plain role, or through a pool."""

    def address(path: Path) -> str:
        from tests.pgbouncer import pooled
        from tests.postgres_server import address_of, as_plain_role

        owners = address_of(path, is_citus=name in CITUS)
        return {"pgbouncer": pooled, "postgres": str}.get(name, as_plain_role)(owners)

    def connect(path: Path) -> Connector:
        from picomem.store.postgres.connector import PostgresConnector

        return PostgresConnector(address(path))

    def differing(path: Path) -> list[str]:
        return _postgres_disagreements(connect(path))

    return Database(
        name, connect, differing, _postgres_files, _postgres_digests, _postgres_rows, address, _forget_postgres
    )


def _postgres_disagreements(opened: Connector) -> list[str]:
    with closing(opened) as connector, connector.read() as tx:
        everyone = users.scopes(tx)
        problems = [f"{source}_words" for source in ("memory", "episode") if not holds_the_words(tx, everyone, source)]
        for source in vector_rows.SOURCES:
            orphans = sum(vector_rows.count_orphans(tx, scope, source) for scope in everyone)
            problems += [f"{orphans} vectors of {source} have no row"] if orphans else []
        return problems


def _postgres_files(path: Path) -> list[Path]:
    from tests.postgres_server import files_of

    return files_of(path)


def _postgres_digests(path: Path, user: str) -> dict[str, str]:
    from tests.postgres_server import digests_of

    return digests_of(path, user)


def _postgres_rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    from tests.postgres_server import rows_of

    return rows_of(path, statement)


def _files(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.name}*"))


def _forget_postgres(folder: Path) -> None:
    from tests.postgres_server import forget_databases

    forget_databases(folder)


DATABASES = {
    database.name: database
    for database in (
        Database("sqlite", SqliteConnector, disagreements, _files, digests, rows_of),
        *(_on_server(name) for name in ("postgres", "plain", "pgbouncer", *CITUS)),
    )
}
DEFAULT = os.environ.get("PICOMEM_TEST_DATABASE", "sqlite")

_chosen = DATABASES[DEFAULT]


def choose(name: str) -> None:
    """Let the tests run on the database of that name."""
    global _chosen
    _chosen = DATABASES[name]
    if name == FAKE:
        from tests.postgres_server import log_every_message

        log_every_message()
    if name == "citus":
        from tests.postgres_server import use_cluster

        use_cluster(os.environ["PICOMEM_TEST_CITUS_DSN"].split())


def problem(mark: pytest.Mark) -> str:
    """What is wrong with a mark `sqlite_file`; empty where nothing is."""
    reason = mark.args[0] if len(mark.args) == 1 and not mark.kwargs else None
    return "" if isinstance(reason, str) and reason.strip() else f"{MARKER} takes one argument, the reason"


def chosen() -> Database:
    """What the fixture `database` gives, for what takes no fixtures: a state machine of Hypothesis."""
    return _chosen


def open_memory(path: Path, **options: Any) -> Engine:
    """`picomem.open` for the store of a path, on the database that the tests run on."""
    return picomem.open(_chosen.named(path), **options)
