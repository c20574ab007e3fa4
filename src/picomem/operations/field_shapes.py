"""Constraints on the fields of requests, for JSON schemas.

They apply by the name of a field, which means the same in every operation. The operations check their own arguments and
give better messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from picomem.clock import EARLIEST, LATEST
from picomem.records.scope import LONGEST

_SPAN = "^[1-9][0-9]{0,2}d$"
_WORDS = "^(today|yesterday|(last|this) (week|month|year))$"
_AHEAD = "^(never|tomorrow|next (week|month|year))$"
_CENTURY = "^(19|20)"
_DATES = [{"format": "date", "pattern": _CENTURY}, {"format": "date-time", "pattern": _CENTURY}]
_TIMES = [*_DATES, {"pattern": _SPAN}, {"pattern": _WORDS}, {"maxLength": 0}]
# The patterns are of a text, and the bounds of a number of milliseconds.
_TIME = {"allOf": [{"anyOf": _TIMES}], "minimum": EARLIEST // 1000, "maximum": LATEST // 1000}
_VISIBLE = r"[^\s\x00-\x1f\x7f-\x9f]"
_WITH_WORDS = {"pattern": _VISIBLE, "minLength": 1}
# One line without a space at its ends; further characters that no terminal shows are refused as well.
_NAME = {"maxLength": LONGEST, "pattern": r"^([!-~\u00a1-\uffff]+( [!-~\u00a1-\uffff]+)*)?$"}

_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "content": _WITH_WORDS,
    "title": _WITH_WORDS,
    "channel_id": _WITH_WORDS,
    "message": _WITH_WORDS,
    "project": _NAME,
    "session": _NAME,
    "agent": _NAME,
    "importance": {"minimum": 0, "maximum": 1},
    "since": _TIME,
    "until": _TIME,
    "known_since": _TIME,
    "as_of": _TIME,
    "valid_at": _TIME,
    "now": _TIME,
    "time_window": _TIME,
    "expires_at": {"allOf": [{"anyOf": [*_DATES, {"pattern": _SPAN}, {"pattern": _AHEAD}]}]},
    "key": {"maxLength": 64, "pattern": "^([a-z][a-z0-9_]*)?$"},
}


def shape_of(name: str, *, may_be_empty: bool) -> Mapping[str, Any]:
    """Return the constraints of a field besides its type, for its schema; `may_be_empty` says that an empty text stands
    for none at all."""
    shape = _SHAPES.get(name, {})
    return {"pattern": f"^$|{_VISIBLE}"} if may_be_empty and "minLength" in shape else shape
