"""The fence, for those who hand out results."""

from __future__ import annotations

from picomem.records.kinds import Origin
from picomem.records.untrusted_fence import fenced

__all__ = ["fenced", "fenced_turn"]


def fenced_turn(text: str, origin: str, role: str = "user") -> str:
    """A turn of a conversation: of a user's the others' words that they pasted are fenced, and their own stay."""
    if origin != Origin.USER or role != "user":
        return fenced(text, origin)
    from picomem.policy.pasted import told_apart  # its patterns take a recall in a hook longer to load

    return "".join(fenced(piece, Origin.OTHER if is_others else origin) for is_others, piece in told_apart(text))
