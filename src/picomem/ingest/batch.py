"""Prepares turns for storage, outside any transaction: redacted, packed, counted, with vectors."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import tzinfo
from functools import lru_cache
from typing import Protocol

from picomem.clock import Micros
from picomem.ingest.episode_packing import Packer, Piece
from picomem.ingest.noise import clean, visible
from picomem.light_dataclass import dataclass, field, replace
from picomem.policy.durability import OwnSentence, find_sentences, find_suggested
from picomem.policy.redact import Redactor
from picomem.provenance.requests import Candidate, find_requests
from picomem.records.episode import SuggestedSpan, packed_spans
from picomem.records.kinds import Origin
from picomem.records.transcript import TranscriptInfo, Turn
from picomem.store.connector import Transaction
from picomem.text.temporal.event_times import EventTime, read_event
from picomem.text.tokens import count_tokens


class PieceVectors(Protocol):
    """The embedder's interface for ingest: prepare vectors outside a transaction, and store them inside it."""

    def prepare(self, texts: Sequence[str]) -> Sequence[tuple[float, bytes] | None]: ...

    def store(self, tx: Transaction, source: str, doc: int, prepared: tuple[float, bytes] | None) -> None: ...


@dataclass(slots=True)
class Batch:
    """One stretch of a transcript, ready to be stored. `asked` holds a piece's identity, what is asked for in it,
    and the whole turn; `said` a turn of the user, its sentences that may last, and the identities of its pieces;
    `events` when that happened which a piece tells of, by its identity."""

    pieces: dict[str, Piece] = field(default_factory=dict)
    events: dict[str, EventTime] = field(default_factory=dict)
    asked: list[tuple[str, Candidate, Turn]] = field(default_factory=list)
    said: list[tuple[Turn, list[OwnSentence], list[str]]] = field(default_factory=list)
    turns: int = 0
    redacted: int = 0

    def date(self, begun: Micros | None) -> None:
        """Give pieces without a time that of their session's beginning, a microsecond later for each turn."""
        for name, piece in self.pieces.items():
            if begun is not None and piece.started_at is None:
                first, last = begun + piece.first_turn, begun + piece.last_turn
                self.pieces[name] = replace(piece, started_at=first, ended_at=last)


@dataclass(frozen=True, slots=True)
class PreparedPiece:
    """The values that are computed from a piece's text outside the transaction."""

    tokens: int
    vector: tuple[float, bytes] | None


class Maker:
    """Makes what is stored of a turn."""

    def __init__(self, redactor: Redactor, vectors: PieceVectors | None, zone: tzinfo) -> None:
        self._redactor = redactor
        self._vectors = vectors
        self._zone = zone
        self._label = lru_cache(maxsize=256)(lambda text: redactor.redact(visible(text)).text)

    def pack(self, packer: Packer, turn: Turn, batch: Batch) -> None:
        """Add a turn to the batch: its pieces, and what it asks for."""
        safe = self._redactor.redact(turn.text)
        done = [self._redactor.redact(action) for action in turn.actions]
        batch.turns += 1
        came = [self._redactor.redact(line) for line in turn.outcomes]
        batch.redacted += len(safe.secrets) + sum(len(line.secrets) for line in (*done, *came))
        turn = replace(
            turn,
            text=safe.text,
            role=self._label(turn.role),
            branch=self._label(turn.branch),
            actions=tuple(action.text for action in done),
            outcomes=tuple(line.text for line in came),
            answers=tuple((self._label(question), self._label(clean(answer))) for question, answer in turn.answers),
        )
        made = list(packer.add(turn))
        # A speaker in somebody's log is a person, but not the user: what they want is no wish of the user's.
        if turn.origin is Origin.USER and turn.role == "user":
            requests = find_requests(turn.text)
            for candidate in requests:
                said = turn.text[candidate.start : candidate.end]
                holder = next((piece for piece in made if said in piece.text), made[0])
                batch.asked.append((holder.identity, candidate, turn))
            batch.said.append((turn, find_sentences(turn, requests), [piece.identity for piece in made]))
        elif turn.answers:
            batch.said.append((turn, [], [piece.identity for piece in made]))
        batch.pieces |= {piece.identity: piece for piece in made}

    def safe(self, info: TranscriptInfo) -> TranscriptInfo:
        """The metadata of a transcript, ready to be stored: valid text without secrets."""
        return replace(
            info,
            session=visible(info.session),
            parent_session=visible(info.parent_session),
            title=self._label(info.title),
            cwd=self._path(info.cwd),
            branch=self._label(info.branch),
            agent=self._label(info.agent),
        )

    def _path(self, path: str) -> str:
        """A path as it is, so that it leads to its folder, unless something of it is left out."""
        label = self._label(path)
        return path if label == unicodedata.normalize("NFC", path) else label

    def suggest(self, batches: Sequence[Batch]) -> None:
        """Mark in the pieces what the user said that lasts, and what answers the question of a form."""
        said = [(batch, *of_turn) for batch in batches for of_turn in batch.said]
        suggested = find_suggested([sentences for _, _, sentences, _ in said])
        for (batch, turn, _, names), spans in zip(said, suggested, strict=True):
            for name in names:
                piece = batch.pieces[name]
                batch.pieces[name] = replace(piece, suggested=_placed(spans, turn, piece.text))

    def date_events(self, batches: Sequence[Batch]) -> None:
        """Read from the pieces when that happened which they tell of. An agent's page mostly dates the world's events,
        or repeats what its user said."""
        for batch in batches:
            for name, piece in batch.pieces.items():
                if piece.started_at is None or piece.role in ("assistant", "agent"):
                    continue
                if event := read_event(piece.text, piece.started_at, self._zone):
                    batch.events[name] = event

    def prepared(self, batches: Sequence[Batch]) -> dict[str, PreparedPiece]:
        """The number of tokens and the vector of each piece, by the text that the vector is made from."""
        texts = list({piece.meaning: None for batch in batches for piece in batch.pieces.values()})
        if not texts:
            return {}
        vectors = self._vectors.prepare(texts) if self._vectors else [None] * len(texts)
        return {text: PreparedPiece(count_tokens(text), vector) for text, vector in zip(texts, vectors, strict=True)}


def _placed(suggested: Sequence[SuggestedSpan], turn: Turn, piece: str) -> str:
    """The suggested stretches of a turn and its answers to a form, by their places in a piece that holds them whole."""
    placed: list[SuggestedSpan] = []
    for start, end, estimate, question in suggested:
        at = piece.find(turn.text[start:end])
        if at >= 0:
            placed.append(SuggestedSpan(at, at + end - start, estimate, question))
    known = {span.question for span in placed}
    for question, answer in turn.answers:
        at = piece.find(answer) if question not in known else -1
        if at >= 0:
            placed.append(SuggestedSpan(at, at + len(answer), 0.0, question))
    return packed_spans(placed)
