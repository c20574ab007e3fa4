"""Fences untrusted text in results of operations."""

from __future__ import annotations

import re
from typing import Any

from picomem.records.kinds import Origin
from picomem.records.untrusted_fence import fenced

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
