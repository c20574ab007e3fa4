"""Full text on PostgreSQL: a row for each term of a document, in tables of our own.

No ranking function of PostgreSQL weighs as recall does, and row-level security keeps an operator like `@@` from using
an index. So a posting holds what BM25 needs, and is looked up by user, source and term. The terms are those of SQLite,
without the token of the owner, because the user's id is the head of the key.

The score is that of FTS5 without the weight of the term, see `sqlite/fts5.py`. One thing differs: the mean length of a
document is that of the user's own documents, since a number that all users share would make every writer wait for the
others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import psycopg

from picomem.errors import Unreachable
from picomem.records.scope import Scope
from picomem.store.postgres.dialect import SCHEMA, translated_schema
from picomem.store.postgres.machines import is_distributed
from picomem.store.search import MOST_DOCUMENTS, Document, analyse, saturate
from picomem.store.sql_statements import schema

if TYPE_CHECKING:
    from picomem.store.postgres.transaction import PostgresTransaction


_NUMBERS = {"memory": 1, "episode": 2, "note": 3}
_WITH_NAMES = ("memory", "note")
_HIGHEST = "\U0010ffff"  # the end of what begins alike


class PostgresSearch:
    """`Search` on the tables `word_postings` and `word_totals`."""

    __slots__ = ("_tx",)

    def __init__(self, tx: PostgresTransaction) -> None:
        self._tx = tx

    def add(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        words: list[str] = []
        numbers: list[int] = []
        frequencies: list[int] = []
        sizes: list[int] = []
        count = total = 0
        for document in documents:
            postings, size = analyse(document, has_name=source in _WITH_NAMES)
            words += postings
            frequencies += postings.values()
            numbers += [document.doc] * len(postings)
            sizes += [size] * len(postings)
            count, total = count + 1, total + size
        self._count(scope, source, count, total)  # first, for it makes the row of which `add_postings` takes the user
        if words:
            self._tx.run(
                "add_postings",
                user=scope.user,
                source=_NUMBERS[source],
                words=words,
                numbers=numbers,
                frequencies=frequencies,
                sizes=sizes,
            )

    def remove(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        count = total = 0
        for document in documents:
            postings, size = analyse(document, has_name=source in _WITH_NAMES)
            if postings:
                self._tx.run(
                    "remove_postings",
                    user=scope.user,
                    source=_NUMBERS[source],
                    doc=document.doc,
                    words=list(postings),
                )
            count, total = count + 1, total + size
        self._count(scope, source, -count, -total)

    def scores(self, scope: Scope, source: str, weights: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
        if not weights:
            return []
        terms_asked = list(dict(weights))
        (_, documents, total, _), *rows = self._tx.all(
            "postings_of", user=scope.user, source=_NUMBERS[source], words=terms_asked, limit=MOST_DOCUMENTS
        )
        of_term: dict[str, list[tuple[int, int, int]]] = {}
        for term, *posting in rows:
            of_term.setdefault(term, []).append(tuple(posting))
        mean = _mean_size(documents, total)
        return [saturate(of_term.get(term, []), weight, mean) for term, weight in weights]

    def scores_of_prefix(self, scope: Scope, source: str, head: str, weight: float) -> dict[int, float]:
        bounds = {"from": head, "to": head + _HIGHEST, "limit": MOST_DOCUMENTS}
        (_, documents, total, _), *rows = self._tx.all(
            "postings_between", user=scope.user, source=_NUMBERS[source], **bounds
        )
        return saturate([row[1:] for row in rows], weight, _mean_size(documents, total))

    def latest_with(self, scope: Scope, source: str, terms: Collection[str], limit: int) -> list[int]:
        values = {"user": scope.user, "source": _NUMBERS[source], "words": list(terms), "count": len(terms)}
        return [doc for (doc,) in self._tx.all("latest_docs_with", **values, limit=limit)]

    def episodes_with(self, scope: Scope, head: str, first: int, last: int) -> list[int]:
        until = head + (_HIGHEST if head.isalpha() else "\x01")
        values = {"user": scope.user, "source": _NUMBERS["episode"], "from": head, "to": until}
        return [doc for (doc,) in self._tx.all("docs_between", **values, first=first, last=last)]

    def counts(self, scope: Scope, source: str, terms: Collection[str]) -> dict[str, int]:
        if not terms:
            return {}
        rows = self._tx.all("count_postings", user=scope.user, source=_NUMBERS[source], words=list(terms))
        return dict.fromkeys(terms, 0) | dict(rows)

    def terms_near(self, scope: Scope, source: str, heads: Collection[str], limit: int) -> dict[str, dict[str, int]]:
        near: dict[str, dict[str, int]] = {head: {} for head in heads}
        if near:
            values = {"user": scope.user, "source": _NUMBERS[source], "limit": limit, "words": list(near)}
            for head, term, documents in self._tx.all("terms_between", **values, highest=_HIGHEST):
                near[head][term] = documents
        return near

    def has_term_with(self, part: str) -> bool:
        try:
            return self._tx.one("any_term_with", part=part) is not None
        except Unreachable:
            answering = self._tx.all("users")
            return any(self._tx.one("user_term_with", user=user, part=part) for user, _ in answering)

    def size(self, source: str) -> int:
        row = self._tx.one("indexed_documents", source=_NUMBERS[source])
        return int(row[0]) if row else 0

    def holds(self, source: str, documents: Iterable[tuple[Scope, Document]]) -> bool:
        """Each posting counts into one sum, so that neither side is kept in memory."""
        expected = 0
        totals: dict[str, tuple[int, int]] = {}
        for scope, document in documents:
            postings, size = analyse(document, has_name=source in _WITH_NAMES)
            count, total = totals.get(scope.user, (0, 0))
            totals[scope.user] = (count + 1, total + size)
            expected += sum(hash((scope.user, term, document.doc, times, size)) for term, times in postings.items())
        number = _NUMBERS[source]
        stored = {user: (count, total) for user, count, total in self._tx.all("all_word_totals", source=number)}
        if {user: counts for user, counts in stored.items() if counts != (0, 0)} != totals:
            return False
        return sum(map(hash, self._tx.all("all_postings", source=number))) == expected

    def clear(self, source: str) -> None:
        self._tx.run("clear_postings", source=_NUMBERS[source])
        self._tx.run("clear_word_totals", source=_NUMBERS[source])

    def _count(self, scope: Scope, source: str, documents: int, total: int) -> None:
        if documents:
            self._tx.run(
                "add_to_word_totals", user=scope.user, source=_NUMBERS[source], documents=documents, terms=total
            )


def _mean_size(documents: int, total: int) -> float:
    return max(1.0, total / documents) if documents > 0 else 1.0


TABLES = ("word_postings", "word_totals")
# A table of ours has its columns and its primary key.
_INCOMPLETE = f"""
SELECT t.name FROM (
    VALUES ('word_postings', ARRAY['doc', 'frequency', 'size', 'source', 'term', 'user_id']),
        ('word_totals', ARRAY['documents', 'source', 'terms', 'user_id'])
) AS t (name, columns)
CROSS JOIN LATERAL (SELECT to_regclass('{SCHEMA}.' || t.name)) AS found (id)
WHERE found.id IS NULL
    OR (SELECT array_agg(CAST(attname AS text) ORDER BY attname COLLATE "C") FROM pg_attribute
        WHERE attrelid = found.id AND attnum > 0 AND NOT attisdropped) IS DISTINCT FROM t.columns
    OR NOT EXISTS (SELECT FROM pg_index WHERE indrelid = found.id AND indisprimary AND indisvalid)
"""


def incomplete(connection: psycopg.Connection[Any]) -> list[str]:
    """The names of the tables of full text that are gone, or lack a column or their key."""
    return [name for (name,) in connection.execute(_INCOMPLETE.encode()).fetchall()]


def make_anew(connection: psycopg.Connection[Any]) -> None:
    """Make both tables anew, empty. Within a transaction whose search path is the schema."""
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {SCHEMA}.{table}".encode())
    for text in translated_schema(schema("search_postgres"), for_citus=is_distributed(connection)):
        if any(table in text for table in TABLES):
            connection.execute(text.encode())
