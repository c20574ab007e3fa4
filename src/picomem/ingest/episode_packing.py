"""Packs turns into episodes. Pure.

A turn of a person is an episode of its own, because recall looks for these turns and their pointers must be exact.
Between two turns of a person an agent writes many short remarks ("Let me look at that file."); they are packed
together as long as they fit a preview. A turn that is longer than a preview is split into parts, at the end of a
paragraph or a sentence.

Packing depends only on earlier turns, so a transcript that is read in ten steps gives the same episodes as one that
is read at once. Between two steps only the last piece can still grow; it is stored like the others. The state of the
packer between steps is JSON without any text of the transcript: the text comes from the stored episode, and a hash
shows whether it is still the same.

Two transcripts can hold the same turns: a fork or a resumed session begins with a copy. `decide_piece` decides about a
piece whose identity is already stored; if the two transcripts continued differently, the later piece is stored under
its own identity, `apart`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import Any

from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, fields, replace
from picomem.provenance.whose_words import told_apart
from picomem.records.episode import HOST_SUMMARY, Episode
from picomem.records.ids import content_hash, new_id
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn

LONGEST_PREVIEW = 1_500  # characters; ingest.preview_chars may set fewer
LONGEST_SUMMARY = 6_000  # characters that are kept of a host's summary; the pointer opens the rest
LONGEST_ACTIONS = 1_000  # characters of all actions of a piece
LONGEST_OUTCOMES = 1_000  # characters of all outcomes of a piece, behind which no turn begins in it
_GLOBAL_ID = 32  # an id this long is a UUID or a hash: the same in a copy of the transcript
_DIGEST = 12  # hexadecimal digits of a hash that are kept of a turn that was said
_REMEMBERED = 4_096  # turns without id and time whose repeats are distinguished


@dataclass(frozen=True, slots=True)
class Piece:
    """The content of one episode; `identity` is the same whenever the same turn is read again, from any source."""

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
    actions: str = ""  # a line each
    outcomes: str = ""  # a line each
    suggested: str = ""  # see `records.episode.suggested_spans`
    category: str = "transcript"
    key: str = ""

    @property
    def meaning(self) -> str:
        """The text of its vector: the words, or if there are none the actions, or what came of them."""
        return self.text or self.actions or self.outcomes


class TurnCounts:
    """The number of occurrences of each turn without an id and a time, for the last `_REMEMBERED` different ones.

    Only counting distinguishes such a turn from its repeat ("Let me check." occurs twenty times in a session).
    """

    def __init__(self, packed: str = "") -> None:
        data = b64decode(packed, validate=True).hex()
        width = _DIGEST + 4
        entries = (data[at : at + width] for at in range(0, len(data), width))
        self._counts = {entry[:_DIGEST]: int(entry[_DIGEST:], 16) for entry in entries}

    def before(self, turn: Turn) -> int:
        """Return how often it was said before; this time is counted."""
        digest = content_hash(turn.role, _said(turn))[:_DIGEST]
        count = self._counts.pop(digest, 0)
        self._counts[digest] = min(count + 1, 0xFFFF)
        if len(self._counts) > _REMEMBERED:
            del self._counts[next(iter(self._counts))]
        return count

    def packed(self) -> str:
        data = "".join(f"{digest}{count:04x}" for digest, count in self._counts.items())
        return b64encode(bytes.fromhex(data)).decode()


class Packer:
    """Packs turns into pieces. `open` is the last piece while it can still grow, None otherwise."""

    def __init__(
        self,
        host: str,
        session: str,
        open_piece: Piece | None = None,
        said: TurnCounts | None = None,
        *,
        longest: int = LONGEST_PREVIEW,
    ) -> None:
        """`longest` is how many characters a preview may have (`ingest.preview_chars`)."""
        self._host = host
        self._said = said or TurnCounts()
        self.session = session
        self.open = open_piece
        self._longest = longest

    def to_json(self) -> dict[str, Any]:
        """The state that `resumed` needs to continue."""
        return {"open": _without_words(self.open) if self.open else None, "said": self._said.packed()}

    @classmethod
    def resumed(
        cls,
        host: str,
        session: str,
        stored: Mapping[str, Any],
        episodes: Iterable[StoredWords],
        *,
        longest: int = LONGEST_PREVIEW,
    ) -> Packer:
        """The packer that gave `stored`; `episodes` are the stored previews, actions and outcomes that may begin with
        the open piece's words.

        Where none does any more, nothing is open: the next turn begins a piece. Raises InvalidInput where `stored`
        is not what `to_json` gave.
        """
        try:
            open_piece, said = _with_words(stored["open"], episodes), TurnCounts(stored["said"])
            return cls(host, session, open_piece, said, longest=longest)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput("The stored state of a transcript cannot be read; read it from the start.") from error

    def add(self, turn: Turn) -> Iterator[Piece]:
        """The pieces that this turn makes or changes, in order; a piece that grew is given again, whole."""
        repeat = 0 if turn.id or turn.at is not None else self._said.before(turn)
        if turn.summarises:
            yield from self._summary(turn, identity(self._host, self.session, turn, repeat))
            return
        grown = self._grown(turn)
        if grown is not None:
            self.open = grown
            yield grown
            return
        parts = list(cut(turn.text, self._longest)) or [""]
        theirs = _of_others(turn) if len(parts) > 1 else ""
        name = identity(self._host, self.session, turn, repeat)
        for number, text in enumerate(parts):
            piece = _piece(turn, number, text, content_hash(name, str(number)) if number else name)
            if not number:  # of a turn in parts they stand with the first
                piece = replace(piece, actions="\n".join(turn.actions), outcomes="\n".join(turn.outcomes))
            if number and text in theirs:
                piece = replace(piece, origin=Origin.OTHER)
            self.open = piece if _packs(turn.role, turn.origin) and len(parts) == 1 else None
            yield piece

    def _summary(self, turn: Turn, name: str) -> Iterator[Piece]:
        """A host's summary as an entry of the timeline. What is packed before it goes on to grow behind it."""
        for number, text in enumerate(cut(turn.text[:LONGEST_SUMMARY], self._longest)):
            piece = _piece(turn, number, text, content_hash(name, str(number)) if number else name)
            yield replace(piece, category="timeline", key=f"{HOST_SUMMARY}{name[:16]}")

    def _grown(self, turn: Turn) -> Piece | None:
        last = self.open
        if last is None or turn.forks or not _packs(turn.role, turn.origin):
            return None
        if (last.role, last.origin, last.branch) != (_role(turn), turn.origin, turn.branch):
            return None
        text = "\n".join(filter(None, (last.text, turn.text)))
        actions = "\n".join(dict.fromkeys((*last.actions.splitlines(), *turn.actions)))
        outcomes = "\n".join(dict.fromkeys((*last.outcomes.splitlines(), *turn.outcomes)))
        # What came of a call stands with it: only a turn that says or does something begins another piece.
        is_full = len(last.outcomes) > LONGEST_OUTCOMES and bool(turn.text or turn.actions)
        if len(text) > self._longest or len(actions) > LONGEST_ACTIONS or is_full:
            return None
        grown = {"text": text, "actions": actions, "outcomes": outcomes}
        return replace(last, last_turn=turn.index, end=turn.end, ended_at=turn.at or last.ended_at, **grown)


