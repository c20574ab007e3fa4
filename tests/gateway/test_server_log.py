"""The log of the server: what it says of requests, and that it says nothing of what users said or showed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.databases import chosen
from websockets.sync.client import connect

from .raw_requests import connected, head, received
from .serving import TIMEOUT, Served, picomem, serving, token
from .test_mcp_over_http import talk

# Each stands in one place of a request, and nowhere else.
PLANTED = {
    place: f"{place}zwyxquorvalp"
    for place in ("content", "query", "path", "address", "header", "agent", "frame", "method", "user", "other", "wrong")
}
ACCEPTS = "Accept: application/json, text/event-stream"
SECRET = "ghp_" + "Zq7xW2mK9vB4nL8pR3tY6cF1hJ5dS0gA2eU7"


def spoken(running: Served, shown: str) -> None:
    """A session that plants strings in everything that a client can send."""
    with running.client(shown, User_Agent=PLANTED["agent"], X_Whatever=PLANTED["header"]) as client:
        client.post(
            "/api/v1/remember", json={"content": f"{PLANTED['content']} is red, says {SECRET}", "key": "planted"}
        )
        client.post("/api/v1/recall", json={"query": PLANTED["query"]}, params={"token": PLANTED["query"]})
        client.post("/api/v1/recall", json={"query": 7, PLANTED["query"]: PLANTED["query"]})
        client.post("/api/v1/recall", content=PLANTED["query"])
        client.post(f"/api/v1/{PLANTED['path']}", json={})
        client.get(f"/{PLANTED['address']}?{PLANTED['address']}=1")
        client.post("/api/v1/recall", json={}, headers={"Picomem-User": PLANTED["other"]})
        client.request(PLANTED["method"], "/health")
    talk(running, shown, "auto", lambda client: client.call_tool("memory_recall", {"query": PLANTED["query"]}))
    talk(running, shown, "auto", lambda client: client.call_tool("memory_store", {"content": PLANTED["content"]}))
    running.post(PLANTED["wrong"], "recall", {"query": PLANTED["query"]})
    address = f"{running.url.replace('http', 'ws', 1)}/ws?{PLANTED['address']}"
    with connect(address, additional_headers={"Authorization": f"Bearer {shown}"}, proxy=None) as client:
        for frame in (
            PLANTED["frame"],
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {"query": PLANTED["query"]}}),
            json.dumps({"jsonrpc": "2.0", "id": 2, "method": PLANTED["method"], "params": {}}),
        ):
            client.send(frame)
            client.recv(timeout=TIMEOUT)
    with pytest.raises(Exception, match="401"):
        connect(address, additional_headers={"Authorization": f"Bearer {PLANTED['wrong']}"}, proxy=None)


def test_the_log_of_a_whole_session_holds_nothing_that_a_client_sent(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    shown = token(db, "--user", PLANTED["user"])
    with serving(db) as running:
        spoken(running, shown)
        log = running.whole_log()
    for place, planted in {**PLANTED, "token": shown, "secret": SECRET, "end of the token": shown[-20:]}.items():
        assert planted.lower() not in log.lower(), place
    lines = [json.loads(line) for line in log.splitlines()]
    assert {line["event"] for line in lines} == {"request", "socket", "call"}
    assert [line for line in lines if line["level"] != "info"] == []


def test_a_line_says_when_what_came_of_which_request_of_whom(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    anns, bobs = token(db, "--user", "ann"), token(db, "--user", "bob")
    with serving(db) as running:
        answers = [running.post(shown, "status") for shown in (anns, anns, bobs)]
        refused = running.post("", "status")
        first = [json.loads(line) for line in running.whole_log().splitlines()]
    assert [line["request"] for line in first] == [answer.headers["Picomem-Request"] for answer in (*answers, refused)]
    assert {(line["route"], line["method"]) for line in first} == {("/api/v1/status", "POST")}
    assert [line["status"] for line in first] == [200, 200, 200, 401]
    assert all(line["ms"] > 0 and line["time"].endswith("Z") and line["level"] == "info" for line in first)
    users = [line["user"] for line in first]
    assert users[0] == users[1] != users[2]
    assert users[3] == ""
    with serving(db) as running:
        running.post(anns, "status")
        (again,) = [json.loads(line) for line in running.whole_log().splitlines()]
    assert again["user"] == users[0], "another run of the server calls the same user otherwise"


def test_a_fault_is_logged_by_its_kind_and_place_and_answered_without_either(tmp_path: Path) -> None:
    """A fault of the program is hard to come by from outside: another program takes a table away."""
    db = tmp_path / "memory.db"
    shown = token(db)
    with serving(db) as running:
        chosen().rows(db, "DROP TABLE holdings")
        answer = running.post(shown, "status")
        log = running.whole_log()
    assert answer.status_code in (500, 503)
    assert "Traceback" not in answer.text
    for line in log.splitlines():
        assert "Traceback" not in json.loads(line).get("event", "")


def test_lines_for_people_are_no_json(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    shown = token(db)
    with serving(db, "--log-format", "text") as running:
        running.post(shown, "status")
        line = running.whole_log().strip()
    assert "event=request" in line
    assert "route=/api/v1/status" in line
    with serving(db, PICOMEM_SERVER_LOG_FORMAT="text") as running:
        running.post(shown, "status")
        assert "event=request" in running.whole_log()


def test_an_exception_is_told_without_its_text_and_secrets_are_redacted() -> None:
    program = f"""
