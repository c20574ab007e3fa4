"""Functions on an engine for agents, conversations and consolidation, besides its verbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from picomem.coded_text import rewritten
from picomem.engine.engine import Engine
from picomem.errors import Corrupt, StoreError
from picomem.light_dataclass import replace
from picomem.records.kinds import Origin
from picomem.store.connector import BRIEF_WAIT

if TYPE_CHECKING:
    from picomem.consolidation.consolidate import Consolidator
    from picomem.consolidation.reconcile import Reconciler
    from picomem.consolidation.transcripts import TranscriptConsolidator
    from picomem.emulation.agent_files import Files
    from picomem.emulation.agent_graph import AgentGraph
    from picomem.emulation.agent_store import OriginOf
    from picomem.memory.injection_log import Handout
    from picomem.memory.remember import Remembered
    from picomem.provenance.statements import Grounds
    from picomem.records.session import Loaded, Summary
    from picomem.sessions.context_window import ContextWindow

AnyConsolidator = TypeVar("AnyConsolidator", bound="Consolidator")


def agent_files(engine: Engine, origin_of: OriginOf | None = None) -> Files:
    """`Engine.files` for a surface that tells the origin of what the agent writes."""
    from picomem.emulation.agent_files import Files

    return Files(engine._context.agent_store(origin_of))


def agent_graph(engine: Engine, origin_of: OriginOf | None = None) -> AgentGraph:
    """The graph of entities, relations and observations that an agent keeps; see emulation/agent_graph.py."""
    from picomem.emulation.agent_graph import AgentGraph

    return AgentGraph(engine._context.agent_store(origin_of))


def heard(engine: Engine, *texts: str) -> None:
    """Know texts that nobody trusted wrote (a tool's output) again, where an agent offers them as its own words."""
    engine._context.returned_texts().keep(texts)


def answered(engine: Engine, reply: str, presented: Iterable[str], data: object) -> None:
    """Know an answer to an agent again: its words for a model, the texts that people see, and its data as JSON."""
    from picomem.policy.own_output import pieces_of

    engine._context.returned_texts().keep_answer(pieces_of(reply, presented, data))


def keep_quotes(engine: Engine, quotes: Sequence[tuple[Origin, str]]) -> bool:
    """Recognise quotes of untrusted text after a restart too (memory/untrusted_handouts.py).

    An answer does not wait for this: False where the store cannot be written soon, and the caller tries again later.
    """
    from picomem.memory import untrusted_handouts

    if quotes and not engine.read_only:
        try:
            with engine._context.connector.write(engine.scope, wait_seconds=BRIEF_WAIT) as tx:
                untrusted_handouts.keep(tx, engine.scope, quotes, engine.now())
        except StoreError:
            return False
    return True


def quotes_in_context(engine: Engine, text: str) -> list[tuple[Origin, frozenset[str]]]:
    """The recorded quotes that an agent may have in its context when it stores `text`."""
    from picomem.memory import untrusted_handouts

    with engine._context.connector.read() as tx:
        kept = untrusted_handouts.load(tx, engine.scope, engine.now())
        return untrusted_handouts.in_context(tx, kept, text, engine.now())


def injected_in(engine: Engine, session: str) -> frozenset[str]:
    """The ids of what hooks have put into the context of a host's session."""
    from picomem.memory import injection_log

    with engine._context.connector.read() as tx:
        return injection_log.load(tx, engine.scope, session)


def handouts(engine: Engine, id_: str) -> list[Handout]:
    """The sessions of hosts into which hooks have put a memory or an episode, the latest first; none where the record
    is damaged, which the doctor says."""
    from picomem.memory import injection_log

    with suppress(Corrupt), engine._context.connector.read() as tx:
        return injection_log.handouts(tx, engine.scope, id_)
    return []


def note_injected(engine: Engine, session: str, ids: Sequence[str]) -> None:
    """Note what a hook has put into the context of a host's session."""
    from picomem.memory import injection_log

    with engine._context.connector.write(engine.scope) as tx:
        injection_log.keep(tx, engine.scope, session, tuple(ids), engine.now())


def statements(engine: Engine) -> Grounds:
    """The user's statements in their turns of the last day, and in those that were recalled."""
    return engine._context.statements()


def in_group(engine: Engine) -> Engine:
    """The engine for a group, where others read the answers: past sessions, and memories made from them, are neither
    searched nor cited, and a prompt shows no memory unasked."""
    acting = engine.acting_as()
    acting._context.is_group = True
    return acting


def by_words(engine: Engine, project: str) -> Engine:
    """The engine as a hook opens it in a project: recall asks by words alone, whatever embedder there is."""
    scope = engine._context.owner(engine.scope.narrowed(project=project))
    acting = engine.acting_as(agent=engine.caller.is_agent)
    acting._context.scope = scope
    acting._context.is_by_words = True
    return acting


def is_in_group(engine: Engine) -> bool:
    """Return whether the engine is one for a group."""
    return engine._context.is_group


def has_notes(engine: Engine) -> bool:
    """Return whether notes are configured that the engine's user may read."""
    return engine._context.notes() is not None


def cites_sources(engine: Engine) -> bool:
    """Return whether hits carry their citation (`memory.citations`)."""
    setting = engine.settings.memory.citations
    return setting == "on" or (setting == "auto" and not engine._context.is_group)


def asked(engine: Engine, said: str, *, kept: Sequence[str] = ()) -> list[Remembered]:
    """Take up what a person asks to be remembered in a message to their agent; what became of each request.

    `said` is the person's own text, and `kept` what the agent has stored itself. Each other request goes through
    the gate, as one that ingest finds does.
    """
    from picomem.ingest.storing import TranscriptRequest
    from picomem.memory.transcript_requests import is_met, offer_of
    from picomem.provenance.requests import find_requests

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
    from picomem.consolidation.consolidate import Consolidator

    return _consolidator(engine, Consolidator)


def transcript_consolidator(engine: Engine) -> TranscriptConsolidator:
    """The same for the transcripts of other programs."""
    from picomem.consolidation.transcripts import TranscriptConsolidator

    return _consolidator(engine, TranscriptConsolidator)


def reconciler(engine: Engine) -> Reconciler:
    """The store access for doubted pairs that a model judges."""
    from picomem.consolidation.reconcile import Reconciler

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
    from picomem.sessions.context_window import newest_question

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
    from picomem.sessions.context_window import Budgets, Known, window

    budgets = Budgets.of(engine.settings)
    index, known = "", []
    if enabled and engine.settings.session.enable_user_memories and not engine._context.is_group:
        index = engine.index(budget=min(engine.settings.index.budget, budgets.memory // 2)).text
        hits = engine.recall(question, limit=budgets.memories, include_transcripts=False).hits if question else ()
        known = [Known(hit.key, hit.text, hit.origin) for hit in hits]
    return window(loaded, budgets, index=index, known=known, summary=summary)


def safe_text(engine: Engine | None, text: str) -> str:
    """A text without its secrets, as what is kept elsewhere must be; where there is no store, or its key for the marks
    cannot be read, with marks that link nothing."""
    from picomem.policy.redact import Redactor
    from picomem.text.storable import plain

    redactor = Redactor(bytes(32))
    if engine is not None:
        with suppress(StoreError):
            redactor = engine._context.redactor()
    return rewritten(text, lambda part: redactor.redact(plain(part)).text)
