"""Operations that maintain a store and say how it is: scrub, embed, status, doctor, audit, index-status."""

from __future__ import annotations

from picomem.engine.engine import Engine
from picomem.engine.past_sessions import unknown_project
from picomem.errors import StoreError
from picomem.health.store_status import Status as StoreStatus
from picomem.light_dataclass import asdict, dataclass, field
from picomem.operations.inert_results import fenced_reason
from picomem.operations.memory_views import ChangeView, change_views, damage_warnings
from picomem.operations.operation import Operation, Progressing, option
from picomem.operations.paging import cursor_of_id, id_of
from picomem.operations.presentation import (
    NOTHING_DECIDED,
    Block,
    Fields,
    Presentation,
    PresentedEntry,
    Sentence,
    Table,
    Text,
    counts,
    day,
    plural,
    row_counts,
    step,
)

_DAYS_TOLD = 7  # of those on which a model cost something
_NOT_REPAIRED = ("copy", "host", "purge", "reference", "schema")  # checks whose findings no repair mends


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
    """Check the file, every row and all derived data; with `repair`, rebuild the derived data.

    At the terminal, also look for entries in agents' settings that start a program that is gone, are not trusted, stand
    there twice or use another store.
    """
    diagnosis = engine.doctor(repair=request.repair, progress=progress)
    findings = [FindingView(finding.check, finding.problem, finding.repaired) for finding in diagnosis.findings]
    restore_with = "" if diagnosis.healthy else diagnosis.restore_with
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
    page = engine.index(scope=engine.scope.narrowed(project=request.project))
    known = engine.status()
    warnings = [] if engine.caller.is_agent else unknown_project(engine, request.project)
    return IndexStatusResult(
        page.tokens, page.budget, page.entries, page.left_out, known.memories, known.episodes, warnings
    )


def _present_scrubbed(result: ScrubResult) -> Presentation:
    secrets = counts(sorted(result.findings.items()), number_first=False) or "none"
    verb = "would be" if result.dry_run else "were"
    said = f"{plural(result.rows, 'row')} checked; {result.changed:,} {verb} redacted. Secrets: {secrets}."
    damaged = f"{plural(result.damaged, 'row is', 'rows are')} damaged; run `picomem doctor`."
    warnings = [*([damaged] if result.damaged else []), *result.left]
    warnings += [f"Not finished: {result.unfinished}"] if result.unfinished else []
    return Presentation(blocks=(Sentence(said),), warnings=tuple(warnings))


def _present_embedded(result: EmbedResult) -> Presentation:
    sentences = [f"{plural(result.made, 'vector')} made with {result.model}."]
    if result.waiting:
        sentences.append(f"{plural(result.waiting, 'row')} came in meanwhile; run it again.")
    if result.removed:
        sentences.append(f"{plural(result.removed, 'vector')} of other models removed.")
    return Presentation(blocks=tuple(map(Sentence, sentences)))


def _present_status(result: StoreStatus) -> Presentation:
    kinds = counts(result.memories, number_first=False) or "none yet"
    pairs = [
        ("user", result.user),
        ("memories", f"{sum(result.memories.values()):,}  ({kinds}); {result.archived:,} archived"),
        ("suggestions", f"{result.suggestions:,}"),
        ("episodes", f"{result.episodes:,}"),
    ]
    pairs += [
        (
            "transcripts",
            f"{host}: {plural(held['files'], 'file')}, {plural(held['turns'], 'turn')}, {held['bytes'] / 1e6:,.1f} MB"
            + (f", read {day(result.read_at[host])}" if host in result.read_at else ""),
        )
        for host, held in result.transcripts.items()
    ]
    if result.copies:
        count, held, most = (result.copies.get(name, 0) for name in ("files", "bytes", "most_bytes"))
        said = f"{plural(count, 'transcript')}, {held / 1e6:,.1f} of {most / 1e6:,.0f} MB; the oldest go first"
        pairs.append(("copies", said))
    if result.sessions:
        pairs.append(("sessions", f"{result.sessions:,}, with {plural(result.messages, 'message')}"))
    pairs += [("vectors", f"{name}: {count:,}") for name, count in result.vectors.items()]
    pairs += [
        ("decisions", counts(result.decisions, number_first=False) or "none yet"),
        ("embedder", result.embedder),
        *_distilling(result),
        *_spending(result),
        *(("job", f"{name}: {state}") for name, state in result.jobs.items()),
        ("size", f"{result.bytes / 1e6:,.2f} MB{', sealed' if result.sealed else ''}"),
    ]
    warnings = [result.embedder_trouble] if result.embedder_trouble else []
    warnings += [f"The job {name} says: {error}" for name, error in result.job_errors.items()]
    warnings += [result.hook_problem] if result.hook_problem else []
    if result.silent_machines:
        silent = ", ".join(result.silent_machines)
        warnings.append(f"Machines of the store do not answer ({silent}): the memory that they hold waits for them.")
    if result.purge_unfinished:
        warnings.append("A purge was begun and is not finished; `picomem purge` finishes it.")
    title = result.database + ("  (read-only)" if result.read_only else "")
    return Presentation(title, (Fields(tuple(pairs)),), tuple(warnings))


