"""The servers that are measured, each a process that is asked over HTTP: `picomem serve`, and Chroma's."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from benchmarks.fill import Filled
from benchmarks.http_connection import HttpConnection
from picomem.app import open_runtime
from picomem.engine.authorization import make_token
from picomem.errors import PicomemError
from picomem.records.caller import Caller

_STARTS_WITHIN = 60.0  # seconds
_HITS = 10


class ServerFailed(PicomemError):
    """A server did not start, or answered with an error, so its times would say nothing."""

    code = "server_failed"


class Server(Protocol):
    """A server that runs. `ask` and `write` act for the user of that number; each raises ServerFailed."""

    name: str
    port: int
    process: subprocess.Popen[str]

    async def ask(self, connection: HttpConnection, user: int, question: str) -> None: ...

    async def write(self, connection: HttpConnection, user: int, text: str) -> None: ...


AnyServer = TypeVar("AnyServer", bound=Server)


class PicomemServer:
    """`picomem serve` on a filled store, with a token for each user."""

    name = "picomem"

    def __init__(self, filled: Filled, embedder: str, users: int) -> None:
        """Raises ServerFailed."""
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PICOMEM_")},
            "PICOMEM_DATA_DIR": str(filled.store.parent),
            "PICOMEM_RECALL_EMBEDDER": embedder,
            "PICOMEM_SERVER_CONNECTIONS": "4096",  # the default is 512, and the idle sockets are more
            "HOME": str(filled.store.parent),  # whose transcripts it would read
        }
        self.tokens = _tokens(filled.store, users)
        command = [sys.executable, "-m", "picomem", "--db", str(filled.store), "serve", "--port", "0", "--json"]
        self.process = _started(command, environment, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise ServerFailed("picomem serve ended before it was ready.")
        self.port = urlsplit(json.loads(line)["url"]).port or 0

    async def ask(self, connection: HttpConnection, user: int, question: str) -> None:
        await self._call(connection, user, "recall", {"query": question, "limit": _HITS})

    async def write(self, connection: HttpConnection, user: int, text: str) -> None:
        await self._call(connection, user, "remember", {"content": text})

    async def _call(self, connection: HttpConnection, user: int, operation: str, request: Mapping[str, object]) -> None:
        headers = {"Authorization": f"Bearer {self.tokens[user]}"}
        _check(self.name, *await connection.post(f"/api/v1/{operation}", request, headers))


class ChromaServer:
    """Chroma's server on an empty folder, with a collection for each user.

    Its clients send vectors: no model runs there or here.
    """

    name = "chroma"
    _ROOT = "/api/v2/tenants/default_tenant/databases/default_database/collections"

    def __init__(self, command: Path, folder: Path, users: int, own: int, dimensions: int) -> None:
        """Raises ServerFailed."""
        self.port = _free_port()
        self._random = random.Random(0)
        self._dimensions = dimensions
        arguments = ["run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(self.port)]
        environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        self.process = _started([str(command), *arguments], environment, stdout=subprocess.DEVNULL)
        _wait_for(self.port, self.process)
        self._collections: list[str] = []
        asyncio.run(self._fill(users, own))

    async def ask(self, connection: HttpConnection, user: int, question: str) -> None:  # noqa: ARG002
        query = {"query_embeddings": [self._vector()], "n_results": _HITS, "include": ["documents"]}
        path = f"{self._ROOT}/{self._collections[user]}/query"
        _check(self.name, *await connection.post(path, query, {}))

    async def write(self, connection: HttpConnection, user: int, text: str) -> None:
        await self._add(connection, user, [text])

    async def _fill(self, users: int, own: int) -> None:
        connection = await HttpConnection.open(self.port)
        for user in range(users):
            status, made = await connection.post(self._ROOT, {"name": f"user-{user}"}, {})
            _check(self.name, status, made)
            self._collections.append(made["id"])
            await self._add(connection, user, [f"Text {number} of user {user}." for number in range(own)])
        connection.close()

    async def _add(self, connection: HttpConnection, user: int, texts: Sequence[str]) -> None:
        added = {
            "ids": [f"{self._random.getrandbits(64):x}" for _ in texts],
            "documents": list(texts),
            "embeddings": [self._vector() for _ in texts],
        }
        _check(self.name, *await connection.post(f"{self._ROOT}/{self._collections[user]}/add", added, {}))

    def _vector(self) -> list[float]:
        return [round(self._random.uniform(-1, 1), 4) for _ in range(self._dimensions)]


@contextmanager
def running(server: AnyServer) -> Iterator[AnyServer]:
    """Kill it at the end of the block, as a crash would."""
    try:
        yield server
    finally:
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()


def resident_mb(server: Server) -> float:
    """Its resident memory, in megabytes (10⁶ bytes)."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return int(kilobytes) * 1024 / 1e6


def cpu_seconds(server: Server) -> float:
    """The processor time that it has had."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _tokens(store: Path, users: int) -> list[str]:
    with open_runtime(store, embedder="none") as runtime:
        engines = (runtime.engine(Caller(f"user-{number}")) for number in range(users))
        return [make_token(engine, frozenset(), "benchmark", None)[1] for engine in engines]


def _started(command: Sequence[str], environment: Mapping[str, str], stdout: int) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(command, env=environment, stdout=stdout, stderr=subprocess.DEVNULL, text=True)
    except OSError as error:
        raise ServerFailed(f"{command[0]} cannot be started: {error.strerror}.") from error


def _check(name: str, status: int, answer: object) -> None:
    if status >= 300:
        raise ServerFailed(f"{name} answered {status}: {json.dumps(answer)[:200]}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    """Until it takes connections."""
    until = monotonic() + _STARTS_WITHIN
    while monotonic() < until and process.poll() is None:
        with socket.socket() as asking:
            asking.settimeout(1.0)
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    raise ServerFailed(f"The server on port {port} did not start.")
