"""Operations that change memory: remember, revise, forget."""

from __future__ import annotations

from contextlib import suppress

from picomem.engine.audience import is_in_group
from picomem.engine.engine import Engine
from picomem.engine.stored_memories import older_beside, version_numbers
from picomem.errors import InvalidInput, StoreError
from picomem.light_dataclass import dataclass, field
from picomem.memory.checked_arguments import importance_of
from picomem.memory.remember import Remembered
from picomem.operations.memory_views import ChangeView, MemoryView, change_view, memory_view
from picomem.operations.operation import ChatCommand, Operation, ToolWording, option
from picomem.operations.presentation import (
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    Verbatim,
    day,
    details,
    moment,
    plural,
)
from picomem.records.kinds import Decision, Kind, Origin, Priority
from picomem.records.memory import Memory
from picomem.text.tokens import count_tokens

_KINDS = tuple(Kind)
_PRIORITIES = tuple(Priority)
_MOST_TOGETHER = 1_000  # memories that one call edits
_CATEGORY = ToolWording(
    aliases={"knowledge": Kind.FACT.value},
    refused={
        "timeline": "The timeline is made from transcripts and is not stored by a tool; "
        f"choose one of {', '.join(Kind)}."
    },
)
_ORIGIN = ToolWording(
    help="who wrote the text: you (agent), or where you read it (tool, web, other)",
    default=Origin.AGENT.value,
    refused={
        "user": "A tool cannot vouch for the user's own words; "
        "leave origin out, or say tool, web or other for a text that you read there."
    },
)


@dataclass(frozen=True, slots=True)
class RememberRequest:
    content: str = option("what to remember, one statement", positional=True, free_text=True)
    key: str = option(
        "its name: lower-case letters, digits, underscores; made from the text if left out", "", short="-k"
    )
    kind: str = option("what it is", "fact", choices=_KINDS, short="-t", tool="category", tool_wording=_CATEGORY)
    context: str = option("why it matters", "")
    importance: float | None = option("0 to 1 (default 0.5)", None)
    priority: str | None = option("the importance in a word", None, choices=_PRIORITIES)
    tags: tuple[str, ...] = option("a tag; repeatable", many=True)
    related_to: tuple[str, ...] = option("the key or id of a related memory; repeatable", many=True)
    pinned: bool = option("keep it in the index page; only the user can", False)
    expires_at: str | None = option("when it expires: 2026-05-03, 30d, tomorrow, next week", None)
    since: str | None = option("since when it is true, as 2026-05-03 or “last week” (default now)", None)
    project: str = option("the project that it belongs to (default: all of the user's)", "")
    replaces: str = option("the key or id of a memory that is no longer true because of this one", "")
    origin: str | None = option(
        "where the text came from (default: the caller)", None, choices=tuple(Origin), tool_wording=_ORIGIN
    )


@dataclass(frozen=True, slots=True)
class OlderView:
    """An older statement of what seems to be the same subject."""

    key: str
    content: str


@dataclass(frozen=True, slots=True)
class RememberResult:
    """`decision` is add, merge or supersede; `merged_with` the id of the memory that already said it. `older` are the
    statements that it now stands beside and may put out of date: the same request with `replaces` says that it does. A
    caller who may not read memories gets only their own values back, without an id or a reason, and learns whether it
    was stored (add) or already known (merge)."""

    decision: str
    reason: str
    change_id: str
    merged_with: str
    token_estimate: int
    memory: MemoryView
    version_number: int
    older: list[OlderView] = field(default_factory=list)


def remember(engine: Engine, request: RememberRequest) -> RememberResult:
    """Store a fact, preference, instruction, decision, project state or insight in long-term memory.

    It is redacted, judged by the write gate and matched with what is known; near duplicates are merged and a known
    key gets a new version.
    """
    done = engine.remember(
        request.content,
        kind=request.kind,
        key=request.key,
        context=request.context,
        importance=request.importance,
        priority=request.priority,
        tags=request.tags,
        related=request.related_to,
        pinned=request.pinned,
        expires=request.expires_at or None,
        since=moment(request.since, engine.now(), engine.zone),
        origin=request.origin,
        replaces=request.replaces,
        scope=engine.scope.narrowed(project=request.project),
    )
    with suppress(StoreError):  # what was asked for is done; what is past its time can wait
        engine.tidy(when_due=True)
    assert done.memory is not None  # a refusal is raised
    if not engine.caller.may("memory:read:user"):
        return _answer_without_reading(engine, request, done)
    older = [] if is_in_group(engine) else older_beside(engine, done.memory)
    return RememberResult(
        decision=done.decision.value,
        reason=done.reason,
        change_id=done.change_id,
        merged_with=done.merged_with,
        token_estimate=done.memory.tokens,
        memory=memory_view(done.memory, engine.now()),
        version_number=version_numbers(engine, [done.memory])[done.memory.version],
        older=[OlderView(memory.key, memory.content) for memory in older],
    )


