"""Observes questions over the sessions of coding agents, as a person asks them of a store of their own.

A set is a folder of transcripts, a file of questions with the words that an answer holds (evaluation/questions.py), and
one of questions that the transcripts do not answer. Besides these, the store is asked questions of other sets, and
prompts that ask nothing. Then one session after another is left out, with its sub-agents: a question whose answer is in
none of the others has no answer any more.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from picomem.app import open_engine
from picomem.clock import Micros
from picomem.engine.engine import Engine
from picomem.errors import NotFound
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.hit import Hit
from picomem.text.terms import is_cjk
from question_sets.cases import read_cases, set_name
from question_sets.confidence_calibration import DEPTH
from question_sets.own_questions import OwnQuestion, read_questions
from training.examples import prompts
from training.observation import ANSWERED, NO_QUESTION, UNANSWERABLE, Observation, numbers

_OTHERS = 120  # questions of other sets
_OF_A_SET = 60  # of them at most
_EVERYTHING = 100_000  # more episodes than a set has


def observe_sessions(
    questions: Path, unanswerable: Path, transcripts: Path, others: Sequence[Path]
) -> Iterator[Observation]:
    """Ask a folder of transcripts its own questions, and those of the sets `others`."""
    name, own = set_name(questions), read_questions(questions, UTC)
    latest = max((question.asked_at for question in own if question.asked_at is not None), default=None)
    with _store(transcripts, "") as engine:
        for question in own:
            yield from _observed(engine, name, ANSWERED, question.text, question.asked_at, wanted=question)
        for question in read_questions(unanswerable, UTC):
            yield from _observed(engine, name, UNANSWERABLE[0], question.text, question.asked_at)
        for text in _of_other_sets(others):
            yield from _observed(engine, name, UNANSWERABLE[1], text, latest)
        for prompt in prompts():
            yield from _observed(engine, name, NO_QUESTION, prompt.text, latest, pattern=prompt.pattern)
    for session in sorted(path.stem for path in transcripts.glob("*.jsonl")):
        with _store(transcripts, session) as engine:
            rest = engine.timeline(limit=_EVERYTHING)
            for question in own:
                if not any(_answers(engine, question, hit) for hit in rest):
                    yield from _observed(engine, name, UNANSWERABLE[3], question.text, question.asked_at)


@contextmanager
def _store(transcripts: Path, left_out: str) -> Iterator[Engine]:
    """A store of a folder's transcripts, without one session."""
    files = [path for path in sorted(transcripts.rglob("*.jsonl")) if left_out not in _session_of(path, transcripts)]
    with TemporaryDirectory(prefix="picomem-sessions-") as folder:
        engine = open_engine(Path(folder).resolve() / "memory.db", embedder=StaticEmbedder())
        try:
            engine.ingest(files)
            yield engine
        finally:
            engine.close()
            _opened.cache_clear()


def _session_of(path: Path, root: Path) -> tuple[str, ...]:
    """The name of a transcript, and those of the folders that it is in: a sub-agent's is in that of its session."""
    return (path.stem, *path.relative_to(root).parts[:-1])


def _of_other_sets(files: Sequence[Path]) -> list[str]:
    """Questions of other sets in the language of the sessions."""
    chosen: list[str] = []
    for path in files:
        texts = [question.text for case in read_cases(path) for question in case.questions if question.answerable]
        texts = [text for text in texts if not is_cjk(text)]
        chosen += random.Random(0).sample(texts, min(_OF_A_SET, len(texts)))
    return random.Random(0).sample(chosen, min(_OTHERS, len(chosen)))


def _observed(
    engine: Engine,
    name: str,
    kind: str,
    text: str,
    now: Micros | None,
    *,
    wanted: OwnQuestion | None = None,
    pattern: str = "",
) -> Iterator[Observation]:
    answer = engine.recall(text, now=now, limit=20, token_budget=None, min_confidence=0.0)
    if answer.signs is not None:
        is_found = wanted is not None and any(_answers(engine, wanted, hit) for hit in answer.hits[:DEPTH])
        yield Observation(name, kind, 0, pattern, is_found, numbers(answer.signs))


def _answers(engine: Engine, question: OwnQuestion, hit: Hit) -> bool:
    text = "\n".join((hit.text, *hit.actions, *hit.outcomes))
    return question.is_met([hit.session], text, lambda: _opened(engine, hit.id) if hit.source == "episode" else "")


@cache
def _opened(engine: Engine, episode: str) -> str:
    try:
        turns = engine.show(episode)[2].turns
    except NotFound:
        return ""
    return "\n".join(line for turn in turns for line in (turn.shown, *turn.outcomes))
