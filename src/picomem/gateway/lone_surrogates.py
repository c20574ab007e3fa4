"""Repairs requests whose JSON escapes half of a character (`"\ud800"`), which the SDK would not answer.

The parser of the SDK rejects such a line as invalid JSON, and the SDK drops invalid lines, because they have no id to
answer to. Python's parser reads them. As on the other surfaces (operations/operation.py), half a character becomes `?`.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

Item = SessionMessage | Exception


class SurrogateRepair:
    """A stream of messages in front of the server, which repairs those that half a character made unreadable."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def last_context(self) -> object:
        """The context in which the last message was sent, for the SDK."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Item:
        return repaired(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return repaired(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)


def repaired(item: Item) -> Item:
    """The message of a line that could not be read, where only half a character was the reason."""
    if not isinstance(item, ValidationError):
        return item
    problem = item.errors(include_url=False, include_context=False)[0]
    line = problem["input"]
    if problem["type"] != "json_invalid" or not isinstance(line, str) or "\\ud" not in line.lower():
        return item
    try:
        whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except (ValueError, RecursionError):
        return item
