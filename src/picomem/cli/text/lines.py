"""How text is laid out for a terminal."""

from __future__ import annotations

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
    """Lines of at most so many columns, broken at blanks, and within words of a script without blanks (Chinese). A long
    path stays whole, so that it can be copied."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and _columns(line) + 1 + _columns(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while not line.isascii() and _columns(line) > columns:
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
