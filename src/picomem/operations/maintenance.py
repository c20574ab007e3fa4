"""Operations that fill and maintain a store: ingest, scrub, embed, status, doctor, and two tools about the store."""

from __future__ import annotations

import os
from collections import Counter
from shlex import quote
from typing import TYPE_CHECKING

from picomem.errors import InvalidInput, NotFound, StoreError
from picomem.light_dataclass import asdict, dataclass, field
from picomem.memory.store_status import Status as StoreStatus
from picomem.operations.fenced_results import fenced_reason
from picomem.operations.memory_views import ChangeView, change_views, damage_warnings
from picomem.operations.operation import Operation, Progressing, option
from picomem.operations.paging import cursor_of_id, id_of
from picomem.operations.presentations import maintenance as maintenance_presentations
from picomem.operations.presentations import remembering as remembering_presentations
from picomem.operations.presentations.wording import plural
from picomem.paths import home_folder, named_path, status_of

if TYPE_CHECKING:
    from picomem.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class IngestRequest:
    paths: tuple[str, ...] = option(
        "files or folders (default: where the agents keep theirs)", positional=True, many=True, tool=None, path=True
    )


@dataclass(frozen=True, slots=True)
class IngestResult:
    """`hosts` counts the files by format; `skipped` what was passed over, by reason; `problems` says which files
    could not be read, and why, and `unread` how many of these mean that something was not read. `requests` counts what
    was asked to be remembered, and `decisions` what became of that; `suggestions` counts all that wait for a decision
    now; `run` is what `changes` lists and `undo` takes back, empty where nothing was asked for. `kept` counts
    the copies of transcripts that were made or brought up to date. `withheld` and `released` count the transcripts
    that a host's send policy withholds, or releases, from now on."""

    files: int
    unchanged: int
    rewritten: int
    hosts: dict[str, int]
    turns: int
    episodes: int
    updated: int
    repeated: int
    requests: int
    suggestions: int
    decisions: dict[str, int]
    run: str
    without_vector: int
    redacted: int
    bytes: int
    skipped: dict[str, int]
    problems: list[str]
    unread: int
    places: list[str]
    kept: int
    withheld: int
    released: int


def ingest(engine: Engine, request: IngestRequest, progress: Progressing | None = None) -> IngestResult:
    """Read new sessions from the transcripts of Claude Code, Codex, OpenClaw and others.

    Requests to remember something become memories if they pass the gate. Other sentences that look worth remembering
    are suggestions (see `suggestions`). `undo` takes back the memories of one ingest.
    """
    from picomem.engine.review import count_suggestions
    from picomem.engine.upkeep import keep_transcripts
    from picomem.ingest.discovery import default_places

    if any(not path.strip() for path in request.paths):
        # An empty variable in a script must not read the folder that it happens to run in.
        raise InvalidInput("A path is empty; name a file or folder, or leave it out for where the agents keep theirs.")
    places = request.paths or default_places(home_folder(), os.environ)
    report = engine.ingest(
        places,
        progress=(lambda state: progress(state.bytes_done, state.bytes_total, state.path)) if progress else None,
    )
    engine.tidy(when_due=True)
    kept = keep_transcripts(engine)
    if kept is not None:
        report.problems += kept.problems
    if request.paths and not report.files and report.problems:
        missing = all(map(_is_missing, request.paths))
        raise (NotFound if missing else InvalidInput)("Nothing to ingest: " + "; ".join(report.problems))
    values = asdict(report)
    names = [place if isinstance(place, str) else f"{place.host}: {place.folder}" for place in places]
    made = kept.made if kept else 0
    return IngestResult(**values, suggestions=count_suggestions(engine), places=names, kept=made)


def _is_missing(path: str) -> bool:
    try:
        return status_of(named_path(path)) is None
    except InvalidInput:
        return False


@dataclass(frozen=True, slots=True)
class WithholdRequest:
    session: str = option("the session's id, or the beginning of it", positional=True)
    release: bool = option("show it again", False)


@dataclass(frozen=True, slots=True)
class WithholdResult:
    transcripts: int
    released: bool


