"""`picomem bench quality`: measures how well recall answers, on question sets or on your own questions.

The project's other benchmarks are not in the package: `python -m benchmarks` runs them in a checkout.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from picomem.cli.run import json_document
from picomem.errors import InvalidInput
from picomem.light_dataclass import asdict
from picomem.paths import database_file, named_path, private_umask
from picomem.text.inert_text import for_terminal, one_line

if TYPE_CHECKING:
    from picomem.evaluation.own_report import OwnReport
    from picomem.evaluation.quality import QualityReport


def add_bench(parser: argparse.ArgumentParser, late: argparse.ArgumentParser) -> None:
    """Add the benchmarks and their arguments; `late` adds those of every command."""
    parts = parser.add_subparsers(title="what to measure", metavar="quality", dest="what", required=True)
    quality = parts.add_parser(
        "quality",
        help="of recall, on question sets or your own questions, beside full text alone",
        epilog="Examples:\n  picomem bench quality locomo_dev.jsonl.gz longmemeval_s_dev.jsonl.gz --every 8\n"
        "  picomem bench quality --questions mine.jsonl --compare onnx:~/models/arctic-embed-s",
        parents=[late],
    )
    # None is told in a sentence of our own; argparse would only say that something is required.
    quality.add_argument("files", nargs="*", metavar="FILE", help="question sets (*.jsonl or *.jsonl.gz)")
    quality.add_argument("--k", help="cut-offs (default 5,10)")
    quality.add_argument("--jobs", type=int, help="processes (default 1)")
    quality.add_argument(
        "--every", type=int, metavar="N", help="only the first and every N-th case after it: part of a large set"
    )
    quality.add_argument(
        "--embedder",
        action="append",
        help="static, none, onnx:FOLDER, … (default static; for --questions the settings', and repeatable)",
    )
    quality.add_argument("--questions", metavar="FILE", help="your own questions, over your own store (see --db)")
    quality.add_argument(
        "--compare",
        action="append",
        metavar="WAY",
        help="for --questions: another embedder or setting beside yours, as onnx:FOLDER or recall.limit=20",
    )
    quality.add_argument("--markdown", action="store_true", help="tables for a document")


def run_bench(chosen: argparse.Namespace) -> int:
    """Measure, and print the tables (or one JSON document)."""
    report, rendered = _own_questions(chosen) if chosen.questions else _question_sets(chosen)
    print_report(report, rendered, as_json=chosen.json)
    return 0


def _question_sets(chosen: argparse.Namespace) -> tuple[QualityReport, str]:
    from picomem.evaluation import quality

    if chosen.compare or len(chosen.embedder or ()) > 1:
        raise InvalidInput("Sets are asked with one embedder; --compare is for --questions.")
    if not chosen.files:
        raise InvalidInput("Name at least one question set: picomem bench quality FILE…")
    report = quality.run(
        [named_path(file) for file in chosen.files],
        ks=numbers_of("5,10" if chosen.k is None else chosen.k, "--k"),
        jobs=1 if chosen.jobs is None else chosen.jobs,
        every=1 if chosen.every is None else chosen.every,
        embedder=(chosen.embedder or ["static"])[0],
        progress=lambda state: show_progress(f"{state.name}: {state.cases} cases, {state.questions} questions"),
    )
    return report, quality.render_markdown(report) if chosen.markdown else quality.render(report)


def _own_questions(chosen: argparse.Namespace) -> tuple[OwnReport, str]:
    from picomem.evaluation import own_report, own_store
    from picomem.evaluation.variants import variants

    if chosen.files:
        raise InvalidInput("Give question sets, or --questions over your own store; not both.")
    if stray := next((name for name in ("k", "jobs", "every") if getattr(chosen, name) is not None), None):
        raise InvalidInput(
            f"--{stray} is for question sets; your own questions are all asked, one after the other, and what they "
            "should find is looked for among the first 1, 5 and 10."
        )
    private_umask()
    report = own_store.run(
        named_path(chosen.questions),
        variants(chosen.embedder or [], chosen.compare or []),
        database=database_file(chosen.db) if chosen.db else None,
        user=chosen.user,
        progress=show_progress,
    )
    return report, own_report.render(report, as_markdown=chosen.markdown)


def print_report(report: Any, rendered: str, *, as_json: bool) -> None:
    """Print a report as one JSON document or as its rendered tables, in place of the progress."""
    show_progress("")
    print(json_document(asdict(report), indent=2) if as_json else for_terminal(rendered))


def show_progress(text: str) -> None:
    """Replace the line of progress on stderr, where a person watches."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{one_line(text)}", end="", file=sys.stderr, flush=True)


def numbers_of(text: str, what: str) -> tuple[int, ...]:
    """The whole numbers of an argument such as 5,10, in order. Raises InvalidInput, which names the argument `what`."""
    try:
        numbers = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        numbers = ()
    if not numbers or numbers[0] < 1:
        raise InvalidInput(f"{what} is “{text}”; write whole numbers with commas, as 5,10.")
    return numbers
