"""What a hostile client gets of a server (S6): raw sockets against a real process."""

from __future__ import annotations

import base64
import json
import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.amounts import amount
from tests.cases import each_case

from picomem.gateway.guard import Limits
from picomem.gateway.web_server import bound

from .raw_requests import address, connected, head, received, statuses
from .serving import TIMEOUT, Served, serving, token

pytestmark = [
    pytest.mark.reliability("S6"),
]

SOCKETS = amount(100, 10_000)
CONNECTIONS = 40  # of the server that has few
MOST_GROWTH = 64 << 20  # bytes of memory


def upgrade(served: Served, shown: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    more = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13")
    return head(served, shown, "GET /ws HTTP/1.1", *more)


def answer_pings(clients: list[socket.socket], seconds: float) -> None:
    """Keep web sockets open: the server closes one that answers none, and has a place for another then (RFC 6455)."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        for client in select.select(clients, [], [], left)[0]:
            frame = client.recv(1 << 16)
            if frame[:1] == b"\x89":
                payload = frame[2 : 2 + frame[1]]
                client.sendall(b"\x8a" + bytes([0x80 | len(payload)]) + b"\0\0\0\0" + payload)


def resident(served: Served) -> int:
    """The memory of the server, in bytes."""
    pages = int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def is_well(served: Served, shown: str) -> bool:
    return served.post(shown, "memories").status_code == 200


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A server that waits a second for a head and for a body, and has 40 connections."""
    db = tmp_path_factory.mktemp("impatient") / "memory.db"
    shown = token(db, "--user", "ann")
    bounds = dict.fromkeys(("HEAD_SECS", "BODY_SECS"), "1") | {"CONNECTIONS": str(CONNECTIONS)}
    with serving(db, **{f"PICOMEM_SERVER_{name}": value for name, value in bounds.items()}) as running:
        yield running, shown


def test_a_head_that_comes_slowly_is_given_up_whatever_the_client_sends(impatient: tuple[Served, str]) -> None:
    served, shown = impatient
    whole = head(served, shown)
    for sent in (b"", b"P", whole[:20], whole[:-2]):
        with connected(served) as client:
            began = time.monotonic()
            client.sendall(sent)
            client.settimeout(0.2)
            answer = b""
            while not answer:  # a byte now and then, of which none buys more time
                try:
                    answer = client.recv(1 << 16)
                except TimeoutError:
                    client.sendall(b"x" if sent else b"")
            assert statuses(answer) == [408]
            assert json.loads(answer.rpartition(b"\r\n\r\n")[2])["error"]["code"] == "too_slow"
            assert time.monotonic() - began < 10
    assert is_well(served, shown)


def test_a_kept_connection_gets_no_more_time_for_its_next_head(impatient: tuple[Served, str]) -> None:
    served, shown = impatient
    with connected(served) as client:
        client.sendall(head(served, shown, "POST /api/v1/memories HTTP/1.1", "Content-Length: 2") + b"{}")
        assert statuses(client.recv(1 << 16)) == [200]
        client.sendall(b"POST /api")
        assert statuses(received(client))[-1:] == [408]


@pytest.mark.parametrize("path", ["/api/v1/memories", "/mcp"])
def test_a_body_that_comes_slowly_is_given_up(impatient: tuple[Served, str], path: str) -> None:
    served, shown = impatient
    accepted = "Accept: application/json, text/event-stream"
    with connected(served) as client:
        client.sendall(head(served, shown, f"POST {path} HTTP/1.1", "Content-Length: 1000", accepted) + b"{")
        assert statuses(received(client)) == [408]
    assert is_well(served, shown)


def test_connections_beyond_the_bound_are_answered_and_closed_and_the_others_go_on(
    impatient: tuple[Served, str],
) -> None:
    served, shown = impatient
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(served)) for _ in range(CONNECTIONS + 20)]
        answers = [received(client) for client in clients]
    assert {tuple(statuses(answer)) for answer in answers} == {(408,), (503,)}
    assert sum(503 in statuses(answer) for answer in answers) >= 20
    assert is_well(served, shown)


