"""`python -m benchmarks postings`: FTS5 as picomem uses it, beside two postings tables of our own.

Each design has a file of its own with the store's settings (WAL, synchronous=FULL, secure_delete, 16 MB of cache) and
nothing but the full text of episodes. They take turns: each transaction of documents, and each question, goes to one
design after the other, so that other work on the machine slows all of them alike. Times are processor time, because the
machine is shared; the waiting for the disk is not in them, and the bytes that a design writes are told instead.

Texts are made up (prose.py), a talk of 40 at a time, a transaction of 1,000. Short ones (`--words 8`) fill a million
documents in about a quarter of the time. For every size there are two collections:
one user's, and one of 1,000 users whose talks come interleaved. A share of the documents is removed at the end. Each of
these has a word of its own, for which the file is then searched byte by byte.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from heapq import nlargest
from itertools import islice
from math import isclose
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import apsw

from benchmarks.postings_tables import PostingBlocks, PostingRows
from benchmarks.prose import Prose
from benchmarks.recall_speed import percentile
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, field
from picomem.recall.lexical_search import idf
from picomem.records.scope import Scope
from picomem.store.search import Document, Search
from picomem.store.sql_statements import schema
from picomem.store.sqlite.transaction import SqliteTransaction
from picomem.text.terms import query_terms

DESIGNS = ("fts5", "rows", "blocks")
KINDS = ("said", "rare", "common", "spelling")
SOURCE = "episode"
_SEED = 7
_OWNERS = {"one": (1,), "many": (1_000,), "both": (1, 1_000)}
_TALK = 40  # documents
_TALKS = 25  # of a transaction
_BEST = 10  # documents of an answer
_MOST_DOCUMENTS = 20_000  # a term of more is only looked up if the question has no rarer one, as in recall
_WORDS = 5  # of a question of rare or common words
_VOCABULARY = 2_000  # terms that are read to find near spellings, as in recall
_REMOVED_USER = "user-1"
_REMOVED_EVERY = 100  # of one user's documents, every so manieth is removed
_MARK = "jkqvwxz"  # letters of the words that are searched for in the file: no made-up word has four of them in a row
_MARK_LENGTH = 16
_NEEDLE = 9  # the last bytes of such a word; FTS5 stores of a word only what the one before it lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is done for a figure."""

    questions: int = 50  # of each kind
    rounds: int = 3
    round_seconds: float = 20.0  # no further round of a kind is begun after so many
    fill_seconds: float = 300.0  # of processor time, after which a design is given up for a collection


@dataclass(slots=True, kw_only=True)
class Latency:
    """Median and 99th percentile over the questions of a kind, in milliseconds of processor time."""

    p50_ms: float
    p99_ms: float


@dataclass(slots=True, kw_only=True)
class Figures:
    """One design on one collection. A design that was given up has `stored` documents, and no other figures."""

    design: str
    documents: int
    users: int
    stored: int = 0
    per_cpu_second: float = 0.0
    written_mb: float = 0.0
    mb: float = 0.0
    packed_mb: float = 0.0
    latencies: dict[str, Latency] = field(default_factory=dict)
    questions: int = 0
    same_answers: int = 0  # questions with the same best documents as FTS5 gives, but for ties
    removed: int = 0
    remove_ms: float = 0.0
    traces_after_remove: int = 0
    clean_ms: float = 0.0
    traces_after_clean: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingsReport:
    machine: str
    figures: tuple[Figures, ...]


@dataclass(slots=True)
class _Design:
    """A design at work in its file."""

    name: str
    path: Path
    connection: apsw.Connection
    search: Search
    figures: Figures
    cpu_seconds: float = 0.0
    written: int = 0
    is_given_up: bool = False

    @contextmanager
    def transaction(self) -> Iterator[Search]:
        self.connection.execute("BEGIN IMMEDIATE")
        yield self.search
        self.connection.execute("COMMIT")

    def file_size(self) -> int:
        """The size of the file when the log is folded into it."""
        self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        return self.path.stat().st_size

    def clean(self) -> None:
        """Write the file anew, as a purge does; FTS5 has to merge its segments first."""
        if self.name == "fts5":
            self.connection.execute(f"INSERT INTO {SOURCE}_words ({SOURCE}_words) VALUES ('optimize')")
        self.connection.execute("VACUUM")


