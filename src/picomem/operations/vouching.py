"""What an agent asks memory to store, with the origin that its words have; for those who serve agents. Pure.

Whatever the request claims, it is weighed against what the agent has in its sight (`consolidation/review.py`,
`Spoken`).
"""

from __future__ import annotations

from typing import Any

from picomem.consolidation.review import Spoken
from picomem.operations.remembering import Remember, Revise
from picomem.records.kinds import Origin
from picomem.values import replace


def vouched(request: Any, spoken: Spoken | None) -> tuple[Any, str]:
    """The request with its origin, and what the agent is to know of that. `spoken` is None where nothing that nobody
    trusted wrote is in its sight.

    Why a thing matters is the agent's own remark: where the user stated the thing and not the remark, the remark goes.
    """
    if spoken is None or not isinstance(request, (Remember, Revise)) or not Origin(request.origin).trusted:
        return request, ""
    origin = spoken.origin_of(request.content or "")
    if origin.trusted:
        origin = spoken.origin_of_words(" ".join([*_key(request), *(request.tags or ())]))
    if not origin.trusted:
        return replace(request, origin=origin.value), (
            f" (untrusted text was read, and the user has not stated this, so its origin is {origin})"
        )
    if request.context and not spoken.origin_of(request.context).trusted:
        left = "" if isinstance(request, Remember) else None
        note = " (without its context: untrusted text was read, and the user has not stated that)"
        return replace(request, context=left), note
    return request, ""


def _key(request: Remember | Revise) -> list[str]:
    """The name that it gives; of a revision it is there already."""
    return [request.key.replace("_", " ")] if isinstance(request, Remember) else []
