"""Pages of a list. Pure.

A cursor holds the position of the last item of a page in the order of the list, not a number of items. So entries that
are added or removed between two pages neither repeat an item nor hide one.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from picomem.errors import InvalidInput

_Item = TypeVar("_Item")
_BEYOND = 2**63  # the integers of a database are smaller
Place = tuple[Any, ...]  # values that JSON holds


def page_of(
    items: Sequence[_Item], place: Callable[[_Item], Place], cursor: str, limit: int, *, example: Place
) -> tuple[Sequence[_Item], str]:
    """The items behind the cursor, `limit` at most, and the cursor of the next page, empty on the last one.

    `items` are in the order of `place`, which differs for each and is like the example. Raises InvalidInput for a
    cursor that no page gave, even if there are no items.
    """
    start = bisect_right(items, place_of(cursor, example), key=place) if cursor else 0
    page = items[start : start + limit]
    more = start + limit < len(items)
    return page, cursor_of(place(page[-1])) if more else ""


def cursor_of(place: Place) -> str:
    """The cursor of the page behind this place."""
    return urlsafe_b64encode(json.dumps(place).encode()).rstrip(b"=").decode()


def place_of(cursor: str, example: Place, nullable: Collection[int] = ()) -> Place:
    """The place that a cursor holds: as many values as the example has, of the same types. Those at `nullable` may be
    None. Raises InvalidInput for a cursor that no page of the list gave."""
    place = _decoded(cursor)
    alike = (
        _is_alike(value, model) or (value is None and number in nullable)
        for number, (value, model) in enumerate(zip(place, example))
    )
    if len(place) != len(example) or not all(alike):
        raise _not_a_cursor(cursor)
    return place


def cursor_of_id(listing: str, id_: str) -> str:
    """The cursor of a list in the order of ids. It names its list, because another list may hold the same entries."""
    return cursor_of((listing, id_))


def id_of(cursor: str, listing: str) -> str:
    """The id of the last entry of the page before; empty for the first page. Raises InvalidInput for the cursor of
    another list."""
    if not cursor:
        return ""
    named, id_ = place_of(cursor, ("", ""))
    if named != listing or not re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", id_):
        raise _not_a_cursor(cursor)
    return id_


def _is_alike(value: object, example: object) -> bool:
    if isinstance(example, int | float):
        return isinstance(value, int | float) and -_BEYOND <= value < _BEYOND
    return isinstance(value, type(example))


def _decoded(cursor: str) -> Place:
    try:
        value = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError as error:
        raise _not_a_cursor(cursor) from error
    if not isinstance(value, list):
        raise _not_a_cursor(cursor)
    return tuple(value)


def _not_a_cursor(cursor: str) -> InvalidInput:
    return InvalidInput(f"“{cursor[:80]}” is not a cursor; take the one of the previous page.")
