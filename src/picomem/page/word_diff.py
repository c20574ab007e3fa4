"""What changed from one text to the next, by words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

Difference = Literal["same", "removed", "added"]
Marks = list[list[int]]  # offsets in a text, [start, end)

# A word, a run of white space, or one other character. Chinese and Japanese have no spaces: each character by itself.
_PIECE = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff]+|\s+|.", re.DOTALL)
_MOST_PIECES = 3_000  # of both texts; beyond that the comparison would take seconds


def word_diff(before: str, after: str) -> list[tuple[Difference, str]]:
    """The pieces of both texts in order: what stayed, what went, what came."""
    if before == after:
        return [("same", before)] if before else []
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    if len(old) + len(new) > _MOST_PIECES:
        return [("removed", before), ("added", after)]
    return list(_joined(_differences(old, new)))


def marked_differences(before: str, after: str) -> tuple[Marks, Marks]:
    """What went from the first text, and what came into the second, as marks of a text."""
    removed: Marks = []
    added: Marks = []
    old = new = 0
    for difference, piece in word_diff(before, after):
        if difference == "removed":
            removed.append([old, old + len(piece)])
        if difference == "added":
            added.append([new, new + len(piece)])
        old += 0 if difference == "added" else len(piece)
        new += 0 if difference == "removed" else len(piece)
    return removed, added


def _differences(old: list[str], new: list[str]) -> Iterator[tuple[Difference, str]]:
    for what, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield "same", "".join(old[old_from:old_to])
            continue
        if old_from < old_to:
            yield "removed", "".join(old[old_from:old_to])
        if new_from < new_to:
            yield "added", "".join(new[new_from:new_to])


def _joined(pieces: Iterator[tuple[Difference, str]]) -> Iterator[tuple[Difference, str]]:
    """Single spaces that stayed between two changes belong to both: “old words” became “new terms” as a whole."""
    pending: list[tuple[Difference, str]] = []
    for kind, text in pieces:
        if kind == "same" and not text.strip() and pending:
            pending.append(("same", text))
        elif kind == "same":
            yield from _merged(pending)
            pending = []
            yield kind, text
        else:
            pending.append((kind, text))
    yield from _merged(pending)


def _merged(pending: list[tuple[Difference, str]]) -> Iterator[tuple[Difference, str]]:
    tail = ""
    while pending and pending[-1][0] == "same":
        tail = pending.pop()[1] + tail
    removed = "".join(text for kind, text in pending if kind != "added")
    added = "".join(text for kind, text in pending if kind != "removed")
    if removed:
        yield "removed", removed
    if added:
        yield "added", added
    if tail:
        yield "same", tail
