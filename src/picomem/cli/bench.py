"""`picomem bench`: quality, speed, the write gate, and redaction."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from picomem.cli.run import json_document
from picomem.errors import InvalidInput
from picomem.paths import named_path, private_umask
from picomem.text.safe import for_terminal, one_line
from picomem.values import asdict

_MOST_INSTANCES = 100_000

if TYPE_CHECKING:
    from picomem.bench.own_report import OwnReport
    from picomem.bench.peers.report import PeerReport


def add_bench(parser: argparse.ArgumentParser, late: argparse.ArgumentParser) -> None:
    """The benchmarks, each with its own arguments; `late` has those of every command."""
    parts = parser.add_subparsers(
        title="what to measure",
        metavar="quality|ablation|speed|curves|gate|redaction|peers",
        dest="what",
        required=True,
    )
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
    speed = parts.add_parser("speed", help="of recall, ingest and a process, with and without vectors", parents=[late])
    speed.add_argument("--sizes", default="10000,100000", help="numbers of episodes (default 10000,100000)")
    speed.add_argument("--files", type=int, default=2000, metavar="N", help="small transcripts (default 2000)")
    speed.add_argument("--transcripts", metavar="FOLDER", help="transcripts to ingest besides the made-up ones")
    _add_ablation(parts, late)
    _add_curves(parts, late)
    _add_peers(parts, late)
    parts.add_parser(
        "gate", help="of the write gate: junk, duplicates, news, and what recall handed out", parents=[late]
    )
    redaction = parts.add_parser(
        "redaction", help="of redaction: shapes of secrets caught, false alarms, MB/s on hostile text", parents=[late]
    )
    redaction.add_argument("--instances", type=int, default=400, help="secrets drawn of each shape (default 400)")


def _add_ablation(parts: Any, late: argparse.ArgumentParser) -> None:
    ablation = parts.add_parser(
        "ablation",
        help="of each part of recall: what it adds on question sets, and what it costs",
        epilog="Example:\n  picomem bench ablation locomo_dev.jsonl.gz notes_dev.jsonl.gz --jobs 2 --markdown",
        parents=[late],
    )
    ablation.add_argument("files", nargs="+", metavar="FILE", help="question sets (*.jsonl or *.jsonl.gz)")
    ablation.add_argument("--jobs", type=int, default=1, help="processes")
    ablation.add_argument("--embedder", default="static", help="static, onnx:FOLDER, … (default static)")
    ablation.add_argument("--markdown", action="store_true", help="one table for a document")


def _add_curves(parts: Any, late: argparse.ArgumentParser) -> None:
    curves = parts.add_parser(
        "curves",
        help="draw how recall grows with the store, from reports of speed",
        epilog="Example:\n  picomem bench speed --sizes 10000,100000 --json > speed.json\n"
        "  picomem bench curves speed.json --out growth.svg",
        parents=[late],
    )
    curves.add_argument("files", nargs="+", metavar="FILE", help="reports of picomem bench speed --json")
    curves.add_argument("--out", default="growth.svg", metavar="FILE", help="the picture (default growth.svg)")


def _add_peers(parts: Any, late: argparse.ArgumentParser) -> None:
    peers = parts.add_parser(
        "peers",
        help="of other libraries beside picomem: adding, asking, memory, and quality on question sets",
        epilog="Example:\n  picomem bench peers locomo_dev.jsonl.gz --peers ~/peers",
        parents=[late],
    )
    peers.add_argument("files", nargs="*", metavar="FILE", help="question sets for quality")
    peers.add_argument("--sizes", default="10000", help="numbers of made-up texts for speed (default 10000)")
    peers.add_argument("--no-speed", action="store_true", help="quality alone")
    peers.add_argument("--peers", metavar="FOLDER", help="virtual environments of the peers, one a folder")
    peers.add_argument(
        "--model",
        metavar="FOLDER",
        help="the sentence model that they share, as for onnx:FOLDER (default: what make peers put there)",
    )
    peers.add_argument("--only", action="append", metavar="NAME", help="this peer; may be repeated")
    peers.add_argument("--minutes", type=float, default=15.0, help="that a peer has for a size or a set (default 15)")
    peers.add_argument("--markdown", action="store_true", help="tables for a document")


def run_bench(chosen: argparse.Namespace) -> int:
    """Measure, and print the tables (or one JSON document)."""
    if chosen.what == "curves":
        return _draw(chosen)
    if chosen.what == "quality" and chosen.questions:
        report, rendered = _own_questions(chosen)
    elif chosen.what == "quality":
        from picomem.bench import quality

        if chosen.compare or len(chosen.embedder or ()) > 1:
            raise InvalidInput("Sets are asked with one embedder; --compare is for --questions.")
        if not chosen.files:
            raise InvalidInput("Name at least one question set: picomem bench quality FILE…")
        report = quality.run(
            [named_path(file) for file in chosen.files],
            ks=_numbers("5,10" if chosen.k is None else chosen.k, "--k"),
            jobs=1 if chosen.jobs is None else chosen.jobs,
            every=1 if chosen.every is None else chosen.every,
            embedder=(chosen.embedder or ["static"])[0],
            progress=lambda state: _progress(f"{state.name}: {state.cases} cases, {state.questions} questions"),
        )
        rendered = quality.render_markdown(report) if chosen.markdown else quality.render(report)
    elif chosen.what == "peers":
        report, rendered = _peers(chosen)
    elif chosen.what == "ablation":
        from picomem.bench import ablation

        files = [named_path(file) for file in chosen.files]
        report = ablation.run(files, jobs=chosen.jobs, embedder=chosen.embedder, progress=_progress)
        rendered = ablation.render(report, as_markdown=chosen.markdown)
    elif chosen.what == "gate":
        from picomem.bench import gate

        report = gate.run(_progress)
        rendered = gate.render(report)
    elif chosen.what == "redaction":
        from picomem.bench import redaction

        if not 1 <= chosen.instances <= _MOST_INSTANCES:
            raise InvalidInput(f"--instances is {chosen.instances}; it must be from 1 to {_MOST_INSTANCES:,}.")
        report = redaction.run(chosen.instances, progress=_progress)
        rendered = redaction.render(report)
    else:
        from picomem.bench import speed

        folder = named_path(chosen.transcripts) if chosen.transcripts else None
        if chosen.files < 1:
            raise InvalidInput(f"--files is {chosen.files}; it must be at least 1.")
        effort = speed.Effort(small_files=chosen.files)
        report = speed.run(
            sizes=_numbers(chosen.sizes, "--sizes"), transcripts=folder, progress=_progress, effort=effort
        )
        rendered = speed.render(report)
    _progress("")
    print(json_document(asdict(report), indent=2) if chosen.json else for_terminal(rendered))
    if getattr(report, "stopped", False):
        raise KeyboardInterrupt
    return 0


def _draw(chosen: argparse.Namespace) -> int:
    from picomem.bench.curves import draw

    sizes = draw([named_path(file) for file in chosen.files], named_path(chosen.out))
    shown = f"{one_line(chosen.out)} shows {sizes} sizes."
    print(json_document({"path": chosen.out, "sizes": sizes}) if chosen.json else shown)
    return 0


def _own_questions(chosen: argparse.Namespace) -> tuple[OwnReport, str]:
    from picomem.bench import own_report, own_store
    from picomem.bench.variants import variants

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
        database=named_path(chosen.db) if chosen.db else None,
        user=chosen.user,
        progress=_progress,
    )
    return report, own_report.render(report, as_markdown=chosen.markdown)


def _peers(chosen: argparse.Namespace) -> tuple[PeerReport, str]:
    from picomem.bench.peers import report as peer_report
    from picomem.bench.peers import run as peer_run

    if chosen.no_speed and not chosen.files:
        raise InvalidInput("That leaves nothing to measure; name a question set, or leave --no-speed out.")
    report = peer_run.run(
        [named_path(file) for file in chosen.files],
        sizes=() if chosen.no_speed else _numbers(chosen.sizes, "--sizes"),
        place=peer_run.Place(
            environments=named_path(chosen.peers).resolve() if chosen.peers else None,
            model=named_path(chosen.model).resolve() if chosen.model else None,
        ),
        only=chosen.only or (),
        bounds=peer_run.Bounds(minutes=chosen.minutes),
        progress=_progress,
    )
    return report, peer_report.render(report, as_markdown=chosen.markdown)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{one_line(text)}", end="", file=sys.stderr, flush=True)


def _numbers(text: str, what: str) -> tuple[int, ...]:
    try:
        numbers = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        numbers = ()
    if not numbers or numbers[0] < 1:
        raise InvalidInput(f"{what} is “{text}”; write whole numbers with commas, as 5,10.")
    return numbers
