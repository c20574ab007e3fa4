"""Full text on SQLite: FTS5.

SQLite's `bm25()` weighs a term by how rare it is among all rows of the table, which are every user's. Recall wants
it weighed by how rare it is among the asker's own. So each term is asked for alone, and the table's weight is divided
out of its score. The saturated, length-normalised frequency is left (0 to 2.2), for the caller to weigh. The mean
length of a document remains that of all users' documents.

The index stores each term behind its owner's token (text/terms.py).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import log
from typing import TYPE_CHECKING

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.scope import Scope
from picomem.store.search import MOST_DOCUMENTS, Document
from picomem.text.terms import indexed, owner_token

if TYPE_CHECKING:
    from picomem.store.sqlite.transaction import SqliteTransaction

_FIELDS = {"memory": ("name", "body"), "episode": ("body",), "note": ("name", "body")}
_LOWEST_IDF = 1e-6  # SQLite's own floor
_NO_DOC = 0  # no document has this number


class Fts5Search:
    """`Search` on the FTS5 tables of a SQLite file."""

    __slots__ = ("_tx",)

    def __init__(self, tx: SqliteTransaction) -> None:
        self._tx = tx

    def add(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        owner = owner_token(scope.user)
        self._tx.run_many(f"{source}_words_add", (_row(owner, source, document) for document in documents))

    def remove(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        owner = owner_token(scope.user)
        self._tx.run_many(f"{source}_words_remove", (_row(owner, source, document) for document in documents))

    def scores(self, scope: Scope, source: str, weights: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
        owner = owner_token(scope.user)
        return [self._scores(source, f'"{owner}{term}"', weight) for term, weight in weights]

    def scores_of_prefix(self, scope: Scope, source: str, head: str, weight: float) -> dict[int, float]:
        return self._scores(source, f'"{owner_token(scope.user)}{head}" *', weight)

    def _scores(self, source: str, match: str, weight: float) -> dict[int, float]:
        scores = dict(self._tx.all(f"{source}_word_scores", match=match, limit=MOST_DOCUMENTS))
        if None in scores.values():
            raise Corrupt(CodedText("failure.damaged_full_text", source=source, command=Command("doctor", repair=True)))
        documents = len(scores)
        if documents == MOST_DOCUMENTS and (row := self._tx.one(f"{source}_words_matching", match=match)):
            documents = int(row[0])
        total = self._table_rows(source)
        idf = max(log((total - documents + 0.5) / (documents + 0.5)), _LOWEST_IDF) if total > documents else _LOWEST_IDF
        return {doc: weight * (score / idf) for doc, score in scores.items()}

    def latest_with(self, scope: Scope, source: str, terms: Collection[str], limit: int) -> list[int]:
        owner = owner_token(scope.user)
        match = " AND ".join(f'"{owner}{term}"' for term in terms)
        return [doc for (doc,) in self._tx.all(f"{source}_words_latest", match=match, limit=limit)]

    def episodes_with(self, scope: Scope, head: str, first: int, last: int) -> list[int]:
        match = f'"{owner_token(scope.user)}{head}"' + (" *" if head.isalpha() else "")
        return [doc for (doc,) in self._tx.all("episode_words_between", match=match, first=first, last=last)]

    def counts(self, scope: Scope, source: str, terms: Collection[str]) -> dict[str, int]:
        owner = owner_token(scope.user)
        counts = dict(self._tx.all(f"{source}_word_counts", terms=json.dumps([owner + term for term in terms])))
        return {term: counts.get(owner + term, 0) for term in terms}

    def terms_near(self, scope: Scope, source: str, heads: Collection[str], limit: int) -> dict[str, dict[str, int]]:
        owner = owner_token(scope.user)
        near: dict[str, dict[str, int]] = {}
        for head in heads:
            bounds = {"from": owner + head, "to": owner + head + "\U0010ffff"}
            rows = self._tx.all(f"{source}_words_near", **bounds, limit=limit)
            near[head] = {term[len(owner) :]: documents for term, documents in rows}
        return near

    def has_term_with(self, part: str) -> bool:
        return any(self._tx.one(f"{source}_words_with", part=part) for source in _FIELDS)

    def size(self, source: str) -> int:
        row = self._tx.one(f"{source}_words_size")
        return int(row[0]) if row else 0

    def holds(self, source: str, documents: Iterable[tuple[Scope, Document]]) -> bool:
        """FTS5's own check notices no word that became another, and no wrong place.

        Each word with its place counts into one sum, so that neither side is kept in memory.
        """
        fields = _FIELDS[source]
        expected, rows, sizes = 0, 0, [0] * len(fields)
        for scope, document in documents:
            rows += 1
            texts = _row(owner_token(scope.user), source, document)
            for column, name in enumerate(fields):
                words = str(texts[name]).split()
                sizes[column] += len(words)
                expected += hash((document.doc, column, len(words)))
                expected += sum(hash((word, document.doc, name, place)) for place, word in enumerate(words))
        stored = sum(map(hash, self._tx.indexed_words(source)))
        return stored == expected and (not rows or list(self._averages(source)) == [rows, *sizes])

    def clear(self, source: str) -> None:
        self._tx.run(f"{source}_words_clear")

    def merge(self) -> None:
        """Write the index of each source anew, as one segment. SQLite leaves an index of one segment as it is, so a
        word is added first, and removed afterwards."""
        for source, fields in _FIELDS.items():
            word = {"doc": _NO_DOC, **dict.fromkeys(fields, "purged")}
            self._tx.run(f"{source}_words_add", **word)
            self._tx.run(f"{source}_words_optimize")
            self._tx.run(f"{source}_words_remove", **word)

    def _table_rows(self, source: str) -> int:
        """Return how many rows the full-text table holds, which SQLite reads for bm25() too. Counting the rows would
        read a page for every hundred of them."""
        return next(self._averages(source), 0)

    def _averages(self, source: str) -> Iterator[int]:
        """The averages record (fts5_index.c): the number of rows, then the number of words in each column."""
        row = self._tx.one(f"{source}_words_averages")
        return varints(row[0] if row else b"")


def _row(owner: str, source: str, document: Document) -> dict[str, object]:
    """A document as a row of the source's table."""
    row: dict[str, object] = {"doc": document.doc, "body": indexed(document.body, owner)}
    if "name" in _FIELDS[source]:
        row["name"] = indexed(document.name, owner)
    return row


def varints(data: object) -> Iterator[int]:
    """The numbers in a record of SQLite's full text (sqlite.org/fileformat.html, varint), as far as they have eight
    bytes: one of nine is no number of rows or words. A damaged record may be no bytes, and has none."""
    value = 0
    for byte in data if isinstance(data, bytes) else b"":
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0
