"""The presentation of memories that wait for a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.presentations.wording import day, plural

if TYPE_CHECKING:
    from picomem.operations.reviewing import ReviewResult, WaitingView
    from picomem.operations.suggesting import SuggestionsResult, SuggestionView


def reviewed(result: ReviewResult) -> Presentation:
    if result.change:
        return Presentation(
            blocks=(Sentence(f"{result.key}: {result.change.reason}."),),
            next_steps=(f"`picomem undo {result.change.run}` takes it back.",),
        )
    if not result.waiting and not result.suggestions and not result.warnings:
        others = f"--untrusted lists {result.untrusted:,} from tools, the web or others."
        more = (others,) if result.untrusted else ()
        return Presentation(blocks=(Sentence("Nothing waits for a decision."),), next_steps=more)
    blocks: list[Block] = [_waiting(view, number) for number, view in enumerate(result.waiting, 1)]
    if result.left_out:
        more = plural(result.left_out, "more entry", "more entries")
        blocks.append(Sentence(f"There are {more}: --cursor {result.cursor}, or -n."))
    blocks += [_suggestion(view, number) for number, view in enumerate(result.suggestions, len(result.waiting) + 1)]
    if result.suggested > len(result.suggestions):
        blocks.append(Sentence(f"`picomem suggestions` lists all {result.suggested:,} suggestions."))
    return Presentation(
        blocks=tuple(blocks),
        warnings=tuple(result.warnings),
        next_steps=("`picomem review KEY keep`, merge, supersede or discard decides; each can be undone.",),
    )


def _waiting(view: WaitingView, number: int) -> PresentedEntry:
    memory, older = view.memory, view.older
    since, because = day(memory.valid_from)[:10], Text(f"because {view.reason}")
    if older is None:
        return PresentedEntry(
            f"{memory.key}  (from: {memory.origin}, {since})", (Text(memory.content), because), number
        )
    heading = f"{memory.key}  ({since}) may outdate {older.key}"
    return PresentedEntry(heading, (Text(memory.content), Text(f"older: {older.content}"), because), number)


def suggested(result: SuggestionsResult) -> Presentation:
    if not result.suggestions:
        return Presentation(blocks=(Sentence("Nothing is suggested."),), warnings=tuple(result.warnings))
    blocks: list[Block] = [_suggestion(view, number) for number, view in enumerate(result.suggestions, 1)]
    if result.cursor:
        blocks.append(Sentence(f"There are {result.total:,} in all: --cursor {result.cursor}, or -n."))
    return Presentation(
        blocks=tuple(blocks), next_steps=("`picomem review ID keep` makes a memory of one, discard hides it.",)
    )


def _suggestion(view: SuggestionView, number: int) -> PresentedEntry:
    where = [view.project] if view.project else []
    said = [view.at[:10]] if view.at else []
    heading = f"{view.id}  ({', '.join(['suggestion', view.kind, *where, *said])})"
    return PresentedEntry(heading, (Text(view.text),), number)
