"""`python -m benchmarks serve`: what a server costs beside the engine called in its own process.

The store has made-up episodes of many users (fill.py). `picomem serve` runs on it as a process of its own; the clients
are coroutines of this one, each over a connection that stays, and share the machine with the server.

    alone        one client: a question over HTTP, and the same question put to an engine in this process; the
                 processor time of the server for a request beside the engine's
    load         many clients for a while, each acting for another user at each request: four questions, then a write
    lost writes  the memories that were acknowledged under load and are not in the store after the server was killed
    growth       the memory of the server after each quarter of a number of requests
    sockets      the memory of the server while so many web sockets are open and idle

The peer is Chroma's server, which runs without a key: as many collections as users, as many texts, vectors of as many
dimensions, the same clients. Its clients send vectors, so no model runs; picomem makes the vector of each question.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from websockets.asyncio.client import connect

from benchmarks.fill import ASKER, Filled, Model, fill
from benchmarks.http_connection import HttpConnection
from benchmarks.recall_speed import percentile
from benchmarks.servers import ChromaServer, PicomemServer, Server, ServerFailed, cpu_seconds, resident_mb, running
from picomem.app import open_engine, open_runtime
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.caller import Caller

_ASKS_FOR_A_WRITE = 4
_QUESTIONS = 100
_ROUNDS = 3
_SEED = 11
_QUARTERS = 4
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
Telling = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is done."""

    users: int = 1_000
    own: int = 100
    clients: int = 50
    seconds: float = 60.0
    requests: int = 20_000
    sockets: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """One client's question, in milliseconds: the median time over HTTP and in an engine, and the mean processor time
    of the server and of the engine."""

    http_p50_ms: float
    http_p99_ms: float
    server_cpu_ms: float
    engine_p50_ms: float
    engine_p99_ms: float
    engine_cpu_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Many clients. `errors` are answers that were none, with the first of them; `lost` is None where nobody looked."""

    server: str
    clients: int
    seconds: float
    requests: int
    per_second: float
    ask_p50_ms: float
    ask_p99_ms: float
    write_p50_ms: float
    write_p99_ms: float
    errors: int
    first_error: str
    written: int
    lost: int | None
    resident_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sockets:
    """Web sockets that are open and idle."""

    sockets: int
    before_mb: float
    after_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """`growth_mb` is the server's memory after each quarter of `requests`."""

    machine: str
    users: int
    own: int
    embedder: str
    alone: Alone
    loads: tuple[Load, ...]
    requests: int
    growth_mb: tuple[float, ...]
    sockets: Sockets


def run(effort: Effort, chroma: Path | None = None, progress: Telling | None = None) -> ServerReport:
    """Measure; `chroma` is the command of Chroma, which is left out without it. Linux only: it reads /proc.

    Raises ServerFailed where a server does not start, and InvalidInput for an effort below 1.
    """
    if min(effort.users, effort.own, effort.clients, effort.requests) < 1 or effort.seconds <= 0:
        raise InvalidInput("Users, episodes, clients, requests and seconds are more than none.")
    tell = progress or (lambda _: None)
    model = Model(name=StaticEmbedder.name, dimensions=StaticEmbedder.dimensions)
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        filled = fill(Path(folder).resolve(), effort.own, effort.users, min(effort.own, _QUESTIONS), model, tell)
        with running(PicomemServer(filled, "static", effort.users)) as server:
            tell("one client")
            alone = asyncio.run(_alone(server, filled))
            tell(f"{effort.clients} clients for {effort.seconds:.0f} s")
            load, written = asyncio.run(_load(server, filled.questions, effort))
        loads = [replace(load, lost=_lost(filled.store, written))]
        with running(PicomemServer(filled, "static", effort.users)) as server:
            tell(f"{effort.requests:,} requests")
            growth = asyncio.run(_growth(server, filled.questions, effort))
        with running(PicomemServer(filled, "static", max(effort.users, effort.sockets))) as server:
            tell(f"{effort.sockets:,} sockets")
            sockets = asyncio.run(_sockets(server, effort.sockets))
        if chroma is not None:
            tell("filling Chroma")
            peer = ChromaServer(chroma, Path(folder) / "chroma", effort.users, effort.own, model.dimensions)
            with running(peer):
                tell(f"Chroma: {effort.clients} clients for {effort.seconds:.0f} s")
                loads.append(asyncio.run(_load(peer, filled.questions, effort))[0])
    return ServerReport(
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        users=effort.users,
        own=effort.own,
        embedder="static",
        alone=alone,
        loads=tuple(loads),
        requests=effort.requests,
        growth_mb=growth,
        sockets=sockets,
    )