def withhold(engine: Engine, request: WithholdRequest) -> WithholdResult:
    """Hide a past session from recall, timeline, show and why; or show it again.

    A session that OpenClaw's send policy denies is hidden by itself when its transcript is read.
    """
    return WithholdResult(engine.withhold(request.session, release=request.release), request.release)


@dataclass(frozen=True, slots=True)
class TagRequest:
    episode: str = option("the episode's id, or the beginning of it", positional=True)
    tags: tuple[str, ...] = option(
        "a tag; repeatable, replaces the tags it has; an empty one removes them all", many=True
    )


@dataclass(frozen=True, slots=True)
class TagResult:
    """The episode's id, and the tags that it has now."""

    episode: str
    tags: list[str]


def tag(engine: Engine, request: TagRequest) -> TagResult:
    """Give an episode of a past session tags, by which recall and timeline find it."""
    if not request.tags:
        raise InvalidInput("Give a tag; an empty one removes the tags that the episode has.")
    tagged = engine.tag(request.episode, request.tags)
    return TagResult(tagged.id, list(tagged.tags))


@dataclass(frozen=True, slots=True)
class MigrateRequest:
    paths: tuple[str, ...] = option("Markdown files, or folders of them", positional=True, many=True, path=True)


@dataclass(frozen=True, slots=True)
class MigratedEntry:
    path: str
    line: int
    decision: str
    reason: str
    key: str
    content: str


@dataclass(frozen=True, slots=True)
class MigrateResult:
    """`decisions` counts what became of the entries; `left_out` says which files of a folder were not read, and why."""

    files: int
    decisions: dict[str, int]
    entries: list[MigratedEntry]
    left_out: list[str]


def migrate(engine: Engine, request: MigrateRequest) -> MigrateResult:
    """Import the entries of Markdown memory (MEMORY.md, memory/*.md) as typed memories, through the write gate."""
    if not request.paths:
        raise InvalidInput("Name a Markdown file or a folder: picomem migrate MEMORY.md")
    from picomem.memory.markdown_import import left_out

    paths = [named_path(path) for path in request.paths]
    done = engine.migrate(paths)
    entries = [
        MigratedEntry(
            path=str(path),
            line=entry.line,
            decision=result.decision.value,
            reason=result.reason,
            key=result.memory.key if result.memory else "",
            content=result.memory.content if result.memory else "",
        )
        for path, entry, result in done
    ]
    decisions = Counter(entry.decision for entry in entries)
    files = len({entry.path for entry in entries})
    return MigrateResult(files, dict(sorted(decisions.items())), entries, left_out(paths))


@dataclass(frozen=True, slots=True)
class ScrubRequest:
    dry_run: bool = option("only report what would be redacted", False)


@dataclass(frozen=True, slots=True)
class ScrubResult:
    """Rows checked, rows that held secrets, rows that do not match their hash, and the secrets by rule. `unfinished`
    says why the old text may still stand in the file's log; `left` names exported pages to check by hand."""

    rows: int
    changed: int
    damaged: int
    findings: dict[str, int]
    dry_run: bool
    left: list[str]
    unfinished: str


def scrub(engine: Engine, request: ScrubRequest) -> ScrubResult:
    """Redact secrets in stored text, with the current rules."""
    done = engine.scrub(dry_run=request.dry_run)
    left = [*done.left, *filter(None, [done.out_of_reach])]
    return ScrubResult(done.rows, done.changed, done.damaged, done.findings, request.dry_run, left, done.unfinished)


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    afresh: bool = option("make all vectors of the embedder anew, not only those that are missing", False)


@dataclass(frozen=True, slots=True)
class EmbedResult:
    """`made` vectors; `waiting` rows have none yet; `removed` vectors of other models."""

    model: str
    made: int
    waiting: int
    removed: int


def embed(engine: Engine, request: EmbedRequest, progress: Progressing | None = None) -> EmbedResult:
    """Compute missing vectors, after a change or a failure of the embedder.

    Meanwhile, recall uses the existing vectors. At the end, when none of this model's vectors is missing, those of
    other models are removed. It may be stopped at any time; the next run continues.
    """
    return EmbedResult(**asdict(engine.embed(progress=progress, afresh=request.afresh)))


@dataclass(frozen=True, slots=True)
class StatusRequest:
    pass


