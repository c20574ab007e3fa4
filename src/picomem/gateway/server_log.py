"""The log of the server on stderr: one line for each request, socket or failure, without any text of a user.

Every line, of picomem and of the libraries, passes the same processors and picomem's redaction. Only the request's
number, the level and the time are added afterwards. Of libraries only warnings and errors are logged, because other
lines show addresses with their queries. Of an exception the log shows the kind and the places in the code, never the
text, which may quote stored text.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import structlog

from picomem.loaded_once import cached_if_short

_OWN = ("picomem", "picomem.server")
_MOST_FRAMES = 20  # of an exception, the innermost
_SHORT = 100  # characters of a text whose redaction is remembered: routes, methods and digests of users return
_REMEMBERED = 4_096

_request_number: ContextVar[str] = ContextVar("request_number", default="")


def set_up(log_format: str, redact: Callable[[str], str]) -> None:
    """Let everything that this process logs go to stderr, a line each."""
    render = structlog.processors.JSONRenderer() if log_format == "json" else structlog.processors.LogfmtRenderer()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(())],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _places,
                _redaction(redact),
                _number,
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
                render,
            ],
            use_get_message=True,
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(_OWN[0]).setLevel(logging.INFO)
    structlog.configure(
        processors=[structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


@contextmanager
def numbered(number: str) -> Iterator[None]:
    """Let each line that is logged in the block have the number of a request."""
    token = _request_number.set(number)
    try:
        yield
    finally:
        _request_number.reset(token)


def server_logger() -> structlog.stdlib.BoundLogger:
    """The logger of the server's own lines."""
    return structlog.stdlib.get_logger(_OWN[1])


def _places(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The kind of an exception, and where in the code it came from."""
    given = event.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()
    error = given if isinstance(given, BaseException) else given[1] if isinstance(given, tuple) else None
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    event.pop("stack_info", None)
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
        event["error"] = type(error).__name__
        event["places"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return event


def _number(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The number of the request in which something was logged."""
    if number := _request_number.get():
        event["request"] = number
    return event


def _redaction(redact: Callable[[str], str]) -> structlog.typing.Processor:
    safe = cached_if_short(_SHORT, _REMEMBERED)(redact)

    def redacted(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        for name, value in event.items():
            if isinstance(value, str):
                event[name] = safe(value)
            elif isinstance(value, list):
                event[name] = [safe(part) if isinstance(part, str) else part for part in value]
        return event

    return redacted