import logging
from picomem.gateway.server_log import server_logger, set_up
set_up("json", lambda text: text.replace("{SECRET}", "[redacted]"))
try:
    raise ValueError("zwyxquorvalp was stored")
except ValueError:
    logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    server_logger().exception("fault", detail="{SECRET}", parts=["{SECRET}"])
logging.getLogger("uvicorn.error").info("GET /?zwyxquorvalp")
logging.getLogger("picomem").info("the token {SECRET} was seen")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=TIMEOUT, check=True)
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stderr.splitlines()]
    assert "zwyxquorvalp" not in done.stderr
    assert SECRET not in done.stderr
    assert [line.get("error") for line in lines] == ["ValueError", "ValueError", None]
    assert "<module>" in lines[0]["places"][0]
    assert lines[2]["event"] == "the token [redacted] was seen"


def test_what_returns_in_each_line_is_looked_through_once() -> None:
    program = """
import json, logging
from picomem.gateway.server_log import numbered, server_logger, set_up
seen = []
set_up("json", lambda text: seen.append(text) or text)
for number in range(20):
    with numbered(f"number {number}"):
        server_logger().info("request", route="/api/v1/recall", user="a399cd402b596a3a")
        logging.getLogger("uvicorn.error").warning("a warning")
print(json.dumps(seen))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=TIMEOUT, check=True)
    assert sorted(json.loads(done.stdout)) == ["/api/v1/recall", "a warning", "a399cd402b596a3a", "request"]
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["request"] for line in lines] == [f"number {number // 2}" for number in range(40)]
    assert [line["level"] for line in lines[:2]] == ["info", "warning"]


@pytest.mark.parametrize("path", ["/api/v1/recall", "/mcp", "/v1/chat/completions", "/sign-in"])
def test_a_client_that_hangs_up_in_the_middle_of_a_body_is_no_fault_of_the_server(tmp_path: Path, path: str) -> None:
    db = tmp_path / "memory.db"
    shown = token(db, "--user", "ann")
    kind = "application/x-www-form-urlencoded" if path == "/sign-in" else "application/json"
    with serving(db, "--no-watch") as running:
        for size in (100, 2_000_000):
            with connected(running) as client:
                client.sendall(
                    head(running, shown, f"POST {path} HTTP/1.1", f"Content-Length: {size}", ACCEPTS, kind=kind) + b"{"
                )
                client.shutdown(socket.SHUT_WR)
                received(client)
        lines = [json.loads(line) for line in running.whole_log().splitlines()]
    assert [line for line in lines if line["level"] != "info"] == []
    assert sorted(line["status"] for line in lines) == [413, 499]  # the line of a request is written after its answer


def test_every_address_of_the_server_is_logged_and_counted_under_its_name(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    assert picomem(db, "grant", "server:read:metrics", "--user", "ann").returncode == 0
    shown = token(db, "--user", "ann", "--scope", "server:read:metrics")
    with serving(db, "--no-watch") as running:
        with running.client(shown) as client:
            for path in ("/proof?challenge=x", "/channels/whatsapp/main", "/channels/whatsapp/x", "/v1/models/picobot"):
                client.get(path)
            client.get("/nowhere")
            metrics = client.get("/metrics").text
        lines = [json.loads(line) for line in running.whole_log().splitlines()]
    routes = ["/proof", "/channels/whatsapp", "/channels/whatsapp", "/v1/models", "other", "/metrics"]
    assert [line["route"] for line in lines] == routes
    for name, count in (("proof", 1), ("whatsapp", 2), ("models", 1), ("other", 1)):
        assert f'picomem_request_seconds_count{{operation="{name}"}} {count}.0' in metrics, name