def _of_others(turn: Turn) -> str:
    """Return the parts of a user's turn that others wrote: a piece from the middle of one does not show its author."""
    if turn.origin is not Origin.USER or turn.role != "user":
        return ""
    return "\n".join(text for is_others, text in told_apart(turn.text) if is_others)


def _piece(turn: Turn, part: int, text: str, name: str) -> Piece:
    return Piece(
        first_turn=turn.index,
        last_turn=turn.index,
        part=part,
        start=turn.start,
        end=turn.end,
        role=_role(turn),
        origin=turn.origin,
        branch=turn.branch,
        text=text,
        started_at=turn.at,
        ended_at=turn.at,
        identity=name,
    )


def _role(turn: Turn) -> str:
    """Return who speaks. A host calls the task that an agent gives to its sub-agent a user's turn; no person said
    it."""
    return "agent" if turn.role == "user" and turn.origin is Origin.AGENT else turn.role


def _packs(role: str, origin: Origin) -> bool:
    """Return whether such turns come in scraps: an agent's own, and those in which it retells what others wrote.

    A turn in a user's place is no scrap, whoever said it. So the same turns make the same episodes when a file loses
    the header that said whose they are.
    """
    if role in ("user", "agent"):
        return False
    return origin is Origin.AGENT or (role == "assistant" and not origin.trusted)


StoredWords = tuple[str, str, str]  # the preview, the actions and the outcomes of an episode
_WORDS = ("text", "actions", "outcomes")
_OF_SUMMARIES = ("category", "key")  # which do not grow


def _without_words(piece: Piece) -> dict[str, Any]:
    stored = {field.name: getattr(piece, field.name) for field in fields(Piece) if field.name not in _OF_SUMMARIES}
    return {**stored, **{name: [len(stored[name]), content_hash(stored[name])] for name in _WORDS}}


def _with_words(stored: Mapping[str, Any] | None, episodes: Iterable[StoredWords]) -> Piece | None:
    if stored is None:
        return None
    spans = [stored.get(name, (0, content_hash(""))) for name in _WORDS]
    for words in episodes:
        begins = [text[:length] for text, (length, _) in zip(words, spans, strict=True)]
        if [content_hash(text) for text in begins] == [digest for _, digest in spans]:
            return Piece(**{**stored, **dict(zip(_WORDS, begins, strict=True)), "origin": Origin(stored["origin"])})
    return None


