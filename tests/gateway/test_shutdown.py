"""SIGTERM: what was begun is finished, what is new is refused, sockets are told, and the process is gone in time."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_consolidate import leading_to
from tests.consolidation.conftest import TALK
from tests.consolidation.server import Server, running
from tests.databases import chosen
from tests.waiting import wait_until
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

import picomem

from .raw_requests import connected, head, received, statuses
from .serving import TIMEOUT, Served, serving_in_fresh_interpreter, token_made_here

ACCEPTS = "Accept: application/json, text/event-stream"


@pytest.fixture
def model() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A store in which Ann has a conversation that nobody has consolidated."""
    path = tmp_path / "memory.db"
    with picomem.open(chosen().named(path), user="ann", embedder="none") as memory:
        log = memory.sessions()
        log.append(log.create().id, *TALK[:2])
    return path


@pytest.fixture
def elsewhere() -> Iterator[Callable[..., Future[Any]]]:
    """Run something in another thread."""
    with ThreadPoolExecutor(4) as threads:
        yield threads.submit


class Listening:
    """A socket, what it was told, and the code with which it was closed."""

    def __init__(self, served: Served, shown: str) -> None:
        self.told: list[dict[str, Any]] = []
        self.code: int | None = None
        self.is_open = threading.Event()
        self._address = f"{served.url.replace('http', 'ws', 1)}/ws"
        self._token = shown

    def __call__(self) -> None:
        asyncio.run(self._listen())

    async def _listen(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        async with asyncio.timeout(TIMEOUT), connect(self._address, additional_headers=headers, proxy=None) as client:
            self.is_open.set()
            try:
                while True:
                    self.told.append(json.loads(await client.recv()))
            except ConnectionClosed as closed:
                self.code = closed.rcvd.code if closed.rcvd else None


@pytest.mark.requirement("P7")
def test_a_server_that_is_told_to_end_finishes_what_was_begun_and_refuses_what_is_new(db, model, elsewhere) -> None:
    anns = token_made_here(db, "ann")
    asked = model.hold()
    with serving_in_fresh_interpreter(db, "--no-watch", **leading_to(model)) as served:
        socket = Listening(served, anns)
        listening = elsewhere(socket)
        assert socket.is_open.wait(TIMEOUT)
        begun = elsewhere(served.post, anns, "consolidate")
        assert asked.wait(TIMEOUT)
        served.process.send_signal(signal.SIGTERM)
        wait_until(lambda: served.post(anns, "memories").status_code == 503)
        refused = served.post(anns, "remember", {"content": "The crane is yellow"})
        assert refused.json()["error"]["code"] == "server_ending"
        assert "try again" in refused.json()["error"]["message"]
        assert refused.headers["retry-after"]
        with served.client() as client:
            assert client.get("/ready").status_code == 503
        wait_until(lambda: socket.told)
        assert socket.told == [{"jsonrpc": "2.0", "method": "server.ending", "params": {}}]
        assert served.process.poll() is None, "what was begun is not finished"
        model.stop.set()
        answer = begun.result(TIMEOUT)
        assert (answer.status_code, answer.json()["sessions"][0]["state"]) == (200, "done")
        assert served.process.wait(TIMEOUT) == 0
        listening.result(TIMEOUT)
        assert socket.code == 1012
    with picomem.open(chosen().named(db), user="ann", embedder="none") as memory:
        assert [memory.key for memory in memory.memories()] == ["staging_db_port"]


def test_a_request_of_a_socket_that_was_begun_is_answered_before_it_closes(db, model, elsewhere) -> None:
    anns = token_made_here(db, "ann")
    asked = model.hold()

    async def conversation(served: Served) -> tuple[list[Any], int | None]:
        headers = {"Authorization": f"Bearer {anns}"}
        address = f"{served.url.replace('http', 'ws', 1)}/ws"
        answers: list[Any] = []
        async with asyncio.timeout(TIMEOUT), connect(address, additional_headers=headers, proxy=None) as client:
            await client.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "consolidate", "params": {}}))
            assert await asyncio.to_thread(asked.wait, TIMEOUT)
            served.process.send_signal(signal.SIGTERM)
            try:
                while True:
                    message = json.loads(await client.recv())
                    if message.get("method") == "server.ending":
                        await client.send(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "memories", "params": {}}))
                    elif "id" in message:
                        answers.append(message)
                        model.stop.set()
            except ConnectionClosed as closed:
                return answers, closed.rcvd.code if closed.rcvd else None

    with serving_in_fresh_interpreter(db, "--no-watch", **leading_to(model)) as served:
        (refused, answered), code = asyncio.run(conversation(served))
    assert (refused["id"], refused["error"]["data"]["code"]) == (2, "server_ending")
    assert (answered["id"], answered["result"]["sessions"][0]["state"]) == (1, "done")
    assert code == 1012


