"""A purge on a server: deleted, and written anew once nobody sees the rows any more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.postgres_server import files_of

from picomem.engine.engine import Engine
from picomem.store.postgres import PostgresConnector

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
    assert purged.finished and "backups" in purged.out_of_reach
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
