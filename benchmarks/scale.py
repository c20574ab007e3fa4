"""`python -m benchmarks scale`: a store on a PostgreSQL server beside a store in a file.

The same made-up memories and episodes are put into both. A server of its own runs on this machine, with fsync, so that
both keep what they acknowledge through a power cut; its clients share the machine with it.

    recall    one client, the two stores in turn; the fastest time of each question counts, because other programs only
              ever add time
    clients   processes that ask, then processes that remember, each for another user at each call
    ingest    small transcripts that both read
    size      bytes of a memory and of an episode, with all indexes and vectors
"""

from __future__ import annotations

import os
import platform
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep, time
from typing import TYPE_CHECKING

from benchmarks.fill import ASKER, Model, directions_of, put_talk, talks_of
from benchmarks.madeup import write_small
from benchmarks.prose import Prose
from benchmarks.recall_speed import percentile
from picomem.clock import parse_iso
from picomem.light_dataclass import dataclass, field
from picomem.models.embedder import quantised
from picomem.models.static_embedder import StaticEmbedder
from picomem.paths import is_server
from picomem.records.ids import new_id
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.postgres.connector import PostgresConnector
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.tables import memories, vector_rows

if TYPE_CHECKING:
    from picomem.store.connector import Connector

FILE, SERVER = "SQLite", "PostgreSQL"
_NOW = parse_iso("2026-01-01")
_QUESTIONS = 30
_ROUNDS = 5
_MODEL = Model(name=StaticEmbedder.name, dimensions=StaticEmbedder.dimensions)
_WORDS = 25  # of a memory
_START_SECONDS = 2.0  # that each process of clients has to start, on a busy machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured: recall with each number of users, of `own` memories each, and of one with `episodes`."""

    users: tuple[int, ...] = (20, 200)
    own: int = 100
    episodes: int = 10_000
    clients: tuple[int, ...] = (1, 8)
    seconds: float = 5.0
    files: int = 200


FULL = Effort(users=(100, 1_000, 10_000), episodes=100_000, clients=(1, 8, 32), seconds=30.0, files=2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRecall:
    """Recall of one client, in milliseconds."""

    store: str
    users: int
    own: int
    what: str
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """What clients did in a second, all together."""

    store: str
    clients: int
    recalls: float
    writes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSize:
    """What a row of each kind takes, and how many small transcripts a second are read."""

    store: str
    bytes_per_memory: float
    bytes_per_episode: float
    files_per_second: float


@dataclass(slots=True, kw_only=True)
class ScaleReport:
    """All figures of one run."""

    machine: str
    server: str
    recall: list[StoreRecall] = field(default_factory=list)
    throughput: list[Throughput] = field(default_factory=list)
    sizes: list[StoreSize] = field(default_factory=list)


def run(effort: Effort, address: str | None, progress: Callable[[str], None]) -> ScaleReport:
    """Fill both stores and measure."""
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    report = ScaleReport(machine=machine, server="as given" if address else "of its own, on this machine")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="picomem-bench-"))).resolve()
        places = {FILE: str(folder / "memory.db"), SERVER: address or stack.enter_context(_own_server())}
        stores = {name: _Store(place) for name, place in places.items()}
        for store in stores.values():
            stack.callback(store.runtime.close)
        per_memory = _measure_small_users(stores, effort, report, progress)
        per_episode = _measure_heavy_user(stores, effort, report, progress)
        for clients in effort.clients:
            for name, place in places.items():
                progress(f"{clients} clients on {name}")
                report.throughput.append(_measure_clients(name, place, effort, clients))
        write_small(folder / "transcripts", effort.files)
        for name, store in stores.items():
            progress(f"ingest into {name}")
            began = perf_counter()
            store.runtime.engine(scope=Scope("reader")).ingest([folder / "transcripts"])
            speed = effort.files / (perf_counter() - began)
            sizes = {"bytes_per_memory": per_memory[name], "bytes_per_episode": per_episode[name]}
            report.sizes.append(StoreSize(store=name, files_per_second=speed, **sizes))
    return report