def test_sockets_beyond_the_bound_of_a_token_are_refused_and_memory_stays_bounded(served: Served) -> None:
    shown = token(served.db, "--user", "many")
    assert is_well(served, shown)
    before = resident(served)
    outcomes: dict[int, int] = {}
    opened: list[socket.socket] = []
    with ExitStack() as stack:
        for number in range(SOCKETS):
            client = connected(served)
            client.sendall(upgrade(served, shown))
            (status,) = statuses(client.recv(1 << 16))
            outcomes[status] = outcomes.get(status, 0) + 1
            if status == 101:
                opened.append(stack.enter_context(closing(client)))
            else:
                client.close()
            if number % 150 == 149:
                answer_pings(opened, 3.1)  # the bound of requests a second is another one
    assert outcomes == {101: Limits().sockets, 429: SOCKETS - Limits().sockets}
    assert resident(served) - before < MOST_GROWTH
    assert is_well(served, shown)


def test_requests_that_come_together_are_answered_in_their_order_and_counted(served: Served) -> None:
    shown = token(served.db, "--user", "piper")
    one = head(served, shown, "POST /api/v1/memories HTTP/1.1", "Content-Length: 2") + b"{}"
    unknown = head(served, shown, "POST /api/v1/nothing HTTP/1.1", "Content-Length: 2") + b"{}"
    last = head(served, shown, "POST /api/v1/memories HTTP/1.1", "Content-Length: 2", "Connection: close") + b"{}"
    with connected(served) as client:
        client.sendall((one + unknown) * 10 + last)
        assert statuses(received(client)) == [200, 404] * 10 + [200]


@each_case(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"GET /\xff\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x00" * 10_000,
    ],
    ids=[
        "tls",
        "http2",
        "version",
        "two hosts",
        "two lengths",
        "negative",
        "chunk",
        "line",
        "headers",
        "bytes",
        "zeros",
    ],
)
def test_what_is_no_request_gets_one_sentence_and_no_trace(served: Served, anns: str, sent: bytes) -> None:
    with connected(served) as client:
        try:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            answer = received(client)
        except OSError:  # it closed before all was sent
            answer = b""
    assert set(statuses(answer)) <= {400, 421}
    for word in (b"Traceback", b"h11", b"uvicorn", b".py"):
        assert word not in answer
    assert is_well(served, anns)


def test_a_head_that_smuggles_a_second_request_is_refused(served: Served, anns: str) -> None:
    """Two ways to say how long a body is, which a proxy in front may read otherwise."""
    both = ("Content-Length: 40", "Transfer-Encoding: chunked")
    smuggled = b"0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: evil\r\n\r\n"
    with connected(served) as client:
        client.sendall(head(served, anns, "POST /api/v1/memories HTTP/1.1", *both) + smuggled)
        client.shutdown(socket.SHUT_WR)
        answer = received(client)
    assert statuses(answer) == [400]
    assert json.loads(answer.rpartition(b"\r\n\r\n")[2])["error"]["code"] == "bad_request"


@pytest.mark.parametrize(
    "repeated", ["Authorization: Bearer other", "Origin: http://{host}", "Host: {host}", "Picomem-User: bob"]
)
def test_a_header_that_says_who_asks_is_refused_if_it_comes_twice(served: Served, anns: str, repeated: str) -> None:
    host = f"{address(served)[0]}:{address(served)[1]}"
    header = repeated.format(host=host)
    twice = (
        ("Content-Length: 2", header) if header.startswith(("Auth", "Host")) else ("Content-Length: 2", header, header)
    )
    for body in (b"{}", b""):
        with connected(served) as client:
            client.sendall(head(served, anns, "POST /api/v1/memories HTTP/1.1", *twice) + body)
            assert statuses(received(client)) == [400]
    assert is_well(served, anns)


@pytest.mark.parametrize("arguments", [{"limit": True}, {"limit": "3"}, {"archived": "true"}, {"archived": 1}])
def test_a_value_of_another_kind_is_refused(served: Served, anns: str, arguments: dict[str, object]) -> None:
    answer = served.post(anns, "memories", arguments)
    (name,) = arguments
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")
    assert answer.json()["error"]["message"].startswith(f"{name} is ")


def test_a_frame_that_is_too_large_closes_the_socket_even_when_it_is_compressed(served: Served, anns: str) -> None:
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    where = f"{served.url.replace('http', 'ws', 1)}/ws"
    for compression in ("deflate", None):
        with connect(
            where, additional_headers={"Authorization": f"Bearer {anns}"}, proxy=None, compression=compression
        ) as client:
            client.send(" " * (Limits().frame + 1))
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(timeout=TIMEOUT)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009


def test_an_answer_is_not_held_back_until_the_client_acknowledges_its_head() -> None:
    with bound("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