def identity(host: str, session: str, turn: Turn, repeat: int = 0) -> str:
    """A stable identity for a turn, used to detect duplicates.

    A fork or a resumed session is a copy of its beginning under a new session id. So where the host gives a turn an
    id of its own, or the moment, that decides; the session only where neither is there, and then the how-manieth
    time the same was said.
    """
    if len(turn.id) >= _GLOBAL_ID:
        return content_hash(host, turn.id)
    if turn.id:
        return content_hash(host, session, turn.id)
    if turn.at is not None:
        return content_hash(host, turn.role, str(turn.at), _said(turn))
    return content_hash(host, session, turn.role, _said(turn), str(repeat))


def _said(turn: Turn) -> str:
    """The words of a turn, or what it did, or what came of that."""
    return turn.text or turn.shown or "\n".join(turn.outcomes)


def apart(known: str, session: str) -> str:
    """The identity of a piece of this session that begins like the one stored as `known` and goes on differently."""
    return content_hash(known, session)


class PieceDecision(Enum):
    """The decision about a piece: it is `NEW`, or the row of its identity says it and is `KEPT`, or is to be
    `CHANGED`, or says something else that must stay (`APART`)."""

    NEW = auto()
    KEPT = auto()
    CHANGED = auto()
    APART = auto()


def decide_piece(fresh: Episode, old: Episode | None, ours: bool) -> PieceDecision:
    """Decide; `ours`: the row belongs to this transcript, or to one whose file is gone.

    The words of our own row become what the file says now; but where the file only lost the tail of it, they stay.
    Of a row that another transcript points into, nothing is taken away: one that holds all our words stands for them,
    one whose words we only continue becomes ours.
    """
    if old is None:
        return PieceDecision.NEW
    same = (old.preview, old.actions, old.outcomes) == (fresh.preview, fresh.actions, fresh.outcomes)
    holds = same or (_packs(fresh.role, fresh.origin) and _begins_with(old, fresh))
    if ours:
        moved = same and not _same_place(old, fresh)
        return PieceDecision.KEPT if holds and not moved else PieceDecision.CHANGED
    if holds:
        return PieceDecision.KEPT
    return PieceDecision.CHANGED if _begins_with(fresh, old) else PieceDecision.APART


def is_repeated(fresh: Episode, old: Episode) -> bool:
    """Return whether two episodes of related transcripts begin with the same turn, whatever ids it has in them: at the
    same moment, in the same place, in the same words."""
    same_place = (fresh.started_at, fresh.part, fresh.category, fresh.role == "assistant") == (
        old.started_at,
        old.part,
        old.category,
        old.role == "assistant",
    )
    if not same_place or not (_packs(fresh.role, fresh.origin) and _packs(old.role, old.origin)):
        return same_place and fresh.preview == old.preview
    return _begins_with(fresh, old) or _begins_with(old, fresh)


def _begins_with(longer: Episode, shorter: Episode) -> bool:
    """Return whether one episode's words are those of the other, and more."""
    pairs = ((longer.preview, shorter.preview), (longer.actions, shorter.actions), (longer.outcomes, shorter.outcomes))
    return all(not begin or text == begin or text.startswith(f"{begin}\n") for text, begin in pairs)


def _same_place(one: Episode, other: Episode) -> bool:
    return (one.transcript_id, one.first_turn, one.last_turn, one.start, one.end) == (
        other.transcript_id,
        other.first_turn,
        other.last_turn,
        other.start,
        other.end,
    )


def episode_of(piece: Piece, transcript_id: str, tokens: int, now: Micros) -> Episode:
    """The episode that a piece becomes, with a new id."""
    values = {field.name: getattr(piece, field.name) for field in fields(Piece) if field.name != "text"}
    return Episode(
        id=new_id(), transcript_id=transcript_id, preview=piece.text, tokens=tokens, created_at=now, **values
    )


def cut(text: str, longest: int = LONGEST_PREVIEW) -> Iterator[str]:
    """A text in parts of at most `longest` characters, cut where a paragraph, a line, a sentence or a word ends."""
    position = 0
    while len(text) - position > longest:
        end = _best_cut(text, position, longest)
        if part := text[position:end].rstrip():
            yield part
        position = end
        while position < len(text) and text[position].isspace():
            position += 1
    if position < len(text):
        yield text[position:]


def _best_cut(text: str, position: int, longest: int) -> int:
    least, most = position + longest // 2, position + longest
    for mark in ("\n\n", "\n", "。", ". ", "！", "？", "? ", "! ", "; ", "，", " "):
        at = text.rfind(mark, least, most)
        if at > 0:
            return at + len(mark)
    return most
