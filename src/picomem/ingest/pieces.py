"""From turns to episodes. Pure.

What a person said is an episode of its own: it is what recall looks for, and its pointer shall be exact. What an
agent said between two turns of a person comes in many scraps ("Let me look at that file."); they are packed
together as long as they fit a preview. A turn that is longer than a preview is cut, at the end of a paragraph or
a sentence, into parts.

Packing goes turn by turn and depends on nothing but the turns before, so a transcript that is read in ten steps
gives the same episodes as one that is read at once. Between two steps only the last piece can still grow; it is
stored like the others, and `Packer.open` says how it is found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from picomem.clock import Micros
from picomem.records.ids import content_hash
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn

LONGEST_PREVIEW = 1_500  # characters; the bound that the requirement sets
_GLOBAL_ID = 32  # an id this long is a UUID or a hash: the same in a copy of the transcript


@dataclass(frozen=True, slots=True)
class Piece:
    """What becomes one episode; `identity` is the same whenever the same turn is read again, from wherever."""

    first_turn: int
    last_turn: int
    part: int
    start: int
    end: int
    role: str
    origin: Origin
    branch: str
    text: str
    started_at: Micros | None
    ended_at: Micros | None
    identity: str


class Packer:
    """Packs turns into pieces. `open` is the last piece while it can still grow, None otherwise."""

    def __init__(self, host: str, session: str, open_piece: Piece | None = None) -> None:
        self._host = host
        self.session = session
        self.open = open_piece

    def add(self, turn: Turn) -> Iterator[Piece]:
        """The pieces that this turn makes or changes, in order; a piece that grew is given again, whole."""
        grown = self._grown(turn)
        if grown is not None:
            self.open = grown
            yield grown
            return
        parts = list(cut(turn.text))
        for number, text in enumerate(parts):
            piece = self._piece(turn, number, text)
            self.open = piece if _packs(turn) and len(parts) == 1 else None
            yield piece

    def _grown(self, turn: Turn) -> Piece | None:
        last = self.open
        if last is None or not _packs(turn) or last.role != turn.role or last.branch != turn.branch:
            return None
        text = f"{last.text}\n{turn.text}"
        if len(text) > LONGEST_PREVIEW:
            return None
        return replace(last, last_turn=turn.index, end=turn.end, text=text, ended_at=turn.at or last.ended_at)

    def _piece(self, turn: Turn, part: int, text: str) -> Piece:
        return Piece(
            first_turn=turn.index,
            last_turn=turn.index,
            part=part,
            start=turn.start,
            end=turn.end,
            role=turn.role,
            origin=turn.origin,
            branch=turn.branch,
            text=text,
            started_at=turn.at,
            ended_at=turn.at,
            identity=identity(self._host, self.session, turn, part),
        )


def _packs(turn: Turn) -> bool:
    return turn.origin is Origin.AGENT


def identity(host: str, session: str, turn: Turn, part: int) -> str:
    """What tells that a turn was stored already.

    A fork or a resumed session is a copy of its beginning under a new session id. So where the host gives a turn an
    id of its own, or the moment, that decides; the session only where neither is there.
    """
    if len(turn.id) >= _GLOBAL_ID:
        return content_hash(host, turn.id, str(part))
    if turn.id:
        return content_hash(host, session, turn.id, str(part))
    if turn.at is not None:
        return content_hash(host, turn.role, str(turn.at), turn.text, str(part))
    return content_hash(host, session, turn.role, turn.text, str(part))


def cut(text: str, longest: int = LONGEST_PREVIEW) -> Iterable[str]:
    """A text in parts of at most `longest` characters, cut where a paragraph, a line, a sentence or a word ends."""
    while len(text) > longest:
        at = _best_cut(text, longest)
        yield text[:at].rstrip()
        text = text[at:].lstrip()
    if text:
        yield text


def _best_cut(text: str, longest: int) -> int:
    least = longest // 2
    for mark in ("\n\n", "\n", "。", ". ", "！", "？", "? ", "! ", "; ", "，", " "):
        at = text.rfind(mark, least, longest)
        if at > 0:
            return at + len(mark)
    return longest
