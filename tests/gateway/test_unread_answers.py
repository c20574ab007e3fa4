"""What an answer, and a client that does not read its answers, cost a server at most: raw sockets against a real
process."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.databases import open_memory
from tests.waiting import wait_until

from picomem.gateway.error_replies import MOST_ANSWER_BYTES
from picomem.operations.operation import MOST_ROWS_ANSWERED
from picomem.records.session import NewMessage, Role

from .raw_requests import address, head
from .serving import TIMEOUT, Served, picomem, running_mcp, serving, token
from .test_limits import resident, upgrade

_MESSAGES, _MESSAGE_BYTES = 24, 200_000  # together more than one answer holds
_MOST_GROWTH = 128 << 20  # bytes of memory; the requests ask for twice as much in JSON alone
_CUT_OFF_SECONDS = 20  # the server waits for two, twice


class Talk(NamedTuple):
    """A server that waits two seconds for its clients to read, and a long conversation."""

    served: Served
    shown: str
    session: str


@pytest.fixture(scope="module")
def long_talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    db: Path = tmp_path_factory.mktemp("unread") / "memory.db"
    with open_memory(db, user="ann", embedder="none") as memory:
        log = memory.sessions()
        session = log.create().id
        said = "港口的主人数绳子的箱子。" * (_MESSAGE_BYTES // 36)
        log.append(session, *(NewMessage(role=Role.USER, content=said) for _ in range(_MESSAGES)))
    with serving(db, PICOMEM_SERVER_READ_SECS="2") as served:
        yield Talk(served, token(db, "--user", "ann"), session)


def _messages(talk: Talk, request_id: int, last: int) -> dict[str, Any]:
    params = {"session": talk.session, "last": last}
    return {"jsonrpc": "2.0", "id": request_id, "method": "messages", "params": params}


def _frame(value: Any) -> bytes:
    payload = json.dumps(value).encode()
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
    return b"\x81" + size + b"\0\0\0\0" + payload


def _deaf(talk: Talk, request: bytes) -> socket.socket:
    """A connection whose client has sent a request and takes as little of the answer as the system lets it."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(TIMEOUT)
    client.connect(address(talk.served))
    client.sendall(request)
    return client


def _deaf_socket(talk: Talk) -> socket.socket:
    client = _deaf(talk, upgrade(talk.served, talk.shown))
    assert client.recv(12) == b"HTTP/1.1 101"
    while select.select([client], [], [], 0.2)[0]:
        client.recv(1)  # the head of the answer
    return client


def _taken(client: socket.socket) -> bytes:
    """All that comes until the connection ends, in whatever way."""
    taken = b""
    try:
        while part := client.recv(1 << 20):
            taken += part
    except ConnectionError:
        pass
    return taken


def _await_cut_off(served: Served, client: socket.socket) -> None:
    """Wait until the server has given up a connection whose client does not read."""
    own = {f"socket:[{inode}]" for inode in _inodes_towards(client.getsockname()[1])}

    def is_cut_off() -> bool:
        return own.isdisjoint(os.readlink(entry) for entry in _descriptors(served))

    wait_until(is_cut_off, seconds=_CUT_OFF_SECONDS, otherwise="the connection is kept")


def _inodes_towards(port: int) -> list[str]:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    return [parts[9] for parts in lines if parts[2].endswith(f":{port:04X}")]


def _descriptors(served: Served) -> list[str]:
    folder = f"/proc/{served.process.pid}/fd"
    return [entry for name in os.listdir(folder) if os.path.lexists(entry := f"{folder}/{name}")]


@pytest.mark.reliability("S6")
def test_a_web_socket_on_which_too_much_waits_is_closed_with_a_code(long_talk: Talk) -> None:
    served = long_talk.served
    assert served.post(long_talk.shown, "messages", {"session": long_talk.session, "last": 15}).status_code == 200
    before = resident(served)
    with closing(_deaf_socket(long_talk)) as client:
        for number in range(80):
            client.sendall(_frame(_messages(long_talk, number, 15)))
        most = 0

        def is_given_up() -> bool:
            nonlocal most
            most = max(most, resident(served) - before)
            return '"status": 499' in served.log.read_text("utf-8")

        wait_until(is_given_up)
        assert most < _MOST_GROWTH
        taken = _taken(client)
    assert struct.pack(">H", 4408) + b"The client does not read" in taken[-200:]
    assert served.post(long_talk.shown, "memories").status_code == 200