async def _alone(server: PicomemServer, filled: Filled) -> Alone:
    connection = await HttpConnection.open(server.port)
    with open_engine(filled.store, user=ASKER, embedder="static") as engine:
        await server.ask(connection, 0, filled.questions[0])
        engine.recall(filled.questions[0])
        over_http: list[float] = []
        in_engine: list[float] = []
        server_cpu, engine_cpu = 0.0, 0.0
        for _ in range(_ROUNDS):
            used = cpu_seconds(server)
            for question in filled.questions:
                over_http.append(await _timed(server.ask(connection, 0, question)))
            server_cpu += cpu_seconds(server) - used
            used = process_time()
            for question in filled.questions:
                started = perf_counter()
                engine.recall(question)
                in_engine.append((perf_counter() - started) * 1000)
            engine_cpu += process_time() - used
    connection.close()
    return Alone(
        http_p50_ms=percentile(over_http, 0.5),
        http_p99_ms=percentile(over_http, 0.99),
        server_cpu_ms=server_cpu * 1000 / len(over_http),
        engine_p50_ms=percentile(in_engine, 0.5),
        engine_p99_ms=percentile(in_engine, 0.99),
        engine_cpu_ms=engine_cpu * 1000 / len(in_engine),
    )


def _made_up_text(chance: random.Random) -> str:
    """A text that shares no word with another's, so that each is stored as a memory of its own."""
    return " ".join("".join(chance.choices(_SYLLABLES, k=4)) for _ in range(8))


async def _timed(work: Awaitable[None]) -> float:
    started = perf_counter()
    await work
    return (perf_counter() - started) * 1000


async def _load(server: Server, questions: Sequence[str], effort: Effort) -> tuple[Load, list[tuple[int, str]]]:
    """What the clients saw, and whose memories were acknowledged."""
    asked: list[float] = []
    wrote: list[float] = []
    written: list[tuple[int, str]] = []
    errors: list[str] = []
    until = perf_counter() + effort.seconds

    async def act(client: int) -> None:
        chance = random.Random(f"{_SEED} {client}")
        connection = await HttpConnection.open(server.port)
        number = 0
        # Only after a write, so that each client has written.
        while number % (_ASKS_FOR_A_WRITE + 1) or perf_counter() < until or not number:
            user = chance.randrange(effort.users)
            try:
                if number % (_ASKS_FOR_A_WRITE + 1) < _ASKS_FOR_A_WRITE:
                    asked.append(await _timed(server.ask(connection, user, chance.choice(questions))))
                else:
                    text = _made_up_text(chance)
                    wrote.append(await _timed(server.write(connection, user, text)))
                    written.append((user, text))
            except (ServerFailed, OSError, EOFError) as error:
                errors.append(f"{type(error).__name__}: {error}")
                connection.close()
                connection = await HttpConnection.open(server.port)
            number += 1
        connection.close()

    started = perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for client in range(effort.clients):
            tasks.create_task(act(client))
    seconds = perf_counter() - started
    load = Load(
        server=server.name,
        clients=effort.clients,
        seconds=seconds,
        requests=len(asked) + len(wrote),
        per_second=(len(asked) + len(wrote)) / seconds,
        ask_p50_ms=percentile(asked, 0.5),
        ask_p99_ms=percentile(asked, 0.99),
        write_p50_ms=percentile(wrote, 0.5),
        write_p99_ms=percentile(wrote, 0.99),
        errors=len(errors),
        first_error=errors[0] if errors else "",
        written=len(written),
        lost=None,
        resident_mb=resident_mb(server),
    )
    return load, written


