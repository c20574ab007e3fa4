"""Memories: all that is remembered, the most important first, to look through, sort out and correct."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from picomem.operations.table import operation
from picomem.page.page_view import PageContent, PageRequest, PageView, Redirect, own_path
from picomem.records.kinds import Kind, Origin

FILTERS = ("kind", "origin", "project", "tag")
_ROWS = 50


async def show(asked: PageRequest) -> PageContent:
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


VIEW = PageView(
    name="memories",
    path="/memories",
    show=show,
    permission=operation("memories").permission,
    actions={
        **{f"/memories/{action}": bulk(action) for action in ("archive", "pin", "unpin")},
        **{f"/memory/{{id}}/{action}": single(action) for action in ("archive", "pin", "unpin")},
    },
    icon="M5 6h14M5 12h14M5 18h9",
    key="m",
)
