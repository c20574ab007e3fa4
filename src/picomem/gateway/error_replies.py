"""Converts an error to a reply over the network: a code, one sentence, and the field if there is one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from picomem.errors import FilesMoved, PicomemError, ServerEnding, StoreError, TooLarge, TooManyRequests, TooSlow
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
