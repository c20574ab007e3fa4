"""`python -m benchmarks gate`: the errors of the write gate and of the comparison with known memories (X6).

- Junk and worthwhile text: the labelled lines of `data/gate_lines`, offered unasked.
- Duplicates: an agent repeats the statements of `data/statement_pairs` to a store that holds them all; an error is
  another memory or another version. Beside them, pairs that look alike and differ; an error is that nothing is
  written.
- Changes: a person states something, and later what changed it, repeats it, adds to it or stands beside it, mostly in
  other words. Errors are a change after which the old statement stands alone, a repetition that becomes another memory,
  and a statement that was replaced or doubted, though the later one left it true. The same again in a store that holds
  hundreds of other statements: there a change counts as noticed only if it touches the statement that it changes, and
  each other statement that it replaces, doubts or repeats is an error.
- Loops: each statement is in the store, as a memory or as part of a session. It is recalled, and an agent offers the
  result of recall, wrapped in several ways; an error is that anything is written.

Each trial has a store of its own, a copy of one that was filled once, and uses the real engine.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.gate_lines import FRESH, HELD_OUT, OFFERED, TUNED, Junk, Keep
from benchmarks.statement_pairs import DIFFERENT, TOLD, TOLD_LATER, Told
from picomem.engine.engine import Engine
from picomem.errors import NotFound, Refused
from picomem.light_dataclass import dataclass
from picomem.memory.remember import Remembered
from picomem.operations.recall_views import AnswerView
from picomem.operations.table import operation
from picomem.policy.gate import judge
from picomem.records.kinds import Decision
from picomem.records.memory import CONTRADICTS, contradicted_ids
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.store.sqlite.connector import SqliteConnector
from picomem.text.terms import is_stop_word

LINES = {"tuned": TUNED, "held out": HELD_OUT, "fresh": FRESH, "offered": OFFERED}
SOURCES = ("memory", "episode")


@dataclass(frozen=True, slots=True)
class Rate:
    """Of `n` trials of a part, how many went wrong."""

    part: str
    name: str
    n: int
    wrong: int


@dataclass(frozen=True, slots=True)
class GateReport:
    rates: list[Rate]


def run(progress: Callable[[str], None] = lambda _: None) -> GateReport:
    """Measure all of it; a minute."""
    rates: list[Rate] = []
    for name, lines in LINES.items():
        rates.append(_rate("junk let in", name, [_keeps(line) for line in lines.junk]))
        rates.append(_rate("worth keeping, lost", name, [not _keeps(line) for line in lines.keep]))
    with tempfile.TemporaryDirectory() as folder:
        trials = _Trials(Path(folder))
        for name in ("the same words", "reworded", "paraphrased"):
            progress(f"duplicates: {name}")
            again = [getattr(told, "text" if name == "the same words" else name) for told in TOLD]
            rates.append(_rate("duplicates let in", name, [trials.lets_in("memory", text) for text in again]))
        rates.append(_rate("news lost as a duplicate", "alike but different", trials.lost()))
        progress("changes")
        rates += trials.changes()
        progress("changes in a crowded store")
        rates += trials.changes_in_crowd()
        for source in SOURCES:
            for name, wrapped in _WRAPPINGS.items():
                progress(f"loops: {source}, {name}")
                written = [trials.comes_back(source, told, wrapped) for told in TOLD]
                rates.append(_rate(f"loops let in, {source}", name, written))
    return GateReport(rates)


def render(report: GateReport) -> str:
    """The report as a table."""
    rows = [("part", "of", "n", "wrong", "rate")]
    rows += [(r.part, r.name, str(r.n), str(r.wrong), f"{r.wrong / r.n:.1%}") for r in report.rates]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths))
        )
        for row in rows
    )


def _rate(part: str, name: str, wrong: Sequence[bool]) -> Rate:
    return Rate(part, name, len(wrong), sum(wrong))


def _keeps(line: Keep | Junk) -> bool:
    return judge(line.text, kind=line.kind, origin=line.origin, explicit=False).keep


class _Trials:
    """Trials on copies of stores that were filled once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._opened(folder / "memory.db") as engine:
            for told in TOLD:
                engine.remember(told.text)
        talk = folder / "talk.jsonl"
        rows = [{"role": "assistant", "content": told.text, "timestamp": "2026-04-07T09:00:00Z"} for told in TOLD]
        # Turns of a person between them, or the agent's would be packed into one episode.
        rows = [row for answer in rows for row in ({"role": "user", "content": "And what else is there?"}, answer)]
        talk.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        with self._opened(folder / "episode.db") as engine:
            engine.ingest([talk])

    def lets_in(self, source: str, text: str) -> bool:
        with self._copy(source) as engine:
            return _writes(engine, text)

    def comes_back(self, source: str, told: Told, wrapped: Callable[[Engine, AnswerView, Told], str]) -> bool:
        """Return whether anything is written when what recall says is offered again."""
        with self._copy(source) as engine:
            recall = operation("recall")
            answer = recall.call(engine, recall.request(query=told.text, limit=3))
            if not answer.hits or answer.hits[0].text != told.text:
                raise NotFound(f"The benchmark does not recall “{told.text}” first; it measures nothing.")
            return _writes(engine, wrapped(engine, answer, told))

    def lost(self) -> list[bool]:
        refused = []
        for number, (known, other) in enumerate(DIFFERENT):
            with self._opened(self._folder / f"different-{number}.db") as engine:
                engine.remember(known)
                refused.append(not _writes(engine, other))
        return refused

    def changes(self) -> list[Rate]:
        wrong: dict[str, list[bool]] = {relation: [] for relation in _WRONG_CHANGES}
        for number, pair in enumerate(TOLD_LATER):
            with self._opened(self._folder / f"later-{number}.db") as engine:
                effect = _effect(engine, pair.old, pair.new)
            wrong[pair.relation].append(effect in _WRONG_CHANGES[pair.relation][1])
        return [_rate("changes", _WRONG_CHANGES[relation][0], errors) for relation, errors in wrong.items()]

    def changes_in_crowd(self) -> list[Rate]:
        """The same pairs in a store that holds the older statement of all of them, and other lines worth keeping."""
        part = "changes in a crowded store"
        lines = [line.text for name in LINES for line in LINES[name].keep] + [pair.old for pair in TOLD_LATER]
        with self._opened(self._folder / "crowd.db") as engine:
            held = [(text, _offered(engine, text)) for text in lines]
        known = {text: done.memory.id for text, done in held if done is not None and done.memory is not None}
        wrong: dict[str, list[bool]] = {relation: [] for relation in _WRONG_IN_CROWD}
        strays: list[bool] = []
        for pair in TOLD_LATER:
            if pair.old not in known or pair.relation not in wrong:
                continue
            with self._copy("crowd") as engine:
                touched = _touched(engine, pair.new)
            wrong[pair.relation].append((known[pair.old] in touched) is not _WRONG_IN_CROWD[pair.relation][1])
            strays.append(bool(touched - {known[pair.old]}))
        lost = [done is not None and done.decision in _CHANGING for _, done in held]
        return [
            *(_rate(part, _WRONG_IN_CROWD[relation][0], errors) for relation, errors in wrong.items()),
            _rate(part, "another statement was touched", strays),
            _rate(part, "filling it: merged with another or replaced it", lost),
        ]

    @contextmanager
    def _copy(self, source: str) -> Iterator[Engine]:
        path = self._folder / "copy.db"
        shutil.copyfile(self._folder / f"{source}.db", path)
        with self._opened(path) as engine:
            yield engine

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Engine]:
        with Runtime(SqliteConnector(path), Settings()) as runtime:
            yield runtime.engine()


