"""The presentation of background jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text

if TYPE_CHECKING:
    from picomem.operations.background import JobsResult
    from picomem.operations.job_views import JobView


def jobs(result: JobsResult) -> Presentation:
    blocks: tuple[Block, ...] = tuple(map(_entry, result.jobs))
    nothing = Sentence("No job ran yet. `picomem serve`, `mcp`, `ingest --watch` and `chat` do background work.")
    more = (f"There are more: --cursor {result.cursor}",) if result.cursor else ()
    return Presentation(blocks=blocks or (nothing,), next_steps=more)


def job(result: JobView) -> Presentation:
    return Presentation(blocks=(_entry(result),))


def state_of(result: JobView) -> str:
    """The state of a job and what belongs to it, in a few words."""
    if result.cancelling:
        return "running, and told to stop"
    if result.state == "running":
        return f"running, {_progress(result)}" if result.total else "running"
    if result.state == "failed":
        times = "once" if result.failures == 1 else f"{result.failures} times"
        return f"failed {times}, tried again after {result.next_run_at}"
    if result.state == "cancelled":
        return f"cancelled, not begun again before {result.next_run_at}"
    return f"{result.state}, last run ended {result.finished_at}" if result.finished_at else result.state


def _progress(result: JobView) -> str:
    if result.unit == "bytes":
        return f"{result.done / 1e6:,.1f} of {result.total / 1e6:,.1f} MB read"
    return f"{result.done:,} of {result.total:,} {result.unit}"


def _entry(result: JobView) -> PresentedEntry:
    error = (Text(result.last_error),) if result.last_error else ()
    return PresentedEntry(f"{result.name}  {state_of(result)}", error)