def status(engine: Engine, _request: StatusRequest) -> StoreStatus:
    """Show what is stored: memories by kind, episodes, transcripts, decisions and size."""
    return engine.status()


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    repair: bool = option("rebuild the derived data", False)


@dataclass(frozen=True, slots=True)
class FindingView:
    check: str
    problem: str
    repaired: bool


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """`repair` says whether a repair was asked for; what is not `repaired` then cannot be. `warnings` says what other
    processes are doing, and `restore_with` is the command that restores the newest whole copy, where the
    store is not whole and there is one."""

    healthy: bool
    repair: bool
    checked: dict[str, int]
    findings: list[FindingView]
    warnings: list[str] = field(default_factory=list)
    restore_with: str = ""


def doctor(engine: Engine, request: DoctorRequest, progress: Progressing | None = None) -> DoctorResult:
    """Check the file, every row and all derived data; with --repair, rebuild the derived data.

    At the terminal, also look for entries in agents' settings that start a program that is gone, are not trusted, stand
    there twice or use another store.
    """
    diagnosis = engine.doctor(repair=request.repair, progress=progress)
    findings = [FindingView(finding.check, finding.problem, finding.repaired) for finding in diagnosis.findings]
    restore_with = ""
    if diagnosis.newest_copy and not diagnosis.healthy:
        store, _, _ = str(diagnosis.newest_copy).rpartition(".daily-")
        restore_with = f"picomem restore {quote(str(diagnosis.newest_copy))} --db {quote(store)}"
    return DoctorResult(diagnosis.healthy, request.repair, diagnosis.checked, findings, diagnosis.running, restore_with)