_WRONG_CHANGES = {
    "supersede": ("not noticed", {"beside", "repeated"}),
    "duplicate": ("repetitions taken for news", {"beside", "doubted"}),
    "refine": ("additions that replace or doubt", {"replaced", "doubted"}),
    "independent": ("others that replace, doubt or vanish", {"replaced", "doubted", "repeated"}),
}
_CHANGING = (Decision.SUPERSEDE, Decision.MERGE)
# For each relation the name of its error, and whether the older statement should be touched.
_WRONG_IN_CROWD = {
    "supersede": ("not noticed", True),
    "duplicate": ("repetitions not recognised", True),
    "independent": ("others that replace, doubt or vanish", False),
}


def _effect(engine: Engine, old: str, new: str) -> str:
    """What a person's second statement did to their first: it `replaced` it, `doubted` it, `repeated` it, or stands
    `beside` it."""
    engine.remember(old)
    done = engine.remember(new)
    if done.memory is not None and any(name.startswith(CONTRADICTS) for name in done.memory.related):
        return "doubted"
    return {Decision.SUPERSEDE: "replaced", Decision.MERGE: "repeated"}.get(done.decision, "beside")


def _offered(engine: Engine, text: str) -> Remembered | None:
    """What became of a person's statement; None if it was refused."""
    try:
        return engine.remember(text)
    except Refused:
        return None


def _touched(engine: Engine, text: str) -> set[str]:
    """The ids of the memories that a person's statement replaces, doubts or repeats."""
    done = _offered(engine, text)
    if done is None or done.memory is None:
        return set()
    changed = {done.memory.id} if done.decision in _CHANGING else set()
    return changed.union(contradicted_ids(done.memory.related))


def _writes(engine: Engine, text: str) -> bool:
    """Return whether a memory, or a version of one, comes of an agent's offer."""
    before = {(memory.id, memory.version) for memory in engine.memories()}
    try:
        engine.remember(text, origin="agent")
    except Refused:
        return False
    return {(memory.id, memory.version) for memory in engine.memories()} != before


def _printed(_engine: Engine, answer: AnswerView, _told: Told) -> str:
    return operation("recall").reply(answer)


def _page(engine: Engine, _answer: AnswerView, _told: Told) -> str:
    return engine.index().text


def _as_json(_engine: Engine, answer: AnswerView, told: Told) -> str:
    hit = answer.hits[0]
    return json.dumps({"key": hit.key, "id": hit.id, "score": hit.score, "text": told.text}, ensure_ascii=False)


_WRAPPINGS: dict[str, Callable[[Engine, AnswerView, Told], str]] = {
    "as it is": lambda _engine, _answer, told: told.text,
    "as a list item": lambda _engine, _answer, told: f"- **{told.text}**",
    "quoted, with a word before": lambda _engine, _answer, told: f"From memory: “{told.text}”",
    "in a longer sentence": lambda _engine, _answer, told: f"I recalled from an earlier session that {told.text}",
    "in capitals": lambda _engine, _answer, told: told.text.upper(),
    "without function words": lambda _engine, _answer, told: " ".join(
        word for word in told.text.split() if not is_stop_word(word)
    ),
    "reworded": lambda _engine, _answer, told: told.reworded,
    "paraphrased": lambda _engine, _answer, told: told.paraphrased,
    "the whole reply": _printed,
    "a line of the reply": lambda engine, answer, told: _printed(engine, answer, told).split("\n")[1],
    "the hit as JSON": _as_json,
    "the index page": _page,
}
