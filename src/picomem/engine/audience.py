"""Functions on an engine about those who read what it says: a group, the session of a host, a log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from picomem.coded_text import rewritten
from picomem.engine.engine import Engine
from picomem.errors import Corrupt, StoreError
from picomem.memory import injection_log
from picomem.memory.injection_log import Handout
from picomem.policy.redact import Redactor
from picomem.text.storable import plain


def in_group(engine: Engine) -> Engine:
    """The engine for a group, where others read the answers: past sessions, and memories made from them, are neither
    searched nor cited, and a prompt shows no memory unasked."""
    acting = engine.acting_as()
    acting._context.is_group = True
    return acting


def is_in_group(engine: Engine) -> bool:
    """Return whether the engine is one for a group."""
    return engine._context.is_group


def by_words(engine: Engine, project: str) -> Engine:
    """The engine as a hook opens it in a project: recall asks by words alone, whatever embedder there is."""
    scope = engine._context.owner(engine.scope.narrowed(project=project))
    acting = engine.acting_as(agent=engine.caller.is_agent)
    acting._context.scope = scope
    acting._context.is_by_words = True
    return acting


def has_notes(engine: Engine) -> bool:
    """Return whether notes are configured that the engine's user may read."""
    return engine._context.notes() is not None


def cites_sources(engine: Engine) -> bool:
    """Return whether hits carry their citation (`memory.citations`)."""
    setting = engine.settings.memory.citations
    return setting == "on" or (setting == "auto" and not engine._context.is_group)


def injected_in(engine: Engine, session: str) -> frozenset[str]:
    """The ids of what hooks have put into the context of a host's session."""
    with engine._context.connector.read() as tx:
        return injection_log.load(tx, engine.scope, session)


def note_injected(engine: Engine, session: str, ids: Sequence[str]) -> None:
    """Note what a hook has put into the context of a host's session."""
    with engine._context.connector.write(engine.scope) as tx:
        injection_log.keep(tx, engine.scope, session, tuple(ids), engine.now())
    if engine.settings.audit.reads:
        from picomem.engine.record_chain import note_handed_out  # noqa: PLC0415 - few have it on

        note_handed_out(engine, "prompt-context", dict.fromkeys(entry.partition(" ")[0] for entry in ids))


def handouts(engine: Engine, id_: str) -> list[Handout]:
    """The sessions of hosts into which hooks have put a memory or an episode, the latest first; none where the record
    is damaged, which the doctor says."""
    with suppress(Corrupt), engine._context.connector.read() as tx:
        return injection_log.handouts(tx, engine.scope, id_)
    return []


def safe_text(engine: Engine | None, text: str) -> str:
    """A text without its secrets, as what is kept elsewhere must be; where there is no store, or its key for the marks
    cannot be read, with marks that link nothing."""
    redactor = Redactor(bytes(32))
    if engine is not None:
        with suppress(StoreError):
            redactor = engine._context.redactor()
    return rewritten(text, lambda part: redactor.redact(plain(part)).text)


def redaction(engine: Engine) -> Callable[[str], str]:
    """Return the function that redacts a text with the store's fingerprints. Raises StoreError."""
    redactor = engine._context.redactor()
    return lambda text: redactor.redact(text).text
