"""How many small transcripts are read in a second: first all of them new, then none of them changed.

A machine on which agents work for a year holds tens of thousands of short sessions. There the cost per file counts,
not the cost per megabyte.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep

from benchmarks.madeup import write_small
from picomem.app import open_engine
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.settings import Settings

_SETTLING = 3.0  # seconds after which a file system's times tell two changes apart


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSpeed:
    """Ingest of `files` small transcripts, with the static embedder: into a fresh store, then again.

    The processor's time is what the machine has to do; seconds hold what other programs did as well.
    """

    files: int
    bytes: int
    new_seconds: float
    new_cpu_seconds: float
    unchanged_seconds: float
    unchanged_cpu_seconds: float

    @property
    def new_per_second(self) -> float:
        return self.files / self.new_seconds

    @property
    def unchanged_per_second(self) -> float:
        return self.files / self.unchanged_seconds


def measure(files: int) -> FileSpeed:
    """Make up so many files, and ingest their folder twice."""
    with TemporaryDirectory(prefix="picomem-bench-") as name:
        folder = Path(name).resolve()
        size = write_small(folder / "transcripts", files)
        sleep(_SETTLING)
        with open_engine(folder / "memory.db", settings=Settings(), embedder="static") as engine:
            times: list[float] = []
            for unchanged in (0, files):
                started, used = perf_counter(), process_time()
                report = engine.ingest([folder / "transcripts"])
                times += [perf_counter() - started, process_time() - used]
                if (report.files, report.unchanged, report.problems) != (files, unchanged, []):
                    raise InvalidInput(
                        f"{files} files were made up and {unchanged} of them unchanged; ingest found {report.files} "
                        f"and {report.unchanged}, with {len(report.problems)} problems."
                    )
    return FileSpeed(
        files=files,
        bytes=size,
        new_seconds=times[0],
        new_cpu_seconds=times[1],
        unchanged_seconds=times[2],
        unchanged_cpu_seconds=times[3],
    )
