"""The operation that takes conversations up into memory: consolidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.distillation import Consolidated
from picomem.errors import GeneratorFailed
from picomem.light_dataclass import asdict, dataclass
from picomem.operations.operation import Operation, Progressing, option
from picomem.operations.presentations import sessions as sessions_presentations

if TYPE_CHECKING:
    from picomem.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class ConsolidateRequest:
    session: str = option(
        "the session's id, or the beginning of it (default: every session with something new)", "", positional=True
    )
    dry_run: bool = option("only show what would be kept of the first part; the model is asked, and that costs", False)


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
    """One run: the messages it took up, and what it kept of them. `covered` is the number of the last message that the
    summary stands for, 0 where it wrote none; `turned_down` are a text and a reason each."""

    run: str
    change_id: str
    generator: str
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
    """A session: `state` is done, not due, failed, overtaken or busy; `warnings` say what went otherwise than usual."""

    session: str
    state: str
    failures: int
    warnings: list[str]
    runs: list[RunView]
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ConsolidateResult:
    generator: str
    dry_run: bool
    sessions: list[ConsolidatedView]


async def consolidate(
    engine: Engine, request: ConsolidateRequest, progress: Progressing | None = None
) -> ConsolidateResult:
    """Take up into memory what is new in conversations with PicoBot: facts, a timeline entry, a summary.

    PicoBot does it by itself when a conversation is long enough, has had a few turns or rests. Without a SESSION every
    one with something new is consolidated. The model is the one of memory.consolidation_model; without one, sentences
    are picked. Each run is one change: `picomem changes` lists it, and
    `picomem undo` takes it back.
    """
    from picomem import distillation
    from picomem.models.selection import generator_of

    generator = generator_of(engine.settings)
    if request.session:
        if progress:
            progress(0, 1, f"{generator.name}: {request.session}")
        one = await distillation.consolidate(engine, generator, request.session, force=True, dry_run=request.dry_run)
        done = [one]
    else:
        done = await distillation.consolidate_due(
            engine, generator, force=True, dry_run=request.dry_run, progress=progress
        )
    return ConsolidateResult(generator.name, request.dry_run, [_view(consolidated) for consolidated in done])


def _view(done: Consolidated) -> ConsolidatedView:
    return ConsolidatedView(
        session=done.session,
        state=done.state,
        failures=done.failures,
        warnings=done.notes,
        runs=[
            RunView(
                run=run.run,
                change_id=run.change_id,
                generator=run.generator,
                first=run.first,
                last=run.last,
                timeline=run.timeline,
                origin=run.origin.value,
                summary=run.summary,
                covered=run.covered,
                facts=[
                    OfferedView(
                        content=content,
                        decision=outcome.decision.value,
                        reason=outcome.reason,
                        key=outcome.memory.key if outcome.memory else "",
                        origin=origin.value,
                        change_id=outcome.change_id,
                    )
                    for content, origin, outcome in run.offered
                ],
                invalidated=list(run.called_off),
                turned_down=[list(refusal) for refusal in run.turned_down],
            )
            for run in done.runs
        ],
        **asdict(done.spend),
    )


def _reply(result: ConsolidateResult) -> str:
    runs = sum(len(session.runs) for session in result.sessions)
    facts = sum(len(run.facts) for session in result.sessions for run in session.runs)
    return f"{len(result.sessions)} sessions, {runs} runs, {facts} facts."


def _exit_code(result: ConsolidateResult) -> int:
    return GeneratorFailed.exit_code if any(session.state == "failed" for session in result.sessions) else 0


OPERATIONS = (
    Operation(
        name="consolidate",
        group="use",
        request=ConsolidateRequest,
        result=ConsolidateResult,
        run=consolidate,
        present=sessions_presentations.consolidated,
        reply=_reply,
        permission="memory:write:user",
        example="picomem consolidate --dry-run",
        asynchronous=True,
        long=True,
        exit_code=_exit_code,
    ),
)
