"""Recency decides between statements on one subject, and recall needs no classifier for that."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.databases import chosen

from picomem.engine.engine import Engine
from picomem.engine.review import decide_on, waiting_suggestions
from picomem.memory.review_items import ReviewVerdict
from picomem.operations.table import operation
from picomem.recall.recency import OUTDATED

RECALL = """
import sys, picomem
with picomem.open(sys.argv[1]) as memory:
    assert memory.recall("which queue?").hits
assert "picomem.models.classifier" not in sys.modules, "a recall loaded the classifiers"
"""


def test_of_two_decisions_that_answer_the_same_words_the_later_stands_first(engine: Engine) -> None:
    engine.remember(
        "We decided to use Redis for the job queue because it already runs on staging",
        kind="decision",
        since="2026-04-14",
    )
    engine.remember(
        "We've decided to move the job queue from Redis to PostgreSQL, because a job must commit with its booking",
        kind="decision",
        since="2026-04-24",
    )
    hits = engine.recall("why did the job queue move away from Redis?").hits
    assert "PostgreSQL" in hits[0].text


def test_a_recall_loads_no_classifier(engine: Engine, db: Path) -> None:
    engine.remember("The queue runs on Redis")
    engine.close()
    subprocess.run([sys.executable, "-c", RECALL, chosen().named(db)], check=True)


REDIS = "We decided to keep the berth reservations in Redis for now."
POSTGRES = "We decided to move the berth reservations to PostgreSQL, and dropped Redis yesterday."


@pytest.fixture
def moved_on(engine: Engine, tmp_path: Path) -> Engine:
    """Two sessions, of which the later says that a decision of the earlier holds no more."""
    for day, said in (("2026-04-14", REDIS), ("2026-05-10", POSTGRES)):
        turn = {"role": "user", "content": said, "timestamp": f"{day}T09:00:00Z"}
        path = tmp_path / f"{day}.jsonl"
        path.write_text(json.dumps(turn) + "\n")
        engine.ingest([path])
        keep_all(engine)
    newer, older = sorted(engine.memories(), key=lambda memory: -memory.valid_from)
    decide_on(engine, newer.key, ReviewVerdict.SUPERSEDE, older.key)
    return engine


def keep_all(engine: Engine) -> None:
    """Make memories of all that is suggested, as a person does."""
    for suggestion in waiting_suggestions(engine):
        decide_on(engine, suggestion.id, ReviewVerdict.KEEP)


def test_a_memory_is_cited_where_it_was_said_and_not_where_what_it_replaced_was(moved_on: Engine) -> None:
    hit = next(hit for hit in moved_on.recall("reservations moved to PostgreSQL").hits if hit.source == "memory")
    assert hit.citation.endswith("2026-05-10")


def test_a_memory_stands_before_the_turn_in_which_what_it_replaced_was_said(moved_on: Engine) -> None:
    hits = moved_on.recall("where are the berth reservations kept?").hits
    assert "PostgreSQL" in hits[0].text
    (older,) = (hit for hit in hits if hit.text == REDIS)
    assert older.remark == OUTDATED
    assert older.why.endswith(OUTDATED)


def test_an_agent_reads_which_turn_is_perhaps_outdated(moved_on: Engine) -> None:
    recall = operation("recall")
    told = recall.reply(recall.call(moved_on, recall.request(query="where are the berth reservations kept?")))
    (line,) = (line for line in told.splitlines() if REDIS in line)
    assert f"[{OUTDATED}]" in line


def test_a_memory_that_was_revised_stands_before_the_turn_that_said_otherwise(engine: Engine, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    turn = {"role": "user", "content": "For the record: the rate limit for partners is 600 requests per minute."}
    talk.write_text(json.dumps(turn) + "\n")
    engine.ingest([talk])
    (memory,) = engine.memories()
    engine.revise(memory.key, "Partners may send 1200 requests per minute")
    first, second = engine.recall("what is the rate limit for partners?").hits
    assert (first.source, first.text, first.citation) == ("memory", "Partners may send 1200 requests per minute", "")
    assert (second.source, second.remark) == ("episode", OUTDATED)


DECIDED = "We decided to use Redis for the berth reservations because it already runs on staging."
DECIDED_LATER = (
    "We've decided to move the berth reservations from Redis to PostgreSQL with SKIP LOCKED, because a booking must "
    "commit together with its payment."
)


@pytest.fixture(params=["older first", "newer first"])
def doubted(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> Engine:
    """Two sessions with decisions of which the later probably outdates the earlier, in the order in which they are
    ingested."""
    is_older_first = request.param == "older first"
    sessions = [("2026-04-14", DECIDED), ("2026-05-04", DECIDED_LATER)]
    for day, said in sessions if is_older_first else reversed(sessions):
        path = tmp_path / f"{day}.jsonl"
        path.write_text(json.dumps({"role": "user", "content": said, "timestamp": f"{day}T09:00:00Z"}) + "\n")
        engine.ingest([path])
        keep_all(engine)
    newer, older = sorted(engine.memories(), key=lambda memory: -memory.valid_from)
    assert (newer.contradicts, older.contradicts) == (((older.id,), ()) if is_older_first else ((), (newer.id,)))
    return engine


def settled_by(engine: Engine, verdict: str) -> None:
    newer, older = sorted(engine.memories(), key=lambda memory: -memory.valid_from)
    if verdict == "forget":
        engine.forget(older.key)
    else:
        decide_on(engine, newer.key, ReviewVerdict(verdict))


@pytest.mark.parametrize("verdict", ["supersede", "forget"])
def test_the_turn_of_a_statement_that_a_review_replaced_stays_behind_the_newer_statement(
    doubted: Engine, verdict: str
) -> None:
    settled_by(doubted, verdict)
    for tool in ("winch", "anchor", "lantern", "rudder"):  # in a store of two memories every word is common
        doubted.remember(f"The {tool} is oiled every month", key=tool)
    hits = doubted.recall("which store do we use for the berth reservations?").hits
    assert "PostgreSQL" in hits[0].text
    (older,) = (hit for hit in hits if hit.text == DECIDED)
    assert older.remark == OUTDATED


@pytest.mark.parametrize("verdict", ["merge", "keep"])
def test_the_turn_of_a_statement_that_holds_beside_the_newer_one_is_not_outdated(doubted: Engine, verdict: str) -> None:
    settled_by(doubted, verdict)
    assert not [hit for hit in doubted.recall("which store do we use for the berth reservations?").hits if hit.remark]


def test_an_undone_review_leaves_the_turn_of_the_older_statement_as_it_was(doubted: Engine) -> None:
    question = "which store do we use for the berth reservations?"
    before = [(hit.text, hit.remark) for hit in doubted.recall(question).hits]
    settled_by(doubted, "supersede")
    ((latest, _), *_) = doubted.changes(1)
    doubted.undo(latest.id)
    assert [(hit.text, hit.remark) for hit in doubted.recall(question).hits] == before
