"""Both databases answer the questions of development sets alike: hits, order, scores and confidence.

The two sets in `question_sets/` were written for this test. `PICOMEM_TEST_SETS` names further ones, as
`python -m benchmarks quality` takes them, with `:` between them, and `PICOMEM_TEST_SETS_EVERY=8` takes one case in eight of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.databases import DATABASES

from picomem.clock import parse_iso
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.models.static_embedder import StaticEmbedder
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.connector import EVERYONE, Connector
from picomem.store.tables import meta
from question_sets import quality
from question_sets.cases import Case, asked_at, read_cases
from question_sets.trial import write_transcript

pytestmark = pytest.mark.requirement("X11")

OWN_SETS = sorted((Path(__file__).parent / "question_sets").glob("*.jsonl"))
SETS = [*OWN_SETS, *map(Path, filter(None, os.environ.get("PICOMEM_TEST_SETS", "").split(":")))]
EVERY = int(os.environ.get("PICOMEM_TEST_SETS_EVERY", "1"))
NOW = parse_iso("2026-04-01")
LIMIT = 20
EXACT = 9  # decimal places of a score


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.name)
def test_both_databases_answer_the_questions_of_a_set_alike(path: Path, tmp_path: Path) -> None:
    asked = 0
    for number, case in enumerate(islice(read_cases(path), 0, None, EVERY)):
        folder = tmp_path / str(number)
        folder.mkdir()
        files = [
            write_transcript(folder / f"{place:06}.jsonl", session)
            for place, session in enumerate(case.sessions)
            if any(turn.text.strip() for turn in session.turns)
        ]
        ours, theirs = (
            _answers(database.connect(folder / "memory.db"), case, files)
            for database in (DATABASES["sqlite"], DATABASES["postgres"])
        )
        for question, one, other in zip(case.questions, ours, theirs, strict=True):
            assert one == other, question.text
            asked += bool(one[1])
    assert asked > 0


def _answers(connector: Connector, case: Case, files: list[Path]) -> list[tuple[float, list[tuple]]]:
    with connector.write(EVERYONE) as tx:  # marks that stand for secrets are made with the key of the store
        meta.put(tx, meta.REDACTION_KEY, "00" * 32)
    with Runtime(
        connector, Settings(recall=RecallSettings(timezone="UTC")), embedder=StaticEmbedder(), clock=lambda: NOW
    ) as runtime:
        engine = runtime.engine()
        engine.ingest(files)
        return [_answer(engine, question.text, asked_at(question, case.sessions) or NOW) for question in case.questions]


def _answer(engine: Engine, question: str, now: int) -> tuple[float, list[tuple]]:
    answer = engine.recall(question, now=now, limit=LIMIT, token_budget=100_000)
    hits = [(hit.transcript, hit.turns, hit.text, round(hit.score, EXACT), hit.why) for hit in answer.hits]
    return round(answer.confidence, EXACT), hits


def test_the_quality_of_recall_on_a_server_is_that_in_a_file(address: str) -> None:
    in_a_file = quality.run(OWN_SETS)
    on_a_server = quality.run(OWN_SETS, server=address)
    assert _scores(on_a_server) == _scores(in_a_file)
    assert on_a_server.server.startswith("postgresql://") and not in_a_file.server
    assert on_a_server.line("household_and_work", "turn").scores["any@5"] > 0.7  # type: ignore[union-attr]
    assert f"on {on_a_server.server}" in quality.render(on_a_server)


def _scores(report: quality.QualityReport) -> list[object]:
    return [(one.name, one.questions, one.turns_per_hit, one.lines, one.calibration) for one in report.sets]


def test_a_store_with_the_memory_of_users_is_not_measured_in(address: str, engine_of: Callable[[str], Any]) -> None:
    engine_of("mia").remember("The harbour opens at seven")
    with pytest.raises(InvalidInput, match="holds the memory of users"):
        quality.run(OWN_SETS, server=address)
