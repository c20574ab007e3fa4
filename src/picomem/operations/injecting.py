"""The operation that shows what hooks would inject beside a prompt."""

from __future__ import annotations

from typing import Literal

from picomem.engine.audience import by_words, cites_sources
from picomem.engine.engine import Engine
from picomem.injection.prompt_context import AgentPrompt, Injection, as_injected, asks_memory, injection
from picomem.light_dataclass import dataclass, field
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    Verbatim,
    attributed,
    day,
)
from picomem.operations.recall_views import HitView, hit_view
from picomem.records.caller import READ_SESSIONS, SESSIONS_NOT_READ
from picomem.text.tokens import count_tokens

# Why nothing would go beside a prompt.
Obstacle = Literal[
    "", "no_project", "switched_off", "command", "nothing_found", "not_relevant", "given_before", "no_room"
]

_OBSTACLES = {
    "no_project": "Hooks put nothing beside a prompt whose project is unknown; name one.",
    "switched_off": "Hooks put nothing beside prompts, because hooks.token_budget is 0.",
    "command": "Hooks put nothing beside an empty prompt or a command of the host, which begins with “/”.",
    "nothing_found": "Memory has nothing for this prompt.",
    "given_before": "The session was given before what memory has for this prompt.",
    "no_room": "What memory has does not fit hooks.token_budget.",
}


@dataclass(frozen=True, slots=True)
class PromptContextRequest:
    prompt: str = option("what a person says to their agent", positional=True, free_text=True)
    project: str = option("the project in which they say it; hooks put nothing beside a prompt of none", "")
    session: str = option("the session of the host, by its whole id: what it was given before does not come again", "")


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """A hit that memory has for the prompt, and whether it is in the block."""

    hit: HitView
    is_injected: bool


@dataclass(frozen=True, slots=True)
class PromptContextResult:
    """The `block` that the agent would get, empty where `obstacle` says why it gets none. `relevance` is how likely the
    entries help with the prompt, 0–1, and `min_relevance` the threshold, of the setting `hooks.min_relevance`; `tokens`
    of the block are at most `token_budget`. `warnings` says what was left out."""

    is_injected: bool
    obstacle: str
    relevance: float
    min_relevance: float
    block: str
    tokens: int
    token_budget: int
    entries: list[PromptEntry]
    warnings: list[str] = field(default_factory=list)


def prompt_context(engine: Engine, request: PromptContextRequest) -> PromptContextResult:
    """Show what a hook would inject beside a prompt, its relevance, and the relevance that is required.

    It searches memory by words alone, as hooks do. Nothing is recorded as injected into a session.
    """
    hooks = engine.settings.hooks
    is_cited = cites_sources(engine)
    acting = by_words(engine, request.project)
    chosen = Injection("", [], [], 0.0)
    obstacle: Obstacle = ""
    if not acting.scope.project:
        obstacle = "no_project"
    elif not hooks.token_budget:
        obstacle = "switched_off"
    elif not asks_memory(request.prompt):
        obstacle = "command"
    else:
        chosen = injection(acting, AgentPrompt(request.prompt, request.session))
        obstacle = _obstacle(chosen, hooks.min_relevance)
    return PromptContextResult(
        is_injected=bool(chosen.block),
        obstacle=obstacle,
        relevance=chosen.relevance,
        min_relevance=hooks.min_relevance,
        block=chosen.block,
        tokens=count_tokens(chosen.block) if chosen.block else 0,
        token_budget=hooks.token_budget,
        entries=[
            PromptEntry(hit_view(hit, is_cited=is_cited), as_injected(hit) in chosen.injected) for hit in chosen.hits
        ],
        warnings=[] if engine.caller.may(READ_SESSIONS) else [SESSIONS_NOT_READ],
    )


def _obstacle(chosen: Injection, min_relevance: float) -> Obstacle:
    if chosen.block:
        return ""
    if not chosen.hits:
        return "nothing_found"
    if chosen.relevance < min_relevance:
        return "not_relevant"
    return "given_before" if any(as_injected(hit) in chosen.known for hit in chosen.hits) else "no_room"


def _verdict(result: PromptContextResult) -> str:
    """Return whether something would go beside the prompt, and why, in a sentence."""
    compared = f"{result.relevance:.2f}, and hooks.min_relevance is {result.min_relevance:.2f}"
    if result.is_injected:
        used = f"{result.tokens:,} of {result.token_budget:,} tokens"
        return f"This would go beside the prompt: its relevance is {compared} ({used})."
    return _OBSTACLES.get(result.obstacle, f"Nothing would go beside the prompt: the relevance is {compared}.")


def _present_prompt_context(result: PromptContextResult) -> Presentation:
    blocks: list[Block] = [Sentence(_verdict(result))]
    if result.block:
        blocks.append(Verbatim(result.block))
    weaker = [entry.hit for entry in result.entries if not entry.is_injected]
    if weaker:
        blocks.append(Heading("What memory has, and would not put there"))
        for number, hit in enumerate(weaker, 1):
            heading = f"{hit.key or hit.role}, {day(hit.at)[:10]}  score {hit.score:.2f}"
            blocks.append(PresentedEntry(heading, (Text(attributed(hit.text, hit.origin), 3),), number))
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings))


OPERATIONS = (
    Operation(
        name="prompt-context",
        group="look",
        run=prompt_context,
        present=_present_prompt_context,
        reply=lambda result: result.block or _verdict(result),
        permission="memory:read:user",
        example='picomem prompt-context "why did we drop Redis for the locks?" --project harbor',
        read_only=True,
        idempotent=True,
    ),
)