@dataclass(slots=True)
class _Collection:
    """What is stored, and what is asked of it."""

    documents: int
    users: int
    words: int | None  # of a text
    asked: dict[str, list[list[str]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    own: int = 0  # documents of the user who asks
    gone: list[Document] = field(default_factory=list)
    needles: set[bytes] = field(default_factory=set)

    @property
    def asker(self) -> Scope:
        return Scope("user-0")

    @property
    def removed_from(self) -> Scope:
        return Scope(_REMOVED_USER) if self.users > 1 else self.asker


def run(
    sizes: Sequence[int],
    progress: Callable[[str], None] = lambda _: None,
    effort: Effort | None = None,
    *,
    owners: str = "both",
    words: int | None = None,
) -> PostingsReport:
    """Measure all designs at these numbers of documents, of one user ("one"), of 1,000 ("many"), or "both".

    Texts have so many `words`, or else the lengths of usual ones.
    """
    if not sizes or min(sizes) < 1:
        raise InvalidInput("The numbers of documents are whole numbers from 1.")
    effort = effort or Effort()
    figures: list[Figures] = []
    for size in sizes:
        for users in dict.fromkeys(_OWNERS[owners]):
            figures += _measure(_Collection(size, min(size, users), words), effort, progress)
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return PostingsReport(machine=machine, figures=tuple(figures))


def _measure(collection: _Collection, effort: Effort, progress: Callable[[str], None]) -> list[Figures]:
    with TemporaryDirectory(prefix="picomem-bench-") as folder, ExitStack() as opened:
        designs = [_open(name, Path(folder), collection, opened) for name in DESIGNS]
        where = f"{collection.documents:,} documents, {collection.users:,} users"
        _fill(designs, collection, effort, lambda done: progress(f"filling: {done:,} of {where}"))
        whole = [design for design in designs if not design.is_given_up]
        for kind in KINDS:
            progress(f"asking ({kind}): {where}")
            _ask(whole, collection, kind, effort)
        for design in whole:
            progress(f"removing ({design.name}): {where}")
            _remove(design, collection)
        return [design.figures for design in designs]


def _open(name: str, folder: Path, collection: _Collection, opened: ExitStack) -> _Design:
    path = folder / f"{name}.db"
    connection = opened.enter_context(closing(apsw.Connection(str(path))))
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "cache_size = -16000"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    figures = Figures(design=name, documents=collection.documents, users=collection.users)
    if name == "fts5":
        connection.execute(schema("search_sqlite"))
        return _Design(name, path, connection, SqliteTransaction(connection, path).search, figures)
    table = PostingRows(connection) if name == "rows" else PostingBlocks(connection)
    table.create()
    return _Design(name, path, connection, table, figures)


def _fill(designs: list[_Design], collection: _Collection, effort: Effort, progress: Callable[[int], None]) -> None:
    talks = _talks(collection, effort)
    done = 0
    while batch := list(islice(talks, _TALKS)):
        done += sum(len(documents) for _, documents in batch)
        for design in designs:
            if design.is_given_up:
                continue
            written, begun = _written(), process_time()
            with design.transaction() as search:
                for scope, documents in batch:
                    search.add(scope, SOURCE, documents)
            design.cpu_seconds += process_time() - begun
            design.written += _written() - written
            design.figures.stored = done
            design.is_given_up = design.cpu_seconds > effort.fill_seconds and done < collection.documents
        progress(done)
    for design in designs:
        design.figures.per_cpu_second = design.figures.stored / design.cpu_seconds
        design.figures.written_mb = design.written / 1e6
        design.figures.mb = design.file_size() / 1e6


def _talks(collection: _Collection, effort: Effort) -> Iterator[tuple[Scope, list[Document]]]:
    """The documents, by talk. On the way it chooses questions, and the documents that are removed in the end."""
    prose, random = Prose(_SEED), Random(_SEED)
    share = collection.documents // collection.users  # of a user
    asked_every = max(1, share // effort.questions)
    doc = 0
    for first in range(0, share, _TALK):
        for number in range(collection.users):
            scope, topic = Scope(f"user-{number}"), prose.topic()
            documents: list[Document] = []
            for place in range(first, min(first + _TALK, share)):
                doc += 1
                text = prose.text(topic, collection.words)
                if scope == collection.asker:
                    collection.own += 1
                    if place >= asked_every * len(collection.asked["said"]):
                        _add_questions(collection, prose, text, topic)
                is_removed = scope == collection.removed_from and (
                    collection.users > 1 or place % _REMOVED_EVERY == _REMOVED_EVERY // 2
                )
                if is_removed:
                    mark = "".join(random.choices(_MARK, k=_MARK_LENGTH))
                    text = f"{text} {mark}"
                    collection.needles.add(mark[-_NEEDLE:].encode())
                    collection.gone.append(Document(doc, text))
                documents.append(Document(doc, text))
            yield scope, documents


def _add_questions(collection: _Collection, prose: Prose, text: str, topic: list[str]) -> None:
    """A question of each kind about a text: five of its words as they come, words of its topic, the commonest words of
    the prose, and the beginning of a word that is looked up for near spellings. A text of function words alone gets
    none."""
    said = query_terms(prose.question(text).split(" ", 1)[1])
    if not said:
        return
    collection.asked["said"].append(said)
    collection.asked["rare"].append(query_terms(" ".join(prose.random.sample(topic, _WORDS))))
    collection.asked["common"].append(query_terms(" ".join(prose.random.sample(prose.commonest(50), _WORDS))))
    collection.asked["spelling"].append([said[-1][:2]])


def _ask(designs: list[_Design], collection: _Collection, kind: str, effort: Effort) -> None:
    questions = collection.asked[kind][: effort.questions]
    least = {design.name: [float("inf")] * len(questions) for design in designs}
    begun = perf_counter()
    for number in range(effort.rounds):
        if number and perf_counter() - begun > effort.round_seconds:
            break
        for at, question in enumerate(questions):
            expected: list[tuple[int, float]] | None = None
            for design in designs:
                started = process_time()
                answer = _answer(design.search, collection, kind, question)
                least[design.name][at] = min(least[design.name][at], (process_time() - started) * 1000)
                if number == 0 and kind != "spelling":
                    expected = answer if expected is None else expected
                    design.figures.questions += 1
                    design.figures.same_answers += is_same(expected, answer)
    for design in designs:
        times = least[design.name]
        design.figures.latencies[kind] = Latency(p50_ms=percentile(times, 0.5), p99_ms=percentile(times, 0.99))


def _answer(search: Search, collection: _Collection, kind: str, question: list[str]) -> list[tuple[int, float]]:
    if kind == "spelling":
        search.terms_near(collection.asker, SOURCE, [question[0]], _VOCABULARY)
        return []
    return best_documents(search, collection.asker, collection.own, question)


def best_documents(search: Search, scope: Scope, documents: int, question: list[str]) -> list[tuple[int, float]]:
    """The documents that hold most of a question, with their weights, best first: what recall asks of full text."""
    counts = search.counts(scope, SOURCE, question)
    rare = {term for term, count in counts.items() if 0 < count <= _MOST_DOCUMENTS}
    totals: dict[int, float] = {}
    for term, count in counts.items():
        if count and (term in rare or not rare):
            (scores,) = search.scores(scope, SOURCE, [(term, idf(documents, count))])
            for doc, weight in scores.items():
                totals[doc] = totals.get(doc, 0.0) + weight
    return [(doc, totals[doc]) for doc in nlargest(_BEST, totals, key=lambda doc: (totals[doc], doc))]


def is_same(one: list[tuple[int, float]], other: list[tuple[int, float]]) -> bool:
    """Return whether two answers have the same weights, and the same documents but for ties with the last."""
    if not one:
        return not other
    weights, others = [weight for _, weight in one], [weight for _, weight in other]
    if len(one) != len(other) or not all(map(_is_near, weights, others)):
        return False
    return _above(one, weights[-1]) == _above(other, weights[-1])


def _above(answer: list[tuple[int, float]], least: float) -> set[int]:
    return {doc for doc, weight in answer if weight > least and not _is_near(weight, least)}


def _is_near(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-6)


def _remove(design: _Design, collection: _Collection) -> None:
    figures = design.figures
    begun = process_time()
    with design.transaction() as search:
        search.remove(collection.removed_from, SOURCE, collection.gone)
    figures.removed, figures.remove_ms = len(collection.gone), (process_time() - begun) * 1000
    design.file_size()
    figures.traces_after_remove = _traces(design.path, collection.needles)
    begun = process_time()
    design.clean()
    figures.clean_ms = (process_time() - begun) * 1000
    figures.packed_mb = design.file_size() / 1e6
    figures.traces_after_clean = _traces(design.path, collection.needles)


def _traces(path: Path, needles: set[bytes]) -> int:
    """Return how many of the words are in the file."""
    present: set[bytes] = set()
    marks = re.compile(b"[%b]{%d,}" % (_MARK.encode(), _NEEDLE))
    rest = b""
    with path.open("rb") as file:
        while chunk := file.read(1 << 22):
            for run in marks.findall(rest + chunk):
                present |= needles & {run[at : at + _NEEDLE] for at in range(len(run) - _NEEDLE + 1)}
            rest = chunk[-_MARK_LENGTH:]
    return len(present)


def _written() -> int:
    """Bytes that this process has handed to the system to write; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/io").read_text("ascii").split("wchar: ")[1].split()[0])
    except OSError:
        return 0


def render(report: PostingsReport) -> str:
    """The report as plain text."""
    heading = [
        *("documents", "users", "design", "MB", "packed", "written", "docs/cpu s"),
        *(f"{kind} {which}" for kind in KINDS for which in ("p50", "p99")),
        *("same", "removed", "ms", "traces", "clean ms", "traces"),
    ]
    lines = [heading, *map(_row, report.figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    table = "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return f"Measured on {report.machine}. Milliseconds of processor time.\n\n{table}"


def _row(figures: Figures) -> list[str]:
    begun = [f"{figures.documents}", f"{figures.users}", figures.design, f"{figures.mb:.1f}"]
    filled = [f"{figures.written_mb:.0f}", f"{figures.per_cpu_second:.0f}"]
    if figures.stored < figures.documents:
        return [*begun, "-", *filled, *["-"] * (2 * len(KINDS)), f"given up at {figures.stored}", *["-"] * 5]
    times = [figures.latencies[kind] for kind in KINDS]
    return [
        *begun,
        f"{figures.packed_mb:.1f}",
        *filled,
        *(f"{value:.2f}" for latency in times for value in (latency.p50_ms, latency.p99_ms)),
        f"{figures.same_answers}/{figures.questions}",
        f"{figures.removed}",
        f"{figures.remove_ms:.0f}",
        f"{figures.traces_after_remove}",
        f"{figures.clean_ms:.0f}",
        f"{figures.traces_after_clean}",
    ]
