"""The operation that opens an episode in its transcript: show."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.clock import iso
from picomem.engine.engine import Engine
from picomem.engine.past_sessions import episodes_around, event_of, hit_sessions, unknown_project
from picomem.engine.stored_memories import holds_memories, memories_page, shown
from picomem.light_dataclass import dataclass, field
from picomem.operations.inert_results import fenced, fenced_role, fenced_turn
from picomem.operations.memory_views import MemoryView, damage_warnings, memory_view
from picomem.operations.operation import LARGEST, ChatCommand, Operation, given_filters, option
from picomem.operations.paging import Place, cursor_of, place_of
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
    nothing_matches,
    plural,
)
from picomem.operations.recall_views import HitSessionView, HitView, hit_session_view, hit_view
from picomem.recall.hits import episode_hit
from picomem.recall.passages import best_match, excerpt
from picomem.records.kinds import Kind, Origin, Priority
from picomem.records.transcript import Turn, with_questions
from picomem.store.tables.memory_lists import ListFilter, ListPlace, ListQuery

# The operation that lists what is remembered: memories.


@dataclass(frozen=True, slots=True)
class MemoriesRequest:
    kind: str | None = option("only this kind", None, choices=tuple(Kind), short="-t", tool="category")
    origin: str | None = option("only what came from here", None, choices=tuple(Origin))
    priority_min: str | None = option("only of this priority or above", None, choices=tuple(Priority))
    tag: str = option("only with this tag", "")
    project: str = option("only of this project, and what belongs to none", "")
    all_projects: bool = option("at a terminal: ask all projects, not first that of the folder", False, tool=None)
    archived: bool = option("archived, ended and expired memories instead", False)
    limit: int = option("maximum number of memories", 50, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "", tool=None)


@dataclass(frozen=True, slots=True)
class MemoriesResult:
    """The most important first; `left_out` is how many more there are behind `cursor`, which is empty on the last page.
    `warnings` says what of the page is damaged. `filters` are those of the request, if they leave nothing of what is
    remembered."""

    memories: list[MemoryView]
    left_out: int
    cursor: str
    warnings: list[str] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)


def memories(engine: Engine, request: MemoriesRequest) -> MemoriesResult:
    """List what is remembered, the most important first."""
    now = engine.now()
    damaged: list[str] = []
    wanted = ListFilter(request.kind or "", request.origin or "", request.tag.strip(), request.project)
    if request.priority_min:
        wanted = wanted._replace(least=Priority(request.priority_min).least)
    query = ListQuery(wanted, _list_place(request.cursor), request.limit, request.archived)
    page = memories_page(engine, query, damaged)
    views = [memory_view(shown(engine, memory), now, archived=request.archived) for memory in page.memories]
    warnings = [] if views else unknown_project(engine, request.project)
    cursor = cursor_of(_place_of(page.last)) if page.last and page.left_out else ""
    filters = given_filters(request, ("kind", "origin", "priority_min", "tag", "project", "archived"))
    if filters and (views or not holds_memories(engine)):
        filters = []
    return MemoriesResult(views, page.left_out, cursor, [*warnings, *damage_warnings(damaged)], filters)


def _place_of(last: ListPlace) -> Place:
    """Return where a memory stands in the list, the most important first."""
    return (not last.pinned, -last.importance, -last.known_from, last.key, last.id, last.version)


def _list_place(cursor: str) -> ListPlace | None:
    """The place behind which a page of the store's list begins."""
    if not cursor:
        return None
    unpinned, importance, known_from, key, id_, version = place_of(cursor, (False, 0.0, 0, "", "", 0))
    return ListPlace(not unpinned, -importance, min(-known_from, LARGEST), key, id_, version)


def _listed_memories(result: MemoriesResult) -> str:
    if not result.memories:
        if result.filters:
            return "\n".join([f"No memory matches {', '.join(result.filters)}.", *result.warnings])
        return "\n".join(result.warnings) or "Nothing is remembered yet."
    lines = [
        f"- {fenced(memory.key, memory.origin)}: {fenced(memory.content, memory.origin)}" for memory in result.memories
    ]
    return "\n".join([*lines, *([f"({result.left_out} more)"] if result.left_out else []), *result.warnings])


def _present_memories(result: MemoriesResult) -> Presentation:
    blocks: tuple[Block, ...] = tuple(
        PresentedEntry(
            f"{memory.key}  ({memory.kind}, {day(memory.said_at)[:10]}{_end(memory)})"
            + (f"  [{memory.project}]" if memory.project else ""),
            (Text(attributed(memory.content, memory.origin), 3),),
        )
        for memory in result.memories
    )
    if result.filters:
        blocks = (Sentence(nothing_matches("memory", result.filters)),)
    elif not blocks and not result.warnings:
        blocks = (Sentence("Nothing is remembered yet; `picomem remember TEXT` stores a statement."),)
    more = f"There are {result.left_out:,} more: --cursor {result.cursor}, or -n."
    return Presentation(blocks=blocks, warnings=tuple(result.warnings), next_steps=(more,) if result.left_out else ())


