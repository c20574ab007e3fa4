"""Makes results inert: no name begins a line of its own, and no text contains sequences that its reader would obey."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from picomem.coded_text import CodedText, rewritten
from picomem.light_dataclass import fields, replace
from picomem.records.kinds import Origin
from picomem.records.untrusted_fence import fenced
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


# Fences untrusted text in results of operations.

__all__ = ["fenced", "fenced_name", "fenced_reason", "fenced_role", "fenced_turn"]

_PLAIN_NAME = r"[\w./@:+#~-]{0,80}"  # compiled by its first use: a recall in a hook does without
_ROLES = frozenset(("user", "assistant", "tool", "system"))


def fenced_name(name: Any) -> Any:
    """A name that a transcript gives a session or a branch: as it is where it can be no sentence."""
    if not isinstance(name, str) or re.fullmatch(_PLAIN_NAME, name) or name.startswith("<untrusted-text "):
        return name
    return fenced(name, Origin.OTHER)


def fenced_role(role: str, origin: str) -> str:
    """The speaker of a turn; one that is no usual role was named by the transcript's writer."""
    return role if role in _ROLES else fenced(role[:40], origin if not Origin(origin).trusted else Origin.OTHER)


def fenced_turn(text: str, origin: str, role: str = "user") -> str:
    """A turn of a conversation: of a user's the others' words that they pasted are fenced, and their own stay."""
    if origin != Origin.USER or role != "user":
        return fenced(text, origin)
    from picomem.provenance.whose_words import told_apart  # noqa: PLC0415 - its patterns take a recall longer to load

    return "".join(fenced(piece, Origin.OTHER if is_others else origin) for is_others, piece in told_apart(text))


def fenced_reason(reason: str, origin: str) -> str:
    """The reason of a change, fenced unless picomem found it (`origin` is empty) or the user or an agent gave it."""
    return fenced(reason, origin or Origin.AGENT)
