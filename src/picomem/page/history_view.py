"""History: every change, the latest first; what one call of a verb did stands together, and each can be undone."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from anyio import to_thread

from picomem.errors import NotFound
from picomem.light_dataclass import dataclass
from picomem.operations.memory_views import ChangeView, MemoryView
from picomem.operations.undoing import ListedChange
from picomem.page.page_view import PageContent, PageRequest, PageView
from picomem.page.word_diff import Difference, Marks, marked_differences, word_diff

FILTERS = ("verb", "actor", "since", "until")
VERBS = (
    "remember",
    "revise",
    "forget",
    "review",
    "undo",
    "tag",
    "consolidate",
    "import",
    "migrate",
    "restore",
    "expire",
    "purge",
    "doctor",
)
_LIMIT = 50
_OF_A_RUN = 500  # changes shown of one run
_MOST_COMPARED = 1_000  # characters
_NOT_UNDONE = frozenset({"refuse", "purge", "repair", "noop", "tag"})  # decisions that changed nothing, or for good


@dataclass(frozen=True, slots=True)
class ChangeEntry:
    """A change as the page shows it. `can_undo` says that there is something to undo; that a later change was built on
    it is found out when it is tried. `difference` is what the memory said before and after, by words."""

    change: ChangeView
    undone_by: str
    verb: str
    can_undo: bool
    difference: list[tuple[Difference, str]]


@dataclass(frozen=True, slots=True)
class RunEntry:
    """What one call of a verb did, as far as it stands on this page."""

    run: str
    entries: list[ChangeEntry]

    @property
    def can_undo(self) -> bool:
        """Whether any of it can be undone."""
        return any(entry.can_undo for entry in self.entries)


@dataclass(frozen=True, slots=True)
class ContentBeside:
    """What a memory said before and after a change; None where it was not there."""

    before: MemoryView | None
    after: MemoryView | None
    before_marks: Marks
    after_marks: Marks


async def show(asked: PageRequest) -> PageContent:
    """A page of the changes that pass the filters of the address."""
    chosen = {name: asked.asked(name) for name in FILTERS}
    arguments: dict[str, Any] = {name: value for name, value in chosen.items() if value}
    listed = await asked.call("changes", {**arguments, "limit": _LIMIT, "cursor": asked.asked("cursor")})
    values = {
        "runs": runs_of(listed["changes"], asked),
        "warnings": listed["warnings"],
        "filters": chosen,
        "is_filtered": any(chosen.values()),
        "verbs": VERBS,
        "next": asked.address_with(cursor=listed["cursor"]) if listed["cursor"] else "",
        "is_first": not asked.asked("cursor"),
        "may_purge": asked.caller.may("memory:purge:user"),
        "page_sessions": await asked.page_sessions(),
    }
    return PageContent(template="history.html", title=asked.say("history.title"), values=values)


async def show_one(asked: PageRequest) -> PageContent:
    """A change with what it changed; or, by the id of a run, all of its changes."""
    listed = await asked.call("changes", {"run": asked.parameters["id"], "limit": _OF_A_RUN})
    if not listed["changes"]:
        raise NotFound(f"There is no change or run “{asked.parameters['id'][:80]}”.")
    entries = [entry_of(recorded, asked) for recorded in listed["changes"]]
    is_run = len(entries) > 1 or entries[0].change.id != asked.parameters["id"]
    values = {
        "entries": entries,
        "run": RunEntry(entries[0].change.run, entries),
        "is_run": is_run,
        "beside": None if is_run else await _content_beside(asked, entries[0].change),
        "warnings": listed["warnings"],
        "is_whole": not listed["cursor"],
        "page_sessions": await asked.page_sessions(),
    }
    return PageContent(template="change.html", title=asked.say("history.change"), values=values)


def runs_of(changes: list[ListedChange], asked: PageRequest) -> list[RunEntry]:
    """The changes by their runs, in order."""
    return [
        RunEntry(run, [entry_of(recorded, asked) for recorded in members])
        for run, members in groupby(changes, key=lambda recorded: recorded.change.run)
    ]


def entry_of(recorded: ListedChange, asked: PageRequest) -> ChangeEntry:
    """What the template needs to know of a change."""
    change = recorded.change
    verb = asked.say(f"verb.{change.verb}") if change.verb in VERBS else change.verb
    if change.decision == "refuse":
        verb = asked.say("history.refused")
    can_undo = asked.may_write and not recorded.undone_by and change.decision not in _NOT_UNDONE
    return ChangeEntry(change, recorded.undone_by, verb, can_undo, _difference(recorded.before, recorded.after))


def _difference(before: str, after: str) -> list[tuple[Difference, str]]:
    """What changed of a text. Of a long one, which takes long to compare, the beginnings stand one after the other."""
    if before and after and before != after and len(before) + len(after) > _MOST_COMPARED:
        return [("removed", before[:_MOST_COMPARED]), ("added", after[:_MOST_COMPARED])]
    if before and not after:
        return [("removed", before[:_MOST_COMPARED])]
    return word_diff(before, after) if before else [("same", after[:_MOST_COMPARED])] if after else []


async def _content_beside(asked: PageRequest, change: ChangeView) -> ContentBeside | None:
    if not change.memory_id or (change.before is None and change.after is None):
        return None
    try:
        versions = (await asked.call("history", {"name": change.memory_id}))["versions"]
    except NotFound:
        return None  # it was purged since
    numbered = {version.version: version for version in versions if version.id == change.memory_id}
    before, after = numbered.get(change.before or -1), numbered.get(change.after or -1)
    if before is None and after is None:
        return None
    if before is None or after is None:
        return ContentBeside(before, after, [], [])
    marks = await to_thread.run_sync(marked_differences, before.content, after.content)
    return ContentBeside(before, after, *marks)


VIEW = PageView(
    name="history",
    path="/history",
    show=show,
    permission="memory:read:user",
    icon="M4 12a8 8 0 1 0 2.6-5.9M4 5v4h4M12 8v4.5l3 1.8",
    key="h",
    has_pane=True,
)
ONE = PageView(
    name="history",
    path="/history/{id}",
    show=show_one,
    permission="memory:read:user",
    missing="error.no_change",
)
