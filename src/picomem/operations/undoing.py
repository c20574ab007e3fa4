"""Operations on what was decided: changes lists it, undo takes it back."""

from __future__ import annotations

from picomem.coded_text import CodedText, Command
from picomem.engine.engine import Engine
from picomem.engine.stored_memories import texts_of_changes, undone_changes
from picomem.engine.transfers import left_by_undo
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, field, replace
from picomem.operations.memory_views import ChangeView, MemoryView, change_views, damage_warnings, memory_view
from picomem.operations.operation import Operation, given_filters, option
from picomem.operations.paging import cursor_of_id, id_of
from picomem.operations.presentation import (
    NOTHING_DECIDED,
    Block,
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    between,
    day,
    nothing_matches,
    step,
)
from picomem.records.memory import ChangeFilter


@dataclass(frozen=True, slots=True)
class Undo:
    change: str = option(
        "the id of a change, of a run or of a distilled session, or the beginning of one (default: what you did "
        "last, and no ingest did)",
        "",
        positional=True,
    )
    reason: str = option("why", "", short="-m")


@dataclass(frozen=True, slots=True)
class UndoneView:
    """One change that was undone, the change that did it, and what is believed of the memory now (None: archived).
    `key` is empty for what a consolidation did to its conversation: that is due again, or (`change.decision` is
    consolidate) taken up again."""

    undone: ChangeView
    change: ChangeView
    key: str
    memory: MemoryView | None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """Newest first. `run` is the undo's own; to undo that is to do all of it again."""

    run: str
    undone: list[UndoneView]
    warnings: list[str]


def undo(engine: Engine, request: Undo) -> UndoResult:
    """Undo a change, or all changes of a run, or what was done last: the earlier version is current again.

    Nothing is deleted: `history` shows all of it, and the undo can be undone. A run is what one call of a verb did:
    one `remember`, one `migrate`, the memories of one `import` or `ingest`, one consolidation with its timeline entry
    and summary. Of a session of another program all is taken back that a model made of it.
    """
    done = engine.undo(request.change, reason=request.reason)
    now = engine.now()
    undone = change_views(engine, [(step.undone, step.key) for step in done])
    undoing = change_views(engine, [(step.change, step.key) for step in done])
    views = [
        UndoneView(before, after, step.key, memory_view(step.memory, now) if step.memory else None)
        for step, before, after in zip(done, undone, undoing, strict=True)
    ]
    expired = [step.key for step in done if step.memory and step.memory.expired(now)]
    warnings: list[str] = [
        CodedText("warning.believed_again", key=key, command=Command("revise", key, expires_at="never"))
        for key in expired
    ]
    undone = done[0].undone
    if not request.change or not undone.id.startswith(request.change):  # the run, and not one change of it
        warnings += filter(None, [left_by_undo(engine, undone.run)])
    return UndoResult(done[0].change.run, views, warnings)


@dataclass(frozen=True, slots=True)
class Changes:
    name: str = option("only those of this memory: its key or id", "", positional=True)
    run: str = option("only those of this run: its id, or the beginning of it", "")
    verb: str = option("only those of this verb, such as remember, revise or undo", "")
    actor: str = option("only those of this actor, as in user:ann", "")
    since: int | str | None = option("not before: a date, or words like 30d", None)
    until: int | str | None = option("not after: a date, or words like yesterday", None)
    limit: int = option("maximum number of changes", 20, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "", tool=None)


@dataclass(frozen=True, slots=True)
class ListedChange:
    """`undone_by` is the change that took it back, empty where none did or where that was undone itself. `before` and
    `after` are what the memory said; empty where it was not there."""

    change: ChangeView
    undone_by: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class ChangesResult:
    """Latest first; `cursor` is empty on the last page, `warnings` says what is damaged. `filters` are those of the
    request, if they leave nothing of what is there."""

    changes: list[ListedChange]
    cursor: str
    warnings: list[str] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)


def changes(engine: Engine, request: Changes) -> ChangesResult:
    """List the decisions about all memories or one memory, with the ids for `undo`.

    `audit` counts the decisions and says what was refused.
    """
    return changes_page(engine, request)


