"""The operation for what waits for a person: suggestions, and statements that may contradict each other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from picomem.coded_text import CodedText, Command
from picomem.engine.engine import Engine
from picomem.engine.past_sessions import unknown_project
from picomem.engine.review import count_waiting, decide_on_all, pending_decisions, waiting_suggestions
from picomem.errors import Forbidden, InvalidInput
from picomem.light_dataclass import dataclass, field
from picomem.memory.review_items import ReviewPlace, ReviewVerdict
from picomem.memory.suggestions import Suggestion
from picomem.operations.memory_views import ChangeView, MemoryView, change_view, damage_warnings, memory_view
from picomem.operations.operation import MOST_ROWS, Operation, option
from picomem.operations.paging import page_of
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text, day, plural
from picomem.operations.recall_views import iso_or_none

# The operation that lists suggestions.


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


def _listed_suggestions(result: SuggestionsResult) -> str:
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


_SUGGESTIONS = (
    Operation(
        name="suggestions",
        pages=True,
        group="correct",
        run=suggestions,
        present=_present_suggestions,
        reply=_listed_suggestions,
        permission="memory:read:user",
        read_only=True,
        example="picomem suggestions --project shop",
    ),
)


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    name: str = option(
        "the memory to decide on: its key or id, or the id of a suggestion (default: list all that need a decision)",
        "",
        positional=True,
    )
    verdict: str | None = option("what to do with it", None, choices=tuple(ReviewVerdict), positional=True)
    other: str = option("the other statement, if the memory is in several pairs; or any memory that it replaces", "")
    also: tuple[str, ...] = option(
        "further ones to decide on in the same way and run, as in NAME or, for a pair, 'NEWER OLDER'", many=True
    )
    untrusted: bool = option("also list what came from tools, the web or others, and was not reviewed yet", False)
    count: bool = option("only say how many decisions wait, with all that `untrusted` lists", False)
    limit: int = option("maximum number of entries", 20, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "")


@dataclass(frozen=True, slots=True)
class WaitingView:
    """A memory from others; or, with `older`, a statement that may outdate that one. `reason` says why it was stored
    so."""

    memory: MemoryView
    older: MemoryView | None
    reason: str


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The pending decisions on memories, pairs first; or the change that was made, with the key of its memory.

    The first page also holds as many `suggestions`, the latest first; `suggested` is how many there are. `total` is how
    many decisions wait on all pages, or how many were made.

    `left_out` is how many more wait behind `cursor`, which is empty on the last page. Where nothing waits, `untrusted`
    is how many more there are with the option of that name. `warnings` says what of the page is damaged.
    """

    waiting: list[WaitingView]
    left_out: int
    cursor: str
    change: ChangeView | None
    key: str
    untrusted: int = 0
    suggestions: list[SuggestionView] = field(default_factory=list)
    suggested: int = 0
    total: int = 0
    warnings: list[str] = field(default_factory=list)


