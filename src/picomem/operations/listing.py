"""The operation that lists what is remembered: memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.engine.past_sessions import unknown_project
from picomem.engine.stored_memories import holds_memories, memories_page, shown
from picomem.light_dataclass import dataclass, field
from picomem.operations.fenced_results import fenced
from picomem.operations.memory_views import MemoryView, damage_warnings, memory_view
from picomem.operations.operation import LARGEST, ChatCommand, Operation, given_filters, option
from picomem.operations.paging import Place, cursor_of, place_of
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.wording import attributed, day, nothing_matches
from picomem.records.kinds import Kind, Origin, Priority
from picomem.store.memory_lists import ListFilter, ListPlace, ListQuery

if TYPE_CHECKING:
    from picomem.engine.engine import Engine


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


def _listed(result: MemoriesResult) -> str:
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


OPERATIONS = (
    Operation(
        name="memories",
        rpc_method="memory.list",
        pages=True,
        group="look",
        request=MemoriesRequest,
        result=MemoriesResult,
        run=memories,
        present=_present_memories,
        reply=_listed,
        permission="memory:read:user",
        example="picomem memories --kind preference",
        read_only=True,
        idempotent=True,
        memory_action="list",
        has_answer=lambda result: bool(result.memories),
        chat_commands=(ChatCommand("memory", "what is remembered"),),
    ),
)
