"""Converts an error to a reply over the network: a code, one sentence, and the field if there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

from pydantic_core import to_json
from starlette.responses import JSONResponse

from picomem.errors import (
    FilesMoved,
    InvalidInput,
    PicomemError,
    ServerEnding,
    StoreError,
    TooLarge,
    TooManyRequests,
    TooSlow,
)
from picomem.operations.command_names import error_data

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_PATH = re.compile(r"(?<![\w/.])(?:/|[A-Za-z]:\\)\S")
_RESTART_SECONDS = 5  # in which another server has usually taken over
FAULT_SENTENCE = (
    "The server made a mistake; nothing is known to be lost. Try again; the server's log tells of it beside the number "
    "in the header Picomem-Request."
)


def error_value(error: PicomemError) -> dict[str, Any]:
    """An error of ours as JSON."""
    details = {name: value for name, value in error.data.items() if isinstance(value, str | int | float)}
    if isinstance(error, StoreError):
        details = {name: value for name, value in details.items() if not _PATH.search(str(value))}
    message = remote_sentence(error)
    codes = error_data(error) if message is error.message else {"code": error.code}
    return {**codes, "message": message, **details}


def remote_sentence(error: PicomemError) -> str:
    """What a client on another machine is told of an error. Where the store lies is none of its business, so it gets
    the meaning of the code instead of a sentence that names a path."""
    if isinstance(error, FilesMoved):  # its own sentence is for whoever runs the program that has the store open
        return "The store was moved, deleted or replaced while the server had it open; its operator has to restart it."
    if isinstance(error, StoreError) and _PATH.search(str(error)):
        return " ".join((type(error).__doc__ or "").split())
    return error.message


def http_error(status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error that is none of picomem's operations."""
    return JSONResponse({"error": {"code": code, "message": message, "type": _type(status)}}, status, headers)


def operation_error(error: PicomemError) -> JSONResponse:
    """The reply for an error that an operation raised on purpose."""
    return JSONResponse(operation_error_value(error), error.status, error_headers(error))


def error_headers(error: PicomemError) -> dict[str, str]:
    """The headers that go with an error: when to send the request again, and whether the connection ends."""
    headers = {}
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(error.data["retry_after"])
    if isinstance(error, ServerEnding):
        headers["Retry-After"] = str(_RESTART_SECONDS)
    if isinstance(error, TooLarge | TooSlow | ServerEnding):
        # The body was not read to its end, so what comes next on the connection is no request.
        headers["Connection"] = "close"
    return headers


def operation_error_value(error: PicomemError) -> dict[str, Any]:
    """The body of that response."""
    return {"error": {**error_value(error), "type": _type(error.status)}}


def _type(status: int) -> str:
    """The kind of an error, in the words of OpenAI's API, which its clients expect."""
    return _TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")


# Parses and checks JSON from a network, writes JSON, and bounds the size of what is written. Pure.

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