@pytest.mark.reliability("S6")
@pytest.mark.parametrize("kind", ["web socket", "HTTP"])
def test_a_client_that_reads_nothing_of_an_answer_is_cut_off(long_talk: Talk, kind: str) -> None:
    served = long_talk.served
    if kind == "HTTP":
        body = json.dumps({"session": long_talk.session, "last": 15}).encode()
        line = "POST /api/v1/messages HTTP/1.1"
        client = _deaf(long_talk, head(served, long_talk.shown, line, f"Content-Length: {len(body)}") + body)
    else:
        client = _deaf_socket(long_talk)
        client.sendall(b"".join(_frame(_messages(long_talk, number, 15)) for number in range(2)))
    with closing(client):
        _await_cut_off(served, client)
    assert served.post(long_talk.shown, "memories").status_code == 200


def test_an_answer_that_is_too_large_is_one_sentence_that_says_what_to_do(long_talk: Talk) -> None:
    asked = {"session": long_talk.session, "last": MOST_ROWS_ANSWERED}
    refused = long_talk.served.post(long_talk.shown, "messages", asked)
    assert refused.status_code == 413
    assert (
        "ask for less at once: with a smaller limit, the next page by its cursor" in refused.json()["error"]["message"]
    )
    page = long_talk.served.post(long_talk.shown, "messages", {**asked, "last": 15})
    assert len(page.content) < MOST_ANSWER_BYTES
    rest = long_talk.served.post(long_talk.shown, "messages", {**asked, "last": 15, "cursor": page.json()["cursor"]})
    assert len(page.json()["messages"]) + len(rest.json()["messages"]) == _MESSAGES
    local = picomem(long_talk.served.db, "messages", long_talk.session, "-n", "1000000", "--user", "ann", "--json")
    assert len(json.loads(local.stdout)["messages"]) == _MESSAGES


def test_the_answers_of_a_batch_are_bounded_together(long_talk: Talk) -> None:
    from websockets.sync.client import connect

    where = f"{long_talk.served.url.replace('http', 'ws', 1)}/ws"
    shown = {"Authorization": f"Bearer {long_talk.shown}"}
    with connect(where, additional_headers=shown, proxy=None, max_size=None, compression=None) as client:
        client.send(json.dumps([_messages(long_talk, number, 15) for number in range(5)]))
        while isinstance(answers := json.loads(client.recv(timeout=TIMEOUT)), dict):
            pass
    assert [("result" in answer) for answer in answers] == [True, True, False, False, False]
    assert answers[-1]["error"]["data"] == {"code": "too_large"}
    assert "another batch" in answers[-1]["error"]["message"]


def test_a_program_and_a_model_get_so_many_rows_in_one_answer(long_talk: Talk) -> None:
    told = f"limit is {MOST_ROWS_ANSWERED + 1}; it must be at most {MOST_ROWS_ANSWERED:,}."
    arguments = {"limit": MOST_ROWS_ANSWERED + 1}
    refused = long_talk.served.post(long_talk.shown, "memories", arguments)
    assert (refused.status_code, refused.json()["error"]["message"]) == (400, told)
    described = long_talk.served.client(long_talk.shown).get("/api/v1/openapi.json").text
    assert f'"maximum":{MOST_ROWS_ANSWERED}' in described
    calls = [
        {
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT},
        },
        {"method": "tools/call", "params": {"name": "memory_audit", "arguments": arguments}},
    ]
    with running_mcp(long_talk.served.db) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, call in enumerate(calls):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **call}).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
    assert answer["result"]["content"][0]["text"] == told


_CLIENT = {"name": "test", "version": "1"}
