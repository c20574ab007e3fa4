"""`python -m benchmarks large`: what the largest files of other programs cost to read, beside a quarter of each.

- rows: a database of claude-mem with 300,000 observations, imported.
- chain: a session of Claude Code with 60,000 messages, each of which names the one before it, ingested.
- document: an export of ChatGPT with one conversation of 60,000 messages, each the child of another, imported.
- blanks: a packed transcript that is 3 GB of blanks when it is unpacked, half in one line and half in lines of a
  megabyte, ingested.

Each is made on the fly and read by a process of its own. What grows in line with the file has the same cost for each
unit at both sizes, and memory that is bounded does not grow with them. A person sees progress if it is told often.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import apsw

from benchmarks.prose import Prose
from picomem.errors import InvalidInput, PicomemError
from picomem.light_dataclass import dataclass, replace

PART = 4  # the smaller file is this part of the larger one
_SEED = 37
_MEGABYTE = 1_000_000
_READING = """
import json, sys, time
from picomem.app import open_engine
from picomem.operations.table import operation
told = json.load(sys.stdin)
calls = [time.perf_counter()]
chosen = operation(told["verb"])
with open_engine(told["store"], embedder="none") as engine:
    result = chosen.call(engine, chosen.request(**told["request"]), lambda *_: calls.append(time.perf_counter()))
