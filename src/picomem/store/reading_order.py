"""Reads that go page by page end even where an index, or a table, is damaged.

Each page begins behind the last row of the one before it. Where a key is damaged, a page may end before it began; the
next one would then be the same, without an end.
"""

from __future__ import annotations

from typing import Any

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt


def check_rises(before: Any, last: Any, what: str) -> None:
    """Raise Corrupt unless the key of the last row of a page is behind that of the page before it. `what` names the
    rows."""
    try:
        rises = last > before
    except TypeError:  # damage may change the type of a value
        rises = False
    if not rises:
        raise Corrupt(CodedText("failure.out_of_order", what=what, command=Command("doctor", repair=True)), id="")
