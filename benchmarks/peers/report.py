"""The report of `python -m benchmarks peers`. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.peers.kinds import LEFT_OUT
from picomem.light_dataclass import dataclass, field
from question_sets.significance import Paired
from question_sets.tables import chance, markdown, plain, share

_MEASURES = ("any@5", "frac@10")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSpeed:
    """One peer with so many made-up texts of `wanted`, where it took no more in the time that it had. Times of a
    question are the least of the rounds, "cpu" is the processor time of all threads, memory that of the process.
    `reason` says why there are no figures, where there are none."""

    name: str
    wanted: int
    texts: int = 0
    version: str = ""
    texts_per_second: float = 0.0
    texts_per_cpu_second: float = 0.0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    cpu_p50_ms: float = 0.0
    mb: float = 0.0
    peak_mb: float = 0.0
    disk_mb: float = 0.0
    reason: str = ""

    @staticmethod
    def failed(name: str, wanted: int, reason: str) -> PeerSpeed:
        return PeerSpeed(name=name, wanted=wanted, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerQuality:
    """One peer on one set, by turns. `worth` has what picomem's lead over it is worth, by measure."""

    name: str
    set: str
    questions: int = 0
    scores: dict[str, float] = field(default_factory=dict)
    worth: dict[str, Paired | None] = field(default_factory=dict)
    reason: str = ""

    @staticmethod
    def failed(name: str, of_set: str, reason: str) -> PeerQuality:
        return PeerQuality(name=name, set=of_set, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerReport:
    """`asdict` of it can be written as JSON. Of a run that was `stopped` it has what was measured until then."""

    machine: str
    speeds: tuple[PeerSpeed, ...]
    qualities: tuple[PeerQuality, ...]
    stopped: bool = False


def render(report: PeerReport, *, as_markdown: bool = False) -> str:
    """Two tables, and what could not be measured."""
    tables = [rows for rows in (list(_speed_rows(report)), list(_quality_rows(report))) if len(rows) > 1]
    drawn = ["\n".join(markdown(rows) if as_markdown else plain(rows, left=1)) for rows in tables]
    reasons = {peer.name: peer.reason for peer in (*report.speeds, *report.qualities) if peer.reason} | LEFT_OUT
    bullet = "- " if as_markdown else "  "
    left_out = "\n".join(f"{bullet}{name}: {reason}" for name, reason in reasons.items())
    return "\n\n".join([f"Measured on {report.machine}.", *drawn, f"Not measured:\n{left_out}"])


def _speed_rows(report: PeerReport) -> Iterator[list[str]]:
    yield [*"peer|version|texts|texts/s|texts per cpu s|p50 ms|p99 ms|cpu p50 ms|MB|peak MB|on disk MB".split("|")]
    for speed in report.speeds:
        if speed.reason:
            continue
        rates = [f"{speed.texts_per_second:,.0f}", f"{speed.texts_per_cpu_second:,.0f}"]
        times = [f"{speed.p50_ms:.1f}", f"{speed.p99_ms:.1f}", f"{speed.cpu_p50_ms:.1f}"]
        sizes = [f"{speed.mb:.0f}", f"{speed.peak_mb:.0f}", f"{speed.disk_mb:.1f}"]
        yield [speed.name, speed.version, f"{speed.texts:,}", *rates, *times, *sizes]


def _quality_rows(report: PeerReport) -> Iterator[list[str]]:
    lead = [title for measure in _MEASURES for title in (f"lead {measure}", "95 %", "p")]
    yield ["peer", "set", "n", *_MEASURES, *lead]
    for quality in report.qualities:
        if quality.reason:
            continue
        row = [
            quality.name,
            quality.set,
            f"{quality.questions}",
            *(share(quality.scores[measure]) for measure in _MEASURES),
        ]
        for measure in _MEASURES:
            worth = quality.worth.get(measure)
            row += (
                ["", "", ""]
                if worth is None
                else [share(worth.difference), f"{share(worth.low)} to {share(worth.high)}", chance(worth.p)]
            )
        yield row