class _Store:
    """A store that is open, by the path of its file or the address of its server."""

    def __init__(self, place: str) -> None:
        self.connector: Connector = PostgresConnector(place) if is_server(place) else SqliteConnector(Path(place))
        settings = Settings(recall=RecallSettings(timezone="UTC"))
        self.runtime = Runtime(self.connector, settings, embedder=StaticEmbedder())

    def size(self) -> int:
        return self.connector.maintenance.size()


@contextmanager
def _own_server() -> Iterator[str]:
    """A server of the tests' package, which keeps what it acknowledges."""
    from tests.postgres_server import ROLE, Server, make_folder  # noqa: PLC0415 - only with PostgreSQL

    server = Server(make_folder(), listen_addresses="", max_connections="200", shared_buffers="256MB", jit="off")
    server.make()
    server.start()
    try:
        server.ask(f"CREATE ROLE {ROLE} LOGIN")
        yield server.new_database()
    finally:
        server.stop()


def _measure_small_users(
    stores: dict[str, _Store], effort: Effort, report: ScaleReport, progress: Callable[[str], None]
) -> dict[str, float]:
    """Recall with each number of users; the bytes of a memory."""
    begun = {name: store.size() for name, store in stores.items()}
    done = 0
    for users in sorted(effort.users):
        for name, store in stores.items():
            for number in range(done, users):
                _fill_small(store.connector, number, effort.own)
                if number % 20 == 0:
                    progress(f"{number:,} of {users:,} users in {name}")
        done = users
        sample = random.Random(users).choices(range(users), k=_QUESTIONS)
        asked = [(_name(number), _question(number)) for number in sample]
        _race(stores, asked, "a small user", users, effort.own, report)
    rows = max(effort.users) * effort.own
    return {name: (store.size() - begun[name]) / rows for name, store in stores.items()}


def _measure_heavy_user(
    stores: dict[str, _Store], effort: Effort, report: ScaleReport, progress: Callable[[str], None]
) -> dict[str, float]:
    begun = {name: store.size() for name, store in stores.items()}
    asked: list[tuple[str, str]] = []
    for name, store in stores.items():
        prose, directions = Prose(1), directions_of(_MODEL.dimensions)
        asked = []
        for number, talk in enumerate(talks_of(prose, effort.episodes, 1)):
            with store.connector.write(Scope(ASKER)) as tx:
                put_talk(tx, talk, _MODEL, directions)
            if len(asked) < _QUESTIONS:
                asked.append((ASKER, prose.question(talk.texts[0])))
            if number % 10 == 0:
                progress(f"{talk.first:,} of {effort.episodes:,} episodes in {name}")
    _race(stores, asked, "the heavy user", 1, effort.episodes, report)
    return {name: (store.size() - begun[name]) / effort.episodes for name, store in stores.items()}


def _race(
    stores: dict[str, _Store],
    asked: Sequence[tuple[str, str]],
    what: str,
    users: int,
    own: int,
    report: ScaleReport,
) -> None:
    """Ask both stores in turn. The first round only warms them."""
    best = {name: [float("inf")] * len(asked) for name in stores}
    for turn in range(1 + _ROUNDS):
        for number, (user, question) in enumerate(asked):
            for name, store in stores.items():
                engine = store.runtime.engine(scope=Scope(user))
                began = perf_counter()
                engine.recall(question)
                passed = perf_counter() - began
                if turn:
                    best[name][number] = min(best[name][number], passed)
    for name, times in best.items():
        p50, p99 = percentile(times, 0.5) * 1000, percentile(times, 0.99) * 1000
        report.recall.append(StoreRecall(store=name, users=users, own=own, what=what, p50_ms=p50, p99_ms=p99))


