"""Requests that the SDK cannot read, and would leave without an answer.

It drops a line that is no request of the protocol. A client that sent it waits for the answer without end, so:

- A line with half of a character in its JSON (`"\\ud800"`), which the SDK's parser takes for no JSON at all, is
  repaired. As on the other surfaces (operations/operation.py), half a character becomes `?`.
- A line that is JSON and names a request, but whose method or parameters are of a wrong type, is answered with an
  error.
- A line without an id that can be read is dropped, because no client waits for an answer to it.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

Item = SessionMessage | Exception


class RequestRepair:
    """A stream of messages in front of the server, which repairs those that cannot be read or answers them on
    `outgoing`."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> object:
        """The context in which the last message was sent, for the SDK."""
        return getattr(self._incoming, "last_context", None)

    async def receive(self) -> Item:
        return await self._answered(repaired(await self._incoming.receive()))

    async def aclose(self) -> None:
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self._answered(repaired(await self._incoming.__anext__()))

    async def __aenter__(self) -> Self:
        await self._incoming.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._incoming.__aexit__(exc_type, exc_val, exc_tb)

    async def _answered(self, item: Item) -> Item:
        if (refusal := refusal_of(item)) is not None:
            await self._outgoing.send(SessionMessage(refusal))
        return item


def repaired(item: Item) -> Item:
    """The message of a line that could not be read, where only half a character was the reason."""
    line = _unread_line(item)
    if "\\ud" not in line.lower():
        return item
    try:
        whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except (ValueError, RecursionError):
        return item


def refusal_of(item: Item) -> types.JSONRPCError | None:
    """The answer to a line that names a request but is none; None for any other."""
    request = _named_request(item)
    if request is None:
        return None
    sentence = "The request is not one of JSON-RPC 2.0: its method must be a text and its params an object."
    return types.JSONRPCError(
        jsonrpc="2.0", id=request, error=types.ErrorData(code=types.INVALID_REQUEST, message=sentence)
    )


def _named_request(item: Item) -> types.RequestId | None:
    """The id of the request that a line names."""
    if not isinstance(item, ValidationError):
        return None
    try:
        values = [json.loads(line)] if (line := _unread_line(item)) else _objects(item)
    except (ValueError, RecursionError):
        return None
    for value in values:
        if isinstance(value, dict) and "method" in value and type(value.get("id")) in (int, str):
            return value["id"]
    return None


def _objects(error: ValidationError) -> list[Any]:
    """The whole objects that the SDK compared with each kind of message."""
    problems = error.errors(include_url=False, include_context=False)
    return [problem["input"] for problem in problems if problem["type"] == "missing"]


def _unread_line(item: Item) -> str:
    """The line that the SDK took for no JSON; empty for anything else."""
    if not isinstance(item, ValidationError):
        return ""
    problem = item.errors(include_url=False, include_context=False)[0]
    return problem["input"] if problem["type"] == "json_invalid" and isinstance(problem["input"], str) else ""
