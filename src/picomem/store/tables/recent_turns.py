"""The turns that a user said lately, found by their words. Every call takes a scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import takewhile

from picomem.clock import Micros
from picomem.errors import Corrupt
from picomem.records.episode import DENY, Episode
from picomem.records.scope import Scope
from picomem.store import search
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql
from picomem.store.tables import episodes, transcript_rows

_MOST = 500  # turns in which the words are looked for
_MOST_READ = 20
_LONGEST_ENDING = 3  # characters
_SHORTEST_STEM = 4


def with_words(tx: Transaction, scope: Scope, since: Micros, words: Collection[str], share: float) -> list[Episode]:
    """The turns since a time that hold at least a share (0–1) of the terms `words`, those that hold most of them first;
    without words the latest.

    A term counts with another ending as well. Turns of withheld sessions and damaged ones are left out, and so are
    those of sessions whose record is damaged.
    """
    docs = [doc for (doc,) in sql(tx).all("users_turns", user=scope.user, since=since, limit=_MOST)]
    chosen = _holding(tx, scope, docs, words, share) if words and docs else docs
    read = {episode.doc: episode for episode in episodes.by_docs(tx, scope, chosen[:_MOST_READ], [])}
    return [read[doc] for doc in chosen if doc in read and _may_be_read(tx, scope, read[doc].transcript_id)]


def _holding(tx: Transaction, scope: Scope, docs: list[int], words: Collection[str], share: float) -> list[int]:
    index, wanted = search.of(tx), set(docs)
    counts = Counter(
        doc for word in words for doc in index.episodes_with(scope, _stem(word), min(docs), max(docs)) if doc in wanted
    )
    least = max(1.0, share * len(words))
    best = [doc for doc, _ in takewhile(lambda counted: counted[1] >= least, counts.most_common())]
    latest = {doc: place for place, doc in enumerate(docs)}
    return sorted(best, key=lambda doc: (-counts[doc], latest[doc]))


def _stem(word: str) -> str:
    """The beginning that a term shares with its other forms; a number or a short word has none."""
    if not word.isalpha() or len(word) < _SHORTEST_STEM:
        return word
    return word[: max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING)]


def _may_be_read(tx: Transaction, scope: Scope, transcript_id: str) -> bool:
    try:
        transcript = transcript_rows.transcript(tx, scope, transcript_id)
    except Corrupt:
        return False
    return transcript is not None and transcript.send_policy != DENY
