"""Parses and checks JSON from a network, writes JSON, and bounds the size of what is written. Pure."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from pydantic_core import to_json

from picomem.errors import InvalidInput, TooLarge

_MOST_DEPTH = 40
_SURROGATE = re.compile("[\ud800-\udfff]")


def encoded(value: Any) -> bytes:
    """Return a value as JSON. Views (operations/recall_views.py) become objects.

    Converting them to dictionaries first takes five times as long."""
    return to_json(value)


def parsed(body: bytes, *, of_any_kind: bool = False) -> Any:
    """The object that a body holds, or `of_any_kind` whatever value; an empty body is an empty object.

    Raises InvalidInput for what is no JSON, is nested too deeply, or holds a number that no double holds or half of a
    surrogate pair, which no answer could repeat.
    """
    if not body.strip() and not of_any_kind:
        return {}
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("That is no JSON text; send one JSON object.") from error
    if not isinstance(value, dict) and not of_any_kind:
        raise InvalidInput("The body is JSON, but no object; send the arguments as one object.")
    if not _is_sound(value, _MOST_DEPTH):
        raise InvalidInput(
            "The JSON holds a number that is too large, or a text that is no Unicode, or is nested too deeply; send it "
            "without that."
        )
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _is_sound(value: Any, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, str):
        return _SURROGATE.search(value) is None
    if isinstance(value, dict):
        return all(_is_sound(name, depth) and _is_sound(member, depth - 1) for name, member in value.items())
    if isinstance(value, list):
        return all(_is_sound(member, depth - 1) for member in value)
    return not isinstance(value, float) or isfinite(value)


# On every wire an answer to a program has a bound, so what one call makes the server hold is known.

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
