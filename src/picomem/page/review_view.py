"""Review: what may be outdated, what was heard in passing, and what is from elsewhere; each decision can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anyio import to_thread

from picomem.errors import Conflict, InvalidInput, NotFound
from picomem.light_dataclass import dataclass
from picomem.operations.memory_views import MemoryView
from picomem.operations.reviewing import SuggestionView, WaitingView
from picomem.page.page_view import WRITE, CallOperation, PageContent, PageRequest, PageView, Redirect, own_path
from picomem.page.word_diff import Marks, marked_differences

_LIMIT = 20
_PAIR_VERDICTS = ("supersede", "keep", "merge", "discard")
_SINGLE_VERDICTS = ("keep", "discard")
KEYS = {"keep": "k", "merge": "m", "supersede": "r", "discard": "x"}  # of the keyboard


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """Something to decide, with the words that differ: a memory, a newer memory with an older one, or a suggestion."""

    memory: MemoryView | None = None
    older: MemoryView | None = None
    suggestion: SuggestionView | None = None
    marks: Sequence[Sequence[int]] = ()
    older_marks: Sequence[Sequence[int]] = ()

    @property
    def names(self) -> str:
        """The names that a form sends: those of a pair are two."""
        one = self.suggestion or self.memory
        return " ".join(part.id for part in (one, self.older) if part)


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """Entries of one kind, and what can be decided on each of them."""

    name: str
    verdicts: tuple[str, ...]
    entries: list[ReviewEntry]


async def count_to_review(call: CallOperation) -> int:
    """Return how many decisions wait: the number that every view has."""
    return (await call("review", {"count": True}))["total"]


async def show(asked: PageRequest) -> PageContent:
    """A page of what waits for a decision, in groups."""
    listed = await asked.call("review", {"untrusted": True, "limit": _LIMIT, "cursor": asked.asked("cursor")})
    entries = [await to_thread.run_sync(entry_of, waiting) for waiting in listed["waiting"]]
    heard = [ReviewEntry(suggestion=suggestion) for suggestion in listed["suggestions"]]
    groups = [
        ReviewGroup("pair", _PAIR_VERDICTS, [entry for entry in entries if entry.older]),
        ReviewGroup("suggestions", _SINGLE_VERDICTS, heard),
        ReviewGroup("from_others", _SINGLE_VERDICTS, [entry for entry in entries if not entry.older]),
    ]
    values: dict[str, Any] = {
        "groups": [group for group in groups if group.entries],
        "keys": KEYS,
        "to_review": listed["total"],
        "left_out": listed["left_out"],
        "next": asked.address_with(cursor=listed["cursor"]) if listed["cursor"] else "",
        "is_first": not asked.asked("cursor"),
        "warnings": listed["warnings"],
    }
    return PageContent(template="review.html", title=asked.say("review.title"), values=values)


async def decide(asked: PageRequest) -> Redirect:
    """Do what the form's button says with everything that the form names: one entry, or all of a group."""
    back = own_path(asked.sent("back"))
    names = [name for name in asked.form.get("id", ()) if name.strip()]
    if not names or not asked.sent("verdict"):
        raise InvalidInput("The form does not say what to do: keep, merge, supersede or discard.")
    name, _, other = names[0].partition(" ")
    arguments = {"name": name, "verdict": asked.sent("verdict"), "other": other, "also": names[1:]}
    try:
        done = await asked.call("review", arguments)
    except (Conflict, NotFound):
        return Redirect(to=back, notice="notice.decided_before")
    about = done["key"] if done["total"] == 1 else asked.say("memories.count", count=done["total"])
    return Redirect(to=back, notice="notice.reviewed", about=about, run=done["change"].run)


def entry_of(waiting: WaitingView) -> ReviewEntry:
    """What the template needs to know of a memory that waits. Differences are marked where most of both texts is the
    same: elsewhere the marks would be the whole text."""
    if waiting.older is None:
        return ReviewEntry(waiting.memory)
    newer, older = waiting.memory.content, waiting.older.content
    older_marks, marks = marked_differences(older, newer)
    if not (_is_less_than_half(older_marks, older) and _is_less_than_half(marks, newer)):
        older_marks, marks = [], []
    return ReviewEntry(waiting.memory, waiting.older, None, marks, older_marks)


def _is_less_than_half(marks: Marks, text: str) -> bool:
    return 2 * sum(end - start for start, end in marks) < len(text)


VIEW = PageView(
    name="review",
    path="/review",
    show=show,
    permission=WRITE,
    actions={"/review": decide},
    icon="M5 4h14v16H5ZM8.5 12l2.5 2.5 4.5-5",
    key="r",
    is_tab=True,
    has_pane=True,
)
