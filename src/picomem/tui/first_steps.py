"""What the screens say before there is anything to show. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from picomem.operations.wording import plural
from picomem.tui.presented_content import PLAIN, QUIET, TITLE, styled

if TYPE_CHECKING:
    from picomem.health.store_status import Status

_INGEST = ("picomem ingest", "read your agents' past sessions")
_REMEMBER = ("picomem remember TEXT", "store a statement")
_COMMANDS = (
    _INGEST,
    _REMEMBER,
    ("picomem install", "let your agents use this memory"),
    ("picomem demo", "see it work on sample sessions"),
)


def first_steps(status: Status) -> Content:
    """What the store holds; of an empty one, what to do first."""
    memories, episodes = sum(status.memories.values()), status.episodes
    if memories or episodes:
        return styled(f"{plural(memories, 'memory', 'memories')} and {plural(episodes, 'episode')} to search.", QUIET)
    return _lines("Nothing is stored yet. In a terminal:", *_COMMANDS)


def first_episodes(status: Status) -> Content:
    """What to do where there are no episodes."""
    if not status.memories:
        return first_steps(status)
    return _lines("No past session has been read yet. In a terminal:", _INGEST)


def first_memories(status: Status) -> Content:
    """What to do where there are no memories."""
    if not status.episodes:
        return first_steps(status)
    return _lines("No memory is stored yet. In a terminal:", _REMEMBER)


def _lines(title: str, *commands: tuple[str, str]) -> Content:
    width = max(len(command) for command, _ in commands)
    lines = [styled(f"  {command:<{width}}  ", PLAIN) + styled(purpose, QUIET) for command, purpose in commands]
    return Content("\n").join([styled(title, TITLE), *lines])