def review(engine: Engine, request: ReviewRequest) -> ReviewResult:
    """List what needs a decision, or decide: suggestions, and statements that may contradict each other.

    keep makes a memory of a suggestion, confirms what came from others, or leaves both of a pair; supersede ends the
    older of a pair where the newer begins, and merge archives the older because the newer says the same; discard hides
    the suggestion, or archives the memory, or the newer of a pair. With `other`, supersede and merge take any two
    memories: the first replaces the other. `undo` takes each decision back.
    """
    if bool(request.name) != bool(request.verdict):
        raise InvalidInput("Give a memory and what to do with it: keep, merge, supersede or discard.")
    if request.verdict:
        if engine.caller.is_agent:
            raise Forbidden(CodedText("failure.only_person_reviews", command=Command("review")))
        items = [(request.name, request.other), *map(_newer_and_older, request.also)]
        decided = decide_on_all(engine, items, ReviewVerdict(request.verdict))
        change, key = decided[0]
        return ReviewResult([], 0, "", change_view(engine, change, key), key, total=len(decided))
    if request.count:
        return ReviewResult([], 0, "", None, "", total=sum(count_waiting(engine)))

    def page_in(places: Sequence[ReviewPlace]) -> tuple[Sequence[ReviewPlace], str]:
        return page_of(places, tuple, request.cursor, request.limit, example=(0, 0, "", ""))

    damaged: list[str] = []
    places, items = pending_decisions(
        engine, lambda waiting: page_in(waiting)[0], untrusted=request.untrusted, damaged=damaged
    )
    page, cursor = page_in(places)
    left_out = len(places) - bisect_right(places, page[-1]) if page else 0
    now = engine.now()
    views = [
        WaitingView(memory_view(item.memory, now), memory_view(item.older, now) if item.older else None, item.reason)
        for item in items
    ]
    untrusted = 0 if places or request.untrusted else count_waiting(engine).from_others
    suggestions = waiting_suggestions(engine)
    return ReviewResult(
        views,
        left_out,
        cursor,
        change=None,
        key="",
        untrusted=untrusted,
        suggestions=[] if request.cursor else [suggestion_view(one) for one in suggestions[: request.limit]],
        suggested=len(suggestions),
        total=len(places) + len(suggestions),
        warnings=damage_warnings(damaged),
    )


def _newer_and_older(text: str) -> tuple[str, str]:
    newer, _, older = text.strip().partition(" ")
    return newer, older.strip()


def _is_count(result: ReviewResult) -> bool:
    """Return whether only the number of decisions was asked for: some wait, and none is listed or damaged."""
    return result.total > 0 and not (result.waiting or result.suggestions or result.warnings)


def _decided(result: ReviewResult) -> str:
    more = f" and {result.total - 1:,} more" if result.total > 1 else ""
    return f"{result.key}{more}"


def _listed(result: ReviewResult) -> str:
    if result.change:
        return f"{_decided(result)}: {result.change.reason}"
    if _is_count(result):
        return f"{plural(result.total, 'decision')} to make"
    lines = []
    for item in result.waiting:
        beside = (
            f" (may outdate {item.older.key}: {item.older.content})" if item.older else f" (from: {item.memory.origin})"
        )
        lines.append(f"- {item.memory.key}: {item.memory.content}{beside}")
    lines += [f"- {view.id}: {view.text} (suggestion)" for view in result.suggestions]
    return "\n".join(lines) or "Nothing waits for a decision."


def _present_review(result: ReviewResult) -> Presentation:
    if result.change:
        return Presentation(
            blocks=(Sentence(f"{_decided(result)}: {result.change.reason}."),),
            next_steps=(f"`picomem undo {result.change.run}` takes it back.",),
        )
    if _is_count(result):
        return Presentation(blocks=(Sentence(f"{plural(result.total, 'decision')} to make."),))
    if not result.waiting and not result.suggestions and not result.warnings:
        others = f"--untrusted lists {result.untrusted:,} from tools, the web or others."
        more = (others,) if result.untrusted else ()
        return Presentation(blocks=(Sentence("Nothing waits for a decision."),), next_steps=more)
    blocks: list[Block] = [_waiting(view, number) for number, view in enumerate(result.waiting, 1)]
    if result.left_out:
        more = plural(result.left_out, "more entry", "more entries")
        blocks.append(Sentence(f"There are {more}: --cursor {result.cursor}, or -n."))
    blocks += [
        present_suggestion(view, number) for number, view in enumerate(result.suggestions, len(result.waiting) + 1)
    ]
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


OPERATIONS = (
    *_SUGGESTIONS,
    Operation(
        name="review",
        pages=True,
        group="correct",
        run=review,
        present=_present_review,
        reply=_listed,
        permission="memory:write:user",
        answer_permissions=("memory:read:user",),
        example="picomem review job_queue keep",
    ),
)