def _lost(store: Path, written: Sequence[tuple[int, str]]) -> int:
    """Return how many of the memories are not there, looked for in a process that has never seen them."""
    texts: dict[int, set[str]] = {}
    for user, text in written:
        texts.setdefault(user, set()).add(text)
    with open_runtime(store, embedder="none") as runtime:
        stored = {
            user: {memory.content for memory in runtime.engine(Caller(f"user-{user}")).memories()} for user in texts
        }
    return sum(len(expected - stored[user]) for user, expected in texts.items())


async def _growth(server: PicomemServer, questions: Sequence[str], effort: Effort) -> tuple[float, ...]:
    """The server's memory after each quarter of the requests, the users in turn."""
    connections = [await HttpConnection.open(server.port) for _ in range(8)]
    sizes = []
    done = 0
    for quarter in range(1, _QUARTERS + 1):
        while done < effort.requests * quarter // _QUARTERS:
            users = range(done, done + len(connections))
            await asyncio.gather(
                *(
                    server.ask(connection, user % effort.users, questions[user % len(questions)])
                    for connection, user in zip(connections, users, strict=True)
                )
            )
            done += len(connections)
        sizes.append(resident_mb(server))
    for connection in connections:
        connection.close()
    return tuple(sizes)


async def _sockets(server: PicomemServer, count: int) -> Sockets:
    """Open them, let each answer once, and weigh the server."""
    connection = await HttpConnection.open(server.port)
    await server.ask(connection, 0, "what is there?")
    connection.close()
    before = resident_mb(server)
    async with AsyncExitStack() as stack:
        for number in range(count):
            headers = {"Authorization": f"Bearer {server.tokens[number]}"}
            address = f"ws://127.0.0.1:{server.port}/ws"
            socket = await stack.enter_async_context(connect(address, additional_headers=headers, proxy=None))
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "cancel", "params": {"id": 0}}))
            await socket.recv()
        return Sockets(sockets=count, before_mb=before, after_mb=resident_mb(server))


def render(report: ServerReport) -> str:
    """The report as plain text."""
    alone, sockets = report.alone, report.sockets
    growth = ", ".join(f"{size:.0f}" for size in report.growth_mb)
    columns = ("server", "a second", "ask p50", "ask p99", "write p50", "write p99", "errors", "lost", "MB")
    lines = [
        f"Measured on {report.machine}.",
        f"{report.users:,} users with {report.own:,} episodes each, embedder {report.embedder}.",
        "",
        "A question of one client, ms     p50     p99  processor",
        f"  over HTTP                 {alone.http_p50_ms:8.1f}{alone.http_p99_ms:8.1f}{alone.server_cpu_ms:11.2f}",
        f"  an engine in the process  {alone.engine_p50_ms:8.1f}{alone.engine_p99_ms:8.1f}{alone.engine_cpu_ms:11.2f}",
        f"  The server takes {alone.server_cpu_ms - alone.engine_cpu_ms:.2f} ms of the processor more.",
        "",
        f"{report.loads[0].clients} clients for {report.loads[0].seconds:.0f} s, times in ms",
        "".join(f"{column:>11}" for column in columns),
        *("".join(f"{cell:>11}" for cell in _cells(load)) for load in report.loads),
        *(f"The first error of {load.server}: {load.first_error}" for load in report.loads if load.first_error),
        "",
        f"Memory after each quarter of {report.requests:,} questions, MB: {growth}",
        f"Memory before and with {sockets.sockets:,} idle sockets, MB: {sockets.before_mb:.0f}, {sockets.after_mb:.0f}",
    ]
    return "\n".join(lines)


def _cells(load: Load) -> list[str]:
    times = (load.per_second, load.ask_p50_ms, load.ask_p99_ms, load.write_p50_ms, load.write_p99_ms)
    lost = "–" if load.lost is None else f"{load.lost}/{load.written}"
    return [load.server, *(f"{time:.0f}" for time in times), str(load.errors), lost, f"{load.resident_mb:.0f}"]
