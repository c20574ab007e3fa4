"""The least HTTP client that a benchmark needs: POST of JSON and GET of pages over one connection that stays.

A whole client library takes longer than the server does, and would run on the server's processor.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any


class HttpConnection:
    """One connection to a server on this machine."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader = reader
        self._writer = writer
        self._host = host

    @classmethod
    async def open(cls, port: int) -> HttpConnection:
        """Connect to 127.0.0.1. Raises OSError."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        return cls(reader, writer, f"127.0.0.1:{port}")

    async def post(self, path: str, value: Any, headers: Mapping[str, str]) -> tuple[int, Any]:
        """Send a JSON document; the status and the JSON of the answer. Raises EOFError where the server hangs up."""
        body = json.dumps(value).encode()
        sent = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
        status, content = await self._answer("POST", path, sent, body)
        return status, json.loads(content) if content else None

    async def get(self, path: str, headers: Mapping[str, str]) -> tuple[int, str]:
        """Ask for a page; the status and the text. Raises EOFError where the server hangs up."""
        status, content = await self._answer("GET", path, headers, b"")
        return status, content.decode()

    async def _answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        named = {"Host": self._host, **headers}
        head = "".join(
            [f"{method} {path} HTTP/1.1\r\n", *(f"{name}: {said}\r\n" for name, said in named.items()), "\r\n"]
        )
        self._writer.write(head.encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status_line, *lines = answer.split("\r\n")
        told = {name.lower(): said.strip() for name, _, said in (line.partition(":") for line in lines)}
        if told.get("transfer-encoding") == "chunked":
            content = await self._chunks()
        else:
            content = await self._reader.readexactly(int(told.get("content-length", "0")))
        return int(status_line.split()[1]), content

    async def _chunks(self) -> bytes:
        chunks = []
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            chunks.append((await self._reader.readexactly(size + 2))[:-2])
        await self._reader.readexactly(2)
        return b"".join(chunks)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()
