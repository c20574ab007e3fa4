"""One case of a test set, tried: its sessions through the real ingest, its questions through the real recall, and
beside them the same text and the same questions through plain FTS5.

A case gets a store of its own in a temporary folder, or a user of its own in a store on a server. A session becomes a
transcript in the `plain` format. A turn is written with its number in the session as its id: so an id that occurs in
two sessions is no repetition, and the reader, asked again, says which of its turns stands for which of the case's (it
leaves out what holds no words).

Where the haystack grows between the questions (`n_visible`), both systems are given the new sessions before the next
question, so that neither has seen what is yet to come.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from picomem.app import open_engine
from picomem.clock import Micros, parse_iso
from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, format_named
from picomem.light_dataclass import dataclass
from picomem.models.embedder import Embedder
from picomem.models.selection import embedder_of
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.hit import Answer, Hit, Signs
from picomem.records.ids import new_id
from picomem.settings import Settings, load
from picomem.settings_tables import RecallSettings
from question_sets import metrics
from question_sets.cases import Case, CaseQuestion, CaseSession, TurnKey, asked_at
from question_sets.fts5_baseline import Fts5

SYSTEMS = ("picomem", "fts5")
DEFAULT_CALL = "default call"  # the first of SYSTEMS with the limits of the default settings: what users get
UNITS = ("session", "turn")
JUDGES = ("picomem", "fts5 session", "fts5 turn")  # recall's confidence; the score of the best session, and turn
TRIAL_USERS = "trial-"  # what the names of the users on a server begin with
_FORMAT = "plain"
_NOW = parse_iso("2026-01-01")  # the engine's clock, and the time of asking where a case names none
_UNBOUNDED = 1_000_000_000  # a token budget that cuts nothing: the ranking is what is measured
_HITS = 50  # how many are asked for at first; more where they come from too few sessions


class IncompleteIngest(PicomemError):
    """A session of a test set could not be read, so its scores would say nothing."""

    code = "incomplete_ingest"


@dataclass(frozen=True, slots=True)
class RecallWay:
    """A way to recall: an embedder as `recall.embedder` names it, and the weights of ranking."""

    embedder: str = "static"
    weights: Weights = WEIGHTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """The outcome for one question.

    `ranks` are the ranks of its gold by (unit, system); a unit without gold is not there. `widths` are the numbers of
    turns that the first hits hold, `seconds` the wall-clock time of the answer by system. `certainty` is how sure each
    of JUDGES is that there is an answer.
    """

    type: str
    answerable: bool
    certainty: dict[str, float]
    signs: Signs | None = None  # what recall's confidence was judged by
    ranks: dict[tuple[str, str], metrics.Ranks]
    widths: tuple[int, ...]
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The outcomes of one case, and how long its ingest took (seconds, for so many turns)."""

    case: str
    outcomes: tuple[TrialOutcome, ...]
    turns: int
    ingest_seconds: float


def try_case(
    case: Case,
    depth: int,
    embedder: str = "static",
    *,
    others: Mapping[str, RecallWay] | None = None,
    server: str = "",
) -> Trial:
    """Ask a case's questions of both systems, looking at the first `depth` sessions or turns of each answer.

    `embedder` is one as `recall.embedder` names it. `others` are further ways of recall over the same store, each a
    system by its name. `server` is the address of a store, in which the rows of the case stay; without one
    the case has a file, which is deleted. Raises IncompleteIngest when a session cannot be read, or its vectors cannot
    be made.
    """
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        haystack = _Haystack(
            Path(folder).resolve(), case, depth, {SYSTEMS[0]: RecallWay(embedder)} | dict(others or {}), server
        )
        try:
            outcomes = tuple(haystack.ask(question) for question in case.questions)
        finally:
            haystack.close()
    return Trial(case=case.id, outcomes=outcomes, turns=haystack.turns, ingest_seconds=haystack.ingest_seconds)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """The scores that judge one question, and whether some of the gold was found."""

    question: CaseQuestion
    signs: Signs | None
    is_found: bool


