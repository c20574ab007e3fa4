"""Any verbs, conversations that are consolidated among them, and any change taken back in any order that is allowed: an
undo gives back what was, the undo of it what was then, and what is refused changes nothing."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.amounts import amount
from tests.conftest import START
from tests.consolidation.conftest import Scripted, begun, consolidate, proposal, said, with_window
from tests.databases import chosen
from tests.engine_parts import connector_of, missing_vectors

from picomem.clock import MINUTE
from picomem.errors import Conflict, InvalidInput, NotFound, Refused
from picomem.models.generator import Fact
from picomem.models.static_embedder import StaticEmbedder
from picomem.runtime import Runtime
from picomem.store.sql_access import sql

_TEXTS = {
    "amber_lanterns": ["Amber lanterns hang at the pier", "Amber lanterns hang at the northern pier since May"],
    "birch_violin": ["The birch violin sounds in the hall", "The birch violin was sold to Omar"],
    "cobalt_engine": ["The cobalt engine runs overnight", "The cobalt engine runs on Sundays only"],
}
_KEYS = st.sampled_from(sorted(_TEXTS))
_EMBEDDER = StaticEmbedder()


class Undoing(RuleBasedStateMachine):
    """Two conversations and three memories."""

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "memory.db"
        self.now = START
        connector = chosen().connect(self.path)
        runtime = Runtime(connector, with_window(1_000), embedder=_EMBEDDER, clock=self._clock)
        self.engine = runtime.engine(closes=True)
        self.talks = [begun(self.engine).id for _ in range(2)]
        self.empty = self.state()

    def _clock(self) -> int:
        self.now += MINUTE
        return self.now

    def teardown(self) -> None:
        self.take_everything_back()
        assert self.engine.doctor().findings == []
        self.engine.close()
        assert chosen().disagreements(self.path) == []
        self.folder.cleanup()

    def state(self) -> tuple:
        """All that memory holds now, whatever ids its rows have."""
        engine = self.engine
        sessions = [engine.sessions().get(talk) for talk in self.talks]
        with connector_of(engine).read() as tx:
            lineage = {
                tuple(row[:6]) for row in sql(tx).all("all_lineage", user="local") if row[0] in ("episode", "summary")
            }
        return (
            sorted((memory.id, memory.key, memory.content, memory.valid_from) for memory in engine.memories()),
            [
                (session.last_consolidated_seq, session.last_consolidated_at, session.consolidation_failures)
                for session in sessions
            ],
            [engine.sessions().summary(talk) for talk in self.talks],
            sorted((entry.id, entry.text, entry.at) for entry in engine.timeline()),
            sorted(hit.id for hit in engine.recall("harbour talk", include_memories=False).hits),
            sorted(lineage),
        )

    def _vectors(self) -> int:
        return missing_vectors(self.engine)

    @rule(key=_KEYS, text=st.integers(0, 1))
    def remember(self, key: str, text: int) -> None:
        with suppress(Refused):
            self.engine.remember(_TEXTS[key][text], key=key)

    @rule(key=_KEYS, text=st.integers(0, 1))
    def revise(self, key: str, text: int) -> None:
        with suppress(NotFound, InvalidInput, Refused):
            self.engine.revise(key, _TEXTS[key][text])

    @rule(key=_KEYS)
    def forget(self, key: str) -> None:
        with suppress(NotFound):
            self.engine.forget(key)

    @rule(talk=st.integers(0, 1), key=_KEYS, count=st.integers(1, 4))
    def say(self, talk: int, key: str, count: int) -> None:
        for text in _TEXTS[key] * count:
            words = said("user", f"{text}. {'boat ' * 40}"), said("assistant", f"Noted: {text}")
            self.engine.sessions().append(self.talks[talk], *words)

    @rule(talk=st.integers(0, 1), key=_KEYS, text=st.integers(0, 1), off=st.one_of(st.none(), _KEYS))
    def consolidate(self, talk: int, key: str, text: int, off: str | None) -> None:
        made = proposal(
            Fact(key, _TEXTS[key][text], 0.6),
            timeline=f"A harbour talk of {key}.",
            summary=f"It was about {key}.",
            invalidate=(off,) if off else (),
        )
        before, known = self.state(), {change.run for change, _ in self.engine.changes(10_000)}
        done = consolidate(self.engine, Scripted([made]), self.talks[talk], force=True)
        for run in reversed(done.runs):
            assert run.run not in known
        after = self.state()
        undos = [self.engine.undo(run.run)[-1].change.run for run in reversed(done.runs)]
        assert self.state() == before
        for run in reversed(undos):
            self.engine.undo(run)
        assert self.state() == after

    @precondition(lambda self: self.engine.changes(1))
    @rule(place=st.integers(0, 30), whole=st.booleans())
    def undo(self, place: int, whole: bool) -> None:
        """Whatever was decided is taken back, or refused in one sentence and nothing changed."""
        changes = [change for change, _ in self.engine.changes(31)]
        change = changes[place % len(changes)]
        before = self.state()
        try:
            undone = self.engine.undo(change.run if whole else change.id)
        except (Conflict, InvalidInput) as error:
            assert str(error).endswith(".")
            assert self.state() == before
            return
        after = self.state()
        again = self.engine.undo(undone[-1].change.run)
        assert self.state() == before
        self.engine.undo(again[-1].change.run)
        assert self.state() == after
        assert self._vectors() == 0

    @rule()
    def take_everything_back(self) -> None:
        """From the latest change to the first, each that is in force still: nothing is left."""
        for change, _ in self.engine.changes(1_000):
            if change.verb != "undo":
                with suppress(Conflict, InvalidInput):
                    self.engine.undo(change.id)
        assert self.state() == self.empty


def test_a_summary_that_came_back_has_its_own_messages_behind_it_and_no_others() -> None:
    machine = Undoing()
    machine.start()
    for _ in range(2):
        machine.say(talk=0, key="birch_violin", count=4)
        machine.consolidate(talk=0, key="birch_violin", text=0, off=None)
    machine.teardown()


Undoing.TestCase.settings = settings(
    max_examples=amount(10, 200),
    stateful_step_count=12,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestUndoing = pytest.mark.requirement("X3")(Undoing.TestCase)
