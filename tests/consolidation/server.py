"""A server on this machine that speaks OpenAI's chat protocol, and behaves as badly as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = {
    "facts": [
        {
            "key": "staging_db_port",
            "content": "The staging database listens on port 5433",
            "kind": "project",
            "importance": 0.8,
            "messages": [2],
        }
    ],
    "timeline": "They found why staging was slow.",
    "summary": "",
    "invalidate": [],
}

Behave = Callable[[BaseHTTPRequestHandler, dict[str, Any]], Any]


@dataclass
class Server:
    """`behave` answers a request in its own way: (handler, request) → None, or anything true for the usual answer."""

    url: str = ""
    behave: Behave | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hold(self) -> threading.Event:
        """Let every answer wait for `stop`, and then come as usual; what is returned tells when the first is due."""
        asked = threading.Event()

        def held(_handler: BaseHTTPRequestHandler, _request: dict[str, Any]) -> bool:
            asked.set()
            return self.stop.wait(60)

        self.behave = held
        return asked


def completion(content: str | None, *, finish: str = "stop", refusal: str | None = None) -> bytes:
    """An answer as OpenAI writes it."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return json.dumps(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1_777_593_600,
            "model": "tiny",
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {"prompt_tokens": 700, "completion_tokens": 60, "total_tokens": 760},
        }
    ).encode()


def answer(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, kind: str = "application/json") -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def says(content: str | None, **how: Any) -> Behave:
    """Always this answer."""
    return lambda handler, _request: answer(handler, completion(content, **how))


def fails(status: int, body: bytes = b'{"error": {"message": "no"}}') -> Behave:
    return lambda handler, _request: answer(handler, body, status)


@contextmanager
def running() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.lock:
                state.requests.append(request)
                state.headers.append({name.lower(): value for name, value in self.headers.items()})
            try:
                if state.behave is None or state.behave(self, request):
                    answer(self, completion(json.dumps(GOOD)))
            except OSError:
                return  # the client has gone

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
