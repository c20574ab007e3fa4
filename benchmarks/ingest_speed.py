"""How fast transcripts are read, compared with plain `json.loads` of the same lines, and the size of the store.

The real ingest runs with redaction, full text and vectors into a fresh store. The best of several runs counts,
because other programs on the machine only ever add time. `json.loads` gets the lines in memory: nothing that parses a
transcript can be faster without skipping lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.recall_speed import percentile
from picomem.app import open_engine
from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.ingest.discovery import find
from picomem.light_dataclass import dataclass
from picomem.settings import Settings

RUNS = 3
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSpeed:
    """Ingest of the transcripts `name`, with this embedder ("static" or "none").

    A megabyte is 10⁶ bytes of JSON lines, uncompressed. `times` is ingest over `json.loads`, by processor time;
    `store_bytes` the closed database, `store_share` what it is of the transcripts' bytes.
    """

    name: str
    embedder: str
    files: int
    bytes: int
    turns: int
    episodes: int
    mb_per_second: float
    cpu_seconds: float
    json_mb_per_second: float
    json_cpu_seconds: float
    times: float
    store_bytes: int
    store_share: float


@dataclass(frozen=True, slots=True)
class _Run:
    seconds: float
    cpu_seconds: float
    turns: int
    episodes: int
    store_bytes: int


def measure(
    name: str, paths: Sequence[Path], embedder: str, runs: int = RUNS, progress: Callable[[str], None] | None = None
) -> IngestSpeed:
    """Ingest these files and folders `runs` times. Raises InvalidInput where there is no transcript."""
    files = [transcript.path for transcript in find(paths) if transcript.format]
    if not files:
        raise InvalidInput(f"There is no transcript in {', '.join(map(str, paths))}.")
    json_runs = [_parsed(files) for _ in range(runs)]
    size = json_runs[0][0]
    done: list[_Run] = []
    for number in range(runs):
        if progress:
            progress(f"ingest of {name}, embedder {embedder}: run {number + 1} of {runs}")
        done.append(ingested(files, embedder))
    cpu = min(run.cpu_seconds for run in done)
    json_cpu = min(used for _, _, used in json_runs)
    return IngestSpeed(
        name=name,
        embedder=embedder,
        files=len(files),
        bytes=size,
        turns=done[0].turns,
        episodes=done[0].episodes,
        mb_per_second=size / min(run.seconds for run in done) / _MEGABYTE,
        cpu_seconds=cpu,
        json_mb_per_second=size / min(passed for _, passed, _ in json_runs) / _MEGABYTE,
        json_cpu_seconds=json_cpu,
        times=cpu / json_cpu,
        store_bytes=int(percentile([run.store_bytes for run in done], 0.5)),
        store_share=percentile([run.store_bytes for run in done], 0.5) / size,
    )


def ingested(files: Sequence[Path], embedder: str) -> _Run:
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        store = Path(folder).resolve() / "memory.db"
        with open_engine(store, settings=Settings(), embedder=embedder) as engine:
            started, used = perf_counter(), process_time()
            report = engine.ingest(files)
            passed, used = perf_counter() - started, process_time() - used
        if report.problems:
            raise InvalidInput(f"Not every transcript could be read: {report.problems[0]}")
        return _Run(passed, used, report.turns, report.episodes, store.stat().st_size)


def _parsed(files: Sequence[Path]) -> tuple[int, float, float]:
    """The bytes of the files' lines, and the seconds, passed and of the processor, that it takes to parse them."""
    size, passed, used = 0, 0.0, 0.0
    for path in files:
        lines = [line.data for line in reader.lines(path) if line.data]
        size += sum(len(line) + 1 for line in lines)
        started, cpu = perf_counter(), process_time()
        for line in lines:
            _ = json.loads(line)
        passed += perf_counter() - started
        used += process_time() - cpu
    return size, passed, used
