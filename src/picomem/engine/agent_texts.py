"""Functions on an engine for the tools of agents: texts and graphs that they keep, and text that is not their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from picomem.emulation.agent_files import Files
from picomem.emulation.agent_graph import AgentGraph
from picomem.emulation.agent_store import AgentStore, OriginOf, of_the_agent
from picomem.engine.caller_context import EngineBase
from picomem.engine.engine import Engine
from picomem.engine.writing import persons_of, statements_of
from picomem.errors import StoreError
from picomem.memory import untrusted_handouts
from picomem.policy.own_output import pieces_of
from picomem.provenance.statements import Grounds
from picomem.records.kinds import Origin
from picomem.store.connector import BRIEF_WAIT


def agent_files(engine: EngineBase, origin_of: OriginOf | None = None) -> Files:
    """`Engine.files` for a surface that tells the origin of what the agent writes."""
    return Files(_agent_store(engine, origin_of))


def agent_graph(engine: Engine, origin_of: OriginOf | None = None) -> AgentGraph:
    """The graph of entities, relations and observations that an agent keeps; see emulation/agent_graph.py."""
    return AgentGraph(_agent_store(engine, origin_of))


def heard(engine: Engine, *texts: str) -> None:
    """Know texts that nobody trusted wrote (a tool's output) again, where an agent offers them as its own words."""
    engine._context.returned_texts().keep(texts)


def answered(engine: Engine, reply: str, presented: Iterable[str], data: object) -> None:
    """Know an answer to an agent again: its words for a model, the texts that people see, and its data as JSON."""
    engine._context.returned_texts().keep_answer(pieces_of(reply, presented, data))


def keep_quotes(engine: Engine, quotes: Sequence[tuple[Origin, str]]) -> bool:
    """Recognise quotes of untrusted text after a restart too (memory/untrusted_handouts.py).

    An answer does not wait for this: False where the store cannot be written soon, and the caller tries again later.
    """
    if quotes and not engine.read_only:
        try:
            with engine._context.connector.write(engine.scope, wait_seconds=BRIEF_WAIT) as tx:
                untrusted_handouts.keep(tx, engine.scope, quotes, engine.now())
        except StoreError:
            return False
    return True


def quotes_in_context(engine: Engine, text: str) -> list[tuple[Origin, frozenset[str]]]:
    """The recorded quotes that an agent may have in its context when it stores `text`."""
    with engine._context.connector.read() as tx:
        kept = untrusted_handouts.load(tx, engine.scope, engine.now())
        return untrusted_handouts.in_context(tx, kept, text, engine.now())


def statements(engine: Engine) -> Grounds:
    """The user's statements in their turns of the last day, and in those that were recalled."""
    return statements_of(engine._context)


def _agent_store(engine: EngineBase, origin_of: OriginOf | None) -> AgentStore:
    """The store for memory tools; `origin_of` tells the origin of what their agent writes."""
    context = engine._context
    return AgentStore(
        connector=context.connector,
        scope=context.scope,
        writer=context.writer,
        cleaner=context.cleaner,
        clock=context.clock,
        persons=lambda: persons_of(context),
        is_agent=context.caller.is_agent,
        origin_of=origin_of or of_the_agent,
        settle=context.settle,
        deleting=context.deleting,
    )
