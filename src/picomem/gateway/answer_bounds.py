"""Bounds the size of an answer to a program, on every wire: what one call makes the server hold is known. Pure."""

from __future__ import annotations

from typing import Any

from picomem.errors import TooLarge
from picomem.gateway.json_bodies import encoded

MOST_ANSWER_BYTES = 4 << 20
UNREAD = 4408  # why a web socket closes whose client reads nothing; 408 is HTTP's for who is too slow
READS_NOTHING = "The client does not read its answers; ask for less at once, and read each."


def bounded(name: str, value: Any, *, is_done: bool) -> Any:
    """The value of an answer, which `encoded` takes. Raises TooLarge for one that is too large; `is_done` says that the
    call has changed something meanwhile."""
    size = len(encoded(value))
    if size <= MOST_ANSWER_BYTES:
        return value
    done = "It is done, but its" if is_done else "The"
    raise TooLarge(
        f"{done} answer of “{name}” would have {size:,} bytes, and one answer has at most {MOST_ANSWER_BYTES:,}; ask "
        "for less at once: with a smaller limit, the next page by its cursor, or a narrower question."
    )
