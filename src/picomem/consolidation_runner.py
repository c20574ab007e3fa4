"""Runs consolidation with a generator: it proposes what to keep of a conversation, and accepted proposals are stored.

    ready (a transaction that reads) → the generator, and each of its calls: reserve → ask → settle → check →
    apply (one transaction that writes)

Network calls happen between transactions, never in one. Nothing is written before the answer is complete and checked,
and only if the session has not changed. So a crash leaves either nothing or all of a run; at most an answer is lost.

A failure of the generator is only counted in the session's row: the conversation continues and is due again. After
`memory.max_failures_before_degrade` consecutive failures the part is consolidated without a model: by the extractive
generator, or as a `[RAW]` entry if that finds nothing. Then the count starts again.

Transcripts of other programs are consolidated in the same way, after the conversations, the latest session first. This
happens automatically only with `memory.consolidate_transcripts`: at the end of a session, and when it is compacted, its
hook distils it (`distil_session`); others are distilled when they rest, one part at a time (`distil_waiting`). There is
no substitute for the model: without one, at the daily limit and after a failure, transcripts wait.

The maximum cost of a call is reserved before the call, and the actual cost is settled afterwards. So a process that
crashes repeatedly during calls also reaches `memory.daily_token_limit`, and two processes cannot both use the remaining
tokens. Above the limit the extractive generator is used, and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from anyio import CancelScope
from anyio.to_thread import run_sync

from picomem.consolidation.apply import Applied
from picomem.consolidation.consolidate import Consolidator, PreparedPart, raw
from picomem.consolidation.due import distils_unasked
from picomem.consolidation.proposal_checks import CheckedProposal, check_proposal
from picomem.consolidation.reconcile import Reconciled
from picomem.consolidation.transcripts import WaitingTranscript
from picomem.engine.agent_support import consolidator, reconciler, transcript_consolidator
from picomem.engine.audience import safe_text
from picomem.engine.engine import Engine
from picomem.errors import GeneratorFailed, NotFound, Refused
from picomem.light_dataclass import dataclass, field
from picomem.models.generator import ExtractiveGenerator, Generator, Judge, extracted
from picomem.records.session import Session
from picomem.records.spend import Spend

_STOPPING = ("failed", "busy")  # states after which no further session is tried


@dataclass(slots=True)
class Consolidated:
    """The outcome for a session. `state` is "done", "not due", "failed" (the generator; `failures` in a row),
    "overtaken" (another process was faster), "busy" (another one is at it), "off" (memory is), "limit" (a transcript
    waits for the next day) or "no model" (a transcript waits for one). A long conversation is consolidated in several
    `runs`, and those before a failure stand. `warnings` say what the configured generator did not do."""

    session: str
    title: str = ""
    state: str = "not due"
    runs: list[Applied] = field(default_factory=list)
    spend: Spend = field(default_factory=Spend)
    failures: int = 0
    warnings: list[str] = field(default_factory=list)


async def consolidate(
    engine: Engine, generator: Generator, session_id: str, *, force: bool = False, dry_run: bool = False
) -> Consolidated:
    """Consolidate the due messages of a session, in as many runs as it needs.

    `force` consolidates everything new, even if memory is disabled, because the user asked for it. With `dry_run` the
    generator is asked only for the first part, and only the cost is stored. A failing generator is reported in the
    result, not raised. Raises NotFound, Corrupt and StoreError.
    """
    if not (force or engine.settings.memory.enabled):
        return Consolidated(session_id, state="off")
    store = await run_sync(consolidator, engine)
    try:
        return await _consolidate(engine, store, generator, session_id, force=force, dry_run=dry_run)
    except NotFound:
        transcripts = await run_sync(transcript_consolidator, engine)
        transcript = await run_sync(transcripts.find, session_id)
        return await _consolidate(engine, transcripts, generator, transcript, force=force, dry_run=dry_run)


async def _consolidate(
    engine: Engine,
    store: Consolidator,
    generator: Generator,
    session_id: str,
    *,
    force: bool,
    dry_run: bool,
    most_parts: int = 0,
) -> Consolidated:
    """Consolidate a session of a store in at most so many parts (0: as many as it needs)."""
    done = Consolidated(session_id)
    if not store.works_without_model and isinstance(generator, ExtractiveGenerator):
        done.state = "no model"
        return done
    until = 0
    while True:
        ready = await run_sync(partial(store.ready, session_id, asked=force or bool(until)))
        if ready is None or (until and ready.part.first > until):
            return done
        done.session, done.title = ready.part.session.id, ready.part.session.title
        until = until or ready.due_to
        await _run(engine, store, generator, ready, done, dry_run)
        if done.state != "done" or dry_run or len(done.runs) == most_parts:
            return done


async def consolidate_due(
    engine: Engine,
    generator: Generator,
    *,
    force: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Consolidated]:
    """Consolidate every session of the engine's user that is due; those that are not, are left out.

    After a failure of the generator the others are not tried: they would fail as well, and each failure counts. Nor
    are they while another process is at it. `progress` is told how many of how many are done, and what comes next.
    """
    outcomes = await consolidate_conversations(engine, generator, force=force, dry_run=dry_run, progress=progress)
    if not (dry_run or (outcomes and outcomes[-1].state in _STOPPING)):
        outcomes += await consolidate_transcripts(engine, generator, force=force, progress=progress)
    return outcomes


async def consolidate_conversations(
    engine: Engine,
    generator: Generator,
    *,
    force: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Consolidated]:
    """Consolidate the conversations with PicoBot that are due; a part of `consolidate_due`."""
    if not (force or engine.settings.memory.enabled):
        return []
    store = await run_sync(consolidator, engine)
    outcomes: list[Consolidated] = []
    waiting: list[Session] = await run_sync(store.waiting)
    for number, session in enumerate(waiting):
        if progress:
            progress(number, len(waiting), f"{generator.name}: {session.title or session.id}")
        done = await consolidate(engine, generator, session.id, force=force, dry_run=dry_run)
        if done.state != "not due":
            outcomes.append(done)
        if done.state in _STOPPING:
            return outcomes
    return outcomes


async def reconcile(engine: Engine, generator: Generator) -> tuple[list[Reconciled], Consolidated]:
    """Ask a model about a few doubted pairs; what became of each, and what that cost. Nothing without a model."""
    done = Consolidated("")
    if not isinstance(generator, Judge):
        return [], done
    doubts = await run_sync(reconciler, engine)
    pairs = await run_sync(doubts.waiting)
    if not pairs:
        return [], done
    budget = _RecordedBudget(await run_sync(consolidator, engine), generator.name, done)
    try:
        verdicts = await generator.judge(doubts.shown(pairs), budget)
    except GeneratorFailed as error:
        done.warnings.append(await run_sync(safe_text, engine, str(error)))
        return [], done
    return await run_sync(doubts.apply, pairs, verdicts, generator.name), done


async def waiting_transcripts(engine: Engine) -> list[WaitingTranscript]:
    """Return the transcripts that a request of a person would consolidate now, the latest first."""
    store = await run_sync(transcript_consolidator, engine)
    return await run_sync(store.waiting_transcripts)


async def consolidate_transcripts(
    engine: Engine,
    generator: Generator,
    *,
    force: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Consolidated]:
    """Consolidate transcripts, the latest first, until the day's limit; without `force` one part of one of them.

    Nothing is done without a model. A transcript that the generator fails on is passed by, but after a few failures in
    a row it is the generator's.
    """
    if isinstance(generator, ExtractiveGenerator) or not (force or distils_unasked(engine.settings)):
        return []
    store = await run_sync(transcript_consolidator, engine)
    waiting = await run_sync(partial(store.waiting_transcripts, only_idle=not force))
    outcomes: list[Consolidated] = []
    failures = 0
    for number, item in enumerate(waiting):
        if progress:
            progress(number, len(waiting), f"{generator.name}: {item.transcript.title or item.transcript.session}")
        done = await _consolidate(
            engine, store, generator, item.transcript.id, force=True, dry_run=False, most_parts=0 if force else 1
        )
        done.session = item.transcript.session or done.session
        if done.state != "not due":
            outcomes.append(done)
        failures = failures + 1 if done.state == "failed" else 0
        stopped = done.state in ("busy", "limit") or failures == engine.settings.memory.max_failures_before_degrade
        if stopped or (outcomes and not force):
            break
    return outcomes


async def distil_waiting(
    engine: Engine, generator: Generator, *, progress: Callable[[int, int, str], None] | None = None
) -> list[Consolidated]:
    """Consolidate a part of the latest transcript that rests, and settle pairs that its facts may have opened."""
    done = await consolidate_transcripts(engine, generator, progress=progress)
    if any(outcome.runs for outcome in done):
        await reconcile(engine, generator)
    return done


async def distil_session(engine: Engine, generator: Generator, session: str) -> Consolidated | None:
    """Consolidate a session that ended or was compacted, and settle pairs. None where it is no session of a person's,
    such as one of a sub-agent, or one in which nothing was said."""
    try:
        done = await consolidate(engine, generator, session, force=True)
    except (NotFound, Refused):
        return None
    if done.runs:
        await reconcile(engine, generator)
    return done


async def _run(
    engine: Engine, store: Consolidator, generator: Generator, ready: PreparedPart, done: Consolidated, dry_run: bool
) -> None:
    """One part: ask, and keep what came of it. Of the processes on a store one asks a model at a time."""
    if not _asks(generator, ready):
        await _kept(engine, store, generator, ready, done, dry_run)
        return
    lease = store.lease()
    done.state = await run_sync(store.begun, ready, lease)
    if done.state:
        return
    heartbeat = store.renewing(lease)
    try:
        await _kept(engine, store, generator, ready, done, dry_run)
    finally:
        with CancelScope(shield=True):
            await run_sync(store.ended, lease, heartbeat)


async def _kept(
    engine: Engine, store: Consolidator, generator: Generator, ready: PreparedPart, done: Consolidated, dry_run: bool
) -> None:
    name = generator.name
    try:
        checked = await _asked(engine, store, generator, ready, done)
    except GeneratorFailed as error:
        done.warnings.append(await run_sync(safe_text, engine, str(error)))
        done.failures = ready.part.session.consolidation_failures + 1
        if not dry_run:
            done.failures = await run_sync(store.failed, ready)
        if not store.works_without_model or done.failures < engine.settings.memory.max_failures_before_degrade:
            done.state = "failed"
            return
        done.warnings.append(f"{name} failed {done.failures} times in a row, so no model was asked this time.")
        checked = None
    if checked is None and not store.works_without_model and ready.part.has_words:
        done.state = "limit"
        return
    if checked is None:
        name, checked = await run_sync(_without_model, ready)
    applied = await run_sync(partial(store.apply, ready, checked, name, dry_run=dry_run))
    if applied is None:
        done.state = "overtaken"
        return
    done.state = "done"
    done.runs.append(applied)


def _asks(generator: Generator, ready: PreparedPart) -> bool:
    """Return whether a model is asked at all."""
    return not isinstance(generator, ExtractiveGenerator) and ready.part.has_words


class _RecordedBudget:
    """The token budget of a model, recorded in the store and in the result. `refused` says that it was exhausted."""

    def __init__(self, store: Consolidator, model: str, done: Consolidated) -> None:
        self._store = store
        self._model = model
        self._done = done
        self._reserved = Spend()
        self.refused = False

    async def reserve(self, most: Spend) -> bool:
        if not await run_sync(self._store.reserve, self._model, most):
            self.refused = True
            return False
        self._reserved = most
        self._done.spend += most
        return True

    async def settle(self, spend: Spend) -> None:
        await run_sync(self._store.settle, self._model, self._reserved, spend)
        self._done.spend += spend + -self._reserved


async def _asked(
    engine: Engine, store: Consolidator, generator: Generator, ready: PreparedPart, done: Consolidated
) -> CheckedProposal | None:
    """Ask the generator and return the checked proposal; None if it must not be asked, or is the extractive one.

    Raises GeneratorFailed.
    """
    if not _asks(generator, ready):
        return None
    budget = _RecordedBudget(store, generator.name, done)
    before = done.spend
    try:
        proposal = await generator.propose(ready.material, budget)
    except GeneratorFailed:
        if not budget.refused or done.spend != before:
            raise
        warning = (
            f"The limit of {engine.settings.memory.daily_token_limit:,} tokens a day (memory.daily_token_limit) leaves "
            "no room for a call, so no model was asked."
        )
        done.warnings += [warning] if warning not in done.warnings else []  # once, of however many parts
        return None
    return await run_sync(store.check_proposal, ready, proposal)


def _without_model(ready: PreparedPart) -> tuple[str, CheckedProposal]:
    """The proposal for a part without a model, and the name of its source."""
    try:
        return ExtractiveGenerator.name, check_proposal(
            extracted(ready.material), ready.part, ready.known, lambda text: text
        )
    except GeneratorFailed:
        return "raw", raw(ready.part)
