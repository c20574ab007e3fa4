"""The change of a file as a unified diff, in time and size that large files do not blow up."""

from __future__ import annotations

import re
from difflib import unified_diff
from io import StringIO
from pathlib import Path

_CONTEXT = 3  # lines around a change
_MOST_CHARACTERS, _MOST_LINES = 1 << 20, 20_000  # from the first change to the last, before and after
_RANGES = re.compile(r"@@ -(\d+)(.*) \+(\d+)(.*)", re.DOTALL)


def file_diff(path: Path, before: str | None, after: str | None) -> str:
    """The diff that `patch` applies; None stands for no file, which is /dev/null there. Empty where nothing changes.

    Where the changed lines are too long to be read, a sentence says so instead of them.
    """
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    skipped = max(0, start - _CONTEXT)
    old, new = (lines[skipped : len(lines) - max(0, end - _CONTEXT)] for lines in (old, new))
    old_name = "/dev/null" if before is None else f"a{path}"
    new_name = "/dev/null" if after is None else f"b{path}"
    if len(old) + len(new) > _MOST_LINES or sum(map(len, (*old, *new))) > _MOST_CHARACTERS:
        return f"--- {old_name}\n+++ {new_name}\nThe change spans too many lines, or too long ones, to be shown.\n"
    # The matcher may take the square of its lines, so it only gets those from the first change to the last.
    return "".join(_whole(_moved(line, skipped)) for line in unified_diff(old, new, old_name, new_name, n=_CONTEXT))


def _lines(text: str | None) -> list[str]:
    # Not splitlines, which also splits at separators that are no line ends to a patch.
    return StringIO(text or "", newline="\n").readlines()


def _common(old: list[str], new: list[str]) -> int:
    """Return with how many equal lines two texts begin."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(line: str, skipped: int) -> str:
    """A line of the diff, with the numbers of the lines in the whole file."""
    ranges = _RANGES.fullmatch(line)
    if not ranges:
        return line
    old, old_rest, new, new_rest = ranges.groups()
    return f"@@ -{int(old) + skipped}{old_rest} +{int(new) + skipped}{new_rest}"


def _whole(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
