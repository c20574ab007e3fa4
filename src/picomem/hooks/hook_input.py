"""Reads the event that a host writes to a hook: one JSON object. Loads nothing but the decoder.

An object counts as soon as it is whole, because a host may leave its end of the pipe open. What follows the object is
ignored. A byte that is no UTF-8, and a control character in a string, cost that character alone.
"""

from __future__ import annotations

import json
import os
import select
from time import monotonic

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from typing import Any

LARGEST_INPUT = 4 << 20  # bytes of an event
_PIECE = 1 << 16  # bytes
_DECODER = json.JSONDecoder(strict=False)


def read_event(descriptor: int, until: float) -> tuple[bytes, dict[str, Any]]:
    """The input, and the event in it, until a time of `monotonic`. Raises TimeoutError, and ValueError with what is
    wrong."""
    given = b""
    while True:
        piece = read_piece(descriptor, until)
        given += piece
        is_all = not piece or len(given) > LARGEST_INPUT
        # A long event comes in many pieces. It is parsed when no further piece is there, not after each.
        if is_all or (b"}" in piece and not select.select([descriptor], [], [], 0)[0]):
            event = first_object(given)
            if event is not None:
                return given, event
            if is_all:
                raise ValueError(f"more than {LARGEST_INPUT:,} bytes" if piece else "no JSON object")


def read_piece(descriptor: int, until: float | None) -> bytes:
    """The next bytes, none at the end. Raises TimeoutError."""
    if until is None or ((left := until - monotonic()) > 0 and select.select([descriptor], [], [], left)[0]):
        return os.read(descriptor, _PIECE)
    raise TimeoutError


def first_object(given: bytes) -> dict[str, Any] | None:
    """The JSON object that the bytes begin with; None if they begin with none, or its end has not come yet."""
    text = given.decode("utf-8", "replace").lstrip("\ufeff \t\r\n\0")
    try:
        value, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