def _answer_without_reading(engine: Engine, request: RememberRequest, done: Remembered) -> RememberResult:
    """The answer for a caller who may write and not read: their own values, and whether it was stored (add) or already
    known (merge). The ids and dates of a memory that was there before would say more than that."""
    from picomem.text.temporal.event_times import parse_future  # noqa: PLC0415 - only an expiry needs it

    now = engine.now()
    since = moment(request.since, now, engine.zone)
    does_expire = bool(request.expires_at) and request.expires_at != "never"
    own = Memory(
        id="",
        version=0,
        scope=engine.scope.narrowed(project=request.project),
        key=request.key,
        kind=Kind(request.kind),
        content=request.content,
        context=request.context,
        importance=importance_of(request.importance, request.priority),
        pinned=request.pinned and not engine.caller.is_agent,
        tags=tuple(request.tags),
        related=tuple(request.related_to),
        origin=Origin(request.origin or (Origin.AGENT if engine.caller.is_agent else Origin.USER)),
        valid_from=now if since is None else since,
        known_from=now,
        expires_at=parse_future(str(request.expires_at), now, engine.zone) if does_expire else None,
        created_at=now,
        tokens=count_tokens(request.content),
        change_id=done.change_id,
    )
    return RememberResult(
        decision="merge" if done.decision is Decision.MERGE else "add",
        reason="",
        change_id=done.change_id,
        merged_with="",
        token_estimate=own.tokens,
        memory=memory_view(own, now),
        version_number=0,
    )


@dataclass(frozen=True, slots=True)
class ReviseRequest:
    name: str = option("the memory's key or id", positional=True, tool="key", also=("id",))
    content: str | None = option("the new text", None, positional=True, free_text=True)
    since: str | None = option("since when it is true, as 2026-05-03 or “last week” (default now)", None)
    correct: bool = option("the new text was always true: the old one was wrong", False)
    reason: str = option("why", "", short="-m")
    kind: str | None = option("what it is", None, choices=_KINDS, short="-t", tool="category", tool_wording=_CATEGORY)
    context: str | None = option("why it matters", None)
    importance: float | None = option("0 to 1", None)
    priority: str | None = option("the importance in a word", None, choices=_PRIORITIES)
    tags: tuple[str, ...] = option(
        "a tag; repeatable, replaces the tags it has; an empty one removes them all", many=True
    )
    pin: bool = option("keep it in the index page; only the user can", False)
    unpin: bool = option("do not keep it in the index page", False)
    expires_at: str | None = option(
        "when it expires: 2026-05-03, 30d, tomorrow, next week; “never” takes an expiry away", None
    )
    project: str = option("the project of the memory, if several have the key", "")
    version: int | None = option("only if this is still its version, the number in its JSON", None, tool=None, least=1)
    origin: str | None = option(
        "where the new text came from (default: the caller)", None, choices=tuple(Origin), tool_wording=_ORIGIN
    )


@dataclass(frozen=True, slots=True)
class ReviseResult:
    """The version that is believed from now on; `version_number` counts versions, as `memory.version` counts rows.
    `undo` takes back the change `change_id`."""

    memory: MemoryView
    version_number: int
    change_id: str


def revise(engine: Engine, request: ReviseRequest) -> ReviseResult:
    """Replace a memory by a new version; the old version is kept and can be queried by date."""
    if request.pin and request.unpin:
        raise InvalidInput("Give pin or unpin, not both.")
    memory = engine.revise(
        request.name,
        request.content,
        kind=request.kind,
        context=request.context,
        importance=request.importance,
        priority=request.priority,
        tags=request.tags or None,
        pinned=True if request.pin else False if request.unpin else None,
        expires=request.expires_at or None,
        since=moment(request.since, engine.now(), engine.zone),
        correct=request.correct,
        reason=request.reason,
        version=request.version,
        origin=request.origin,
        scope=engine.scope.narrowed(project=request.project),
    )
    return ReviseResult(
        memory_view(memory, engine.now()), version_numbers(engine, [memory])[memory.version], memory.change_id
    )


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    name: str = option("the memory's key or id", positional=True, tool="key", also=("id",))
    project: str = option("the project of the memory, if several have the key", "")
    reason: str = option("why", "", short="-m")


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """The change that archived it."""

    key: str
    change: ChangeView


def forget(engine: Engine, request: ForgetRequest) -> ForgetResult:
    """Archive a memory that is outdated, wrong or no longer wanted; `history` still shows it."""
    scope = engine.scope.narrowed(project=request.project)
    change = engine.forget(request.name, reason=request.reason, scope=scope)
    key = engine.history(change.memory_id)[-1].key
    return ForgetResult(key, change_view(engine, change, key))


@dataclass(frozen=True, slots=True)
class BulkEditRequest:
    action: str = option("what to do with each of them", choices=("archive", "pin", "unpin"), positional=True)
    names: tuple[str, ...] = option("the memories: their keys or ids", positional=True, many=True)
    reason: str = option("why", "", short="-m")


