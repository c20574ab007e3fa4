"""Redacts JSON: the arguments of a tool call, or a record of a transcript. Pure.

The text is JSON, and must be JSON afterwards. So each text in it is redacted by itself, where a key of many lines is
not hidden behind escapes, and then the whole, where a name beside a value says that it is a password. What that
breaks, as a secret that is a bare number does, is kept as the text of one argument.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from picomem.text.storable import plain

Redact = Callable[[str], str]


def redact_json(text: str, redact: Redact) -> str:
    """The JSON as it may be stored. What is no JSON (models write such, too) is redacted as a text."""
    try:
        given = json.loads(text)
        redacted = _redacted(given, redact)
    except (ValueError, RecursionError):
        return redact(plain(text))
    # What holds no secret keeps the bytes that the model wrote.
    safe = redact(plain(text if redacted == given else json.dumps(redacted, ensure_ascii=False)))
    try:
        json.loads(safe)
    except ValueError:
        return json.dumps({"redacted": safe}, ensure_ascii=False)
    return safe


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        text = plain(value)
        safe = redact(text)
        return value if safe == text else safe
    if isinstance(value, list):
        return [_redacted(item, redact) for item in value]
    if isinstance(value, dict):
        return {_redacted(name, redact): _redacted(item, redact) for name, item in value.items()}
    return value
