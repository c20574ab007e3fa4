"""How an error is said over the network: a code, one sentence, and the field where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from picomem.errors import PicomemError, TooLarge, TooSlow

FAULT_SENTENCE = "The server made a mistake, which its log tells; nothing is known to be lost."


def error_value(error: PicomemError) -> dict[str, Any]:
    """An error of ours as JSON."""
    details = {name: value for name, value in error.data.items() if isinstance(value, str | int | float)}
    return {"code": error.code, "message": str(error), **details}


def http_error(status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error that is none of picomem's operations."""
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


def operation_error(error: PicomemError) -> JSONResponse:
    """What an operation raised on purpose."""
    # After a body that was not read to its end, what comes next on the connection is no request.
    headers = {"Connection": "close"} if isinstance(error, TooLarge | TooSlow) else None
    return JSONResponse({"error": error_value(error)}, error.status, headers)
