"""Review: what contradicts or looks alike, suggestions, and what is not from the user; each decision is one change."""

from __future__ import annotations

from typing import Any

from anyio import to_thread

from picomem.errors import Conflict, InvalidInput, NotFound
from picomem.light_dataclass import dataclass
from picomem.operations.reviewing import WaitingView
from picomem.page.page_view import WRITE, PageContent, PageRequest, PageView, Redirect, own_path
from picomem.page.word_diff import Marks, marked_differences

_LIMIT = 20
_PAIR_VERDICTS = ("supersede", "merge", "keep", "discard")
_SINGLE_VERDICTS = ("keep", "discard")
KEYS = {"keep": "y", "merge": "m", "supersede": "s", "discard": "x"}  # of the keyboard


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """Something to decide, of the group `pair` or `from_others`, with the words that differ."""

    group: str
    waiting: WaitingView
    marks: Marks
    older_marks: Marks
    verdicts: tuple[str, ...]


async def show(asked: PageRequest) -> PageContent:
    """A page of what waits for a decision, in groups."""
    listed = await asked.call("review", {"untrusted": True, "limit": _LIMIT, "cursor": asked.asked("cursor")})
    entries = [await to_thread.run_sync(entry_of, waiting) for waiting in listed["waiting"]]
    values: dict[str, Any] = {
        "groups": [
            (group, members)
            for group in ("pair", "from_others")
            if (members := [entry for entry in entries if entry.group == group])
        ],
        "suggestions": listed["suggestions"],
        "suggested": listed["suggested"],
        "verdicts": _SINGLE_VERDICTS,
        "keys": KEYS,
        "left_out": listed["left_out"],
        "next": asked.address_with(cursor=listed["cursor"]) if listed["cursor"] else "",
        "is_first": not asked.asked("cursor"),
        "warnings": listed["warnings"],
    }
    return PageContent(template="review.html", title=asked.say("review.title"), values=values)


async def decide(asked: PageRequest) -> Redirect:
    """Do what the form's button says with a memory, or with a pair."""
    back = own_path(asked.sent("back"))
    arguments = {"name": asked.parameters["id"], "verdict": asked.sent("verdict"), "other": asked.sent("other")}
    if not arguments["verdict"]:
        raise InvalidInput("The form does not say what to do: keep, merge, supersede or discard.")
    try:
        done = await asked.call("review", arguments)
    except (Conflict, NotFound):
        return Redirect(to=back, notice="notice.decided_before")
    return Redirect(to=back, notice="notice.reviewed", about=done["key"], run=done["change"].run)


def entry_of(waiting: WaitingView) -> ReviewEntry:
    """What the template needs to know of something that waits."""
    if waiting.older is None:
        return ReviewEntry("from_others", waiting, [], [], _SINGLE_VERDICTS)
    older_marks, marks = marked_differences(waiting.older.content, waiting.memory.content)
    return ReviewEntry("pair", waiting, marks, older_marks, _PAIR_VERDICTS)


VIEW = PageView(
    name="review",
    path="/review",
    show=show,
    permission=WRITE,
    actions={"/review/{id}": decide},
    icon="M5 4h14v16H5ZM8.5 12l2.5 2.5 4.5-5",
    key="r",
)
