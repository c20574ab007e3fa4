"""Finds the turns of a transcript that are on an abandoned branch. Pure.

Some hosts write a tree: each record names its parent, and the turns that a person rewound stay in the file. The
current conversation is the path from the last leaf to the root; every other turn was said and then taken back. The
tree holds only turns, because only turns are asked about.

- The leaf is the last turn. A rewind without a later turn changes nothing.
- Turns of sub-agents (`aside`) have a tree of their own; they are not a branch of the conversation.
- A branch begins with something that a person said, or with another answer to it. If the steps of an agent fork (it
  used several tools at once), they count as a sequence.
- A person goes back to one of their own messages, so these positions are remembered: the message, its parent, and the
  turn before it. Any other parent counts as the last turn: in doubt nothing was taken back.
- A message that waits while the agent works is written without an id and a parent; it belongs to the branch on which
  it was typed.
- A missing parent (None) is a new beginning, but only in a file that named a parent before; a file without parents
  has no tree.

Little is kept from one reading to the next: the positions of the last hundred prompts or so, and the tree as
segments, each a run of turns that follow one another.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

_REMEMBERED = 300  # records from which a branch can begin
_MOST_SEGMENTS = 200
_DIGEST = 6
_ENTRY = _DIGEST + 4
_ASIDE = -2
_NONE = -1

Ranges = list[tuple[int, int]]


class Branches:
    """The tree of a transcript's turns, as far as it was read."""

    def __init__(self) -> None:
        self._segments: list[tuple[int, int]] = []  # the first turn of each, and the turn that it goes on from
        self._above: dict[bytes, int] = {}  # record → twice the turn at or above it, and one more if a person's
        self._last = _NONE
        self._last_is_persons = False
        self._last_record = b""
        self._is_tree = False

    def passed(self, record: str, parent: str | None) -> None:
        """A record of the conversation that is no turn: a branch can begin with it."""
        self._is_tree = self._is_tree or bool(parent)
        above = self._above.get(_digest(parent))
        if record and above is not None and above != self._leaf():
            self._remember(_digest(record), above)

    def said(self, turn: int, record: str, parent: str | None, *, person: bool, aside: bool = False) -> bool:
        """A turn, by its number; whether it begins a branch, that is: goes on from another than the last turn."""
        if aside:
            if not self._segments or self._segments[-1][1] != _ASIDE:
                self._open(turn, _ASIDE)
            return False
        above = self._above_turn(record, parent, person)
        self._is_tree = self._is_tree or bool(parent)
        forks = above != self._last and len(self._segments) < _MOST_SEGMENTS
        if not forks:
            above = self._last
        if not self._segments or above != turn - 1 or self._segments[-1][1] == _ASIDE:
            self._open(turn, above)
        if person and record:
            self._remember(self._last_record, self._leaf())
            if not forks:
                self._remember(_digest(parent), self._leaf())
        self._last, self._last_is_persons = turn, person
        self._last_record = _digest(record)
        if person:
            self._remember(self._last_record, self._leaf())
        return forks

    def queued(self, turn: int) -> None:
        """A turn that a person typed while the agent worked: it has no record of its own in the tree. It goes on from
        the last turn, and whatever goes on from the last turn goes on from it."""
        before = self._leaf()
        if not self._segments or self._segments[-1][1] == _ASIDE or self._last != turn - 1:
            self._open(turn, self._last)
        self._last = turn
        for record, above in self._above.items():
            if above == before:
                self._above[record] = self._leaf()

    def abandoned(self) -> Ranges:
        """The turns that were taken back, as ranges (first and last, inclusive), in order."""
        firsts = [first for first, _ in self._segments]
        kept: dict[int, int] = {}  # segment → its last turn that is on the way from the leaf to the root
        at = self._last
        while at >= 0:
            number = bisect_right(firsts, at) - 1
            kept[number] = at
            at = self._segments[number][1]
        ranges: Ranges = []
        ends = [*(first - 1 for first in firsts[1:]), self._last][: len(firsts)]
        for number, ((first, parent), end) in enumerate(zip(self._segments, ends, strict=True)):
            begin = kept.get(number, first - 1) + 1
            if parent != _ASIDE and begin <= end:
                ranges.append((begin, end))
        return ranges

    def to_json(self) -> dict[str, Any]:
        """A JSON object from which `from_json` makes an equal tree."""
        above = b"".join(digest + value.to_bytes(4, "big", signed=True) for digest, value in self._above.items())
        return {
            "segments": [list(segment) for segment in self._segments],
            "above": b64encode(above).decode(),
            "leaf": self._leaf(),
            "record": self._last_record.hex(),
            "tree": self._is_tree,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Branches:
        """Raises KeyError, TypeError or ValueError where `stored` is not what `to_json` gave."""
        made = cls()
        made._segments = [(int(first), int(parent)) for first, parent in stored["segments"]]
        data = b64decode(stored["above"], validate=True)
        for at in range(0, len(data), _ENTRY):
            value = int.from_bytes(data[at + _DIGEST : at + _ENTRY], "big", signed=True)
            made._above[data[at : at + _DIGEST]] = value
        made._last, made._last_is_persons = stored["leaf"] >> 1, bool(stored["leaf"] & 1)
        made._last_record = bytes.fromhex(stored["record"])
        made._is_tree = bool(stored["tree"])
        return made

    def _above_turn(self, record: str, parent: str | None, person: bool) -> int:
        if not record:
            return self._last
        if parent is None:
            return _NONE if person and self._is_tree else self._last
        above = self._above.get(_digest(parent))
        if above is None or not (person or above & 1):
            return self._last
        return above >> 1

    def _leaf(self) -> int:
        return self._last * 2 + self._last_is_persons

    def _open(self, turn: int, above: int) -> None:
        self._segments.append((turn, above))

    def _remember(self, digest: bytes, above: int) -> None:
        if not digest:
            return
        self._above.pop(digest, None)
        self._above[digest] = above
        if len(self._above) > _REMEMBERED:
            del self._above[next(iter(self._above))]


def _digest(record: str | None) -> bytes:
    return b"" if not record else blake2b(record.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
