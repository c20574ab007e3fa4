"""Conversations to consolidate, and a generator that says what a test has it say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.conftest import SteppingClock
from tests.databases import Database

from picomem import consolidation_runner
from picomem.consolidation_runner import Consolidated
from picomem.engine.engine import Engine
from picomem.errors import GeneratorFailed
from picomem.models.generator import CallBudget, Ending, Fact, Generator, Material, PromptLine, Proposal
from picomem.records.kinds import Origin
from picomem.records.session import NewMessage, Role, Session, ToolCall
from picomem.records.spend import Spend
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, RecallSettings, SessionSettings
from picomem.text.terms import terms

PORT = Fact("staging_db_port", "The staging database listens on port 5433", 0.8)


def settings(**memory: object) -> Settings:
    """Settings with memory on."""
    return Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"),
        memory=MemorySettings(enabled=True, **memory),  # type: ignore[arg-type]
    )


@dataclass
class Scripted:
    """A generator that gives what it is told to give, in turn, the last for ever; and what it was asked."""

    script: Sequence[Proposal | Exception] = field(default_factory=list)
    spend: Spend = field(default_factory=lambda: Spend(1, 100, 20))
    name: str = "scripted"
    asked: list[Material] = field(default_factory=list)
    meanwhile: Callable[[], object] | None = None

    async def propose(self, material: Material, budget: CallBudget) -> Proposal:
        if not await budget.reserve(Spend(1, 300, 60)):
            raise GeneratorFailed("no room")
        self.asked.append(material)
        if self.meanwhile:
            await anyio.to_thread.run_sync(self.meanwhile)
        given, *rest = self.script
        self.script = rest or self.script
        await budget.settle(self.spend)
        if isinstance(given, Exception):
            raise given
        return backed(given, material.lines, {memory.key: memory.content for memory in material.known})


def backed(given: Proposal, lines: Sequence[PromptLine], known: dict[str, str]) -> Proposal:
    """A proposal in which whatever has no quote is backed by the sentence that shares the most words with it."""

    def quoted(text: str) -> dict[str, Any]:
        sentences = [(line.number, part) for line in lines for part in re.split(r"(?<=[.!?])\s+|\n+", line.text)]
        wanted = set(terms(text))
        number, quote = max(sentences, key=lambda said: len(wanted & set(terms(said[1]))))
        return {"message": number, "quote": quote}

    return replace(
        given,
        facts=tuple(fact if fact.quote else replace(fact, **quoted(fact.content)) for fact in given.facts),
        invalidate=tuple(
            ending if ending.quote else replace(ending, **quoted(f"{ending.key} {known.get(ending.key, '')}"))
            for ending in given.invalidate
        ),
    )


def proposal(
    *facts: Fact, timeline: str = "They found why staging was slow.", invalidate: Sequence[str] = (), **more: object
) -> Proposal:
    endings = tuple(Ending(key) for key in invalidate)
    told = {"summary": "Staging was slow; it is not any more.", **more}
    return Proposal(facts=facts, timeline=timeline, invalidate=endings, **told)  # type: ignore[arg-type]


def failing(message: str = "no answer within 60 seconds.") -> Scripted:
    return Scripted([GeneratorFailed(message)])


def said(role: str, text: str, origin: Origin | None = None, *calls: ToolCall, answers: str = "") -> NewMessage:
    return NewMessage(role=Role(role), content=text, origin=origin, tool_calls=calls, tool_call_id=answers)


TALK = (
    said("user", "Why is staging so slow?"),
    said("assistant", "Its database listens on port 5433, and the pool asks 6432."),
    said("user", "Can you mend that?"),
    said("assistant", "I changed the pool to port 5433; the staging database answers in 3 ms now."),
    said("user", "Great, what is left?"),
    said("assistant", "Only the deploy of the pool is left."),
)


@pytest.fixture
def settled() -> Settings:
    return settings()


@pytest.fixture
def memory(db: Path, clock: SteppingClock, settled: Settings, database: Database):
    """An engine with memory on, and summaries."""
    with Runtime(database.connect(db), settled, clock=clock) as runtime:
        yield runtime.engine()


@pytest.fixture
def talk(memory: Engine) -> Session:
    """A session of three turns."""
    return begun(memory, *TALK)


def begun(memory: Engine, *messages: NewMessage) -> Session:
    session = memory.sessions().create()
    if messages:
        memory.sessions().append(session.id, *messages)
    return memory.sessions().get(session.id)


def consolidate(memory: Engine, generator: Generator, session: str, **options: bool) -> Consolidated:
    async def run() -> Consolidated:
        return await consolidation_runner.consolidate(memory, generator, session, **options)

    return anyio.run(run)


def with_window(tokens: int) -> Settings:
    """Settings with a small window, so that little is much."""
    base = settings(consolidation_window=2_000)
    return Settings(
        recall=base.recall, memory=base.memory, session=SessionSettings(context_window=tokens, keep_messages=4)
    )
