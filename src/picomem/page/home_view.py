"""Home: what holds in the project a person works in, what its last sessions came to, what changed, what needs them."""

from __future__ import annotations

from picomem.page.history_view import entry_of
from picomem.page.page_view import PageContent, PageRequest, PageView

_COMMANDS = ("picomem install", "picomem ingest", 'picomem remember "I drink green tea"')
_ENTRIES = 6  # of each list
_MOST_MADE = 3  # memories that are shown of a session


async def show(asked: PageRequest) -> PageContent:
    """What a person sees first; where nothing is remembered, what to do first."""
    seen = await asked.call("overview", {"project": asked.asked("project"), "limit": _ENTRIES})
    values = {
        **seen,
        "is_empty": not seen["counts"]["memories"] and not seen["counts"]["episodes"],
        "changes": [entry_of(recorded, asked) for recorded in seen["changes"]],
        "page_sessions": await asked.page_sessions(),
        "most_made": _MOST_MADE,
        "commands": _COMMANDS,
    }
    return PageContent(template="home.html", title=asked.say("rail.home"), values=values)


VIEW = PageView(
    name="home",
    path="/",
    show=show,
    permission="memory:read:user",
    icon="M4 11 12 4l8 7v9h-5v-6H9v6H4z",
    key="g",
    is_tab=True,
)
