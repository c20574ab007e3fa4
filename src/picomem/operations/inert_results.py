"""Makes results inert: no name begins a line of its own, and no text contains sequences that its reader would obey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from picomem.coded_text import CodedText, rewritten
from picomem.light_dataclass import fields, replace
from picomem.text.inert_text import for_prompt, one_line

# The fields that hold text of several lines. All others are names, times, reasons and remarks: one line each.
_TEXTS = frozenset({"text", "content", "context", "page", "snippet", "summary", "candidate", "answer", "block"})


def inert(result: Any) -> Any:
    """A result with every text in it made safe. Data for programs are not: JSON has escapes of its own."""
    return with_texts(result, _inert_text)


def _inert_text(text: str, name: str) -> str:
    if isinstance(text, CodedText):
        return rewritten(text, one_line)
    return for_prompt(text) if name in _TEXTS else one_line(text)


def with_texts(value: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """A result, or the value of its field `name`, with every text in it changed; `change` gets the name of its field,
    too."""
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, list | tuple):
        return type(value)(with_texts(element, change, name) for element in value)
    if isinstance(value, dict):
        return {with_texts(key, change): with_texts(element, change, name) for key, element in value.items()}
    if hasattr(type(value), "__match_args__"):
        held = ((named.name, getattr(value, named.name)) for named in fields(value))
        changes = {field: new for field, before in held if (new := with_texts(before, change, field)) is not before}
        return replace(value, **changes) if changes else value
    return value