def test_requests_whose_bodies_have_not_arrived_keep_no_server_from_ending(db) -> None:
    """A client that stays with half of a request is answered, and nothing that was begun is lost by that."""
    anns = token_made_here(db, "ann")
    with serving_in_fresh_interpreter(db, "--no-watch") as served, ExitStack() as stack:
        clients = {}
        for path in ("/api/v1/memories", "/mcp", "/v1/chat/completions", "/sign-in"):
            clients[path] = stack.enter_context(connected(served))
            kind = "application/x-www-form-urlencoded" if path == "/sign-in" else "application/json"
            begun = head(served, anns, f"POST {path} HTTP/1.1", "Content-Length: 100", ACCEPTS, kind=kind)
            clients[path].sendall(begun + b"{")
        assert served.post(anns, "memories").status_code == 200
        served.process.send_signal(signal.SIGTERM)
        told = time.monotonic()
        answers = {path: received(client) for path, client in clients.items()}
        assert served.process.wait(TIMEOUT) == 0
        assert time.monotonic() - told < 5
    assert [statuses(answer) for answer in answers.values()] == [[503]] * 4
    assert all(b"The server is ending" in answer for answer in answers.values())


@pytest.mark.parametrize("operation", ["consolidate", "embed"])
def test_what_does_not_finish_is_cut_off_in_time(db, model, elsewhere, operation) -> None:
    """Consolidation waits in the event loop, and an embedder in a thread that nobody can stop."""
    anns = token_made_here(db, "ann")
    with picomem.open(chosen().named(db), user="ann", embedder="none") as memory:
        memory.remember("The crane is yellow", key="crane")
    asked = model.hold()
    variables = {
        **leading_to(model),
        "PICOMEM_SERVER_FAREWELL_SECS": "1",
        "PICOMEM_SERVER_BACKGROUND": "off",
        "PICOMEM_RECALL_EMBEDDER": "endpoint:tiny",
        "PICOMEM_EMBEDDER_BASE_URL": model.url,
        "PICOMEM_EMBEDDER_TIMEOUT_SECS": "60",
    }
    with serving_in_fresh_interpreter(db, **variables) as served:
        cut_off = elsewhere(served.post, anns, operation)
        assert asked.wait(TIMEOUT)
        served.process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        assert served.process.wait(TIMEOUT) == 0
        assert time.monotonic() - begun < 8  # one second, five more, and a slow machine
        assert cut_off.exception(TIMEOUT) or cut_off.result().status_code >= 500


@pytest.mark.requirement("P7")
def test_sockets_whose_clients_went_away_as_the_server_ends_are_no_fault(db) -> None:
    anns = token_made_here(db, "ann")

    async def leave_at_the_end(served: Served) -> None:
        headers = {"Authorization": f"Bearer {anns}"}
        address = f"{served.url.replace('http', 'ws', 1)}/ws"
        clients = [await connect(address, additional_headers=headers, proxy=None) for _ in range(60)]
        served.process.send_signal(signal.SIGTERM)
        for client in clients:
            client.transport.abort()
            await client.wait_closed()

    with serving_in_fresh_interpreter(db, "--no-watch") as served:
        asyncio.run(leave_at_the_end(served))
        assert served.process.wait(TIMEOUT) == 0
        assert "Traceback" not in served.log.read_text("utf-8")
