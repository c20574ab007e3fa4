"""What a host gets for an event: the index page when a session begins, and beside a prompt what memory is sure of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from picomem.app import open_engine
from picomem.engine.audience import note_injected
from picomem.engine.engine import Engine
from picomem.errors import NoStore
from picomem.hooks.hook_events import Action, HookEvent, encoded, event_of
from picomem.injection.prompt_context import AgentPrompt, index_of_project, injection
from picomem.paths import private_umask


def answer_of(options: Mapping[str, str], given: dict[str, Any]) -> tuple[bytes, list[str]]:
    """What the host prints into the model's context, and the ids of it that are not to come again. Raises
    PicomemError."""
    event = event_of(given)
    context, injected = "", []
    if event.gets_context:
        try:
            with opened(event, options, create=False) as engine:
                context, injected = context_of(engine, event)
        except NoStore:
            pass  # nothing was remembered yet, which is no fault
    return encoded(event, context), injected


def note_what_was_injected(options: Mapping[str, str], given: dict[str, Any], injected: Sequence[str]) -> None:
    """Keep in memory what the session of an event has got."""
    event = event_of(given)
    with opened(event, options, create=False) as engine:
        note_injected(engine, event.session, injected)


def context_of(engine: Engine, event: HookEvent) -> tuple[str, list[str]]:
    """What goes into the model's context at an event, and what of it is not to come again. Where the host names no
    folder, nobody knows the project, and memories of all of them would go into it."""
    if not engine.scope.project:
        return "", []
    if event.action is Action.INDEX:
        return index_of_project(engine, event.folder), []
    if event.action is not Action.RECALL or not engine.settings.hooks.token_budget:
        return "", []
    chosen = injection(engine, AgentPrompt(event.prompt, event.session, event.transcript, event.folder))
    return chosen.block, chosen.injected


def opened(event: HookEvent, options: Mapping[str, str], *, create: bool, embedder: str | None = "none") -> Engine:
    """Memory; with None as the embedder, the one of the settings, which takes longer than a host waits."""
    private_umask()
    return open_engine(
        options.get("--db"),
        user=options.get("--user"),
        folder=event.folder,
        create=create,
        actor="hook",
        embedder=embedder,
    )
