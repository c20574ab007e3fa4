"""How text is laid out for a terminal, and the small things that every result says alike."""

from __future__ import annotations

from typing import Any
from unicodedata import east_asian_width

from picomem.cli.width import width


def wrapped(text: str, indent: str = "   ", most: int = 6) -> str:
    """A text in lines of the terminal, at most so many of them."""
    room = width() - len(indent)
    lines: list[str] = []
    for line in text.strip().splitlines():
        lines += _broken(line, room) or [""]
    if len(lines) > most:
        last = next(iter(_broken(lines[most - 1], room - 2)), "")
        lines = [*lines[: most - 1], last + " …"]
    return "\n".join(indent + line for line in lines)


def _broken(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns, broken at blanks, and where there are none (Chinese) within."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and _columns(line) + 1 + _columns(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while _columns(line) > columns:
            cut = _fitting(line, columns)
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line] if line else lines


def _fitting(text: str, columns: int) -> int:
    """How many characters fit in so many columns."""
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return index
    return len(text)


def _columns(text: str) -> int:
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def day(at: str | None) -> str:
    return at[:16].replace("T", " ") if at else "no date"


def step(change: Any) -> str:
    """What was done and what came of it: `remember → merge`, `revise`."""
    return change.verb if change.verb == change.decision else f"{change.verb} → {change.decision}"


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def details(memory: Any) -> list[str]:
    """What a memory has besides its text, where it has it."""
    about = [f"#{tag}" for tag in memory.tags]
    about += [memory.priority] if memory.priority != "medium" else []
    about += ["pinned"] if memory.pinned else []
    about += [f"expires {day(memory.expires_at)}"] if memory.expires_at else []
    about += [f"related to {', '.join(memory.related_to)}"] if memory.related_to else []
    lines = [wrapped(f"why it matters: {memory.context}")] if memory.context else []
    return [*lines, wrapped(" · ".join(about))] if about else lines
