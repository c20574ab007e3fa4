"""What a host gets for an event: the index page when a session begins, and beside a prompt what memory is sure of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.hooks.hook_events import Action, HookEvent
from picomem.injection.prompt_context import AgentPrompt, index_of_project, injection

if TYPE_CHECKING:
    from picomem.engine.engine import Engine


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
