"""`python -m benchmarks speed`: the cost of recall, ingest and a process, each beside the minimum for that work.

    recall_speed    a question in a warm process               beside the bare FTS5 query over the same texts
    ingest_speed    megabytes of transcripts a second          beside json.loads of the same lines
    file_speed      small transcripts a second, new and unchanged
    process_speed   `picomem recall` from start to end         beside python -c "import sqlite3"
                    the memory of a long-running process

For every size there are three stores of made-up episodes (see fill.py): one user's; as many spread over 1,000 users;
and the share of one of those users, alone, which shows the cost of the others. The texts, vectors and questions are
the same on every run; times are not.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import file_speed, ingest_speed, process_speed, recall_speed
from benchmarks.file_speed import FileSpeed
from benchmarks.fill import Filled, Model, fill
from benchmarks.ingest_speed import IngestSpeed
from benchmarks.madeup import write_claude_code, write_plain
from benchmarks.process_speed import HookSpeed, MemoryUse, StartSpeed
from benchmarks.recall_speed import RecallSpeed
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.models.static_embedder import StaticEmbedder

EMBEDDERS = ("none", "static")
Telling = Callable[[str], None]
_MOST_USERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is done for a figure; less is faster, and less sure."""

    questions: int = 200
    rounds: int = recall_speed.ROUNDS
    starts: int = process_speed.RUNS
    ingests: int = ingest_speed.RUNS
    claude_code_bytes: int = 20_000_000
    plain_bytes: int = 4_000_000
    small_files: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedReport:
    """`dataclasses.asdict` of it can be written as JSON. `memory` is empty where the system does not tell it."""

    machine: str
    recalls: tuple[RecallSpeed, ...]
    ingests: tuple[IngestSpeed, ...]
    files: FileSpeed
    starts: tuple[StartSpeed, ...]
    hooks: tuple[HookSpeed, ...]
    memory: tuple[MemoryUse, ...]


def run(
    *,
    sizes: tuple[int, ...] = (10_000, 100_000),
    transcripts: Path | None = None,
    progress: Telling | None = None,
    effort: Effort | None = None,
) -> SpeedReport:
    """Measure at these numbers of episodes, and on these transcripts besides the made-up ones.

    A million episodes take about a quarter of an hour, and 2 GB in the temporary folder. Raises InvalidInput for a
    size below 1, and where the folder holds no transcript or is not there.
    """
    if not sizes or min(sizes) < 1:
        raise InvalidInput("The numbers of episodes are whole numbers from 1.")
    tell = progress or (lambda _: None)
    effort = effort or Effort()
    recalls: list[RecallSpeed] = []
    starts: list[StartSpeed] = []
    hooks: list[HookSpeed] = []
    weights: list[MemoryUse] = []
    # First, as it is over soonest: a wrong folder is told at once.
    ingests = tuple(_ingests(transcripts, effort, tell))
    tell(f"ingest of {effort.small_files} small files")
    files = file_speed.measure(effort.small_files)
    for size in sizes:
        for filled in _stores(size, effort, tell):
            if filled.episodes == size and filled.users == 1:
                tell(f"the prompt hook: {filled.episodes:,} episodes")
                hooks += process_speed.hook(filled, effort.starts)
            for embedder in EMBEDDERS:
                where = f"{filled.episodes:,} episodes, {filled.users:,} users, embedder {embedder}"
                tell(f"recall: {where}")
                recalls.append(recall_speed.measure(filled, embedder, effort.rounds))
                if filled.episodes == size and filled.users == 1:
                    tell(f"processes: {where}")
                    starts.append(process_speed.start(filled, embedder, effort.starts))
                    weights += [memory_use for memory_use in [process_speed.memory(filled, embedder)] if memory_use]
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return SpeedReport(
        machine=machine,
        recalls=tuple(recalls),
        ingests=ingests,
        files=files,
        starts=tuple(starts),
        hooks=tuple(hooks),
        memory=tuple(weights),
    )


