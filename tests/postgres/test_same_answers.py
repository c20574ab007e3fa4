"""The same rows give the same answers on both databases: hits, order, scores and reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.conftest import SteppingClock
from tests.databases import DATABASES
from tests.postgres_server import forget_databases

from picomem.demo.walkthrough import SAMPLES
from picomem.engine.engine import Engine
from picomem.models.static_embedder import StaticEmbedder
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.connector import EVERYONE
from picomem.store.tables import meta

LINES = Path(__file__).parents[2] / "benchmarks" / "data" / "gate_lines" / "tuned.jsonl"
QUESTIONS = (
    "Which port does the staging database listen on?",
    "What did we decide about the queue?",
    "why did the test of bookings fail",
    "When did I work on lantern?",
    "灯笼 阅读",
    "灯",
    "retry with backoff",
    "booking_service.py",
    "what happened last week",
    "What did I do on 12 May?",
    "time zones in reminders",
    "Who likes green tea in the morning?",
    "remindr zone",
    "“idempotency key”",
    "nothing of this kind was ever said: xylophone",
    "what do I prefer for commit messages",
    "which tests are flaky",
    "decision database migration",
)


class _Answer(NamedTuple):
    question: str
    confidence: float
    hits: list[tuple]


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """The same sessions and statements in a store on each database."""
    folder = tmp_path_factory.mktemp("answers")
    settings = Settings(recall=RecallSettings(timezone="UTC"))
    made = {}
    for name in ("sqlite", "postgres"):
        with closing(DATABASES[name].connect(folder / "memory.db")) as first, first.write(EVERYONE) as tx:
            meta.put(tx, meta.REDACTION_KEY, "00" * 32)  # with which the marks that stand for secrets are made
        connector = DATABASES[name].connect(folder / "memory.db")
        runtime = Runtime(connector, settings, embedder=StaticEmbedder(), clock=SteppingClock())
        made[name] = runtime.engine(closes=True)
        _fill(made[name])
    yield made
    for engine in made.values():
        engine.close()
    forget_databases(folder)


def _fill(engine: Engine) -> None:
    engine.ingest([SAMPLES])
    lines = [json.loads(line) for line in LINES.read_text("utf-8").splitlines()]
    for number, line in enumerate(lines[:60]):
        engine.remember(line["text"], key=f"line_{number}")


@pytest.mark.requirement("X11")
@pytest.mark.parametrize("limit", [5, 50])
def test_both_databases_give_the_same_answers(engines: dict[str, Engine], limit: int) -> None:
    answers = {name: [_answer(engine, question, limit) for question in QUESTIONS] for name, engine in engines.items()}
    assert sum(len(answer.hits) for answer in answers["sqlite"]) > 3 * len(QUESTIONS)
    for ours, theirs in zip(answers["sqlite"], answers["postgres"], strict=True):
        assert ours.hits == theirs.hits, ours.question
        assert ours == theirs


def _answer(engine: Engine, question: str, limit: int) -> _Answer:
    answer = engine.recall(question, limit=limit, token_budget=100_000)
    hits = [(hit.source, hit.text, round(hit.score, 9), hit.why, hit.key, hit.citation) for hit in answer.hits]
    return _Answer(question, round(answer.confidence, 9), hits)


@pytest.mark.requirement("X11")
def test_both_databases_hold_the_same(engines: dict[str, Engine]) -> None:
    assert engines["sqlite"].index().text == engines["postgres"].index().text
    diagnoses = {name: engine.doctor() for name, engine in engines.items()}
    assert diagnoses["sqlite"] == diagnoses["postgres"]
    assert diagnoses["postgres"].findings == []