def _end(memory: MemoryView) -> str:
    """Describe how a memory of the past ended."""
    if not memory.archived:
        return ""
    ends = {"archived": memory.known_to, "ended": memory.valid_to, "expired": memory.expires_at}
    return next((f", {how} {day(at)[:10]}" for how, at in ends.items() if at), "")


_MEMORIES = (
    Operation(
        name="memories",
        rpc_method="memory.list",
        pages=True,
        group="look",
        run=memories,
        present=_present_memories,
        reply=_listed_memories,
        permission="memory:read:user",
        example="picomem memories --kind preference",
        read_only=True,
        idempotent=True,
        memory_action="list",
        has_answer=lambda result: bool(result.memories),
        chat_commands=(ChatCommand("memory", "what is remembered"),),
    ),
)


_MOST_AROUND = 20  # episodes on each side of one; each is read from its transcript


@dataclass(frozen=True, slots=True)
class ShowRequest:
    episode: str = option("the episode's id, or the beginning of it", positional=True)
    query: str = option("open it at these words, and mark them", "")
    all: bool = option("print all of it, and long texts in full", False)
    around: int = option("episodes before it, and after it, to open as well", 0, least=0, most=_MOST_AROUND, tool=None)


@dataclass(frozen=True, slots=True)
class TurnView:
    """A message. Of a long one `text` is the part where the words of the query stand, or else the episode's own part,
    and the counts say how many lines come before and after it. `marks` are offsets in `text` of the query's words.
    `outcomes` are lines of tools, whatever `origin` says."""

    number: int
    role: str
    origin: str
    at: str | None
    text: str
    marks: list[list[int]]
    earlier_lines: int
    later_lines: int
    outcomes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NearbyEpisode:
    """An episode beside the one that was asked for, with its messages; without any where they cannot be opened."""

    id: str
    turns: list[TurnView]


@dataclass(frozen=True, slots=True)
class ShowResult:
    """`state` is "open" with the very messages in `turns`; or "gone", "changed" or "unreadable", and `explanation` says
    why; of an "open" one it says where it was read from a kept copy. `happened` is the day, or the first and the last,
    of the event that the episode tells of. `before` and `after` are as many episodes as `around` asks for, in the order
    of the transcript. `session` says what people are told of the session; it is empty for an agent. `match` is the
    number of the turn that holds most of the query's words, 0 where none does; `is_whole` that all was asked for."""

    episode: HitView
    happened: str
    state: str
    explanation: str
    turns: list[TurnView]
    before: list[NearbyEpisode] = field(default_factory=list)
    after: list[NearbyEpisode] = field(default_factory=list)
    session: HitSessionView | None = None
    match: int = 0
    is_whole: bool = False


def show(engine: Engine, request: ShowRequest) -> ShowResult:
    """Print the messages behind an episode from its transcript, or report that they are gone.

    A long message, and an episode of several, is opened at the words of `query`.
    """
    episode, transcript, opened = engine.show(request.episode)
    event = event_of(engine, episode)
    hit = episode_hit(episode, transcript, 0.0, "", event=event)
    before, after = episodes_around(engine, episode, request.around) if request.around else ([], [])
    shown = {turn.index for turn in opened.turns}
    sessions = [] if engine.caller.is_agent else hit_sessions(engine, [hit])
    match = best_match(("\n".join((turn.shown, *turn.outcomes)) for turn in opened.turns), request.query)
    return ShowResult(
        hit_view(hit, is_cited=True),
        event.days(engine.zone) if event else "",
        opened.state,
        opened.note,
        [_turn_view(turn, episode.preview, request) for turn in opened.turns],
        [_nearby(engine, name, request, shown) for name in before],
        [_nearby(engine, name, request, shown) for name in after],
        hit_session_view(sessions[0]) if sessions else None,
        0 if match is None else opened.turns[match].index + 1,
        request.all,
    )


def _nearby(engine: Engine, name: str, request: ShowRequest, shown: set[int]) -> NearbyEpisode:
    """An episode with those of its messages that are not `shown`, to which they are added: a long message is several
    episodes."""
    episode, _, opened = engine.show(name)
    fresh = [turn for turn in opened.turns if turn.index not in shown]
    shown.update(turn.index for turn in fresh)
    return NearbyEpisode(name, [_turn_view(turn, episode.preview, request) for turn in fresh])