def _measure_clients(store: str, place: str, effort: Effort, clients: int) -> Throughput:
    done = {}
    for verb in ("recall", "remember"):
        start = time() + _START_SECONDS * clients
        with ProcessPoolExecutor(clients, mp_context=get_context("spawn")) as processes:
            jobs = [
                processes.submit(client, place, verb, max(effort.users), start, effort.seconds, number)
                for number in range(clients)
            ]
            done[verb] = sum(job.result() for job in jobs) / effort.seconds
    return Throughput(store=store, clients=clients, recalls=done["recall"], writes=done["remember"])


def client(place: str, verb: str, users: int, start: float, seconds: float, seed: int) -> int:
    """One client in a process of its own: how many calls it made in that time, which begins for all at once."""
    chance = random.Random(f"{verb} {start} {seed}")
    calls = 0
    runtime = _Store(place).runtime
    try:
        runtime.engine(scope=Scope(_name(seed))).recall(_question(seed))
        sleep(max(0.0, start - time()))
        end = max(start, time()) + seconds
        while time() < end:
            number = chance.randrange(users)
            engine = runtime.engine(scope=Scope(_name(number)))
            if verb == "recall":
                engine.recall(_question(number))
            else:
                engine.remember(_texts(chance.randrange(1 << 30), 1)[0], key=f"written_{seed}_{calls}_{int(start)}")
            calls += 1
    finally:
        runtime.close()
    return calls


def _name(number: int) -> str:
    return f"small-{number}"


@cache
def _prose() -> Prose:
    """A source of texts that is made once, because making its words takes longer than many texts."""
    return Prose(1)


def _texts(number: int, own: int) -> list[str]:
    prose = _prose()
    prose.random = random.Random(number)
    topic = prose.topic()
    return [prose.text(topic, _WORDS) for _ in range(own)]


def _question(number: int) -> str:
    """A question about the first memory of a user."""
    return _prose().question(_texts(number, 1)[0])


def _fill_small(connector: Connector, number: int, own: int) -> None:
    scope = Scope(_name(number))
    directions = directions_of(_MODEL.dimensions)
    with connector.write(scope) as tx:
        for place, text in enumerate(_texts(number, own)):
            stored = memories.insert(tx, _memory(scope, place, text))
            scale, vector = quantised(next(directions))
            vector_rows.put(tx, scope, "memory", _MODEL.name, stored.doc, scale, vector)


def _memory(scope: Scope, place: int, text: str) -> Memory:
    return Memory(
        id=new_id(),
        version=1,
        scope=scope,
        key=f"memory_{place}",
        kind=Kind.FACT,
        content=text,
        valid_from=_NOW,
        known_from=_NOW,
        created_at=_NOW,
        tokens=len(text) // 4 + 1,
        change_id=new_id(),
    )


def render(report: ScaleReport) -> str:
    """The report as tables for a document."""
    lines = [f"Measured on {report.machine}; the server: {report.server}.", ""]
    lines += ["| recall of | users | rows of the user | store | p50 ms | p99 ms | times SQLite, p50 |"]
    lines += ["|---|---|---|---|---|---|---|"]
    of_file = {(row.what, row.users): row.p50_ms for row in report.recall if row.store == FILE}
    lines += [
        f"| {row.what} | {row.users:,} | {row.own:,} | {row.store} | {row.p50_ms:.1f} | {row.p99_ms:.1f} "
        f"| {row.p50_ms / of_file[row.what, row.users]:.1f} |"
        for row in report.recall
    ]
    lines += ["", "| clients | store | recalls a second | writes a second |", "|---|---|---|---|"]
    lines += [f"| {row.clients} | {row.store} | {row.recalls:.1f} | {row.writes:.1f} |" for row in report.throughput]
    lines += [
        "",
        "| store | bytes a memory | bytes an episode | small transcripts read a second |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row.store} | {row.bytes_per_memory:,.0f} | {row.bytes_per_episode:,.0f} | {row.files_per_second:.1f} |"
        for row in report.sizes
    ]
    return "\n".join(lines)
