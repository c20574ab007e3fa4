"""The presentation of what hooks would inject beside a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Heading, Presentation, PresentedEntry, Sentence, Text, Verbatim
from picomem.operations.presentations.wording import attributed, day

if TYPE_CHECKING:
    from picomem.operations.injecting import PromptContextResult

_OBSTACLES = {
    "no_project": "Hooks put nothing beside a prompt whose project is unknown; name one with --project.",
    "switched_off": "Hooks put nothing beside prompts, because hooks.token_budget is 0.",
    "command": "Hooks put nothing beside an empty prompt or a command of the host, which begins with “/”.",
    "nothing_found": "Memory has nothing for this prompt.",
    "given_before": "The session was given before what memory has for this prompt.",
    "no_room": "What memory has does not fit hooks.token_budget.",
}


def verdict(result: PromptContextResult) -> str:
    """Return whether something would go beside the prompt, and why, in a sentence."""
    compared = f"{result.relevance:.2f}, and hooks.min_relevance is {result.min_relevance:.2f}"
    if result.is_injected:
        used = f"{result.tokens:,} of {result.token_budget:,} tokens"
        return f"This would go beside the prompt: its relevance is {compared} ({used})."
    return _OBSTACLES.get(result.obstacle, f"Nothing would go beside the prompt: the relevance is {compared}.")


def prompt_context(result: PromptContextResult) -> Presentation:
    blocks: list[Block] = [Sentence(verdict(result))]
    if result.block:
        blocks.append(Verbatim(result.block))
    weaker = [entry.hit for entry in result.entries if not entry.is_injected]
    if weaker:
        blocks.append(Heading("What memory has, and would not put there"))
        for number, hit in enumerate(weaker, 1):
            heading = f"{hit.key or hit.role}, {day(hit.at)[:10]}  score {hit.score:.2f}"
            blocks.append(PresentedEntry(heading, (Text(attributed(hit.text, hit.origin), 3),), number))
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings))
