"""The operation that lists suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.engine.past_sessions import unknown_project
from picomem.engine.review import waiting_suggestions
from picomem.light_dataclass import dataclass, field
from picomem.operations.operation import MOST_ROWS, Operation, option
from picomem.operations.paging import page_of
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.recall_views import iso_or_none

if TYPE_CHECKING:
    from picomem.engine.engine import Engine
    from picomem.memory.suggestions import Suggestion


@dataclass(frozen=True, slots=True)
class SuggestionsRequest:
    project: str = option("only of this project", "")
    limit: int = option("maximum number of suggestions", 20, short="-n", least=1, most=MOST_ROWS)
    cursor: str = option("continue from here: the cursor of the previous page", "")


@dataclass(frozen=True, slots=True)
class SuggestionView:
    """A sentence of a past session that may be worth remembering. `at` is when it was said (RFC 3339), `estimate`
    the probability (0–1) that it is worth knowing later."""

    id: str
    text: str
    kind: str
    at: str | None
    project: str
    session: str
    episode: str
    estimate: float


@dataclass(frozen=True, slots=True)
class SuggestionsResult:
    """Suggestions, the latest first, how many there are on all pages, and the cursor of the next page. `warnings` says
    if there is no such project."""

    suggestions: list[SuggestionView]
    total: int
    cursor: str
    warnings: list[str] = field(default_factory=list)


def suggestions(engine: Engine, request: SuggestionsRequest) -> SuggestionsResult:
    """List sentences of past sessions that may be worth remembering, at most four of a session: the likeliest.

    They are no memories: `review ID keep` makes one of a suggestion, and `review ID discard` hides it.
    """

    def place(suggestion: Suggestion) -> tuple[int, str]:
        return -(suggestion.at or 0), suggestion.id

    waiting = waiting_suggestions(engine, request.project)
    page, cursor = page_of(waiting, place, request.cursor, request.limit, example=(0, ""))
    warnings = [] if waiting else unknown_project(engine, request.project)
    return SuggestionsResult([suggestion_view(suggestion) for suggestion in page], len(waiting), cursor, warnings)


def suggestion_view(suggestion: Suggestion) -> SuggestionView:
    """A suggestion as surfaces show it."""
    return SuggestionView(
        suggestion.id,
        suggestion.text,
        suggestion.kind.value,
        iso_or_none(suggestion.at),
        suggestion.project,
        suggestion.session,
        suggestion.episode_id,
        suggestion.estimate,
    )


def _listed(result: SuggestionsResult) -> str:
    lines = [f"- {view.id} ({view.kind}, {view.project or 'no project'}): {view.text}" for view in result.suggestions]
    return "\n".join(lines) or "Nothing is suggested."


def _present_suggestions(result: SuggestionsResult) -> Presentation:
    if not result.suggestions:
        return Presentation(blocks=(Sentence("Nothing is suggested."),), warnings=tuple(result.warnings))
    blocks: list[Block] = [present_suggestion(view, number) for number, view in enumerate(result.suggestions, 1)]
    if result.cursor:
        blocks.append(Sentence(f"There are {result.total:,} in all: --cursor {result.cursor}, or -n."))
    return Presentation(
        blocks=tuple(blocks), next_steps=("`picomem review ID keep` makes a memory of one, discard hides it.",)
    )


def present_suggestion(view: SuggestionView, number: int) -> PresentedEntry:
    where = [view.project] if view.project else []
    said = [view.at[:10]] if view.at else []
    heading = f"{view.id}  ({', '.join(['suggestion', view.kind, *where, *said])})"
    return PresentedEntry(heading, (Text(view.text),), number)


OPERATIONS = (
    Operation(
        name="suggestions",
        pages=True,
        group="correct",
        request=SuggestionsRequest,
        result=SuggestionsResult,
        run=suggestions,
        present=_present_suggestions,
        reply=_listed,
        permission="memory:read:user",
        read_only=True,
        example="picomem suggestions --project shop",
    ),
)
