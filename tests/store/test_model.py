"""Any order of verbs gives what a model of three sentences gives (R15).

The model keeps the events and nothing else. What was believed at one time to be true at another is found by laying
the events that were known by then, in their order, onto a line of valid time:

- remembered or revised since t: what held at t holds until t, and the new text from t on;
- corrected: the new text takes the whole of the present span;
- forgotten: the line is empty.

Each key has sentences of its own that share no word with another key's, so that no memory is taken for another.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.amounts import amount
from tests.databases import chosen
from tests.distinct_texts import SYLLABLES

from picomem.clock import MINUTE, Micros
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound
from picomem.records.kinds import Decision
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings

from ..conftest import START

pytestmark = pytest.mark.reliability("R15")

KEYS = ("amber", "birch", "cobalt", "dune")
TEXTS = 3


def _word(*of: object) -> str:
    return "".join(random.Random(repr(of)).choices(SYLLABLES, k=4))


def _text(key: str, number: int) -> str:
    return " ".join(_word(key, number, place) for place in range(6))


@dataclass(frozen=True)
class _Event:
    at: Micros  # when it became known
    key: str
    text: str  # empty: forgotten
    since: Micros
    correct: bool = False


@dataclass(frozen=True)
class _Span:
    start: Micros
    end: Micros | None
    text: str


def _line(events: list[_Event], key: str, known_at: Micros) -> list[_Span]:
    """What was believed of a key at `known_at`, along valid time; the present span last."""
    spans: list[_Span] = []
    for event in events:
        if event.key != key or event.at > known_at:
            continue
        if not event.text:
            spans = []
        elif not spans:
            spans = [_Span(event.since, None, event.text)]
        else:
            *past, present = spans
            if event.correct:
                spans = [*past, _Span(present.start, None, event.text)]
            elif event.since > present.start:
                closed = _Span(present.start, event.since, present.text)
                spans = [*past, closed, _Span(event.since, None, event.text)]
    return spans


def _believed(events: list[_Event], known_at: Micros, valid_at: Micros) -> dict[str, str]:
    lines = {key: _line(events, key, known_at) for key in KEYS}
    return {
        key: span.text
        for key, spans in lines.items()
        for span in spans
        if span.start <= valid_at and (span.end is None or span.end > valid_at)
    }


_KEYS = st.sampled_from(KEYS)
_NUMBERS = st.integers(0, TEXTS - 1)


class Store(RuleBasedStateMachine):
    """The engine beside the model."""

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "memory.db"
        self.now = START
        self.events: list[_Event] = []
        self.times: list[Micros] = [START]
        self.engine = self._opened()

    def _opened(self) -> Engine:
        settings = Settings(recall=RecallSettings(embedder="none", timezone="UTC"))
        connector = chosen().connect(self.path)
        return Runtime(connector, settings, clock=lambda: self.now).engine(closes=True)

    def teardown(self) -> None:
        self.engine.close()
        self.engine = self._opened()
        assert self.engine.doctor().findings == []
        self.engine.close()
        assert chosen().disagreements(self.path) == []
        self.folder.cleanup()

    def _tick(self) -> None:
        self.now += MINUTE
        self.times.append(self.now)

    def _present(self, key: str) -> str:
        return _believed(self.events, self.now, self.now).get(key, "")

    @rule(key=_KEYS, number=_NUMBERS)
    def remember(self, key: str, number: int) -> None:
        self._tick()
        text, present = _text(key, number), self._present(key)
        result = self.engine.remember(text, key=key)
        expected = Decision.MERGE if text == present else Decision.SUPERSEDE if present else Decision.ADD
        assert result.decision is expected
        if text != present:
            self.events.append(_Event(self.now, key, text, self.now))

    @rule(key=_KEYS, number=_NUMBERS, back=st.integers(0, 20), correct=st.booleans())
    def revise(self, key: str, number: int, back: int, correct: bool) -> None:
        self._tick()
        text, spans = _text(key, number), _line(self.events, key, self.now)
        since = self.now if not spans else max(self.now - back * MINUTE, spans[-1].start)
        call: dict[str, Any] = {"correct": True} if correct else {"since": since}
        if not spans:
            with pytest.raises(NotFound):
                self.engine.revise(key, text, **call)
        elif text == spans[-1].text:
            with pytest.raises(InvalidInput):
                self.engine.revise(key, text, **call)
        else:
            self.engine.revise(key, text, **call)
            correct = correct or since == spans[-1].start
            self.events.append(_Event(self.now, key, text, since, correct))

    @rule(key=_KEYS)
    def forget(self, key: str) -> None:
        self._tick()
        if not self._present(key):
            with pytest.raises(NotFound):
                self.engine.forget(key)
            return
        self.engine.forget(key)
        self.events.append(_Event(self.now, key, "", self.now))

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        self.engine = self._opened()

    @rule()
    def current(self) -> None:
        held = {memory.key: memory.content for memory in self.engine.memories()}
        assert held == _believed(self.events, self.now, self.now)

    @precondition(lambda self: self.events)
    @rule(data=st.data())
    def as_of(self, data: st.DataObject) -> None:
        known_at = data.draw(st.sampled_from(self.times), "known at")
        valid_at = data.draw(st.sampled_from(self.times), "valid at")
        memories = self.engine.memories(as_of=known_at, valid_at=valid_at)
        expected = _believed(self.events, known_at, valid_at)
        assert sorted((memory.key, memory.content) for memory in memories) == sorted(expected.items())
        for key in KEYS:
            answer = self.engine.recall(_words_of(key), as_of=known_at, valid_at=valid_at)
            assert [hit.text for hit in answer.hits] == ([expected[key]] if key in expected else [])

    @rule(key=_KEYS)
    def recall(self, key: str) -> None:
        present = self._present(key)
        assert [hit.text for hit in self.engine.recall(_words_of(key)).hits] == ([present] if present else [])

    @rule(key=_KEYS)
    def history(self, key: str) -> None:
        if not any(event.key == key for event in self.events):
            with pytest.raises(NotFound):
                self.engine.history(key)
            return
        versions = self.engine.history(key)
        lives = [
            [version.version for version in versions if version.id == life]
            for life in dict.fromkeys(v.id for v in versions)
        ]
        assert all(life == list(range(1, len(life) + 1)) for life in lives)
        assert len(lives) == 1 + sum(
            not event.text for event in self.events[: self._last_text(key)] if event.key == key
        )
        open_now = {
            (version.valid_from, version.valid_to, version.content) for version in versions if version.known_to is None
        }
        assert open_now == {(span.start, span.end, span.text) for span in _line(self.events, key, self.now)}

    def _last_text(self, key: str) -> int:
        """Where the last event that stored something under a key stands: what was forgotten before it began anew."""
        return max(place for place, event in enumerate(self.events) if event.key == key and event.text)

    @rule()
    def index(self) -> None:
        page = self.engine.index()
        shown = page.text.partition("## Where more is")[0]
        expected = _believed(self.events, self.now, self.now).values()
        assert page.entries == len(expected)
        assert all(text in shown for text in expected)
        assert page.tokens <= page.budget
        assert self.engine.index() == page


def _words_of(key: str) -> str:
    """A question that fits every sentence of a key, whichever holds."""
    return " ".join(_word(key, number, 0) for number in range(TEXTS))


Store.TestCase.settings = settings(
    max_examples=amount(80, 20_000),
    stateful_step_count=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.timeout(amount(600, 36_000))  # a failure is made small first
@pytest.mark.requirement("A1", "A2", "X2")
class TestStore(Store.TestCase):
    """What unittest calls the machine."""


@pytest.fixture
def moved(open_engine) -> Engine:
    """One text from January on, another from April on."""
    engine = open_engine()
    engine.remember(_text("amber", 0), key="amber", since="2026-01-01")
    engine.revise("amber", _text("amber", 1), since="2026-04-01")
    return engine


def _truths(engine: Engine, *times: str) -> list[list[str]]:
    return [[memory.content for memory in engine.memories(valid_at=time)] for time in times]


@pytest.mark.requirement("X2")
def test_late_news_replaces_what_was_believed_of_that_time(moved):
    """Of one memory one thing is true at a time, also after "since March it was so" is learned in summer."""
    moved.remember(_text("amber", 2), key="amber", since="2026-03-01")
    expected = [[_text("amber", number)] for number in (0, 2, 1)]
    assert _truths(moved, "2026-02-01", "2026-03-15", "2026-04-15") == expected


@pytest.mark.requirement("X2")
def test_a_revision_from_an_earlier_time_leaves_one_truth_at_a_time(moved):
    moved.revise("amber", _text("amber", 2), since="2026-03-01")
    expected = [[_text("amber", number)] for number in (0, 2, 2)]
    assert _truths(moved, "2026-02-01", "2026-03-15", "2026-04-15") == expected


@pytest.mark.requirement("X2")
def test_what_is_announced_for_later_does_not_double_what_is_true_now(open_engine):
    engine = open_engine()
    engine.remember(_text("amber", 0), key="amber", since="2026-01-01")
    engine.revise("amber", _text("amber", 1), since="2027-01-01")
    engine.remember(_text("amber", 2), key="amber")
    assert [memory.content for memory in engine.memories()] == [_text("amber", 2)]
    assert _truths(engine, "2026-02-01", "2027-06-01") == [[_text("amber", 0)], [_text("amber", 1)]]
