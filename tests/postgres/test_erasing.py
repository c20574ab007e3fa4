"""A purge on a server: deleted, and written anew once nobody sees the rows any more."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from tests.databases import CITUS, chosen
from tests.postgres_server import Server, files_of

from picomem.engine.engine import Engine
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.postgres.connector import PostgresConnector
from picomem.store.postgres.machines import table_parts

pytestmark = pytest.mark.requirement("X5", "X11")
SECRET = "zwyxquorvalpuntigam"


def _holding(folder: Path) -> list[str]:
    return [path.name for path in files_of(folder) if SECRET.encode() in path.read_bytes()]


def test_a_purged_text_is_in_no_table_or_index_and_the_purge_says_where_it_may_be(
    engine_of: Callable[[str], Engine], tmp_path: Path
) -> None:
    engine = engine_of("mia")
    engine.remember(f"The gate code of the harbour is {SECRET}", key="gate")
    engine_of("ben").remember("The harbour opens at seven", key="harbour")
    assert len(_holding(tmp_path)) >= 2  # the text, and its words
    purged = engine.purge(everything=True)
    assert purged.finished and "its backups" in purged.out_of_reach
    assert _holding(tmp_path) == []
    assert [memory.key for memory in engine_of("ben").memories()] == ["harbour"]


def test_a_purge_waits_for_who_still_reads_what_was_deleted(
    engine_of: Callable[[str], Engine], address: str, tmp_path: Path
) -> None:
    engine = engine_of("mia")
    engine.remember(f"The gate code of the harbour is {SECRET}", key="gate")
    other = PostgresConnector(address)
    with other.read() as tx:
        assert tx.all("user_marks", user="mia") is not None  # a snapshot is taken by its first statement
        purged = engine.purge(everything=True, wait_seconds=0)
        assert not purged.finished and "is being read by another process" in purged.unfinished
        assert engine.status().purge_unfinished
    other.close()
    assert engine.purge().finished
    assert _holding(tmp_path) == []


def test_a_purge_writes_every_table_anew_and_of_citus_the_shards_of_its_user_alone(
    engine_of: Callable[[str], Engine], address: str, connector: PostgresConnector
) -> None:
    for user in ("mia", "ben"):
        engine_of(user).remember("The harbour opens at seven", key="harbour")
    before = _files(address)
    assert engine_of("mia").purge(everything=True).finished
    changed = {table for table, file in _files(address).items() if file != before[table]}
    with psycopg.connect(address) as connection:
        parts = {part.table.removeprefix("picomem.") for part in table_parts(connection, "mia")}
    assert changed == parts
    assert (len(parts) < len(before)) == (chosen().name in CITUS)
    connector.maintenance.leave_no_trace(1)
    kept = {table for table, file in _files(address).items() if file == before[table]}
    assert kept == ({"meta"} if chosen().name in CITUS else set())  # of which the stand-in for Citus has no shards


def _files(address: str) -> dict[str, int]:
    """The number of the file of each table that has rows."""
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT relname, pg_relation_filenode(oid) FROM pg_class "
            "WHERE relnamespace = 'picomem'::regnamespace AND relkind = 'r'"
        )
        return dict(rows.fetchall())


def test_planted_bytes_are_in_no_file_of_the_server_but_in_the_log_that_the_purge_names(server: Server) -> None:
    server.ask("ALTER SYSTEM SET wal_recycle TO off")  # so that a file of the log is removed, not kept for later
    server.ask("SELECT pg_reload_conf()")
    connector = PostgresConnector(server.new_database())
    engine = Runtime(connector, Settings(recall=RecallSettings(embedder="none"))).engine(scope=Scope("mia"))
    engine.remember(f"The gate code of the harbour is {SECRET}", key="gate")
    engine.recall(SECRET)
    server.ask("CHECKPOINT")
    assert {place.split("/")[0] for place in _places(server)} == {"base", "pg_wal"}
    purged = engine.purge(everything=True)
    assert purged.finished
    (segment,) = re.findall(r"segments up to ([0-9A-F]{24}),", purged.out_of_reach)
    server.ask("CHECKPOINT")
    held = _places(server)
    assert all(place.startswith("pg_wal/") and place.removeprefix("pg_wal/") <= segment for place in held)
    for _ in range(2):  # as the purge says
        server.ask("SELECT pg_switch_wal()")
        server.ask("CHECKPOINT")
    assert _places(server) == []
    connector.close()


def _places(server: Server) -> list[str]:
    """The files of a server that hold the secret."""
    files = [path for path in server.data.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(server.data)) for path in files if SECRET.encode() in path.read_bytes())
