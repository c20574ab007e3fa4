"""Pages of a list. Pure.

A cursor holds the place of the last item of a page in the list's order, and no number of items. So what was added or
taken away between two pages neither repeats an item nor hides one.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from picomem.errors import InvalidInput

_Item = TypeVar("_Item")
Place = tuple[Any, ...]  # values that JSON holds


def page_of(
    items: Sequence[_Item], place: Callable[[_Item], Place], cursor: str, limit: int
) -> tuple[Sequence[_Item], str]:
    """The items behind the cursor, `limit` at most, and the cursor of the next page, empty on the last one.

    `items` are in the order of `place`, which differs for each. Raises InvalidInput for a cursor that no page gave.
    """
    try:
        last = _decoded(cursor) if cursor else ()
        if cursor and items and len(last) != len(place(items[0])):
            raise ValueError("a place of another list")
        start = bisect_right(items, last, key=place) if cursor else 0
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"“{cursor[:80]}” is not a cursor; take the one of the previous page.") from error
    page = items[start : start + limit]
    more = start + limit < len(items)
    return page, _encoded(place(page[-1])) if more else ""


def _encoded(place: Place) -> str:
    return urlsafe_b64encode(json.dumps(place).encode()).rstrip(b"=").decode()


def _decoded(cursor: str) -> Place:
    value = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    if not isinstance(value, list):
        raise TypeError("a place is a list")
    return tuple(value)