def changes_page(engine: Engine, request: Changes) -> ChangesResult:
    """A page of changes, for the operations that show them."""
    if request.name and request.run:
        raise InvalidInput("Give a memory or a run, not both.")
    damaged: list[str] = []
    undone = undone_changes(engine, damaged)
    recorded = engine.changes(
        request.limit + 1,
        about=request.name,
        run=request.run,
        before=id_of(request.cursor, "changes"),
        damaged=damaged,
        wanted=_wanted(engine, request),
    )
    page = recorded[: request.limit]
    texts = texts_of_changes(engine, [change for change, _ in page], damaged)
    listed = [
        ListedChange(
            view,
            undone.get(view.id, ""),
            texts.get((view.memory_id, view.before or 0), ""),
            texts.get((view.memory_id, view.after or 0), ""),
        )
        for view in change_views(engine, page)
    ]
    cursor = cursor_of_id("changes", page[-1][0].id) if len(recorded) > len(page) else ""
    filters = given_filters(request, ("run", "verb", "actor", "since", "until"))
    if filters and (listed or not engine.changes(1, about=request.name, damaged=damaged)):
        filters = []
    return ChangesResult(listed, cursor, damage_warnings(damaged), filters)


def _wanted(engine: Engine, request: Changes) -> ChangeFilter:
    now, wanted = engine.now(), ChangeFilter(actor=request.actor, verb=request.verb)
    since, until = between(request.since, request.until, now, engine.zone)
    return replace(
        wanted, since=wanted.since if since is None else since, until=wanted.until if until is None else until
    )


def _said(result: UndoResult) -> str:
    lines = [
        f"{step.key}: {'believed again: ' + step.memory.content if step.memory else 'archived'}"
        for step in result.undone
        if step.key
    ]
    return "\n".join([*lines, *result.warnings])


def _present_undone(result: UndoResult) -> Presentation:
    again = result.run if len(result.undone) > 1 else result.undone[0].change.id
    does = "takes it back again" if result.undone[0].undone.verb == "undo" else "does it again"
    return Presentation(
        blocks=tuple(_undone(step) for step in result.undone),
        warnings=tuple(result.warnings),
        next_steps=(f"`picomem undo {again}` {does}.",),
    )


def _undone(view: UndoneView) -> Block:
    at = day(view.undone.at)
    if not view.key:
        return Sentence(
            f"The conversation that was due again since {at} is consolidated as it was before."
            if view.change.decision == "consolidate"
            else f"The consolidation of {at} is undone; the conversation is due again."
        )
    now = view.memory.content if view.memory else f"It is archived; `picomem history {view.key}` still shows it."
    return PresentedEntry(f"{view.key}: {step(view.undone)} of {at} is undone.", (Text(now),))


def _present_changes(result: ChangesResult) -> Presentation:
    blocks: list[Block] = []
    for listed in result.changes:
        change = listed.change
        about = [f"by {change.actor}", f"run {change.run}"]
        about += [f"undoes {change.undoes}"] if change.undoes else []
        about += [f"undone by {listed.undone_by}"] if listed.undone_by else []
        heading = f"{change.id}  {day(change.at)}  {step(change)}" + (f"  {change.key}" if change.key else "")
        blocks.append(PresentedEntry(heading, (Text(change.reason, 2), Text(" · ".join(about)))))
    if result.filters:
        blocks.append(Sentence(nothing_matches("change", result.filters)))
    elif not blocks and not result.warnings:
        blocks.append(NOTHING_DECIDED)
    more = (f"There are more: --cursor {result.cursor}",) if result.cursor else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=more)


OPERATIONS = (
    Operation(
        name="undo",
        group="correct",
        run=undo,
        present=_present_undone,
        reply=_said,
        permission="memory:write:user",
        answer_permissions=("memory:read:user",),
        example="picomem undo 01a20090-6145-7001",
    ),
    Operation(
        name="changes",
        group="look",
        run=changes,
        present=_present_changes,
        reply=lambda result: "\n".join(
            f"{listed.change.at} {listed.change.id} {listed.change.verb} {listed.change.decision} {listed.change.key}"
            for listed in result.changes
        ),
        permission="memory:read:user",
        example="picomem changes staging_db_port",
        pages=True,
        read_only=True,
        idempotent=True,
    ),
)