@dataclass(frozen=True, slots=True)
class AuditRequest:
    limit: int = option("maximum number of changes", 20, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "", tool=None)


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The number of decisions of each kind, and the latest ones; of a refusal `candidate` is the text that was refused.
    `cursor` is empty on the last page, `warnings` says what is damaged."""

    changes: list[ChangeView]
    cursor: str
    decisions: dict[str, int]
    warnings: list[str] = field(default_factory=list)


def audit(engine: Engine, request: AuditRequest) -> AuditResult:
    """Count how often memory added, merged and refused, and show the latest decisions with their reasons.

    To take something back, `changes` lists the same decisions by memory or run, with the ids that `undo` takes.
    """
    damaged: list[str] = []
    recorded = engine.changes(request.limit + 1, before=id_of(request.cursor, "audit"), damaged=damaged)
    page = recorded[: request.limit]
    cursor = cursor_of_id("audit", page[-1][0].id) if len(recorded) > len(page) else ""
    changes = change_views(engine, page)
    return AuditResult(changes, cursor, engine.status().decisions, damage_warnings(damaged))


@dataclass(frozen=True, slots=True)
class IndexStatusRequest:
    project: str = option("the page for this project", "")


@dataclass(frozen=True, slots=True)
class IndexStatusResult:
    """The size of the index page, and the memories that it is made from."""

    tokens: int
    budget: int
    entries: int
    left_out: int
    memories: dict[str, int]
    episodes: int
    warnings: list[str] = field(default_factory=list)


def index_status(engine: Engine, request: IndexStatusRequest) -> IndexStatusResult:
    """Show how full the always-loaded index page is and how many memories it leaves out."""
    from picomem.engine.upkeep import unknown_project

    page = engine.index(scope=engine.scope.narrowed(project=request.project))
    known = engine.status()
    warnings = [] if engine.caller.is_agent else unknown_project(engine, request.project)
    return IndexStatusResult(
        page.tokens, page.budget, page.entries, page.left_out, known.memories, known.episodes, warnings
    )


def _ingested(result: IngestResult) -> str:
    counted = [plural(result.files, "file read", "files read"), plural(result.episodes, "new episode")]
    return f"{', '.join([*counted, plural(result.requests, 'request', 'requests')])} to remember."


OPERATIONS = (
    Operation(
        name="ingest",
        group="use",
        request=IngestRequest,
        result=IngestResult,
        run=ingest,
        present=maintenance_presentations.ingested,
        reply=_ingested,
        permission="memory:write:user",
        example="picomem ingest ~/.claude/projects",
        tool="memory_ingest",
        idempotent=True,
        long=True,
        creates=True,
        exit_code=lambda result: 1 if result.unread else 0,
        reads_local_files=True,
        follow="keep following the files until stopped",
        progress_unit="bytes",
    ),
    Operation(
        name="withhold",
        group="erase",
        request=WithholdRequest,
        result=WithholdResult,
        run=withhold,
        present=maintenance_presentations.withheld,
        reply=lambda result: f"{result.transcripts} transcripts {'released' if result.released else 'withheld'}.",
        permission="memory:write:session",
        example="picomem withhold 8463c716",
        idempotent=True,
    ),
    Operation(
        name="tag",
        group="correct",
        request=TagRequest,
        result=TagResult,
        run=tag,
        present=maintenance_presentations.tagged,
        reply=lambda result: f"Episode {result.episode}: {', '.join(result.tags) or 'no tags'}.",
        permission="memory:write:session",
        example="picomem tag 01a20090-6145 --tag release",
        idempotent=True,
    ),
    Operation(
        name="migrate",
        group="maintain",
        request=MigrateRequest,
        result=MigrateResult,
        run=migrate,
        present=maintenance_presentations.migrated,
        reply=lambda result: ", ".join(f"{count} {decision}" for decision, count in result.decisions.items()),
        permission="memory:write:user",
        example="picomem migrate ~/.openclaw/workspace/MEMORY.md",
        idempotent=True,
        creates=True,
        exit_code=lambda result: 1 if result.left_out else 0,
        reads_local_files=True,
    ),
    Operation(
        name="scrub",
        group="erase",
        request=ScrubRequest,
        result=ScrubResult,
        run=scrub,
        present=maintenance_presentations.scrubbed,
        reply=lambda result: f"{result.changed} of {result.rows} rows held secrets.",
        permission="memory:write:user",
        example="picomem scrub --dry-run",
        destructive=True,
        idempotent=True,
        exit_code=lambda result: StoreError.exit_code if result.unfinished else 0,
    ),
    Operation(
        name="embed",
        group="maintain",
        request=EmbedRequest,
        result=EmbedResult,
        run=embed,
        present=maintenance_presentations.embedded,
        reply=lambda result: f"{result.made} vectors made with {result.model}, {result.waiting} rows have none yet.",
        permission="memory:write:user",
        example="picomem embed",
        idempotent=True,
        long=True,
    ),
    Operation(
        name="status",
        group="look",
        request=StatusRequest,
        result=StoreStatus,
        run=status,
        present=maintenance_presentations.status,
        reply=lambda result: (
            f"{sum(result.memories.values())} memories, {result.suggestions} suggestions, {result.episodes} episodes."
        ),
        permission="memory:read:user",
        example="picomem status",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="doctor",
        group="maintain",
        request=DoctorRequest,
        result=DoctorResult,
        run=doctor,
        present=maintenance_presentations.checked,
        reply=lambda result: (
            "The store is healthy." if result.healthy else "\n".join(finding.problem for finding in result.findings)
        ),
        permission="memory:write:global",
        example="picomem doctor --repair",
        idempotent=True,
        long=True,
        examines_machine=True,
        exit_code=lambda result: 0 if result.healthy else 1,
    ),
    Operation(
        name="audit",
        pages=True,
        group="maintain",
        request=AuditRequest,
        result=AuditResult,
        run=audit,
        present=remembering_presentations.audit,
        reply=lambda result: "\n".join(
            f"{change.at} {change.verb} {change.decision}: {fenced_reason(change.reason, change.reason_origin)}"
            for change in result.changes
        ),
        permission="memory:read:user",
        example="picomem audit -n 50",
        tool="memory_audit",
        read_only=True,
        idempotent=True,
        default_tool=True,
    ),
    Operation(
        name="index-status",
        group="maintain",
        request=IndexStatusRequest,
        result=IndexStatusResult,
        run=index_status,
        present=maintenance_presentations.index_status,
        reply=lambda result: (
            f"The index page has {result.tokens} of {result.budget} tokens, {result.left_out} entries left out."
        ),
        permission="memory:read:user",
        example="picomem index-status",
        tool="memory_index_status",
        read_only=True,
        idempotent=True,
        default_tool=True,
    ),
)
