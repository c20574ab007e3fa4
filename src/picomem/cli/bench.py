"""`picomem bench quality`: measures how well recall answers your own questions.

The project's other benchmarks are not in the package: `python -m benchmarks` runs them in a checkout.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from picomem.cli.run import json_document
from picomem.errors import InvalidInput
from picomem.light_dataclass import asdict
from picomem.paths import database_file, named_path, private_umask
from picomem.text.inert_text import for_terminal, one_line


def add_bench(parser: argparse.ArgumentParser, late: argparse.ArgumentParser) -> None:
    """Add the benchmarks and their arguments; `late` adds those of every command."""
    parts = parser.add_subparsers(title="what to measure", metavar="quality", dest="what", required=True)
    quality = parts.add_parser(
        "quality",
        help="of recall, on your own questions, beside full text alone",
        epilog="Example:\n  picomem bench quality --questions mine.jsonl --compare onnx:~/models/arctic-embed-s",
        parents=[late],
    )
    quality.add_argument(
        "--embedder",
        action="append",
        help="static, none, onnx:FOLDER, … (default the settings'; repeatable)",
    )
    quality.add_argument("--questions", metavar="FILE", help="your own questions, over your own store (see --db)")
    quality.add_argument(
        "--compare",
        action="append",
        metavar="WAY",
        help="another embedder or setting beside yours, as onnx:FOLDER or recall.limit=20",
    )
    quality.add_argument("--markdown", action="store_true", help="tables for a document")


def run_bench(chosen: argparse.Namespace) -> int:
    """Measure, and print the tables (or one JSON document)."""
    from picomem.evaluation import own_report, own_store
    from picomem.evaluation.variants import variants

    if not chosen.questions:
        raise InvalidInput("Name a file of your questions: picomem bench quality --questions FILE.")
    private_umask()
    report = own_store.run(
        named_path(chosen.questions),
        variants(chosen.embedder or [], chosen.compare or []),
        database=database_file(chosen.db) if chosen.db else None,
        user=chosen.user,
        progress=show_progress,
    )
    print_report(report, own_report.render(report, as_markdown=chosen.markdown), as_json=chosen.json)
    return 0


def print_report(report: Any, rendered: str, *, as_json: bool) -> None:
    """Print a report as one JSON document or as its rendered tables, in place of the progress."""
    show_progress("")
    print(json_document(asdict(report), indent=2) if as_json else for_terminal(rendered))


def show_progress(text: str) -> None:
    """Replace the line of progress on stderr, where a person watches."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{one_line(text)}", end="", file=sys.stderr, flush=True)
