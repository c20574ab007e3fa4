"""What the screens say before there is anything to show. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from picomem.operations.presentations.wording import plural
from picomem.tui.presented_content import PLAIN, QUIET, TITLE, styled

if TYPE_CHECKING:
    from picomem.memory.store_status import Status

_COMMANDS = (
    ("picomem ingest", "read your agents' past sessions"),
    ("picomem remember TEXT", "store a statement"),
    ("picomem install", "let your agents use this memory"),
    ("picomem demo", "see it work on sample sessions"),
)


def first_steps(status: Status) -> Content:
    """What the store holds; of an empty one, what to do first."""
    memories, episodes = sum(status.memories.values()), status.episodes
    if memories or episodes:
        return styled(f"{plural(memories, 'memory', 'memories')} and {plural(episodes, 'episode')} to search.", QUIET)
    width = max(len(command) for command, _ in _COMMANDS)
    lines = [styled("Nothing is stored yet. In a terminal:", TITLE)]
    lines += [styled(f"  {command:<{width}}  ", PLAIN) + styled(purpose, QUIET) for command, purpose in _COMMANDS]
    return Content("\n").join(lines)
