"""The arguments of every benchmark."""

from __future__ import annotations

import argparse
from typing import Any

from picomem.cli.main import Parser


def make_parser() -> Parser:
    """The parser of `python -m benchmarks`."""
    parser = Parser(
        prog="python -m benchmarks",
        description="What picomem is measured with.",
        parents=[_common()],
    )
    benchmarks = parser.add_subparsers(title="what to measure", metavar="BENCHMARK", dest="what", required=True)
    late = _common(suppress=True)
    _add_speed(benchmarks, late)
    _add_curves(benchmarks, late)
    _add_quality(benchmarks, late)
    _add_own(benchmarks, late)
    _add_ablation(benchmarks, late)
    _add_peers(benchmarks, late)
    _add_gate(benchmarks, late)
    _add_revisions(benchmarks, late)
    _add_record(benchmarks, late)
    _add_common_words(benchmarks, late)
    _add_memories(benchmarks, late)
    _add_large(benchmarks, late)
    _add_redaction(benchmarks, late)
    _add_postings(benchmarks, late)
    _add_serve(benchmarks, late)
    _add_inject(benchmarks, late)
    _add_distil(benchmarks, late)
    _add_hooks(benchmarks, late)
    _add_page(benchmarks, late)
    _add_scale(benchmarks, late)
    return parser


def _common(suppress: bool = False) -> Parser:
    """`--json`, which may stand before the benchmark or after it."""
    common = Parser(add_help=False)
    default: dict[str, Any] = {"default": argparse.SUPPRESS} if suppress else {}
    common.add_argument("--json", action="store_true", help="print one JSON document", **default)
    return common


def _add_speed(benchmarks: Any, late: Parser) -> None:
    speed = benchmarks.add_parser(
        "speed",
        help="of recall, ingest and a process, with and without vectors",
        epilog="Example:\n  python -m benchmarks speed --sizes 10000 --files 500",
        parents=[late],
    )
    speed.add_argument("--sizes", default="10000,100000", help="numbers of episodes (default 10000,100000)")
    speed.add_argument("--files", type=int, default=2000, metavar="N", help="small transcripts (default 2000)")
    speed.add_argument(
        "--sealed", action="store_true", help="only what it costs that a store is sealed, at the first size"
    )
    speed.add_argument("--transcripts", metavar="FOLDER", help="transcripts to ingest besides the made-up ones")


def _add_curves(benchmarks: Any, late: Parser) -> None:
    curves = benchmarks.add_parser(
        "curves",
        help="draw how recall grows with the store, from reports of speed",
        epilog="Example:\n  python -m benchmarks speed --sizes 10000,100000 --json > speed.json\n"
        "  python -m benchmarks curves speed.json --out growth.svg",
        parents=[late],
    )
    curves.add_argument("files", nargs="+", metavar="FILE", help="reports of python -m benchmarks speed --json")
    curves.add_argument("--out", default="growth.svg", metavar="FILE", help="the picture (default growth.svg)")


def _add_quality(benchmarks: Any, late: Parser) -> None:
    quality = benchmarks.add_parser(
        "quality",
        help="of recall on question sets, beside full text alone",
        epilog="Example:\n  python -m benchmarks quality locomo_dev.jsonl.gz longmemeval_s_dev.jsonl.gz --every 8",
        parents=[late],
    )
    quality.add_argument("files", nargs="+", metavar="FILE", help="question sets (*.jsonl or *.jsonl.gz)")
    quality.add_argument("--k", default="5,10", help="cut-offs (default 5,10)")
    quality.add_argument("--jobs", type=int, default=1, help="processes")
    quality.add_argument(
        "--every", type=int, default=1, metavar="N", help="only the first and every N-th case: part of a large set"
    )
    quality.add_argument("--embedder", default="static", help="static, none, onnx:FOLDER, … (default static)")
    quality.add_argument("--server", default="", metavar="ADDRESS", help="measure in a store on this server")
    quality.add_argument("--markdown", action="store_true", help="tables for a document")


def _add_own(benchmarks: Any, late: Parser) -> None:
    own = benchmarks.add_parser(
        "own",
        help="of recall on your own questions over your own store, beside full text alone",
        epilog="Example:\n  python -m benchmarks own mine.jsonl --compare onnx:~/models/arctic-embed-s",
        parents=[late],
    )
    own.add_argument("questions", metavar="FILE", help="your own questions")
    own.add_argument("--db", metavar="PATH", help="the store (default the settings')")
    own.add_argument("--user", metavar="ID", help="whose memory (default the settings')")
    own.add_argument(
        "--embedder", action="append", help="static, none, onnx:FOLDER, … (default the settings'; repeatable)"
    )
    own.add_argument(
        "--compare",
        action="append",
        metavar="WAY",
        help="another embedder or setting beside yours, as onnx:FOLDER or recall.limit=20",
    )
    own.add_argument("--markdown", action="store_true", help="tables for a document")


