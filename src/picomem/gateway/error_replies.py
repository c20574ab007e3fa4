"""How an error is said over the network: a code, one sentence, and the field where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from picomem.errors import PicomemError


def error_value(error: PicomemError) -> dict[str, Any]:
    """An error of ours as JSON."""
    details = {name: value for name, value in error.data.items() if isinstance(value, str | int | float)}
    return {"code": error.code, "message": str(error), **details}


def http_error(status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error that is none of picomem's operations."""
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


def operation_error(error: PicomemError) -> JSONResponse:
    """The reply for an error that an operation raised on purpose."""
    return JSONResponse({"error": error_value(error)}, error.status)
