"""Operations on how a memory came to be: why, history."""

from __future__ import annotations

from collections.abc import Iterable

from picomem.clock import iso
from picomem.coded_text import CodedText, Command
from picomem.engine.audience import handouts
from picomem.engine.engine import Engine
from picomem.engine.stored_memories import keys_of, version_numbers
from picomem.light_dataclass import dataclass, field
from picomem.memory.version_history import versions_at
from picomem.operations.inert_results import fenced_reason
from picomem.operations.memory_views import ChangeView, MemoryView, change_views, memory_view
from picomem.operations.operation import ChatCommand, Operation, option
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    day,
    details,
    moment,
    plural,
    step,
)
from picomem.records.caller import READ_SESSIONS
from picomem.records.memory import Memory

_MOST_HANDOUTS = 5


@dataclass(frozen=True, slots=True)
class WhyRequest:
    id: str = option("a memory's key or id, a change's id, or an episode's id", positional=True)
    project: str = option("the project of the memory, if several have the key", "")
    limit: int = option("maximum number of changes of a memory, the latest", 50, short="-n", least=1, rows=True)


@dataclass(frozen=True, slots=True)
class SourceView:
    version: int
    kind: str
    id: str
    role: str
    origin: str
    text: str
    citation: str


@dataclass(frozen=True, slots=True)
class HandoutView:
    """A session of a host in which a hook put an entry beside a prompt, and when."""

    session: str
    at: str


@dataclass(frozen=True, slots=True)
class WhyResult:
    """`left_out` counts the changes before those that are shown. `version_numbers` are the versions as people count
    them, by the numbers in the changes and sources. Of an episode `explanation` says where it is from, and `transcript`
    is the path of it. `contradicted` are the keys of the memories that it may contradict, by their ids. `handed_out`
    says in which of the latest sessions a hook put it beside a prompt, the latest first; what an agent recalls is not
    recorded. It is empty for an agent, and for a caller who may not read past sessions."""

    id: str
    what: str
    memory: MemoryView | None
    changes: list[ChangeView]
    sources: list[SourceView]
    explanation: str
    transcript: str = field(metadata={"is_path": True})
    version_numbers: dict[int, int] = field(default_factory=dict)
    contradicted: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    handed_out: list[HandoutView] = field(default_factory=list)


def why(engine: Engine, request: WhyRequest) -> WhyResult:
    """Explain why something was stored, merged or refused: the decision, its time, its author and its source."""
    explained = engine.why(request.id, scope=engine.scope.narrowed(project=request.project), limit=request.limit)
    explanation = transcript = ""
    if explained.episode is not None:
        transcript = explained.transcript.path if explained.transcript else ""
        show = Command("show", explained.id)
        explanation = CodedText("explanation.episode_gone", command=show)
        if explained.transcript:
            explanation = CodedText("explanation.episode", command=show)
        if explained.episode.category == "timeline":
            explanation = CodedText("explanation.timeline", command=show)
    key = explained.memory.key if explained.memory else ""
    return WhyResult(
        id=explained.id,
        what=explained.what,
        memory=memory_view(explained.memory, engine.now()) if explained.memory else None,
        changes=change_views(engine, [(change, key) for change in explained.changes]),
        sources=[
            SourceView(
                source.version,
                source.parent.kind,
                source.parent.id,
                source.parent.role,
                source.origin.value,
                source.text,
                source.citation,
            )
            for source in explained.sources
        ],
        explanation=explanation,
        transcript=transcript,
        version_numbers=dict(explained.numbers),
        left_out=explained.left_out,
        contradicted=_contradicted(engine, [explained.memory] if explained.memory else []),
        # The ids of sessions would cost an agent tokens.
        handed_out=[]
        if engine.caller.is_agent or not engine.caller.may(READ_SESSIONS)
        else [HandoutView(given.session, iso(given.at)) for given in handouts(engine, explained.id)],
    )


def _contradicted(engine: Engine, memories: Iterable[Memory]) -> dict[str, str]:
    """The keys of what memories may contradict, by id."""
    return keys_of(engine, {id_ for memory in memories for id_ in memory.contradicts})


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    name: str = option("the memory's key or id", positional=True, tool="key")
    project: str = option("the project of the memory, if several have the key", "")
    as_of: str | None = option("only what was believed at this time", None)
    valid_at: str | None = option("only what was true at this time", None)
    limit: int = option("maximum number of versions, the latest", 50, short="-n", least=1, rows=True)


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """`left_out` counts the versions before those that are shown. `version_numbers` counts the versions as people
    do: a change may store several rows (see `why`). `archived` says of each memory that is not believed any
    more, by its id, since when. `contradicted` are the keys of the memories that a version may contradict, by their
    ids."""

    versions: list[MemoryView]
    version_numbers: list[int]
    archived: dict[str, str]
    contradicted: dict[str, str] = field(default_factory=dict)
    left_out: int = 0


