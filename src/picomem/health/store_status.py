"""The contents of a store, in numbers."""

from __future__ import annotations

from picomem.clock import DAY, Micros, iso, to_datetime
from picomem.light_dataclass import asdict, dataclass, field
from picomem.memory.lease import jobs
from picomem.memory.suggestions import suggestions
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import audit, consolidations, memories, session_rows, tombstones, transcript_rows, vector_rows
from picomem.store.tables.chains import CHANGES
from picomem.text.terms import VERSION

SPENDING_DAYS = 30  # for which spending is told by day


@dataclass(frozen=True, slots=True)
class Status:
    """Counts for one user; `bytes` is the size of the database with its log, `embedder` a name or "none", and
    `embedder_trouble` why there is none though the settings want one.

    `purge_unfinished` says that a purge was interrupted: what was erased may still stand in free space. `models` is
    what each text model was asked and answered in all, `spent_today` the tokens of today (UTC), of which
    `daily_token_limit` are allowed; 0: any number is. `sessions_distilled` counts the sessions of other programs that a
    model has distilled, and `sessions_waiting` those of which it has not seen all. `jobs` is the state of each
    background job, and `job_errors` what went wrong last in those that do not go well. `hook_problem` is what went
    wrong last in a hook on this machine, and the log that has the rest; empty where nothing did. `copies` are the kept
    copies of transcripts: `files`, `bytes`, and `most_bytes`, beyond which the oldest go; empty where none are kept.
    `read_at` says of each host when something new was read from its transcripts last. `spent_by_day` are the tokens of
    each of the last 30 days (UTC) on which there were any, by date. `silent_machines` are those of the store that do
    not answer: their users wait, and `bytes` leaves out what cannot be asked. `sealed` says whether picomem encrypts
    the file. `record` is the `seq` and the `link` of the last row of the record of changes; empty where there is none.
    """

    database: str = field(metadata={"local": True})
    read_only: bool
    user: str
    memories: dict[str, int]
    suggestions: int
    archived: int
    episodes: int
    transcripts: dict[str, dict[str, int]]
    sessions: int
    messages: int
    vectors: dict[str, int]
    decisions: dict[str, int]
    bytes: int
    terms_version: str
    embedder: str
    purge_unfinished: bool
    models: dict[str, dict[str, int]]
    spent_today: int
    sessions_distilled: int
    sessions_waiting: int
    daily_token_limit: int
    jobs: dict[str, str]
    job_errors: dict[str, str]
    embedder_trouble: str = ""
    hook_problem: str = field(default="", metadata={"local": True})
    copies: dict[str, int] = field(default_factory=dict)
    read_at: dict[str, str] = field(default_factory=dict)
    spent_by_day: dict[str, int] = field(default_factory=dict)
    silent_machines: list[str] = field(default_factory=list, metadata={"local": True})
    record: dict[str, str] = field(default_factory=dict)
    sealed: bool = False


def status(
    tx: Transaction, scope: Scope, now: Micros, connector: Connector, embedder: str, daily_token_limit: int
) -> Status:
    """Count. Reads only."""
    background = jobs(tx, scope, now)
    hosts = transcript_rows.count_by_host(tx, scope)
    last = CHANGES.last(tx, scope)
    return Status(
        database=connector.name,
        read_only=connector.read_only,
        user=scope.user,
        memories=memories.count_by_kind(tx, scope, now),
        suggestions=len(suggestions(tx, scope)),
        archived=memories.count_no_longer_believed(tx, scope, now),
        episodes=transcript_rows.count_shown(tx, scope),
        transcripts={count.host: {"files": count.files, "turns": count.turns, "bytes": count.bytes} for count in hosts},
        sessions=session_rows.count(tx, scope),
        messages=session_rows.count_all_messages(tx, scope),
        vectors={f"{count.source} {count.model}": count.vectors for count in vector_rows.count_by_model(tx, scope)},
        decisions=audit.count_by_decision(tx, scope),
        bytes=connector.maintenance.size(),
        terms_version=VERSION,
        embedder=embedder,
        purge_unfinished=bool(tombstones.marks(tx, scope)),
        models={model: asdict(spend) for model, spend in consolidations.spent_in_all(tx, scope).items()},
        spent_today=consolidations.spent_on(tx, scope, now).tokens,
        sessions_distilled=len(consolidations.distilled(tx, scope)),
        sessions_waiting=len(consolidations.waiting_transcripts(tx, scope, 1)),
        daily_token_limit=daily_token_limit,
        read_at={count.host: iso(count.read_at) for count in hosts},
        spent_by_day={
            f"{to_datetime(day * DAY):%Y-%m-%d}": tokens
            for day, tokens in consolidations.spent_by_day(tx, scope, now - (SPENDING_DAYS - 1) * DAY).items()
        },
        record={"seq": f"{last.seq:,}", "link": last.link} if last else {},
        silent_machines=connector.maintenance.silent_machines(),
        sealed=connector.maintenance.is_sealed(),
        jobs={job.name: job.state.value for job in background},
        job_errors={job.name: job.last_error for job in background if job.last_error},
    )
