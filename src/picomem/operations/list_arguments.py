"""Reads what a model means by an argument: a list that it sent as one text, as JSON or with commas between its
elements, a single value that it put into a list, or a written null."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_COMMA = re.compile("[,，、]")
_NULLS = ("null", "None", "undefined")  # as JSON, Python and JavaScript write it


def list_meant(value: Any, *, is_of_names: bool) -> Any:
    """Return the list that a model means by an argument: None for a written null, any other value as it is.

    `is_of_names` says that a text with commas is several names; a path or a sentence may hold one. What stands in a
    list already is one element, whatever it holds.
    """
    if is_of_names and isinstance(value, str | list):
        names = [
            name
            for element in ([value] if isinstance(value, str) else value)
            for name in _names(element, splits=isinstance(value, str))
        ]
        return names if names or json_meant(value, (list,)) == [] else None
    is_wrapped = isinstance(value, list) and len(value) == 1 and isinstance(json_meant(value[0], (list,)), list)
    return json_meant(value[0] if is_wrapped else value, (list, type(None)))


def single_meant(value: Any) -> Any:
    """Return the text that a model means by an argument that is no list: the one element of a list, also of one in
    JSON, None for a written null, and any other value as it is."""
    if isinstance(value, str) and value.strip() in _NULLS:
        return None
    read = json_meant(value, (list,))
    return read[0] if isinstance(read, list) and len(read) == 1 and isinstance(read[0], str) else value


def _names(element: Any, *, splits: bool) -> Iterator[Any]:
    """Return the names that an element of a list holds; one that is no text is returned as it is, a null left out."""
    meant = json_meant(element, (list, dict, str))
    if not isinstance(element, str):
        yield from () if element is None else (element,)
    elif isinstance(meant, list):
        yield from (name for inner in meant for name in _names(inner, splits=False))
    elif meant is not element:
        yield from _names(meant, splits=splits)
    elif splits:
        yield from _separated(element)
    elif element.strip() not in _NULLS:
        yield element


def _separated(text: str) -> Iterator[str]:
    """Return the names between the commas of a text that is not in JSON."""
    stripped = text.strip()
    is_bracketed = stripped.startswith("[") and stripped.endswith("]")
    if is_bracketed or _COMMA.search(stripped):
        parts = _COMMA.split(stripped[1:-1] if is_bracketed else stripped)
        yield from (name for part in parts if (name := part.strip().strip("\"'")) and name not in _NULLS)
    elif stripped not in _NULLS:
        yield text


def json_meant(text: Any, kinds: tuple[type, ...]) -> Any:
    """Return the value that a text is in JSON, if it is of one of these kinds; any other value as it is."""
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, kinds) else text
