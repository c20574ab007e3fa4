"""Makes results inert: no name begins a line of its own, and no text contains sequences that its reader would obey."""

from __future__ import annotations

from typing import Any

from picomem.coded_text import CodedText, rewritten
from picomem.light_dataclass import fields, replace
from picomem.text.inert_text import for_prompt, one_line

# The fields that hold text of several lines. All others are names, times, reasons and remarks: one line each.
_TEXTS = frozenset({"text", "content", "context", "page", "snippet", "summary", "candidate", "answer", "block"})


def inert(value: Any, name: str = "") -> Any:
    """A result, or the value of its field `name`, with every text in it made safe. Data for programs are not: JSON has
    escapes of its own."""
    if isinstance(value, CodedText):
        return rewritten(value, one_line)
    if isinstance(value, str):
        return for_prompt(value) if name in _TEXTS else one_line(value)
    if isinstance(value, list | tuple):
        return type(value)(inert(element, name) for element in value)
    if isinstance(value, dict):
        return {inert(key): inert(element, name) for key, element in value.items()}
    if hasattr(type(value), "__match_args__"):
        held = ((named.name, getattr(value, named.name)) for named in fields(value))
        changes = {field: safe for field, before in held if (safe := inert(before, field)) is not before}
        return replace(value, **changes) if changes else value
    return value
