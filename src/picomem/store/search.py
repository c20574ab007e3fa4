"""The interface of full text on every database, and the look-ups beside it that are plain statements.

Recall queries each term of a question separately, and weighs it by its rarity among the user's own documents. So
`Search` returns how much of a term each document holds, without the weight of the term: the saturated frequency of
BM25, normalised by the length of the document. Several terms are looked up at once, because each statement costs a
round trip to the server.

Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond".
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol, cast

from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql
from picomem.text.terms import terms

K1, B = 1.2, 0.75  # of BM25; SQLite has them fixed (ext/fts5/fts5_aux.c)
ALWAYS = (-(1 << 62), 1 << 62)  # every time, UTC microseconds
MOST_DOCUMENTS = 20_000
SATURATION = K1 + 1  # what a term's frequency tends to


class Document(NamedTuple):
    """A row as full text indexes it: its number, its text, and its name, where a term counts twice."""

    doc: int
    body: str
    name: str = ""


class Search(Protocol):
    """The full text of one database, within a transaction.

    Documents belong to a user and to a source: "memory", "episode" or "note". A term is what `text/terms.py` makes of
    a word. A score is how much of a term a document has (0–2.2), times the weight that was asked for. Of a term that
    more than `MOST_DOCUMENTS` hold, the latest so many have a score: the term says next to nothing of any of them.
    """

    def add(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        """Index new documents of one user."""
        ...

    def remove(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        """Remove documents, given with the same texts that were added: an index holds no copy of a text."""
        ...

    def scores(self, scope: Scope, source: str, weights: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
        """Return of each of several terms the score of each document that holds it."""
        ...

    def scores_of_prefix(self, scope: Scope, source: str, head: str, weight: float) -> dict[int, float]:
        """Return the score of each document that holds a term which begins so, as if all of them were one term."""
        ...

    def latest_with(self, scope: Scope, source: str, terms: Collection[str], limit: int) -> list[int]:
        """Return the latest of the user's documents that hold all of some terms, so many at most."""
        ...

    def episodes_with(self, scope: Scope, head: str, first: int, last: int) -> list[int]:
        """Return which of the user's episodes from number `first` to `last` hold a term that begins so; if `head` is no
        word, that very term."""
        ...

    def counts(self, scope: Scope, source: str, terms: Collection[str]) -> dict[str, int]:
        """Return how many of the user's documents hold each of several terms, 0 for those that none holds."""
        ...

    def terms_near(self, scope: Scope, source: str, heads: Collection[str], limit: int) -> dict[str, dict[str, int]]:
        """Return for each head the user's terms that begin with it, in order, so many at most, with the number of
        documents that hold each."""
        ...

    def has_term_with(self, part: str) -> bool:
        """Return whether any term of any user, in any source, contains `part`: for the proof of a purge."""
        ...

    def size(self, source: str) -> int:
        """Return how many documents of all users are indexed."""
        ...

    def holds(self, source: str, documents: Iterable[tuple[Scope, Document]]) -> bool:
        """Return whether the index holds what these documents make, and nothing else. The check of the files themselves
        is `Maintenance.words_integrity`, which needs a connection of its own."""
        ...

    def clear(self, source: str) -> None:
        """Remove every document of every user, without their texts: before a rebuild."""
        ...


class AnalysedText(NamedTuple):
    """How often each term of a document counts, and how many terms it has."""

    frequencies: Counter[str]
    size: int


def analyse(document: Document, *, has_name: bool) -> AnalysedText:
    """Take a document apart into its terms."""
    body = terms(document.body)
    frequencies, size = Counter(body), len(body)
    if has_name:
        name = terms(document.name)
        size += len(name)
        for term in name:
            frequencies[term] += 2
    return AnalysedText(frequencies, size)


def saturate(postings: Iterable[tuple[int, int, int]], weight: float, mean: float) -> dict[int, float]:
    """The score of each document, of which a posting tells how often it holds the term and how many terms it has."""
    return {
        doc: weight * (frequency * SATURATION / (frequency + K1 * (1 - B + B * size / mean)))
        for doc, frequency, size in postings
    }


class _Searched(Protocol):
    """A transaction of either database."""

    @property
    def search(self) -> Search: ...


def of(tx: Transaction) -> Search:
    """The full text that a transaction sees."""
    return cast(_Searched, tx).search


def containing(tx: Transaction, scope: Scope, source: str, text: str, limit: int) -> list[int]:
    """Documents with that very string in them, latest first: what is left when full text finds nothing."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    name = "like_memories" if source == "memory" else "like_episodes"
    return [doc for (doc,) in sql(tx).all(name, user=scope.user, pattern=f"%{escaped}%", limit=limit)]


class EpisodePlace(NamedTuple):
    """The place of an episode in its transcript. It is a tuple, because a question makes a thousand of them; they sort
    in the order of their transcript."""

    transcript: str
    first_turn: int
    part: int
    last_turn: int
    doc: int
    tokens: int
    role: str
    started_at: int | None  # UTC microseconds


def places(tx: Transaction, scope: Scope, docs: list[int]) -> list[EpisodePlace]:
    """The places of these episodes."""
    return list(map(EpisodePlace._make, sql(tx).all("episode_places", user=scope.user, docs=json.dumps(docs))))


def around(tx: Transaction, scope: Scope, docs: list[int]) -> list[EpisodePlace]:
    """These episodes, their neighbours in the transcript, and the other parts of the same turn.

    One may be in it several times.
    """
    return list(map(EpisodePlace._make, sql(tx).all("episodes_around", user=scope.user, docs=json.dumps(docs))))


def in_window(
    tx: Transaction, scope: Scope, since: int, until: int, limit: int, stored_since: int | None = None
) -> list[EpisodePlace]:
    """The episodes that began in [since, until), latest first; only those that were stored at `stored_since` or later,
    if it is given. `ALWAYS` includes those of an unknown time."""
    values = {"user": scope.user, "since": since, "until": until, "limit": limit}
    if stored_since is None:
        rows = sql(tx).all("episodes_in_window", **values)
    else:
        values |= {"stored_since": stored_since, "always": (since, until) == ALWAYS}
        rows = sql(tx).all("episodes_stored_since", **values)
    return list(map(EpisodePlace._make, rows))


def of_transcripts(tx: Transaction, scope: Scope, transcripts: Sequence[str], limit: int) -> list[EpisodePlace]:
    """The episodes of those transcripts, latest first."""
    rows = sql(tx).all("episodes_of_transcripts", user=scope.user, transcripts=json.dumps(transcripts), limit=limit)
    return list(map(EpisodePlace._make, rows))
