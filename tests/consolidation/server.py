"""A server on this machine that speaks OpenAI's chat protocol, and behaves as badly as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests import loopback
from tests.loopback import answer

GOOD = {
    "facts": [
        {
            "key": "staging_db_port",
            "content": "The staging database listens on port 5433",
            "kind": "project",
            "importance": 0.8,
            "message": 2,
            "quote": "Its database listens on port 5433",
        }
    ],
    "timeline": "They found why staging was slow.",
    "summary": "",
    "invalidate": [],
}

Behave = Callable[[BaseHTTPRequestHandler, dict[str, Any]], Any]


@dataclass
class Server(loopback.Server):
    """`behave` answers a request in its own way: (handler, request) → None, or anything true for the usual answer."""

    behave: Behave | None = None

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


def says(content: str | None, **how: Any) -> Behave:
    """Always this answer."""
    return lambda handler, _request: answer(handler, completion(content, **how))


def fails(status: int, body: bytes = b'{"error": {"message": "no"}}') -> Behave:
    return lambda handler, _request: answer(handler, body, status)


@contextmanager
def running() -> Iterator[Server]:
    state = Server()

    def respond(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if state.behave is None or state.behave(handler, request):
            answer(handler, completion(json.dumps(GOOD)))

    with loopback.listening(state, respond):
        yield state