def _add_ablation(benchmarks: Any, late: Parser) -> None:
    ablation = benchmarks.add_parser(
        "ablation",
        help="of each part of recall: what it adds on question sets, and what it costs",
        epilog="Example:\n  python -m benchmarks ablation locomo_dev.jsonl.gz notes_dev.jsonl.gz --jobs 2 --markdown",
        parents=[late],
    )
    ablation.add_argument("files", nargs="+", metavar="FILE", help="question sets (*.jsonl or *.jsonl.gz)")
    ablation.add_argument("--jobs", type=int, default=1, help="processes")
    ablation.add_argument("--embedder", default="static", help="static, onnx:FOLDER, … (default static)")
    ablation.add_argument("--markdown", action="store_true", help="one table for a document")


def _add_peers(benchmarks: Any, late: Parser) -> None:
    peers = benchmarks.add_parser(
        "peers",
        help="of other libraries beside picomem: adding, asking, memory, and quality on question sets",
        epilog="Example:\n  python -m benchmarks peers locomo_dev.jsonl.gz --peers .peers",
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


def _add_gate(benchmarks: Any, late: Parser) -> None:
    benchmarks.add_parser(
        "gate",
        help="of the write gate: junk, duplicates, news, and what recall handed out",
        epilog="Example:\n  python -m benchmarks gate --json",
        parents=[late],
    )


def _add_revisions(benchmarks: Any, late: Parser) -> None:
    revisions = benchmarks.add_parser(
        "revisions",
        help="of a memory that was revised often, beside one that was revised seldom",
        epilog="Example:\n  python -m benchmarks revisions --revisions 2000",
        parents=[late],
    )
    revisions.add_argument("--revisions", type=int, default=10_000, metavar="N", help="of one key (default 10000)")
    revisions.add_argument("--embedder", default="static", help="static or none (default static)")


def _add_record(benchmarks: Any, late: Parser) -> None:
    record = benchmarks.add_parser(
        "record",
        help="of the chain over the record of changes",
        epilog="Example:\n  python -m benchmarks record --changes 20000",
        parents=[late],
    )
    record.add_argument("--changes", type=int, default=100_000, metavar="N", help="in the record (default 100000)")


def _add_common_words(benchmarks: Any, late: Parser) -> None:
    common = benchmarks.add_parser(
        "common-words",
        help="of a question whose words every memory holds",
        epilog="Example:\n  python -m benchmarks common-words --memories 1000,20000",
        parents=[late],
    )
    common.add_argument("--memories", default="", metavar="N,N", help="sizes of the stores (default 1000 to 100000)")


def _add_memories(benchmarks: Any, late: Parser) -> None:
    growth = benchmarks.add_parser(
        "memories",
        help="of storing and recalling as the number of memories grows",
        epilog="Example:\n  python -m benchmarks memories --sizes 1000,10000",
        parents=[late],
    )
    growth.add_argument("--sizes", default="1000,10000,100000", help="numbers of memories (default 1000,10000,100000)")
    growth.add_argument("--embedder", default="none", help="static or none (default none)")


def _add_large(benchmarks: Any, late: Parser) -> None:
    large = benchmarks.add_parser(
        "large",
        help="of the largest files of other programs that are imported or ingested",
        epilog="Example:\n  python -m benchmarks large --share 0.1",
        parents=[late],
    )
    large.add_argument("--share", type=float, default=1.0, metavar="PART", help="of the full sizes (default 1)")
    large.add_argument("--only", action="append", metavar="NAME", help="one of the inputs; may be repeated")


def _add_redaction(benchmarks: Any, late: Parser) -> None:
    redaction = benchmarks.add_parser(
        "redaction",
        help="of redaction: shapes of secrets caught, false alarms, MB/s on hostile text",
        epilog="Example:\n  python -m benchmarks redaction --instances 50",
        parents=[late],
    )
    redaction.add_argument("--instances", type=int, default=400, help="secrets drawn of each shape (default 400)")


def _add_postings(benchmarks: Any, late: Parser) -> None:
    postings = benchmarks.add_parser(
        "postings",
        help="of full text: FTS5 beside postings tables of our own",
        epilog="Example:\n  python -m benchmarks postings --sizes 10000,100000",
        parents=[late],
    )
    postings.add_argument("--sizes", default="10000,100000", help="numbers of documents (default 10000,100000)")
    postings.add_argument(
        "--owners", choices=("one", "many", "both"), default="both", help="one user, 1,000, or both (default both)"
    )
    postings.add_argument("--words", type=int, metavar="N", help="words of a text (default: lengths of usual texts)")
    postings.add_argument(
        "--minutes", type=float, default=5.0, help="of processor time that filling a design may take (default 5)"
    )


def _add_serve(benchmarks: Any, late: Parser) -> None:
    serve = benchmarks.add_parser(
        "serve",
        help="of the server beside the engine: many clients and users, its memory, and what a crash loses",
        epilog="Example:\n  python -m benchmarks serve --chroma .peers/chroma/bin/chroma",
        parents=[late],
    )
    serve.add_argument("--users", type=int, default=1_000, metavar="N", help="users (default 1000)")
    serve.add_argument("--own", type=int, default=100, metavar="N", help="episodes of each user (default 100)")
    serve.add_argument("--clients", type=int, default=50, metavar="N", help="clients at once (default 50)")
    serve.add_argument("--seconds", type=float, default=60, metavar="S", help="how long they ask (default 60)")
    serve.add_argument("--requests", type=int, default=20_000, metavar="N", help="for its memory (default 20000)")
    serve.add_argument("--sockets", type=int, default=1_000, metavar="N", help="idle web sockets (default 1000)")
    serve.add_argument("--chroma", metavar="COMMAND", help="the command of Chroma, whose server is measured beside it")


def _add_distil(benchmarks: Any, late: Parser) -> None:
    distil = benchmarks.add_parser(
        "distil",
        help="of what distilled sessions leave on the page, with a model that is never wrong",
        epilog="Example:\n  python -m benchmarks distil ../stories/story1",
        parents=[late],
    )
    distil.add_argument("stories", nargs="+", metavar="STORY", help="folders with transcripts and truth.json")


def _add_inject(benchmarks: Any, late: Parser) -> None:
    inject = benchmarks.add_parser(
        "inject",
        help="of what the prompt hook injects: how often it is useful, how often useless, its tokens",
        epilog="Example:\n  python -m benchmarks inject --picture injection.svg",
        parents=[late],
    )
    inject.add_argument("--markdown", action="store_true", help="tables for a document")
    inject.add_argument("--picture", metavar="FILE", help="draw the curve of useful and useless")


def _add_hooks(benchmarks: Any, late: Parser) -> None:
    hooks = benchmarks.add_parser(
        "hooks",
        help="of the hook on a busy machine: the answers that are lost, and the time of the others",
        epilog="Example:\n  python -m benchmarks hooks --busy 4 --runs 200",
        parents=[late],
    )
    hooks.add_argument("--busy", type=int, default=4, metavar="N", help="processes that compute (default 4)")
    hooks.add_argument("--runs", type=int, default=200, metavar="N", help="of the hook at each event (default 200)")


def _add_page(benchmarks: Any, late: Parser) -> None:
    page = benchmarks.add_parser(
        "page",
        help="of the web page: the server's time for every view, with many memories and with few",
        epilog="Example:\n  python -m benchmarks page --memories 10000",
        parents=[late],
    )
    page.add_argument("--memories", type=int, default=100_000, metavar="N", help="and episodes (default 100000)")
    page.add_argument("--markdown", action="store_true", help="a table for a document")


def _add_scale(benchmarks: Any, late: Parser) -> None:
    scale = benchmarks.add_parser(
        "scale",
        help="of a store on PostgreSQL beside a file: many users, a heavy user, many clients",
        epilog="Example:\n  python -m benchmarks scale --users 20,200 --episodes 10000 --clients 1,8",
        parents=[late],
    )
    scale.add_argument("--users", default="20,200", help="numbers of users with 100 memories each (default 20,200)")
    scale.add_argument("--episodes", type=int, default=10_000, metavar="N", help="of the heavy user (default 10000)")
    scale.add_argument("--clients", default="1,8", help="numbers of clients at once (default 1,8)")
    scale.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long clients work (default 5)")
    scale.add_argument("--full", action="store_true", help="100 to 10,000 users, 100,000 episodes, 32 clients: hours")
    scale.add_argument("--server", metavar="ADDRESS", help="of an empty database (default: a server of its own)")
