"""A server on the loopback that speaks OpenAI's chat protocol, and what of Ollama's `picomem chat` asks: its answers
are written beforehand, and what it was asked is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = str | int | list[tuple[str, dict[str, Any]]]  # a text, a status that fails, or calls


class Unended(str):
    """A text that is streamed and not ended, until the client goes away."""


class ModelServer:
    """`asked` are the bodies of the requests, in their order."""

    def __init__(self, *steps: Step) -> None:
        self.steps: list[Step] = list(steps)
        self.asked: list[dict[str, Any]] = []
        self.pulled = [{"name": "nomic-embed-text:latest", "modified_at": "2026-05"}, {"name": "qwen3:8b", "modified_at": "2026-04"}]  # fmt: skip
        self.port = 0

    @property
    def env(self) -> dict[str, str]:
        """The settings that lead to it."""
        return {
            "PICOMEM_MODEL_PROVIDER": "openai-compatible",
            "PICOMEM_MODEL_MODEL": "script",
            "PICOMEM_MODEL_BASE_URL": f"http://127.0.0.1:{self.port}/v1",
            "PICOMEM_RECALL_EMBEDDER": "none",
        }

    def prompt(self, place: int = -1) -> str:
        """The system messages of a request."""
        contents = [
            message["content"]
            for message in self.asked[place]["messages"]
            if message["role"] in ("system", "developer")
        ]
        return "\n".join(contents)

    def answer(self, body: dict[str, Any]) -> Step:
        self.asked.append(body)
        return self.steps.pop(0) if self.steps else "Well."


@contextmanager
def serving(server: ModelServer) -> Iterator[ModelServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, "application/json", json.dumps({"models": server.pulled}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            step = server.answer(body)
            if isinstance(step, int):
                self._send(step, "application/json", b'{"error": {"message": "slow down"}}')
            elif body.get("stream"):
                chunks = [*_chunks(step), {"choices": [], "usage": _USAGE}]
                if isinstance(step, Unended):
                    chunks = _chunks(step)[:-1]
                events = "".join(f"data: {json.dumps({**_HEAD, **chunk})}\n\n" for chunk in chunks)
                if isinstance(step, Unended):
                    self._stream(events.encode())
                else:
                    self._send(200, "text/event-stream", f"{events}data: [DONE]\n\n".encode())
            else:
                whole = {**_HEAD, "object": "chat.completion", "choices": [_choice("message", _message(step), step)], "usage": _USAGE}  # fmt: skip
                self._send(200, "application/json", json.dumps(whole).encode())

        def _stream(self, events: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(events)
            self.wfile.flush()
            self.rfile.read(1)  # until the client closes the connection

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.port = listening.server_address[1]
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            listening.shutdown()


_HEAD = {"id": "1", "object": "chat.completion.chunk", "created": 1_777_593_600, "model": "script"}
_USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def _message(step: str | list[Any]) -> dict[str, Any]:
    if isinstance(step, str):
        return {"role": "assistant", "content": step}
    calls = [
        {"index": place, "id": f"call_{id(step)}_{place}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for place, (name, given) in enumerate(step)
    ]  # fmt: skip
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _choice(kind: str, said: dict[str, Any], step: Any) -> dict[str, Any]:
    return {"index": 0, kind: said, "finish_reason": "stop" if isinstance(step, str) else "tool_calls"}


def _chunks(step: str | list[Any]) -> list[dict[str, Any]]:
    if not isinstance(step, str):
        return [{"choices": [_choice("delta", _message(step), step)]}]
    words = step.split(" ")
    texts = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
    said = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]}
        for text in texts
    ]
    return [*said, {"choices": [_choice("delta", {}, step)]}]
