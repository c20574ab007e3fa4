"""The operation that extracts memories from conversations: consolidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.engine.engine import Engine
from picomem.errors import GeneratorFailed
from picomem.light_dataclass import dataclass
from picomem.models.selection import generator_of
from picomem.operations.operation import Operation, Progressing, option
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text, day, plural
from picomem.operations.recall_views import view_of

if TYPE_CHECKING:
    from picomem.consolidation.transcripts import WaitingTranscript
    from picomem.consolidation_runner import Consolidated

_UNNAMED = "(without a title)"
_MOST_LISTED = 40
_NOT_DONE = {
    "not due": "nothing is new",
    "overtaken": "another process was faster",
    "busy": "another process is consolidating; try again when it is done",
    "failed": "no answer that can be used; the conversation waits as it is",
    "limit": "waits for tomorrow",
    "no model": "is consolidated by a model only; set memory.consolidation_model or memory.consolidation_command",
}


@dataclass(frozen=True, slots=True)
class ConsolidateRequest:
    session: str = option(
        "the session's id, or the beginning of it (default: every session with something new)", "", positional=True
    )
    dry_run: bool = option(
        "only show what would be kept of the first part; the model is asked, and that costs. Sessions of transcripts "
        "are listed with what they may cost; about those the model is asked only if one is named",
        False,
    )


@dataclass(frozen=True, slots=True)
class OfferedView:
    """A fact, and what became of it: add, merge, supersede or refuse, with the reason."""

    content: str
    decision: str
    reason: str
    key: str
    origin: str
    change_id: str


@dataclass(frozen=True, slots=True)
class RunView:
    """One run: the messages that it consolidated (of a transcript: turns, see `unit`), and what it kept of them.
    `covered` is the number of the last message that the summary stands for, 0 where it wrote none; `turned_down` are a
    text and a reason each. After a dry run the ids are empty, since nothing was stored."""

    run: str
    change_id: str
    generator: str
    unit: str
    first: int
    last: int
    timeline: str
    origin: str
    summary: str
    covered: int
    facts: list[OfferedView]
    invalidated: list[str]
    turned_down: list[list[str]]


@dataclass(frozen=True, slots=True)
class ConsolidatedView:
    """A session: `state` is done, not due, failed, overtaken, busy, limit or no model; `warnings` say what went
    otherwise than usual."""

    session: str
    title: str
    state: str
    failures: int
    warnings: list[str]
    runs: list[RunView]
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class WaitingSessionView:
    """A session that was read from a transcript and has something new: so many `episodes`, and about what it costs to
    consolidate them."""

    session: str
    title: str
    host: str
    project: str
    ended_at: str | None
    episodes: int
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ReconciledView:
    """The outcome for two memories that may contradict each other: `decision` is supersede, merge, keep or unsure."""

    newer: str
    older: str
    decision: str
    reason: str
    change_id: str


@dataclass(frozen=True, slots=True)
class ConsolidateResult:
    """`waiting` are the sessions of transcripts that wait, the latest first; `room_today` is how many tokens the day's
    limit leaves, None where there is no limit."""

    generator: str
    dry_run: bool
    sessions: list[ConsolidatedView]
    waiting: list[WaitingSessionView]
    room_today: int | None
    reconciled: list[ReconciledView]
    warnings: list[str]


async def consolidate(
    engine: Engine, request: ConsolidateRequest, progress: Progressing | None = None
) -> ConsolidateResult:
    """Turn new conversations with PicoBot and ingested sessions into memory: facts and a summary.

    Without a SESSION every one with something new is consolidated: the conversations, then sessions of transcripts,
    the latest first, until memory.daily_token_limit. The model is that of memory.consolidation_model, or the command of
    memory.consolidation_command. Without either, sentences of conversations are picked, and sessions of transcripts
    wait. A model is also asked about a few doubts of `review`. Each run is one change: `changes` lists
    it, and `undo` takes it back.
    """
    from picomem import consolidation_runner  # noqa: PLC0415 - `picomem mcp` starts without it

    generator = generator_of(engine.settings)
    if request.session:
        if progress:
            progress(0, 1, f"{generator.name}: {request.session}")
        one = await consolidation_runner.consolidate(
            engine, generator, request.session, force=True, dry_run=request.dry_run
        )
        done = [one]
    else:
        done = await consolidation_runner.consolidate_due(
            engine, generator, force=True, dry_run=request.dry_run, progress=progress
        )
    reconciled, cost = ([], None)
    if not request.session and not request.dry_run:
        reconciled, cost = await consolidation_runner.reconcile(engine, generator)
    waiting = [] if request.session else await consolidation_runner.waiting_transcripts(engine)
    limit = engine.settings.memory.daily_token_limit
    room = max(0, limit - engine.status().spent_today) if limit else None
    views = [_waiting_view(item) for item in waiting]
    settled = [
        ReconciledView(pair.newer, pair.older, pair.change.decision, pair.change.reason, pair.change.id)
        for pair in reconciled
    ]
    sessions = [_view(outcome, request.dry_run) for outcome in done]
    warnings = cost.warnings if cost else []
    return ConsolidateResult(generator.name, request.dry_run, sessions, views, room, settled, warnings)


def _waiting_view(item: WaitingTranscript) -> WaitingSessionView:
    return view_of(WaitingSessionView, item, item.transcript)


def _view(done: Consolidated, dry_run: bool) -> ConsolidatedView:
    """Return the outcome of a session. After a dry run nothing has an id yet."""
    return view_of(
        ConsolidatedView,
        done,
        done.spend,
        runs=[
            view_of(
                RunView,
                run,
                run="" if dry_run else run.run,
                change_id="" if dry_run else run.change_id,
                facts=[
                    OfferedView(
                        content=content,
                        decision=outcome.decision.value,
                        reason=outcome.reason,
                        key=outcome.memory.key if outcome.memory else "",
                        origin=origin.value,
                        change_id="" if dry_run else outcome.change_id,
                    )
                    for content, origin, outcome in run.offered
                ],
                invalidated=list(run.called_off),
                turned_down=[list(refusal) for refusal in run.turned_down],
            )
            for run in done.runs
        ],
    )


def _reply(result: ConsolidateResult) -> str:
    runs = sum(len(session.runs) for session in result.sessions)
    facts = sum(len(run.facts) for session in result.sessions for run in session.runs)
    return f"{len(result.sessions)} sessions, {runs} runs, {facts} facts."


def _exit_code(result: ConsolidateResult) -> int:
    return GeneratorFailed.exit_code if any(session.state == "failed" for session in result.sessions) else 0


def _present_consolidated(result: ConsolidateResult) -> Presentation:
    blocks: list[Block] = []
    warnings: list[str] = [*result.warnings]
    blocks += [Sentence(f"{pair.decision}: {pair.older} / {pair.newer}  {pair.reason}") for pair in result.reconciled]
    for view in result.sessions:
        blocks += [_run(view, run, result.dry_run) for run in view.runs]
        if view.state != "done":
            blocks.append(Sentence(f"{_named(view)}  {_NOT_DONE.get(view.state, view.state)}"))
        warnings += view.warnings
    calls = sum(view.calls for view in result.sessions)
    if calls:
        tokens = sum(view.input_tokens + view.output_tokens for view in result.sessions)
        blocks.append(Sentence(f"{plural(calls, 'call')} of {result.generator}, {tokens:,} tokens"))
    blocks += _waiting(result)
    if not blocks and not warnings:
        blocks.append(Sentence("Nothing is new in any conversation."))
    return Presentation(blocks=tuple(blocks), warnings=tuple(dict.fromkeys(warnings)))


def _waiting(result: ConsolidateResult) -> list[Block]:
    """The sessions of transcripts that wait: each of them before anything is paid, and later how many are left."""
    if not result.waiting:
        return []
    tokens = sum(view.tokens for view in result.waiting)
    calls = sum(view.calls for view in result.waiting)
    waiting = plural(len(result.waiting), "session")
    of_them = f"{waiting} read from transcripts {'waits' if len(result.waiting) == 1 else 'wait'}"
    if result.generator == "extractive":
        end = (
            "set memory.consolidation_model, or memory.consolidation_command such as “claude -p”, to have a model do it"
        )
        said = f"{of_them}: {end}."
    else:
        room = "" if result.room_today is None else f", of which {result.room_today:,} may be spent today"
        said = f"{of_them}, latest first: about {tokens:,} tokens in {plural(calls, 'call')}{room}."
    listed = result.waiting[:_MOST_LISTED] if result.dry_run else []
    blocks: list[Block] = [Sentence(said)]
    for view in listed:
        about = [view.host, *filter(None, (view.project, day(view.ended_at) if view.ended_at else ""))]
        cost = f"{plural(view.episodes, 'episode')}, about {view.tokens:,} tokens"
        line = " · ".join([*about, cost, view.session])
        blocks.append(PresentedEntry(view.title or _UNNAMED, (Text(line),)))
    if len(result.waiting) > len(listed) > 0:
        blocks.append(Sentence(f"{len(result.waiting) - len(listed):,} more; --json lists all."))
    return blocks


def _named(view: ConsolidatedView) -> str:
    return f"{view.session}  {view.title}" if view.title else view.session


def _run(view: ConsolidatedView, run: RunView, dry_run: bool) -> PresentedEntry:
    verb = "would keep" if dry_run else "kept"
    lines = [run.timeline]
    lines += [f"{fact.decision}{f' {fact.key}' if fact.key else ''}: {fact.content}" for fact in run.facts]
    lines += [f"called off: {key}" for key in run.invalidated]
    lines += [f"turned down, {reason}: {text}" for text, reason in run.turned_down]
    lines += [f"summary up to message {run.covered}: {run.summary}"] if run.summary else []
    lines = [*([view.title] if view.title else []), *lines]
    heading = f"{view.session}  {run.unit} {run.first}–{run.last}, {verb} by {run.generator}"
    return PresentedEntry(heading, tuple(map(Text, lines)))


OPERATIONS = (
    Operation(
        name="consolidate",
        group="use",
        run=consolidate,
        present=_present_consolidated,
        reply=_reply,
        permission="memory:write:user",
        answer_permissions=("memory:read:user", "memory:read:session"),
        example="picomem consolidate --dry-run",
        asynchronous=True,
        long=True,
        exit_code=_exit_code,
    ),
)
