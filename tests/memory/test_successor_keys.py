"""The key of a memory says what the memory says now, and an older key still finds it."""

from __future__ import annotations

import pytest

from picomem.engine.engine import Engine
from picomem.errors import NotFound


@pytest.fixture
def moved_on(engine: Engine) -> Engine:
    engine.remember("We use Postgres for the job queue", kind="decision")
    assert engine.remember("We switched the job queue from Postgres to Redis", kind="decision").decision == "supersede"
    return engine


def test_the_key_of_a_superseded_statement_says_what_the_memory_says_now(moved_on: Engine) -> None:
    (memory,) = moved_on.memories()
    assert (memory.key, memory.content) == (
        "switched_job_queue_postgres_redis",
        "We switched the job queue from Postgres to Redis",
    )
    assert "postgres_job_queue:" not in moved_on.index().text


def test_the_old_key_still_finds_the_memory(moved_on: Engine) -> None:
    versions = moved_on.history("postgres_job_queue")
    assert [version.content for version in versions][-1] == "We switched the job queue from Postgres to Redis"
    assert moved_on.history("switched_job_queue_postgres_redis") == versions
    assert moved_on.why("postgres_job_queue").memory == moved_on.memories()[0]
    moved_on.revise("postgres_job_queue", "We use Valkey for the job queue")
    assert [memory.content for memory in moved_on.memories()] == ["We use Valkey for the job queue"]
    moved_on.forget("postgres_job_queue")
    assert moved_on.memories() == []
    with pytest.raises(NotFound, match="is archived"):
        moved_on.forget("postgres_job_queue")


def test_what_is_stored_under_the_old_key_is_a_version_of_the_memory(moved_on: Engine) -> None:
    moved_on.remember("We use MySQL for the job queue", kind="decision", key="postgres_job_queue")
    assert [memory.content for memory in moved_on.memories()] == ["We use MySQL for the job queue"]


def test_an_undo_brings_the_old_key_back(moved_on: Engine) -> None:
    run = moved_on.changes()[0][0].run
    moved_on.undo(run)
    (memory,) = moved_on.memories()
    assert (memory.key, memory.content) == ("postgres_job_queue", "We use Postgres for the job queue")
    assert moved_on.history("switched_job_queue_postgres_redis")


def test_a_key_that_fits_the_new_statement_stays(engine: Engine) -> None:
    engine.remember("The staging port is 8080", kind="fact")
    engine.remember("The staging port is 9090 now", kind="fact")
    assert [(memory.key, memory.content) for memory in engine.memories()] == [
        ("staging_port", "The staging port is 9090 now")
    ]


def test_a_key_that_was_given_stays(engine: Engine) -> None:
    engine.remember("We use Postgres for the job queue", kind="decision", key="queue_store")
    engine.remember("We switched the job queue from Postgres to Redis", kind="decision")
    assert [memory.key for memory in engine.memories()] == ["queue_store"]


def test_a_key_that_another_memory_has_is_not_taken(moved_on: Engine) -> None:
    moved_on.remember("The pantry has nine cans of beans", kind="fact", key="deploy_thursdays")
    moved_on.remember("Deploy on Tuesdays", kind="fact")
    moved_on.remember("Deploy on Thursdays", kind="fact")
    assert {memory.key for memory in moved_on.memories()} > {"deploy_thursdays", "deploy_thursdays_2"}
    assert moved_on.doctor().findings == []