def history(engine: Engine, request: HistoryRequest) -> HistoryResult:
    """List every version of a memory: what it said, when it was current, and when it was true."""
    now = engine.now()
    known = moment(request.as_of, now, engine.zone, end=True)
    true = moment(request.valid_at, now, engine.zone, end=True)
    every = engine.history(request.name, scope=engine.scope.narrowed(project=request.project))
    then = versions_at(every, known, true)
    lives = {life: [row for row in every if row.id == life] for life in {row.id for row in every}}
    numbers = {life: version_numbers(engine, rows) for life, rows in lives.items()}
    counted = [(version.id, numbers[version.id][version.version]) for version in then]
    latest = set(list(dict.fromkeys(counted))[-request.limit :])
    versions = [version for version, number in zip(then, counted, strict=True) if number in latest]
    believed_now = {version.id for version in every if version.known_to is None}
    ended = {version.id: version.known_to for version in every if version.id not in believed_now}
    return HistoryResult(
        [memory_view(version, now) for version in versions],
        [numbers[version.id][version.version] for version in versions],
        {memory_id: iso(at) for memory_id, at in ended.items() if at is not None},
        _contradicted(engine, versions),
        len(set(counted)) - len(latest),
    )


def _told_history(result: HistoryResult) -> str:
    lines = [
        f"{number}. {version.content} (true {version.valid_from} – {version.valid_to or 'now'}, "
        f"believed {version.known_from} – {version.known_to or 'now'})"
        for version, number in zip(result.versions, result.version_numbers)
    ]
    return "\n".join([*lines, *(f"It is archived since {at}." for at in result.archived.values())])


def _present_reasons(result: WhyResult) -> Presentation:
    blocks: list[Block] = []
    if result.memory:
        state = "archived" if result.memory.archived else result.memory.kind
        body = (Text(result.memory.content), *details(result.memory, result.contradicted))
        blocks.append(PresentedEntry(f"{result.memory.key}  ({state})", body))
    for change in result.changes:
        version = f" version {result.version_numbers.get(change.after, change.after)}" if change.after else ""
        body = [Text(f"because {change.reason}")]
        body += [Text(f"offered: {change.candidate}")] if change.candidate else []
        blocks.append(PresentedEntry(f"{day(change.at)}  {step(change)}{version}  by {change.actor}", tuple(body)))
    for source in result.sources:
        if source.kind in ("episode", "message"):
            blocks.append(PresentedEntry(f"from {source.citation}  ({source.id})", (Text(f"“{source.text}”"),)))
    more = (f"There are {plural(result.left_out, 'earlier change')}: -n.",) if result.left_out else ()
    blocks += [Text(line) for line in (result.explanation, result.transcript) if line]
    if result.handed_out:
        latest = result.handed_out[:_MOST_HANDOUTS]
        said = [Text(f"{day(given.at)}  session {given.session}") for given in latest]
        times = plural(len(result.handed_out), "session")
        blocks.append(PresentedEntry(f"put beside a prompt in {times}", tuple(said)))
    return Presentation(blocks=tuple(blocks), next_steps=more)


def _present_versions(result: HistoryResult) -> Presentation:
    if not result.versions:
        return Presentation(blocks=(Sentence("Nothing was believed of it then."),))
    blocks: list[Block] = []
    life = ""
    first_known: dict[tuple[str, int], str] = {}
    latest: dict[tuple[str, int, str], MemoryView] = {}  # of the rows of a version with the same beginning
    for version, number in zip(result.versions, result.version_numbers):
        first_known.setdefault((version.id, number), version.known_from)
        latest[version.id, number, version.valid_from] = version
    for (_, number, _), version in latest.items():
        if version.id != life:  # a key that was forgotten and used again had another memory under it
            life = version.id
            archived = f"  (archived {day(result.archived[life])})" if life in result.archived else ""
            blocks.append(Heading(f"{version.key}  {life}{archived}"))
        until = f" – {day(version.valid_to)}" if version.valid_to else " on"
        current = "  (current)" if version.current else ""
        known_to = day(version.known_to) if version.known_to else "now"
        believed = Text(f"believed {day(first_known[version.id, number])} – {known_to}")
        blocks.append(
            PresentedEntry(
                f"true from {day(version.valid_from)}{until}{current}",
                (believed, Text(version.content), *details(version, result.contradicted)),
                number,
            )
        )
    more = (f"There are {plural(result.left_out, 'earlier version')}: -n.",) if result.left_out else ()
    return Presentation(blocks=tuple(blocks), next_steps=more)


OPERATIONS = (
    Operation(
        name="why",
        group="look",
        run=why,
        present=_present_reasons,
        reply=lambda result: (
            result.explanation
            or "\n".join(
                f"{change.at} {change.decision} by {change.actor}: {fenced_reason(change.reason, change.reason_origin)}"
                for change in result.changes
            )
        ),
        permission="memory:read:user",
        example="picomem why staging_db_port",
        tool="memory_why",
        read_only=True,
        idempotent=True,
        default_tool=True,
        chat_commands=(
            ChatCommand(
                "why",
                "why something is remembered: what was decided, when, from what",
                argument="id",
                placeholder="NAME",
                example="staging_db_port",
                not_found="Nothing is remembered as “{}”; /memory shows the names.",
            ),
        ),
    ),
    Operation(
        name="history",
        group="look",
        run=history,
        present=_present_versions,
        reply=_told_history,
        permission="memory:read:user",
        example="picomem history staging_db_port",
        read_only=True,
        idempotent=True,
    ),
)
