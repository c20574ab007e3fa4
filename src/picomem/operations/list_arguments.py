"""Reads a list that a model sent as one text: as JSON, with commas between its elements, or "null"."""

from __future__ import annotations

import json
from typing import Any


def list_meant(value: Any, *, is_of_names: bool) -> Any:
    """Return the list that a model means by an argument: None for a written null, any other value as it is.

    `is_of_names` says that no element holds a comma, so that a text with commas is several; a path or a sentence may.
    """
    if isinstance(value, list) and len(value) == 1 and isinstance(inner := _written(value[0]), list):
        return inner
    written = _written(value)
    if not isinstance(written, str) or not is_of_names:
        return written
    text = written.strip()
    is_bracketed = text.startswith("[") and text.endswith("]")
    if not is_bracketed and "," not in text:
        return value
    parts = (text[1:-1] if is_bracketed else text).split(",")
    return [name for part in parts if (name := part.strip().strip("\"'"))]


def _written(text: Any) -> Any:
    """The list, or the None, that a text is in JSON; any other value as it is."""
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
    return value if value is None or isinstance(value, list) else text