@dataclass(frozen=True, slots=True)
class BulkEditResult:
    """The keys of what was changed, and of what was so already; `undo` takes back the `run`."""

    run: str
    changed: list[str]
    unchanged: list[str]


def bulk_edit(engine: Engine, request: BulkEditRequest) -> BulkEditResult:
    """Archive, pin or unpin several memories in one run, which one `undo` takes back.

    All of them are changed, or none if one of the names is wrong.
    """
    from picomem.engine.review import edit_together  # noqa: PLC0415 - only `edit` needs it

    if not 0 < len(request.names) <= _MOST_TOGETHER:
        raise InvalidInput(f"Name between 1 and {_MOST_TOGETHER:,} memories.")
    done = edit_together(engine, request.names, request.action, request.reason)
    return BulkEditResult(done.run, [memory.key for memory in done.changed], [memory.key for memory in done.unchanged])


def _remembered(result: RememberResult) -> str:
    said = f"Memory stored: {result.memory.key}"
    if result.decision != "add":
        said = f"{said} ({': '.join(filter(None, (result.decision, result.reason)))})"
    older = [
        f"older: {view.key}: {view.content}\n(Store the same with replaces={view.key} if it replaces that.)"
        for view in result.older
    ]
    return "\n".join([said, *older])


def _present_remembered(result: RememberResult) -> Presentation:
    memory = result.memory
    owner = f" for {memory.project}" if memory.project else ""
    account = f"{result.decision}: {result.reason} · {result.token_estimate} tokens · change {result.change_id}"
    entry = PresentedEntry(
        f"{memory.key}  ({memory.kind}{owner}, version {result.version_number})",
        (Text(memory.content), *details(memory), Verbatim(account)),
    )
    older = tuple(PresentedEntry(f"older: {view.key}", (Text(view.content),)) for view in result.older)
    steps = tuple(
        f"`picomem review {memory.key} supersede --other {view.key}` says that it replaces that."
        for view in result.older
    )
    return Presentation(blocks=(entry, *older), next_steps=steps)


def _present_revised(result: ReviseResult) -> Presentation:
    memory = result.memory
    heading = f"{memory.key}  (version {result.version_number}, true from {day(memory.valid_from)})"
    return Presentation(
        blocks=(PresentedEntry(heading, (Text(memory.content), *details(memory))),),
        next_steps=(
            f"`picomem history {memory.key}` shows what was believed before; `picomem undo {result.change_id}` takes "
            "it back.",
        ),
    )


def _present_forgotten(result: ForgetResult) -> Presentation:
    return Presentation(
        blocks=(Sentence(f"{result.key} is archived; `picomem history {result.key}` still shows it."),),
        next_steps=(f"`picomem undo {result.change.id}` takes it back.",),
    )


def _present_bulk_edit(result: BulkEditResult) -> Presentation:
    changed = plural(len(result.changed), "memory", "memories")
    so_already = f"; {plural(len(result.unchanged), 'was', 'were')} so already" if result.unchanged else ""
    return Presentation(
        blocks=(Sentence(f"{changed} changed: {', '.join(result.changed)}{so_already}."),),
        next_steps=(f"`picomem undo {result.run}` takes it back.",),
    )


OPERATIONS = (
    Operation(
        name="remember",
        rpc_method="memory.create",
        group="use",
        run=remember,
        present=_present_remembered,
        reply=_remembered,
        permission="memory:write:user",
        example='picomem remember "The staging database listens on port 5433" --key staging_db_port',
        tool="memory_store",
        creates=True,
        stores_request=True,
        default_tool=True,
        in_groups=True,
        memory_action="save",
    ),
    Operation(
        name="revise",
        rpc_method="memory.update",
        group="correct",
        run=revise,
        present=_present_revised,
        reply=lambda result: f"Memory revised: {result.memory.key} (version {result.version_number})",
        permission="memory:write:user",
        answer_permissions=("memory:read:user",),
        example='picomem revise staging_db_port "The staging database listens on port 6432" --since 2026-05-01',
        tool="memory_revise",
        stores_request=True,
    ),
    Operation(
        name="forget",
        rpc_method="memory.delete",
        group="correct",
        run=forget,
        present=_present_forgotten,
        reply=lambda result: f"Memory deleted: {result.key}\n(`picomem undo {result.change.id}` takes it back.)",
        permission="memory:write:user",
        answer_permissions=("memory:read:user",),
        example='picomem forget staging_db_port -m "the database is gone"',
        stores_request=True,
        tool="memory_forget",
        destructive=True,
        idempotent=True,
        default_tool=True,
        memory_action="delete",
        chat_commands=(
            ChatCommand("forget", "archive a memory", argument="name", placeholder="NAME", example="staging_db_port"),
        ),
    ),
    Operation(
        name="bulk-edit",
        group="correct",
        run=bulk_edit,
        present=_present_bulk_edit,
        reply=lambda result: f"Changed: {', '.join(result.changed)}",
        permission="memory:write:user",
        answer_permissions=("memory:read:user",),
        example="picomem bulk-edit archive old_port old_queue",
        destructive=True,
    ),
)
