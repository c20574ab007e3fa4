"""`picomem bench`: quality, speed, and the write gate."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.values import asdict


def add_bench(parser: argparse.ArgumentParser, late: argparse.ArgumentParser) -> None:
    """The benchmarks, each with its own arguments; `late` has those of every command."""
    parts = parser.add_subparsers(title="what to measure", metavar="quality|speed|gate", dest="what", required=True)
    quality = parts.add_parser("quality", help="of recall, on question sets, beside full text alone", parents=[late])
    # None is told in a sentence of our own; argparse would only say that something is required.
    quality.add_argument("files", nargs="*", metavar="FILE", help="question sets (*.jsonl or *.jsonl.gz)")
    quality.add_argument("--k", default="5,10", help="cut-offs (default 5,10)")
    quality.add_argument("--jobs", type=int, default=1, help="processes")
    quality.add_argument("--embedder", default="static", help="static, none, onnx:FOLDER, … (default static)")
    speed = parts.add_parser("speed", help="of recall, ingest and a process, with and without vectors", parents=[late])
    speed.add_argument("--sizes", default="10000,100000", help="numbers of episodes (default 10000,100000)")
    speed.add_argument("--transcripts", metavar="FOLDER", help="transcripts to ingest besides the made-up ones")
    parts.add_parser(
        "gate", help="of the write gate: junk, duplicates, news, and what recall handed out", parents=[late]
    )


def run_bench(chosen: argparse.Namespace) -> int:
    """Measure, and print the tables (or one JSON document)."""
    if chosen.what == "quality":
        from picomem.bench import quality

        if not chosen.files:
            raise InvalidInput("Name at least one question set: picomem bench quality FILE…")
        report = quality.run(
            [Path(file) for file in chosen.files],
            ks=_numbers(chosen.k, "--k"),
            jobs=chosen.jobs,
            embedder=chosen.embedder,
            progress=lambda state: _progress(f"{state.name}: {state.cases} cases, {state.questions} questions"),
        )
        rendered = quality.render(report)
    elif chosen.what == "gate":
        from picomem.bench import gate

        report = gate.run(_progress)
        rendered = gate.render(report)
    else:
        from picomem.bench import speed

        folder = Path(chosen.transcripts) if chosen.transcripts else None
        report = speed.run(sizes=_numbers(chosen.sizes, "--sizes"), transcripts=folder, progress=_progress)
        rendered = speed.render(report)
    print(json.dumps(asdict(report), ensure_ascii=False, indent=2) if chosen.json else rendered)
    return 0


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _numbers(text: str, what: str) -> tuple[int, ...]:
    try:
        numbers = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        numbers = ()
    if not numbers or numbers[0] < 1:
        raise InvalidInput(f"{what} is “{text}”; write whole numbers with commas, as 5,10.")
    return numbers