def judge_case(case: Case, depth: int) -> Iterator[JudgedAnswer]:
    """Ask a case's questions of recall alone: is some of the gold among the first `depth`? Raises as `try_case`."""
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        haystack = _Haystack(Path(folder).resolve(), case, depth, {SYSTEMS[0]: RecallWay()}, "")
        try:
            for question in case.questions:
                yield haystack.judge(question)
        finally:
            haystack.close()


class _Haystack:
    """A case's sessions, as far as they exist by now, in both systems."""

    def __init__(self, folder: Path, case: Case, depth: int, ways: Mapping[str, RecallWay], server: str) -> None:
        settings = Settings(recall=RecallSettings(timezone="UTC"))
        user = f"{TRIAL_USERS}{new_id()}" if server else None
        self._engines = {
            name: open_engine(
                server or folder / "memory.db",
                user=user,
                settings=settings,
                embedder=_embedder(way.embedder),
                clock=lambda: _NOW,
                weights=way.weights,
            )
            for name, way in ways.items()
        }
        self._fts5 = {unit: Fts5(folder / f"{unit}.db") for unit in UNITS}
        self._folder = folder
        self._case = case
        self._depth = depth
        self._numbers: dict[str, list[int]] = {}  # by file: which of the session's turns each ingested turn is
        self._turn_keys: list[TurnKey] = []
        self._seen = 0
        self.turns = 0
        self.ingest_seconds = 0.0

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()
        for table in self._fts5.values():
            table.close()

    def judge(self, question: CaseQuestion) -> JudgedAnswer:
        self._grow(question.visible)
        hits, answer, _ = self._recalled(self._engines[SYSTEMS[0]], question)
        if question.gold_turns:
            first = {turn for hit in hits[: self._depth] for turn in self._turns_of(hit)}
            return JudgedAnswer(question, answer.signs, not first.isdisjoint(question.gold_turns))
        sessions = [self._session_of(hit).id for hit in hits]
        first = set(list(dict.fromkeys(sessions))[: self._depth])
        return JudgedAnswer(question, answer.signs, not first.isdisjoint(question.gold_sessions))

    def ask(self, question: CaseQuestion) -> TrialOutcome:
        self._grow(question.visible)
        matched, match_seconds = self._matched(question)
        seconds = {"fts5": match_seconds}
        groups: dict[tuple[str, str], Sequence[Collection[object]]] = {
            ("session", "fts5"): metrics.distinct(self._case.sessions[doc].id for doc in matched["session"]),
            ("turn", "fts5"): [(self._turn_keys[doc],) for doc in matched["turn"]],
        }
        confidence, signs = 0.0, None
        if len(self._engines) > 1:
            self._recalled(self._engines[SYSTEMS[0]], question)  # or the first would pay for what all of them share
        for name, engine in self._engines.items():
            hits, answer, seconds[name] = self._recalled(engine, question)
            if name == SYSTEMS[0]:
                confidence, signs = answer.confidence, answer.signs
            groups["session", name] = metrics.distinct(self._session_of(hit).id for hit in hits)
            groups["turn", name] = [self._turns_of(hit) for hit in hits]
        hits = self._recalled_by_default(self._engines[SYSTEMS[0]], question)
        groups["session", DEFAULT_CALL] = metrics.distinct(self._session_of(hit).id for hit in hits if hit.transcript)
        groups["turn", DEFAULT_CALL] = [self._turns_of(hit) for hit in hits]
        gold = {"session": question.gold_sessions, "turn": question.gold_turns}
        return TrialOutcome(
            type=question.type,
            answerable=question.answerable,
            signs=signs,
            certainty={"picomem": confidence}
            | {f"fts5 {unit}": table.top_score(question.text) for unit, table in self._fts5.items()},
            ranks={key: metrics.ranks(gold[key[0]], ranked) for key, ranked in groups.items() if gold[key[0]]},
            widths=tuple(len(group) for group in groups["turn", "picomem"][: metrics.DEPTH]),
            seconds=seconds,
        )

    def _recalled(self, engine: Engine, question: CaseQuestion) -> tuple[Sequence[Hit], Answer, float]:
        """Hits from enough sessions, the answer that holds them, and the seconds that the first call for them took."""
        now = self._asked_at(question)
        wanted = min(self._depth, question.visible)
        limit, seconds = max(_HITS, self._depth), 0.0
        while True:
            started = perf_counter()
            answer = engine.recall(
                question.text,
                now=now,
                limit=limit,
                token_budget=_UNBOUNDED,
                min_confidence=0.0,
                include_memories=False,
            )
            hits = answer.hits
            seconds = seconds or perf_counter() - started
            if len(hits) < limit or len({hit.transcript for hit in hits}) >= wanted:
                return hits, answer, seconds
            limit *= 4

    def _recalled_by_default(self, engine: Engine, question: CaseQuestion) -> Sequence[Hit]:
        """The hits of a call that names no limit and no budget of tokens."""
        return engine.recall(question.text, now=self._asked_at(question), include_notes=False).hits

    def _asked_at(self, question: CaseQuestion) -> Micros:
        asked = asked_at(question, self._case.sessions)
        return _NOW if asked is None else asked

    def _matched(self, question: CaseQuestion) -> tuple[dict[str, list[int]], float]:
        """The documents that plain FTS5 finds, by unit, and the seconds that it took to find turns."""
        sessions = self._fts5["session"].best(question.text, self._depth)
        started = perf_counter()
        turns = self._fts5["turn"].best(question.text, self._depth)
        return {"session": sessions, "turn": turns}, perf_counter() - started

    def _grow(self, visible: int) -> None:
        """Bring the sessions up to `visible` into both systems."""
        fresh = range(self._seen, visible)
        if not fresh:
            return
        self._seen = visible
        files: list[Path] = []
        for number in fresh:
            session = self._case.sessions[number]
            self._fts5["session"].add(["\n".join(turn.labelled_text for turn in session.turns)])
            self._fts5["turn"].add(turn.labelled_text for turn in session.turns)
            self._turn_keys += [(session.id, turn.id) for turn in session.turns]
            self.turns += len(session.turns)
            if any(turn.text.strip() for turn in session.turns):
                files.append(write_transcript(self._folder / f"{number:06}.jsonl", session))
        started = perf_counter()
        report = self._engines[SYSTEMS[0]].ingest(files)
        self.ingest_seconds += perf_counter() - started
        if report.problems or set(report.hosts) - {_FORMAT}:
            raise IncompleteIngest(
                f"Case {self._case.id}: {'; '.join(report.problems[:3]) or f'read as {sorted(report.hosts)}'}."
            )

    def _session_of(self, hit: Hit) -> CaseSession:
        return self._case.sessions[int(Path(hit.transcript).stem)]

    def _turns_of(self, hit: Hit) -> list[TurnKey]:
        """The turns that a hit's span holds."""
        if hit.turns is None:
            return []
        session = self._session_of(hit)
        if hit.transcript not in self._numbers:
            self._numbers[hit.transcript] = list(read_numbers(Path(hit.transcript)))
        numbers = self._numbers[hit.transcript][hit.turns[0] : hit.turns[1] + 1]
        return [(session.id, session.turns[number].id) for number in numbers]


def write_transcript(path: Path, session: CaseSession) -> Path:
    """A session as a transcript in the `plain` format; a turn's id is its number in the session."""
    records = (
        {"role": turn.role, "content": turn.text, "id": str(number)} | ({"timestamp": turn.ts} if turn.ts else {})
        for number, turn in enumerate(session.turns)
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "ascii")
    return path


def read_numbers(path: Path) -> Iterable[int]:
    """The number in its session of each turn that the reader finds in a transcript of `write_transcript`."""
    form = format_named(_FORMAT)
    if isinstance(form, DocumentFormat):
        raise TypeError(f"The format {form.name} is not read line by line.")
    state = form.start(path)
    for line in reader.records(path):
        for turn in form.feed(state, line):
            yield int(turn.id)


@lru_cache(maxsize=4)
def _embedder(name: str) -> str | Embedder:
    """Return the embedder for `open_engine`; a process loads a model once for all cases.

    Its details are those of this machine's settings (`[embedder]`); nothing else of them counts here.
    """
    return embedder_of(name, load().embedder) or "none"
