"""A model server that says one sentence to everything, and keeps what it was asked: the APIs of Anthropic (messages) and
OpenAI (responses), as far as Claude Code and Codex use them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class ScriptedModel(ThreadingHTTPServer):
    """`requests` are the bodies of the requests for an answer, in order."""

    def __init__(self, sentence: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sentence = sentence
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def scripted_model(sentence: str) -> Iterator[ScriptedModel]:
    """Serve until the context ends."""
    with ScriptedModel(sentence) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""

    def do_GET(self) -> None:
        self._send("application/json", "{}")

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def do_POST(self) -> None:
        assert isinstance(self.server, ScriptedModel)
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send("application/json", json.dumps({"input_tokens": 10}))
        elif path.endswith("/v1/messages"):
            self.server.requests.append(body)
            self._send(*_message(self.server.sentence, streamed=bool(json.loads(body).get("stream"))))
        elif path.endswith("/v1/responses"):
            self.server.requests.append(body)
            self._send("text/event-stream", _events(_response(self.server.sentence)))
        else:
            self._send("application/json", "{}")

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _message(sentence: str, *, streamed: bool) -> tuple[str, str]:
    """A message of Anthropic's API, whole or as its events."""
    block = {"type": "text", "text": sentence}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted"}
    message |= {"content": [], "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    if not streamed:
        return "application/json", json.dumps(message | {"content": [block]} | ending)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": sentence}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    return "text/event-stream", _events(events)


def _response(sentence: str) -> list[dict[str, Any]]:
    """The events of a response of OpenAI's API."""
    content = [{"type": "output_text", "text": sentence, "annotations": []}]
    item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}
    return [
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
    ]


def _events(events: list[dict[str, Any]]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
