"""Full text on SQLite: how much each document has of each term.

SQLite's `bm25()` weighs a term by how rare it is among all rows of the table, which are every user's. Recall wants
it weighed by how rare it is among the asker's own. So each term is asked for alone, the table's weight is divided
out of its score, and what is left (the saturated, length-normalised frequency, 0 to 2.2) is weighed by the caller.
That also tells which words a hit was found by.

Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond"; k1 = 1.2 and b = 0.75 are
fixed in SQLite (ext/fts5/fts5_aux.c).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

from picomem.errors import Corrupt
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql
from picomem.text.terms import owner_token
from picomem.values import dataclass

SATURATION = 2.2  # k1 + 1: what a term's frequency tends to
_LOWEST_IDF = 1e-6  # SQLite's own floor


@dataclass(frozen=True, slots=True)
class Posting:
    """One term of a question: how many of the user's documents hold it, and how much of it each has (0–2.2), times the
    weight that was asked for."""

    term: str
    documents: int
    scores: dict[int, float]


def postings(
    tx: Transaction, scope: Scope, source: str, term: str, *, prefix: bool = False, weight: float = 1.0
) -> Posting:
    """Where a term (or every term that begins so) occurs among the user's memories or episodes."""
    match = f'"{owner_token(scope.user)}{term}"' + (" *" if prefix else "")
    rows = sql(tx).all(f"{source}_word_scores", match=match)
    total = _table_rows(tx, source)
    if any(score is None for _, score in rows):
        raise Corrupt(f"The full text of “{source}” is damaged; run `picomem doctor --repair`.")
    found = len(rows)
    idf = max(log((total - found + 0.5) / (found + 0.5)), _LOWEST_IDF) if total > found else _LOWEST_IDF
    return Posting(term, found, {doc: weight * (score / idf) for doc, score in rows})


def count(tx: Transaction, scope: Scope, source: str, term: str) -> int:
    """How many of the user's documents hold the term."""
    row = sql(tx).one(f"{source}_word_count", term=owner_token(scope.user) + term)
    return int(row[0]) if row else 0


def terms_near(tx: Transaction, scope: Scope, source: str, head: str, limit: int) -> dict[str, int]:
    """The user's terms that begin with `head`, in order, with the number of documents that hold each."""
    owner = owner_token(scope.user)
    rows = sql(tx).all(
        f"{source}_words_near", **{"from": owner + head, "to": owner + head + "\U0010ffff", "limit": limit}
    )
    return {term[len(owner) :]: documents for term, documents in rows}


def containing(tx: Transaction, scope: Scope, source: str, text: str, limit: int) -> list[int]:
    """Documents with that very string in them, latest first: what is left when full text finds nothing."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    name = "like_memories" if source == "memory" else "like_episodes"
    return [doc for (doc,) in sql(tx).all(name, user=scope.user, pattern=f"%{escaped}%", limit=limit)]


class Place(NamedTuple):
    """Where an episode stands in its transcript. A tuple, for a question makes a thousand of them; they sort in the
    order of their transcript."""

    transcript: str
    first_turn: int
    part: int
    last_turn: int
    doc: int
    tokens: int
    role: str
    started_at: int | None  # UTC microseconds


def places(tx: Transaction, scope: Scope, docs: list[int]) -> list[Place]:
    """Where those episodes stand."""
    return list(map(Place._make, sql(tx).all("episode_places", user=scope.user, docs=json.dumps(docs))))


def around(tx: Transaction, scope: Scope, docs: list[int]) -> list[Place]:
    """Those episodes, those before and after them in the transcript, and the other parts of the same turn.

    One may be in it several times.
    """
    return list(map(Place._make, sql(tx).all("episodes_around", user=scope.user, docs=json.dumps(docs))))


def in_window(tx: Transaction, scope: Scope, since: int, until: int, limit: int) -> list[Place]:
    """The episodes that began in [since, until), latest first."""
    rows = sql(tx).all("episodes_in_window", user=scope.user, since=since, until=until, limit=limit)
    return list(map(Place._make, rows))


def of_transcripts(tx: Transaction, scope: Scope, transcripts: Sequence[str], limit: int) -> list[Place]:
    """The episodes of those transcripts, latest first."""
    rows = sql(tx).all("episodes_of_transcripts", user=scope.user, transcripts=json.dumps(transcripts), limit=limit)
    return list(map(Place._make, rows))


def is_part_of_any(tx: Transaction, source: str, text: str) -> bool:
    """Whether full text of a source ("memory", "episode" or "note") holds a term of any user with that text in it."""
    return sql(tx).one(f"{source}_words_with", part=text) is not None


def size(tx: Transaction, source: str) -> int:
    """How many documents of all users full text of a source ("memory", "episode" or "note") holds."""
    row = sql(tx).one(f"{source}_words_size")
    return int(row[0]) if row else 0


def _table_rows(tx: Transaction, source: str) -> int:
    """How many rows the full-text table holds: the first number of its averages record (fts5_index.c), which SQLite
    reads for bm25() too. Counting the rows would read a page for every hundred of them."""
    return next(varints(_averages(tx, source)), 0)


def _averages(tx: Transaction, source: str) -> bytes:
    row = sql(tx).one(f"{source}_words_averages")
    return row[0] if row else b""


def varints(data: bytes) -> Iterator[int]:
    """The numbers in a record of SQLite's full text (sqlite.org/fileformat.html, varint), as far as they have eight
    bytes: one of nine is no number of rows or words."""
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0


def totals(tx: Transaction, source: str) -> list[int]:
    """How many rows the full-text table holds, and how many words in each of its columns."""
    return list(varints(_averages(tx, source)))