calls.append(time.perf_counter())
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(json.dumps({
    "cpu": time.process_time(), "peak": peak * 1024, "calls": len(calls) - 2,
    "gap": max(after - before for before, after in zip(calls, calls[1:])),
    "read": {name: getattr(result, name, 0) for name in ("new", "turns", "messages")},
}))
"""


class NotRead(PicomemError):
    """A file was not read, or not to its end, so its times would say nothing."""

    code = "not_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeInput:
    """The cost of a file with so many units: processor seconds, the peak of memory in MB (10⁶ bytes), how often
    progress was told, and the longest time without it. `times` is the cost of a unit beside that in a quarter of the
    file."""

    name: str
    units: int
    unit: str
    cpu_s: float
    peak_mb: float
    progress: int
    longest_gap_s: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeReport:
    """The inputs, each at a quarter and at its full size."""

    inputs: list[LargeInput]


def measure(share: float, progress: Callable[[str], None], only: tuple[str, ...] = ()) -> LargeReport:
    """Read each input, or those that `only` names, at a quarter of its size and in full; `share` is the part of the
    sizes that is wanted. Raises InvalidInput for a name that is no input's."""
    for name in only:
        if name not in _INPUTS:
            raise InvalidInput(f"“{name}” is no input; there are {', '.join(_INPUTS)}.")
    inputs: list[LargeInput] = []
    for name in only or _INPUTS:
        units = max(PART, int(_INPUTS[name][0] * share))
        small = _read(name, units // PART, progress)
        large = _read(name, units, progress)
        inputs += [small, replace(large, times=large.cpu_s / large.units / (small.cpu_s / small.units))]
    return LargeReport(inputs=inputs)


def _read(name: str, units: int, progress: Callable[[str], None]) -> LargeInput:
    _, unit, make = _INPUTS[name]
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        progress(f"{name}: making {units:,}")
        asked = make(Path(folder), units)
        progress(f"{name}: reading {units:,}")
        told = {"verb": asked.verb, "request": asked.request, "store": str(Path(folder) / "store.db")}
        done = subprocess.run(
            [sys.executable, "-c", _READING], input=json.dumps(told), capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise NotRead(f"{name} was not read: {done.stderr[-500:]}")
    measured = json.loads(done.stdout)
    if max(measured["read"].values()) != asked.holds:
        raise NotRead(f"{name} was not read to its end: {measured['read']} instead of {asked.holds:,}.")
    return LargeInput(
        name=name,
        units=units,
        unit=unit,
        cpu_s=measured["cpu"],
        peak_mb=measured["peak"] / _MEGABYTE,
        progress=measured["calls"],
        longest_gap_s=measured["gap"],
        times=1.0,
    )


class Asked(NamedTuple):
    """What reads a file: an operation with its request; and how much the file holds."""

    verb: str
    request: dict[str, object]
    holds: int


Making = Callable[[Path, int], Asked]


def _texts(count: int) -> Iterator[str]:
    prose = Prose(_SEED)
    topic = prose.topic()
    for number in range(count):
        if number % 40 == 0:
            topic = prose.topic()
        yield f"{prose.text(topic, 20)} {number}"


def make_rows(folder: Path, rows: int) -> Asked:
    """A database of claude-mem."""
    path = folder / "claude-mem.db"
    with closing(apsw.Connection(str(path))) as database:
        database.execute(
            "CREATE TABLE observations(id INTEGER PRIMARY KEY, project TEXT, type TEXT, title TEXT, narrative TEXT, "
            "facts TEXT, created_at TEXT, created_at_epoch INTEGER)"
        )
        with database:
            database.executemany(
                "INSERT INTO observations VALUES (?, 'crane', 'discovery', ?, ?, '[]', '2026-03-04T05:06:07Z', ?)",
                (
                    (number + 1, f"Observation {number}", text, 1_772_600_767_000 + number)
                    for number, text in enumerate(_texts(rows))
                ),
            )
    return Asked("import", {"format": "claude-mem", "path": str(path)}, rows)


def make_chain(folder: Path, messages: int) -> Asked:
    """A session of Claude Code, each message of which goes on from the one before."""
    path = folder / "session.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(_texts(messages)):
            role = "assistant" if number % 2 else "user"
            content: object = [{"type": "text", "text": text}] if number % 2 else text
            record = {
                "parentUuid": f"u{number - 1}" if number else None,
                "isSidechain": False,
                "type": role,
                "message": {"role": role, "content": content, "id": f"m{number}"},
                "uuid": f"u{number}",
                "timestamp": f"2026-11-{1 + number // 43_200:02}T{number // 1800 % 24:02}:{number // 30 % 60:02}:00Z",
                "cwd": "/w/crane",
                "sessionId": "s1",
                "entrypoint": "cli",
            }
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
    return Asked("ingest", {"paths": (str(path),)}, messages)


def make_document(folder: Path, messages: int) -> Asked:
    """An export of ChatGPT with one conversation, each message of which is the child of the one before."""
    mapping: dict[str, object] = {"n0": {"id": "n0", "parent": None, "children": ["n1"], "message": None}}
    for number, text in enumerate(_texts(messages), start=1):
        message = {
            "id": f"n{number}",
            "author": {"role": "user" if number % 2 else "assistant"},
            "create_time": 1_772_600_767 + number,
            "content": {"content_type": "text", "parts": [text]},
        }
        children = [f"n{number + 1}"] if number < messages else []
        mapping[f"n{number}"] = {
            "id": f"n{number}",
            "parent": f"n{number - 1}",
            "children": children,
            "message": message,
        }
    talk = {
        "title": "Crane",
        "create_time": 1_772_600_767,
        "mapping": mapping,
        "current_node": f"n{messages}",
        "id": "c1",
    }
    path = folder / "conversations.json"
    path.write_text(json.dumps([talk]), "utf-8")
    return Asked("import", {"format": "chatgpt", "path": str(path)}, messages)


def make_blanks(folder: Path, megabytes: int) -> Asked:
    """A packed transcript of blanks, with a message before them, between them and behind them."""
    import zstandard  # noqa: PLC0415 - one input needs it

    path = folder / "session.jsonl.zst"
    blank = b" " * _MEGABYTE

    def message(number: int) -> bytes:
        record = {"type": "user", "message": {"role": "user", "content": f"Message {number} of the crane"}}
        return json.dumps({**record, "uuid": f"u{number}", "sessionId": "s1", "entrypoint": "cli"}).encode() + b"\n"

    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as packed:
        packed.write(message(0))
        for number in range(megabytes):
            if number == megabytes // 2:
                packed.write(b"\n" + message(1))
            packed.write(blank if number < megabytes // 2 else blank[:-1] + b"\n")
        packed.write(message(2))
    return Asked("ingest", {"paths": (str(path),)}, 3)


# By the name of an input: its units in full, what they are, and how it is made: in a folder, with so many units.
_INPUTS: dict[str, tuple[int, str, Making]] = {
    "rows": (300_000, "rows of claude-mem", make_rows),
    "chain": (60_000, "messages of a chain", make_chain),
    "document": (60_000, "messages of a document", make_document),
    "blanks": (3_000, "MB of packed blanks", make_blanks),
}


def render(report: LargeReport) -> str:
    """The report as a table for a document."""
    lines = [
        "| input | CPU s | for a unit, times a quarter of it | peak MB | progress told | longest time without, s |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {cost.units:,} {cost.unit} | {cost.cpu_s:.1f} | {cost.times:.2f} | {cost.peak_mb:.0f} | "
        f"{cost.progress:,} | {cost.longest_gap_s:.1f} |"
        for cost in report.inputs
    ]
    return "\n".join(lines)
