"""Turns requests from transcripts into offers, which pass the same gate as everything else."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.ingest.storing import TranscriptRequest
from picomem.memory.decide import Offer
from picomem.memory.remember import Remembered, Writer
from picomem.policy.content_kind import kind_of
from picomem.policy.refusal import LONGEST_CONTENT
from picomem.provenance.wrapping import without_wrapping
from picomem.records.kinds import Kind, Origin, Source
from picomem.records.memory import Parent
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.text.memory_keys import suggest_key
from picomem.text.terms import terms

_MET = 0.5  # of a request's terms, found in what an agent stored: it stored that, in its words


def propose(tx: Transaction, writer: Writer, scope: Scope, asked: Sequence[TranscriptRequest]) -> list[Remembered]:
    """Offer each request to memory, with the episode in which it was said as its source; what became of each."""
    return [
        writer.remember(tx, offer_of(request, scope), [Parent(kind="episode", id=request.episode_id)])
        for request in asked
    ]


def offer_of(asked: TranscriptRequest, scope: Scope) -> Offer:
    """A request as an offer. A preference is a person's, wherever it was said; the rest belongs to the project in
    which it was said. An answer to a form stands behind its question, without which it may say nothing."""
    wish = asked.candidate
    answers = asked.question and not wish.is_outright and len(asked.question) + len(wish.content) < LONGEST_CONTENT
    content = f"{asked.question} {wish.content}" if answers else wish.content
    kind = kind_of(content)
    return Offer(
        scope=scope if kind is Kind.PREFERENCE else scope.narrowed(project=asked.project),
        content=content,
        kind=kind,
        key=suggest_key(content, kind.value),
        around=without_wrapping(asked.said),
        key_given=False,
        kind_given=wish.is_outright,
        importance=importance_of_request(kind),
        origin=Origin.USER,
        source=Source.SESSION,
        valid_from=asked.at,
        explicit=False,
    )


def importance_of_request(kind: Kind) -> float:
    """The importance of what a person asked for."""
    return 0.8 if kind is Kind.INSTRUCTION else 0.75


def is_met(asked: TranscriptRequest, kept: Sequence[str]) -> bool:
    """Return whether the agent that was asked has stored it already, in its own words."""
    wanted = set(terms(asked.candidate.content))
    return any(len(wanted & set(terms(text))) >= _MET * len(wanted) for text in kept)
