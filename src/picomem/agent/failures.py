"""Explains why a model did not answer, in a sentence that names the remedy. Pure."""

from __future__ import annotations

from collections.abc import Callable

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)

_LONGEST = 200  # characters of what a server says
_LONGEST_REDACTED = 10_000  # characters in which secrets are looked for before the text is cut: a cut hides half of one
_NO_ANSWER = "Exceeded maximum output retries"


def failure(error: AgentRunError, redact: Callable[[str], str]) -> str:
    """The sentence. What a server said of itself is redacted, shortened and in one line: some servers repeat a key."""
    if isinstance(error, ModelHTTPError):
        return f"The model did not answer: {_of_status(error, redact)}"
    if isinstance(error, (ModelTimeoutError, ModelRequestTimeout)):
        return "The model did not answer: it was silent for too long; raise timeout_secs in [model], or try again."
    if isinstance(error, ModelConnectionError) or "Connection error" in str(error):
        return "The model did not answer: its server cannot be reached; is it running, where base_url in [model] says?"
    if isinstance(error, UnexpectedModelBehavior) and _NO_ANSWER in str(error):
        return "The model did not answer: it had nothing to say; ask again, or in other words."
    line = _line(str(error), redact)
    if isinstance(error, UnexpectedModelBehavior) or (isinstance(error, ModelAPIError) and "decode" in str(error)):
        return f"The model did not answer as a model does: {line}"
    return f"The model did not answer: {line or type(error).__name__}"


def _of_status(error: ModelHTTPError, redact: Callable[[str], str]) -> str:
    status, said = error.status_code, _message(error.body, redact)
    if status in (401, 403):
        return f"its server refuses the key ({status}); check key in [model], or the provider's variable."
    if status == 404:
        return f"its server has no model “{error.model_name}” there (404{said}); check model and base_url in [model]."
    if status == 429:
        return f"its server asks to wait (429{said}); try again in a while."
    if status >= 500:
        return f"its server failed ({status}{said}); try again in a while."
    return f"its server refused the question ({status}{said})."


def _message(body: object, redact: Callable[[str], str]) -> str:
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message", "") if isinstance(inner, dict) else inner
    line = _line(said, redact) if isinstance(said, str) else ""
    return f": {line}" if line else ""


def _line(text: str, redact: Callable[[str], str]) -> str:
    return " ".join(redact(text[:_LONGEST_REDACTED]).split())[:_LONGEST]