def _stores(size: int, effort: Effort, tell: Telling) -> Iterator[Filled]:
    """The stores of a size, one at a time; each is gone when the next is asked for."""
    users = min(size, _MOST_USERS)
    model = Model(name=StaticEmbedder.name, dimensions=StaticEmbedder.dimensions)
    for own, among in dict.fromkeys(((size, 1), (size // users, users), (size // users, 1))):
        with TemporaryDirectory(prefix="picomem-bench-") as folder:
            yield fill(Path(folder).resolve(), own, among, effort.questions, model, tell)


def _ingests(transcripts: Path | None, effort: Effort, tell: Telling) -> Iterator[IngestSpeed]:
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        here = Path(folder).resolve()
        tell("making up transcripts")
        sources = {
            "made-up claude-code": write_claude_code(here / "claude-code", effort.claude_code_bytes),
            "made-up plain": write_plain(here / "plain", effort.plain_bytes),
        }
        if transcripts is not None:
            sources[transcripts.resolve().name] = [transcripts]
        for name, paths in sources.items():
            for embedder in EMBEDDERS:
                yield ingest_speed.measure(name, paths, embedder, effort.ingests, tell)


def render(report: SpeedReport) -> str:
    """The report as plain text: a table for each kind of figure."""
    return "\n\n".join(
        [
            f"Measured on {report.machine}.",
            "Recall in a warm process, ms (least of several rounds), beside the bare FTS5 query",
            _table(_RECALL, (_recall_row(recall) for recall in report.recalls)),
            "Ingest, beside json.loads of the same lines; the store, beside the transcripts",
            _table(_INGEST, (_ingest_row(ingest) for ingest in report.ingests)),
            "Small transcripts, with the static embedder: all of them new, then none of them changed",
            _table(_FILES, iter([_file_row(report.files)])),
            'picomem recall as a process, ms, beside python -c "import sqlite3"',
            _table(_START, (_start_row(start) for start in report.starts)),
            "The prompt hook from start to answer, ms (median), beside a bare interpreter",
            _table(_HOOK, (_hook_row(hook) for hook in report.hooks)),
            "Resident memory after recalls, MB, beside a bare interpreter with sqlite3",
            _table(_MEMORY, (_memory_row(memory_use) for memory_use in report.memory)),
        ]
    )


_RECALL = "episodes|users|own|embedder|p50|p99|cpu p50|bare p50|bare p99|bare cpu|×p50|×p99|×cpu|after change".split(
    "|"
)
_INGEST = "transcripts|embedder|files|MB|episodes|MB/s|cpu s|json MB/s|json cpu s|×cpu|store MB|of transcripts".split(
    "|"
)
_FILES = "files|MB|new s|new cpu s|new files/s|unchanged s|unchanged cpu s|unchanged files/s".split("|")
_START = "episodes|embedder|ms|cpu ms|bare ms|bare cpu ms|×|×cpu".split("|")
_HOOK = "episodes|answered by|ms|bare ms|×".split("|")
_MEMORY = "episodes|embedder|questions|MB|peak MB|bare MB|×".split("|")


def _recall_row(speed: RecallSpeed) -> list[str]:
    mine, bare = speed.recall, speed.bare
    times = (mine.p50_ms, mine.p99_ms, mine.cpu_p50_ms, bare.p50_ms, bare.p99_ms, bare.cpu_p50_ms)
    return [
        f"{speed.episodes}",
        f"{speed.users}",
        f"{speed.own}",
        speed.embedder,
        *(f"{value:.2f}" for value in times),
        *(f"{value:.1f}" for value in (speed.times_p50, speed.times_p99, speed.cpu_times, speed.after_change_ms)),
    ]


def _ingest_row(speed: IngestSpeed) -> list[str]:
    return [
        speed.name,
        speed.embedder,
        f"{speed.files}",
        f"{speed.bytes / 1e6:.1f}",
        f"{speed.episodes}",
        f"{speed.mb_per_second:.2f}",
        f"{speed.cpu_seconds:.2f}",
        f"{speed.json_mb_per_second:.0f}",
        f"{speed.json_cpu_seconds:.3f}",
        f"{speed.times:.1f}",
        f"{speed.store_bytes / 1e6:.2f}",
        f"{speed.store_share:.3f}",
    ]


def _file_row(speed: FileSpeed) -> list[str]:
    times = (speed.new_seconds, speed.new_cpu_seconds, speed.unchanged_seconds, speed.unchanged_cpu_seconds)
    new, new_cpu, unchanged, unchanged_cpu = (f"{seconds:.2f}" for seconds in times)
    per_second = f"{speed.new_per_second:.0f}", f"{speed.unchanged_per_second:.0f}"
    return [
        f"{speed.files}",
        f"{speed.bytes / 1e6:.1f}",
        *(new, new_cpu, per_second[0]),
        *(unchanged, unchanged_cpu, per_second[1]),
    ]


def _start_row(speed: StartSpeed) -> list[str]:
    times = (speed.ms, speed.cpu_ms, speed.bare_ms, speed.bare_cpu_ms)
    ratios = (speed.times, speed.cpu_times)
    return [f"{speed.episodes}", speed.embedder, *(f"{v:.0f}" for v in times), *(f"{v:.1f}" for v in ratios)]


def _hook_row(speed: HookSpeed) -> list[str]:
    return [f"{speed.episodes}", speed.beside, f"{speed.ms:.0f}", f"{speed.bare_ms:.0f}", f"{speed.times:.1f}"]


def _memory_row(memory_use: MemoryUse) -> list[str]:
    sizes = (memory_use.mb, memory_use.peak_mb, memory_use.bare_mb)
    return [
        f"{memory_use.episodes}",
        memory_use.embedder,
        f"{memory_use.questions}",
        *(f"{v:.0f}" for v in sizes),
        f"{memory_use.times:.1f}",
    ]


def _table(heading: Sequence[str], rows: Iterator[list[str]]) -> str:
    lines = [list(heading), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    return "\n".join(
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
