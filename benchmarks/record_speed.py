"""`python -m benchmarks record`: what the chain over the record of changes costs a write, and how fast it is verified.

The share of a write is measured within it: the time of the link, beside that of the whole write. Processor time; of
the writes the whole sum, of the verification the fastest of some rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.prose import Prose
from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.engine.record_chain import verify_record
from picomem.light_dataclass import dataclass
from picomem.memory.remember import Writer
from picomem.records.kinds import Decision
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.tables.chains import Chain

MOST_SHARE = 0.05  # of a write
LEAST_VERIFIED = 200_000  # changes in a second
_WRITES = 300
_ROUNDS = 5
_SEED = 42


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReport:
    """A write with its link, and the link alone, in microseconds; and how many changes are verified in a second."""

    write_us: float
    link_us: float
    share: float
    changes: int
    verified_a_second: float


def measure(changes: int, progress: Callable[[str], None]) -> RecordReport:
    """Measure on a store with so many changes."""
    settings = Settings(recall=RecallSettings(timezone="UTC"))
    with (
        TemporaryDirectory() as folder,
        open_engine(Path(folder) / "a.db", settings=settings, embedder="none") as engine,
    ):
        progress(f"recording {changes:,} changes")
        _record(engine, changes)
        progress(f"{_WRITES} writes")
        write, link = _timed_writes(engine)
        progress("verifying")
        seconds, verified = min(_timed_check(engine) for _ in range(_ROUNDS))
    per_write = 1_000_000 / _WRITES
    return RecordReport(
        write_us=write * per_write,
        link_us=link * per_write,
        share=link / write,
        changes=verified,
        verified_a_second=verified / seconds,
    )


def _record(engine: Engine, changes: int) -> None:
    context = engine._context
    with context.connector.write(engine.scope) as tx:
        writer: Writer = context.writer("remember")
        for number in range(changes):
            writer.record(
                tx, engine.scope, Decision.REFUSE, "it says nothing", candidate=f"A refused text, number {number}"
            )


def _timed_writes(engine: Engine) -> tuple[float, float]:
    """The seconds of the writes, and of their links."""
    prose, spent = Prose(_SEED), 0.0
    texts = [prose.text(prose.topic(), 20) for _ in range(_WRITES)]
    next_link = Chain.next_link

    def timed(*given: Any) -> dict[str, Any]:
        nonlocal spent
        begun = process_time()
        try:
            return next_link(*given)
        finally:
            spent += process_time() - begun

    setattr(Chain, "next_link", timed)  # noqa: B010 - a method that takes any arguments
    begun = process_time()
    try:
        for number, text in enumerate(texts):
            engine.remember(text, key=f"memory_{number}")
    finally:
        setattr(Chain, "next_link", next_link)  # noqa: B010
    return process_time() - begun, spent


def _timed_check(engine: Engine) -> tuple[float, int]:
    begun = process_time()
    check = verify_record(engine)
    assert check.whole, check
    return process_time() - begun, check.changes


def render(report: RecordReport) -> str:
    """The report as a table for a document."""
    times = report.verified_a_second / LEAST_VERIFIED
    return "\n".join(
        [
            "| | measured | allowed |",
            "|---|---|---|",
            f"| link, of a write of {report.write_us:,.0f} µs | {report.share:.1%} ({report.link_us:.0f} µs) "
            f"| {MOST_SHARE:.0%} |",
            f"| changes verified a second, of {report.changes:,} | {report.verified_a_second:,.0f} ({times:.2f} times) "
            f"| {LEAST_VERIFIED:,} |",
        ]
    )
