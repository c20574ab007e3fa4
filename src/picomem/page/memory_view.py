"""The memories, to look through and sort out; and one of them: what it says, where it came from, how it changed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from anyio import to_thread

from picomem.errors import Conflict, InvalidInput, NotFound, PicomemError, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.operations.explaining import SourceView
from picomem.operations.memory_views import MemoryView
from picomem.operations.showing import ShowResult, TurnView
from picomem.operations.table import operation
from picomem.operations.undoing import ListedChange
from picomem.page.history_view import VERBS
from picomem.page.html_rendering import passage_mark
from picomem.page.page_view import PageContent, PageRequest, PageView, Redirect, own_path
from picomem.page.word_diff import Difference, word_diff
from picomem.records.kinds import Kind, Origin, Priority
from picomem.records.memory import contradicted_ids, without_contradictions

# Memories: all that is remembered, the most important first, to look through, sort out and correct.

FILTERS = ("kind", "origin", "project", "tag")
_ROWS = 50


async def show_list(asked: PageRequest) -> PageContent:
    """A page of the list, with the filters of the address."""
    filters = {name: asked.asked(name) for name in FILTERS}
    is_archived = asked.asked("archived") == "1"
    arguments = {name: value for name, value in filters.items() if value}
    listed = await asked.call(
        "memories", {**arguments, "limit": _ROWS, "archived": is_archived, "cursor": asked.asked("cursor")}
    )
    values = {
        **listed,
        "filters": filters,
        "is_filtered": any(filters.values()),
        "is_archived": is_archived,
        "is_first": not asked.asked("cursor"),
        "kinds": [kind.value for kind in Kind],
        "origins": [origin.value for origin in Origin],
        "next_address": asked.address_with(cursor=listed["cursor"]) if listed["cursor"] else "",
        "first_address": asked.address_with(cursor=""),
        "other_address": asked.address_with(cursor="", archived="" if is_archived else "1"),
    }
    return PageContent(template="memories.html", title=asked.say("memories.title"), values=values)


def bulk(action: str) -> Callable[[PageRequest], Awaitable[Redirect]]:
    """The form that does the same with every memory that was chosen."""

    async def act(asked: PageRequest) -> Redirect:
        names = list(asked.form.get("id", ()))
        back = own_path(asked.sent("back"))
        if not names:
            return Redirect(to=back, notice="notice.none_chosen")
        return await edited(asked, action, names, back)

    return act


def single(action: str) -> Callable[[PageRequest], Awaitable[Redirect]]:
    """The form that does it with the memory that the address names."""

    async def act(asked: PageRequest) -> Redirect:
        return await edited(asked, action, [asked.parameters["id"]], own_path(asked.sent("back")))

    return act


async def edited(asked: PageRequest, action: str, names: list[str], back: str) -> Redirect:
    """Edit memories in one run, and go back with a note that undoes it."""
    done = await asked.call("bulk-edit", {"action": action, "names": names})
    keys = done["changed"]
    about = keys[0] if len(keys) == 1 else asked.say("memories.count", count=len(keys))
    return Redirect(to=back, notice=f"notice.{action}", about=about, run=done["run"])


LIST = PageView(
    name="memories",
    path="/memories",
    show=show_list,
    permission=operation("memories").permission,
    actions={
        **{f"/memories/{action}": bulk(action) for action in ("archive", "pin", "unpin")},
        **{f"/memory/{{id}}/{action}": single(action) for action in ("archive", "pin", "unpin")},
    },
    icon="M5 6h14M5 12h14M5 18h9",
    key="m",
    is_tab=True,
    has_pane=True,
)


_MOST_CHANGES = 50
_MOST_COMPARED = 10  # versions, the latest; comparing two long ones takes a quarter of a second
_MOST_HANDOUTS = 5
_MOST_OPENED = 3  # sources of which the messages are shown
_CHANGED = "It changed since you opened it. Below is what you typed; compare it with what it says now."
_ARCHIVED = "It was archived since you opened it. Copy what you typed, restore it, and edit it again."
_COMMAS = ",，、"
_QUOTED = re.compile('^"([^"]*)"$')
FIELDS = ("content", "context", "kind", "priority", "tags", "expires_at")


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version as people count them, and what differs from the one before it."""

    number: int
    memory: MemoryView
    difference: list[tuple[Difference, str]]


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source with the messages behind it, where they can be opened; `problem` says why they cannot, and
    `code` is the code of the error, if it was one."""

    source: SourceView
    opened: ShowResult | None
    problem: str
    code: str


async def show(asked: PageRequest) -> PageContent:
    """The memory that the address names, by its id or its key."""
    return await _page(asked)


async def revise(asked: PageRequest) -> Redirect | PageContent:
    """Store what was edited as a new version. What was typed is shown again where it cannot be stored."""
    asked.caller.require(operation("revise").permission, "revise")
    versions, _ = await _versions(asked)
    memory = versions[-1]
    try:
        if not memory.current:
            raise Conflict(_ARCHIVED)
        if asked.sent("version") != str(memory.version):
            raise Conflict(_CHANGED)
        done = await asked.call("revise", revision(memory, asked.form, asked.sent("reason")))
    except (Conflict, InvalidInput, NotFound, Refused) as error:
        typed = {name: asked.sent(name) for name in (*FIELDS, "reason")}
        return await _page(asked, typed=typed, error=error)
    return Redirect(to=own_path(asked.sent("back")), notice="notice.revised", about=memory.key, run=done["change_id"])


def revision(memory: MemoryView, form: Mapping[str, Sequence[str]], reason: str) -> dict[str, Any]:
    """The arguments of `revise` for what a form changes of a memory; fields that say the same are left out."""
    typed = {name: form[name][0].strip() for name in FIELDS if form.get(name)}
    arguments: dict[str, Any] = {"name": memory.id, "version": memory.version}
    for name in ("content", "context", "kind", "priority"):
        if name in typed and typed[name] != getattr(memory, name).strip():
            arguments[name] = typed[name]
    if "tags" in typed and typed["tags"] != _typed(memory, "tags").strip():
        tags = typed_tags(typed["tags"], memory.tags)
        if tags != memory.tags:
            arguments["tags"] = tags or [""]  # an empty one takes all away
    expires = (memory.expires_at or "")[:10]
    if "expires_at" in typed and typed["expires_at"] != expires:
        arguments["expires_at"] = typed["expires_at"] or "never"
    if form.get("correct"):
        arguments["correct"] = True
    if reason.strip():
        arguments["reason"] = reason
    return arguments


def typed_tags(text: str, known: Sequence[str]) -> list[str]:
    """The tags that were typed, by commas of any script; what stands in quotation marks is one tag, and so is a tag of
    the memory, as its field shows it."""
    shown = {shown_tags([tag]): tag for tag in known}
    whole = "|".join([*(re.escape(part) for part in sorted(shown, key=len, reverse=True)), '"[^"]*"'])
    parts = re.findall(rf"\s*(?:{whole})\s*(?=[{_COMMAS}]|$)|[^{_COMMAS}]+", text)
    tags = [shown.get(part) or _QUOTED.sub(r"\1", part) for part in map(str.strip, parts)]
    return [tag for tag in tags if tag]


def shown_tags(tags: Sequence[str]) -> str:
    """The tags as their field shows them: one that holds a comma stands in quotation marks."""
    return ", ".join(f'"{tag}"' if any(comma in tag for comma in _COMMAS) else tag for tag in tags)


async def _page(
    asked: PageRequest, typed: Mapping[str, str] | None = None, error: PicomemError | None = None
) -> PageContent:
    versions, numbers = await _versions(asked)
    memory = versions[-1]
    explained = await asked.call("why", {"id": memory.id})
    listed = await asked.call("changes", {"name": memory.id, "limit": _MOST_CHANGES})
    changes: list[ListedChange] = listed["changes"]
    values = {
        "memory": memory,
        "doubts": [(id_, explained["contradicted"].get(id_, "")) for id_ in contradicted_ids(memory.related_to)],
        "related": without_contradictions(memory.related_to),
        "handed_out": explained["handed_out"][:_MOST_HANDOUTS],
        "handouts": len(explained["handed_out"]),
        "versions": await to_thread.run_sync(shown_versions, versions, numbers),
        "sources": await _opened(asked, explained["sources"], memory),
        "changes": changes,
        "page_sessions": await asked.page_sessions(),
        "verbs": {verb: asked.say(f"verb.{verb}") for verb in VERBS},
        "archiving": archiving_change(changes) if not memory.current else "",
        "typed": typed or {name: _typed(memory, name) for name in FIELDS} | {"reason": ""},
        "problem": error.message if error else "",
        "problem_status": error.status if error else 0,
        "problem_code": error.code if error else "",
        "is_editing": (asked.asked("edit") == "1" and memory.current) or error is not None,
        "here": f"/memory/{memory.id}",
        "kinds": [kind.value for kind in Kind],
        "priorities": [priority.value for priority in Priority],
    }
    return PageContent(template="memory.html", title=memory.key, values=values, status=error.status if error else 200)


async def _versions(asked: PageRequest) -> tuple[list[MemoryView], list[int]]:
    result = await asked.call("history", {"name": asked.parameters["id"]})
    if not result["versions"]:
        raise NotFound("There is no such memory.")
    last = result["versions"][-1].id  # a key may have been held by several, one after another
    pairs = [(view, number) for view, number in zip(result["versions"], result["version_numbers"]) if view.id == last]
    return [view for view, _ in pairs], [number for _, number in pairs]


def shown_versions(rows: Sequence[MemoryView], numbers: Sequence[int]) -> list[ShownVersion]:
    """The versions, the latest first; old ones are not compared with the one before. One change may store several rows:
    the last of them counts."""
    by_number = dict(zip(numbers, rows))
    shown: list[ShownVersion] = []
    before = ""
    for place, (number, memory) in enumerate(sorted(by_number.items())):
        compares = before and len(by_number) - place <= _MOST_COMPARED
        shown.append(ShownVersion(number, memory, word_diff(before, memory.content) if compares else []))
        before = memory.content
    return shown[::-1]


def archiving_change(changes: Sequence[ListedChange]) -> str:
    """The change that archived a memory, if undoing it is what brings the memory back."""
    latest = next((listed for listed in changes if not listed.undone_by), None)
    return latest.change.id if latest and latest.change.decision in ("archive", "expire", "supersede") else ""


async def _opened(asked: PageRequest, sources: Sequence[SourceView], memory: MemoryView) -> list[OpenedSource]:
    opened: list[OpenedSource] = []
    for source in sources:
        if source.kind == "memory":
            continue  # the version before it, which stands among the versions
        result, problem, code = None, "", ""
        if source.kind == "episode" and len(opened) < _MOST_OPENED:
            try:
                result = ShowResult(**await asked.call("show", {"episode": source.id, "query": memory.content[:400]}))
                marked = [await to_thread.run_sync(marked_turn, turn, memory.content) for turn in result.turns]
                result = replace(result, turns=marked)
                problem = result.explanation
            except PicomemError as error:
                problem, code = error.message, error.code
        opened.append(OpenedSource(source, result, problem, code))
    return opened


def marked_turn(turn: TurnView, statement: str) -> TurnView:
    """A message with the passage marked that a memory was taken from; where it was reworded, its words."""
    return replace(turn, marks=passage_mark(turn.text, statement) or turn.marks)


def _typed(memory: MemoryView, name: str) -> str:
    if name == "tags":
        return shown_tags(memory.tags)
    return (memory.expires_at or "")[:10] if name == "expires_at" else str(getattr(memory, name))


VIEW = PageView(
    name="memory",
    path="/memory/{id}",
    show=show,
    permission=operation("history").permission,
    actions={"/memory/{id}/revise": revise},
    missing="error.no_memory",
)
