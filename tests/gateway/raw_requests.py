"""Requests written byte by byte, as no client library would send them."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

from .serving import TIMEOUT, Served


def address(served: Served) -> tuple[str, int]:
    where = urlsplit(served.url)
    assert where.hostname is not None
    assert where.port is not None
    return where.hostname, where.port


def connected(served: Served) -> socket.socket:
    return socket.create_connection(address(served), timeout=TIMEOUT)


def head(
    served: Served,
    shown: str,
    line: str = "POST /api/v1/memories HTTP/1.1",
    *more: str,
    kind: str = "application/json",
) -> bytes:
    """The line and the headers of a request."""
    host, port = address(served)
    lines = [line, f"Host: {host}:{port}", f"Authorization: Bearer {shown}", f"Content-Type: {kind}", *more]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def received(client: socket.socket) -> bytes:
    """All that comes until the server closes."""
    parts = []
    while part := client.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def statuses(answer: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]