def _distilling(result: StoreStatus) -> list[tuple[str, str]]:
    if not (result.sessions_distilled or result.sessions_waiting):
        return []
    waiting = plural(result.sessions_waiting, "session waits", "sessions wait")
    return [("distilled", f"{plural(result.sessions_distilled, 'session')}; {waiting} (`picomem consolidate`)")]


def _spending(result: StoreStatus) -> list[tuple[str, str]]:
    pairs = [
        (
            "model",
            f"{name}: {plural(spend['calls'], 'call')}, {spend['input_tokens']:,} tokens in, "
            f"{spend['output_tokens']:,} out",
        )
        for name, spend in result.models.items()
    ]
    limit = f"of {result.daily_token_limit:,} tokens" if result.daily_token_limit else "tokens, without a limit"
    days = [("on " + date, f"{tokens:,} tokens") for date, tokens in list(result.spent_by_day.items())[-_DAYS_TOLD:]]
    return [*pairs, *days, ("today", f"{result.spent_today:,} {limit}")] if pairs else []


def _present_diagnosis(result: DoctorResult) -> Presentation:
    rows = row_counts(result.checked) or "no rows"
    if not result.findings:
        healthy = Sentence(f"Healthy: the database, {rows}, full text and vectors.")
        return Presentation(blocks=(healthy,), warnings=tuple(result.warnings))
    findings = tuple(
        ("repaired" if finding.repaired else "problem", f"{finding.check}: {finding.problem}")
        for finding in result.findings
    )
    is_without_store = not result.checked and all(finding.check == "host" for finding in result.findings)
    head = "Checked the settings of agents." if is_without_store else f"Checked the file and {rows}."
    checks = {finding.check for finding in result.findings}
    steps = []
    if not result.repair and not checks <= set(_NOT_REPAIRED):
        steps.append("`picomem doctor --repair` rebuilds what is derived.")
    if result.restore_with:
        steps.append(f"Restore the newest whole copy with `{result.restore_with}`; the store is then kept beside it.")
    elif "schema" in checks:
        steps.append("No repair touches a table; `picomem restore` puts a backup in the place of the store.")
    return Presentation(
        blocks=(Sentence(head), Table(("state", "finding"), findings)),
        warnings=tuple(result.warnings),
        next_steps=tuple(steps),
    )


def _present_index_status(result: IndexStatusResult) -> Presentation:
    said = (
        f"{result.tokens:,} of {result.budget:,} tokens; {plural(result.entries, 'entry', 'entries')} shown, "
        f"{result.left_out:,} left out; {result.episodes:,} episodes behind it"
    )
    return Presentation(blocks=(Sentence(said),), warnings=tuple(result.warnings))


def _present_audit(result: AuditResult) -> Presentation:
    blocks: list[Block] = []
    if result.decisions:
        blocks.append(Sentence(f"Decisions in all: {counts(sorted(result.decisions.items()))}."))
    for change in result.changes:
        refused = (Text(f"refused: {change.candidate}", 2),) if change.candidate else ()
        heading = f"{day(change.at)}  {step(change)}  by {change.actor}" + (f"  {change.key}" if change.key else "")
        blocks.append(PresentedEntry(heading, (Text(change.reason, 2), *refused)))
    if not blocks and not result.warnings:
        blocks.append(NOTHING_DECIDED)
    more = (f"There are more: --cursor {result.cursor}, or -n.",) if result.cursor else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=more)


OPERATIONS = (
    Operation(
        name="scrub",
        group="erase",
        run=scrub,
        present=_present_scrubbed,
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
        run=embed,
        present=_present_embedded,
        reply=lambda result: f"{result.made} vectors made with {result.model}, {result.waiting} rows have none yet.",
        permission="memory:write:user",
        example="picomem embed",
        idempotent=True,
        long=True,
    ),
    Operation(
        name="status",
        group="look",
        run=status,
        present=_present_status,
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
        run=doctor,
        present=_present_diagnosis,
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
        run=audit,
        present=_present_audit,
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
        run=index_status,
        present=_present_index_status,
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
