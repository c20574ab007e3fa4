"""What memory puts into a session's context unasked: the index page when it begins, and beside a prompt what recall is
sure of."""

from __future__ import annotations

from os.path import realpath
from typing import TYPE_CHECKING

from picomem.engine.agent_support import injected_in
from picomem.hooks.hook_events import HEAD_TOKENS, LINE_TOKENS, Action, as_injected, context_block, hits_block
from picomem.hooks.relevance import relevance
from picomem.recall.substance import substance
from picomem.text.terms import query_terms

if TYPE_CHECKING:
    from picomem.engine.engine import Engine
    from picomem.hooks.hook_events import HookEvent
    from picomem.records.hit import Answer, Hit

_MOST_HITS = 5


def context_of(engine: Engine, event: HookEvent) -> tuple[str, list[str]]:
    """What goes into the model's context at an event, and what of it is not to come again. Where the host names no
    folder, nobody knows the project, and memories of all of them would go into it."""
    if not engine.scope.project:
        return "", []
    if event.action is Action.INDEX:
        return index_of_project(engine), []
    hooks = engine.settings.hooks
    if event.action is not Action.RECALL or not hooks.token_budget:
        return "", []
    answer, hits = recalled(engine, event)
    is_worth_it = relevance(event.prompt, answer, hits) >= hooks.min_relevance
    return hits_block(hits if is_worth_it else (), hooks.token_budget)


def index_of_project(engine: Engine) -> str:
    """The index page of the engine's project; nothing where memory is empty."""
    page = engine.index()
    return context_block(page.text) if page.entries else ""


def recalled(engine: Engine, event: HookEvent) -> tuple[Answer, list[Hit]]:
    """What recall says to a prompt, and those of its hits that the session was not given."""
    answer = engine.recall(
        event.prompt,
        limit=_MOST_HITS,
        token_budget=max(1, engine.settings.hooks.token_budget - HEAD_TOKENS - _MOST_HITS * LINE_TOKENS),
        min_confidence=0.0,
        include_notes=False,
    )
    known = injected_in(engine, event.session) if event.session else frozenset()
    asked = frozenset(query_terms(event.prompt))
    return answer, [hit for hit in answer.hits if as_injected(hit) not in known and _says_something(hit, asked, event)]


def _says_something(hit: Hit, asked: frozenset[str], event: HookEvent) -> bool:
    """Whether a hit says more than “Noted.” or what is asked now, and neither the session itself nor a branch that its
    user left said it."""
    is_empty = hit.source == "episode" and substance(hit.text, asked) < 1
    return not is_empty and not hit.abandoned and not _is_own(hit, event)


def _is_own(hit: Hit, event: HookEvent) -> bool:
    """Whether a hit, or the talk that a memory was taken from, is of the session itself."""
    if event.transcript and hit.transcript:
        return hit.transcript == realpath(event.transcript)
    return bool(event.session) and hit.session == event.session
