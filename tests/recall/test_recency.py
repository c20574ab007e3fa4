"""Recency decides between statements on one subject, and recall needs no classifier for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.databases import chosen

from picomem.engine.engine import Engine

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