def _turn_view(turn: Turn, preview: str, request: ShowRequest) -> TurnView:
    text = with_questions(turn.shown, turn.answers)
    shown = excerpt(text, request.query, max(0, text.find(preview)), is_whole=request.all)
    return TurnView(
        number=turn.index + 1,
        role=turn.role,
        origin=turn.origin.value,
        at=None if turn.at is None else iso(turn.at),
        text=shown.text,
        marks=[list(mark) for mark in shown.marks],
        earlier_lines=shown.earlier_lines,
        later_lines=shown.later_lines,
        outcomes=list(turn.outcomes),
    )


def _told_turn(turn: TurnView) -> str:
    told = f"{fenced_role(turn.role, turn.origin)}: {fenced_turn(turn.text, turn.origin, turn.role)}"
    earlier, later = turn.earlier_lines, turn.later_lines
    told += f"\n({earlier} earlier and {later} later lines; all: true shows them)" if earlier or later else ""
    return "\n".join([told, *(fenced(outcome, Origin.TOOL) for outcome in turn.outcomes)])


def _present_episode(result: ShowResult) -> Presentation:
    shown = result.episode
    title = shown.citation + (f"  [{shown.project}]" if shown.project else "")
    if result.state != "open":
        body = PresentedEntry(result.explanation, (Text(shown.text, 40),))
        return Presentation(title, (Sentence(shown.transcript), body))
    told_of = (Sentence(f"It tells of {result.happened}."),) if result.happened else ()
    turns = _turns(result.turns) if result.is_whole else _turns_at(result.turns, result.match)
    if before := [turn for episode in result.before for turn in episode.turns]:
        turns = (Heading("Before it"), *_turns(before), Heading("The episode"), *turns)
    if after := [turn for episode in result.after for turn in episode.turns]:
        turns = (*turns, Heading("After it"), *_turns(after))
    warnings = (result.explanation,) if result.explanation else ()
    return Presentation(title, (Sentence(shown.transcript), *told_of, *turns), warnings)


def _turns(turns: Sequence[TurnView]) -> tuple[Block, ...]:
    return tuple(PresentedEntry(_speaker(turn), _said(turn), turn.number) for turn in turns)


def _speaker(turn: TurnView) -> str:
    return f"{turn.role}, {day(turn.at)}"


def _turns_at(turns: Sequence[TurnView], match: int) -> tuple[Block, ...]:
    """The turn that matches, between a line of the turn before it and one of the turn after it; all where none does."""
    at = next((place for place, turn in enumerate(turns) if turn.number == match), None)
    if at is None or len(turns) == 1:
        return _turns(turns)
    blocks: list[Block] = []
    if at:
        blocks += [Text(f"({plural(at - 1, 'earlier turn')}: --all)")] if at > 1 else []
        blocks.append(_line_of(turns[at - 1], is_last=True))
    blocks.append(PresentedEntry(f"{_speaker(turns[at])}  ◂ matches", _said(turns[at]), turns[at].number))
    if later := len(turns) - at - 1:
        blocks.append(_line_of(turns[at + 1], is_last=False))
        blocks += [Text(f"({plural(later - 1, 'later turn')}: --all)")] if later > 1 else []
    return tuple(blocks)


def _line_of(turn: TurnView, *, is_last: bool) -> PresentedEntry:
    """A turn by its last line or its first."""
    lines = [line for line in turn.text.splitlines() if line.strip()]
    outcomes = [f"→ {attributed(outcome, 'tool')}" for outcome in turn.outcomes]
    shown = ([*lines, *outcomes] if is_last or not lines else lines)[-1 if is_last else 0 :][:1]
    cut = "… " if is_last and len(lines) + len(outcomes) > 1 else ""
    return PresentedEntry(_speaker(turn), tuple(Text(f"{cut}{line}", 1) for line in shown), turn.number)


def _said(turn: TurnView) -> tuple[Verbatim | Text, ...]:
    """A message, or the part of a long one that was opened, between how much there is before and after it."""
    said = Verbatim(turn.text, tuple((start, end) for start, end in turn.marks))
    earlier, later = (
        (Text(f"({plural(count, f'{where} line')}: --all)"),) if count else ()
        for where, count in (("earlier", turn.earlier_lines), ("later", turn.later_lines))
    )
    outcomes = (Text(f"→ {attributed(outcome, 'tool')}") for outcome in turn.outcomes)
    return (*earlier, *((said,) if turn.text else ()), *later, *outcomes)


OPERATIONS = (
    *_MEMORIES,
    Operation(
        name="show",
        group="look",
        run=show,
        present=_present_episode,
        reply=lambda result: result.explanation or "\n\n".join(map(_told_turn, result.turns)),
        permission="memory:read:session",
        example='picomem show 01a20090-6145 --query "staging port"',
        tool="memory_show",
        read_only=True,
        idempotent=True,
        default_tool=True,
    ),
)
