"""Functions on an engine for agents, conversations and consolidation, besides its verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from picomem.consolidation.consolidate import Consolidator
from picomem.consolidation.reconcile import Reconciler
from picomem.consolidation.transcripts import TranscriptConsolidator
from picomem.engine.engine import Engine
from picomem.engine.record_chain import note_handed_out
from picomem.ingest.storing import TranscriptRequest
from picomem.light_dataclass import replace
from picomem.memory.remember import Remembered
from picomem.memory.transcript_requests import is_met, offer_of
from picomem.provenance.requests import find_requests
from picomem.records.session import Loaded, Summary
from picomem.sessions.context_window import Budgets, ContextWindow, Known, newest_question, window

AnyConsolidator = TypeVar("AnyConsolidator", bound="Consolidator")


def asked(engine: Engine, said: str, *, kept: Sequence[str] = ()) -> list[Remembered]:
    """Take up what a person asks to be remembered in a message to their agent; what became of each request.

    `said` is the person's own text, and `kept` what the agent has stored itself. Each other request goes through
    the gate, as one that ingest finds does.
    """
    text = engine._context.cleaner().text(said)
    requests = [TranscriptRequest(candidate, text, "", None, engine.scope.project) for candidate in find_requests(text)]
    open_ = [offer_of(request, engine.scope) for request in requests if not is_met(request, kept)]
    if not open_:
        return []
    with engine._context.connector.write(engine.scope) as tx:
        writer = engine._context.writer("remember")
        done = [writer.remember(tx, offer) for offer in open_]
    engine._context.settle()
    return done


def consolidator(engine: Engine) -> Consolidator:
    """The reader and writer for `picomem.consolidation_runner`, which calls the generator."""
    return _consolidator(engine, Consolidator)


def transcript_consolidator(engine: Engine) -> TranscriptConsolidator:
    """The same for the transcripts of other programs."""
    return _consolidator(engine, TranscriptConsolidator)


def reconciler(engine: Engine) -> Reconciler:
    """The store access for doubted pairs that a model judges."""
    return Reconciler(
        engine._context.connector,
        engine.scope,
        engine._context.cleaner(),
        lambda actor: engine._context.writer("consolidate", actor),
        engine._context.clock,
    )


def _consolidator(engine: Engine, kind: type[AnyConsolidator]) -> AnyConsolidator:
    return kind(
        engine._context.connector,
        engine.scope,
        engine._context.cleaner(),
        engine._context.vectors(),
        lambda actor: engine._context.writer("consolidate", actor),
        engine.settings,
        engine._context.clock,
        engine._context.zone,
    )


def window_of(engine: Engine, session: str, *, until: int | None = None) -> ContextWindow:
    """The current prompt of a session within the budgets of the settings; see sessions/context_window.py.

    With `until` as it stood with the message of that number: what another process said meanwhile is not answered
    here. With `memory.enabled` off it is the conversation alone.
    """
    log = engine.sessions()
    loaded = log.end_of(session)
    if until is not None:
        loaded = replace(loaded, messages=tuple(message for message in loaded.messages if message.seq <= until))
    shown = engine.settings.session.include_summary_on_truncation
    question = newest_question(loaded)
    summary = log.summary(session) if shown else None
    return window_around(engine, loaded, question, summary, enabled=engine.settings.memory.enabled)


def window_around(
    engine: Engine, loaded: Loaded, question: str, summary: Summary | None = None, *, enabled: bool = True
) -> ContextWindow:
    """The prompt around these messages; if memory is not `enabled`, or the engine is one for a group, the messages
    alone."""
    budgets = Budgets.of(engine.settings)
    index, known = "", []
    if enabled and engine.settings.session.enable_user_memories and not engine._context.is_group:
        index = engine.index(budget=min(engine.settings.index.budget, budgets.memory // 2)).text
        hits = engine.recall(question, limit=budgets.memories, include_transcripts=False).hits if question else ()
        known = [Known(hit.key, hit.text, hit.origin) for hit in hits]
        note_handed_out(engine, "prompt", [hit.id for hit in hits])
    return window(loaded, budgets, index=index, known=known, summary=summary)
