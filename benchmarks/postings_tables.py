"""Postings tables of our own: the alternative to FTS5, in the two layouts that are worth measuring.

Both fulfil `picomem.store.search.Search` with plain statements, on a connection of their own. Both keep the length of a
document beside each posting, so that a score needs no second look-up.

    PostingRows      a row for each posting, keyed (user, source, term, document)
    PostingBlocks    a row for up to some hundred postings of a term: differences of numbers, as varints in one blob

`totals` holds the mean length of a document over all users, because FTS5 takes that one and the answers are compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import apsw

from picomem.records.scope import Scope
from picomem.store.search import K1, SATURATION, B, Document
from picomem.store.sqlite.fts5 import varints
from picomem.text.terms import terms

_NAME_WEIGHT = 2  # how often a term in a document's name counts
_LAST = "\U0010ffff"  # no term goes on with it
_BLOCK = 800  # bytes of a block at most: SQLite moves what is longer than a quarter of a page out of the key's tree

_TOTALS = """
CREATE TABLE totals (source TEXT PRIMARY KEY, documents INTEGER NOT NULL, words INTEGER NOT NULL) WITHOUT ROWID;
"""
_ROWS = (
    _TOTALS
    + """
CREATE TABLE postings (
    user_id TEXT NOT NULL, source TEXT NOT NULL, term TEXT NOT NULL, doc INTEGER NOT NULL,
    frequency INTEGER NOT NULL, length INTEGER NOT NULL,
    PRIMARY KEY (user_id, source, term, doc)
) WITHOUT ROWID;
"""
)
_BLOCKS = (
    _TOTALS
    + """
CREATE TABLE postings (
    user_id TEXT NOT NULL, source TEXT NOT NULL, term TEXT NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, documents INTEGER NOT NULL, block BLOB NOT NULL,
    PRIMARY KEY (user_id, source, term, first)
) WITHOUT ROWID;
"""
)

Entry = tuple[int, int, int]  # a document's number, how often it holds the term, how many terms it has


class _Postings(ABC):
    """What both layouts share: the totals, and every question that needs no posting."""

    schema: str
    documents_of_row: str  # how many documents a row of `postings` stands for, in SQL

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def create(self) -> None:
        self._connection.execute(self.schema)

    def add(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        counted = [_counted(document) for document in documents]
        self._insert(scope.user, source, [entry for entries, _ in counted for entry in entries])
        self._count(source, len(counted), sum(length for _, length in counted))

    def remove(self, scope: Scope, source: str, documents: Iterable[Document]) -> None:
        counted = [_counted(document) for document in documents]
        self._delete(scope.user, source, [entry for entries, _ in counted for entry in entries])
        self._count(source, -len(counted), -sum(length for _, length in counted))

    def scores(self, scope: Scope, source: str, weights: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
        return [self._weighed(source, self._entries(scope.user, source, term), weight) for term, weight in weights]

    def scores_of_prefix(self, scope: Scope, source: str, head: str, weight: float) -> dict[int, float]:
        return self._weighed(source, self._prefixed(scope.user, source, head), weight)

    def _weighed(self, source: str, rows: Iterable[Entry], weight: float) -> dict[int, float]:
        documents, words = self._totals(source)
        share = B * documents / words if words else 0.0
        return {
            doc: weight * frequency * SATURATION / (frequency + K1 * (1 - B + share * length))
            for doc, frequency, length in rows
        }

    def latest_with(self, scope: Scope, source: str, terms: Collection[str], limit: int) -> list[int]:
        """Not measured: only what looks for statements asks for it."""
        raise NotImplementedError

    def episodes_with(self, scope: Scope, head: str, first: int, last: int) -> list[int]:
        """Not measured: only a write of an agent asks for it."""
        raise NotImplementedError

    def counts(self, scope: Scope, source: str, terms: Collection[str]) -> dict[str, int]:
        sql = f"SELECT {self.documents_of_row} FROM postings WHERE user_id = ? AND source = ? AND term = ?"
        return {term: int(self._one(sql, scope.user, source, term)[0] or 0) for term in terms}

    def terms_near(self, scope: Scope, source: str, heads: Collection[str], limit: int) -> dict[str, dict[str, int]]:
        sql = f"""
            SELECT term, {self.documents_of_row} FROM postings
            WHERE user_id = ? AND source = ? AND term >= ? AND term < ? GROUP BY term ORDER BY term LIMIT ?"""
        near = {}
        for head in heads:
            rows = self._connection.execute(sql, (scope.user, source, head, head + _LAST, limit))
            near[head] = {str(term): int(documents) for term, documents in rows}  # type: ignore[arg-type]
        return near

    def has_term_with(self, part: str) -> bool:
        rows = self._connection.execute("SELECT 1 FROM postings WHERE instr(term, ?) LIMIT 1", (part,))
        return next(iter(rows), None) is not None

    def size(self, source: str) -> int:
        return self._totals(source)[0]

    def holds(self, source: str, documents: Iterable[tuple[Scope, Document]]) -> bool:
        expected: set[tuple[str, str, Entry]] = set()
        size = words = 0
        for scope, document in documents:
            entries, length = _counted(document)
            expected |= {(scope.user, term, entry) for term, entry in entries}
            size, words = size + 1, words + length
        stored = {
            (user, term, entry)
            for user, term in self._connection.execute(
                "SELECT DISTINCT user_id, term FROM postings WHERE source = ?", (source,)
            )
            for entry in self._entries(str(user), source, str(term))
        }
        return stored == expected and self._totals(source) == (size, words)

    def clear(self, source: str) -> None:
        self._connection.execute("DELETE FROM postings WHERE source = ?", (source,))
        self._connection.execute("DELETE FROM totals WHERE source = ?", (source,))

    @abstractmethod
    def _insert(self, user: str, source: str, entries: list[tuple[str, Entry]]) -> None: ...

    @abstractmethod
    def _delete(self, user: str, source: str, entries: list[tuple[str, Entry]]) -> None: ...

    @abstractmethod
    def _entries(self, user: str, source: str, term: str) -> Iterable[Entry]: ...

    def _prefixed(self, user: str, source: str, head: str) -> Iterable[Entry]:
        sql = "SELECT DISTINCT term FROM postings WHERE user_id = ? AND source = ? AND term >= ? AND term < ?"
        frequencies: Counter[int] = Counter()
        lengths: dict[int, int] = {}
        for (term,) in self._connection.execute(sql, (user, source, head, head + _LAST)).fetchall():
            for doc, frequency, length in self._entries(user, source, str(term)):
                frequencies[doc] += frequency
                lengths[doc] = length
        return [(doc, frequency, lengths[doc]) for doc, frequency in frequencies.items()]

    def _count(self, source: str, documents: int, words: int) -> None:
        self._connection.execute(
            """INSERT INTO totals (source, documents, words) VALUES (?1, ?2, ?3) ON CONFLICT (source)
            DO UPDATE SET documents = totals.documents + ?2, words = totals.words + ?3""",
            (source, documents, words),
        )

    def _totals(self, source: str) -> tuple[int, int]:
        row = next(
            iter(self._connection.execute("SELECT documents, words FROM totals WHERE source = ?", (source,))), (0, 0)
        )
        return int(row[0]), int(row[1])  # type: ignore[arg-type]

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...]:
        return next(iter(self._connection.execute(sql, values)))


class PostingRows(_Postings):
    """A row for each posting."""

    schema = _ROWS
    documents_of_row = "count(*)"

    def _insert(self, user: str, source: str, entries: list[tuple[str, Entry]]) -> None:
        self._connection.executemany(
            "INSERT INTO postings (user_id, source, term, doc, frequency, length) VALUES (?, ?, ?, ?, ?, ?)",
            ((user, source, term, *entry) for term, entry in sorted(entries)),
        )

    def _delete(self, user: str, source: str, entries: list[tuple[str, Entry]]) -> None:
        self._connection.executemany(
            "DELETE FROM postings WHERE user_id = ? AND source = ? AND term = ? AND doc = ?",
            ((user, source, term, entry[0]) for term, entry in sorted(entries)),
        )

    def _entries(self, user: str, source: str, term: str) -> Iterable[Entry]:
        sql = "SELECT doc, frequency, length FROM postings WHERE user_id = ? AND source = ? AND term = ?"
        return self._connection.execute(sql, (user, source, term))  # type: ignore[return-value]


class PostingBlocks(_Postings):
    """A row for up to `_BLOCK` bytes of a term's postings, in the order of their documents.

    `first` is a lower bound of the numbers in a block and `last` the greatest. New documents have the greatest numbers
    so far, so their postings are appended to a term's last block without unpacking it. Any other change packs the
    block anew.
    """

    schema = _BLOCKS
    documents_of_row = "sum(documents)"

    def _insert(self, user: str, source: str, entries: list[tuple[str, Entry]]) -> None:
        by_term: defaultdict[str, list[Entry]] = defaultdict(list)
        for term, entry in entries:
            by_term[term].append(entry)
        for term in sorted(by_term):
            fresh = sorted(by_term[term])
            last = self._block_at(user, source, term, None)
            if last is None:
                self._put(user, source, term, fresh[0][0], fresh)
            elif last[1] < fresh[0][0]:
                self._append(user, source, term, last, fresh)
            else:
                for entry in fresh:
                    self._put_between(user, source, term, entry)

    def _append(self, user: str, source: str, term: str, block: tuple[int, int, int], fresh: list[Entry]) -> None:
        first, last, size = block
        packed = _packed(last, fresh)
        if size + len(packed) > _BLOCK:
            self._put(user, source, term, fresh[0][0], fresh)
            return
        self._connection.execute(
            """UPDATE postings SET last = ?, documents = documents + ?, block = CAST(block || ? AS BLOB)
            WHERE user_id = ? AND source = ? AND term = ? AND first = ?""",
            (fresh[-1][0], len(fresh), packed, user, source, term, first),
        )

    def _put_between(self, user: str, source: str, term: str, entry: Entry) -> None:
        block = self._block_at(user, source, term, entry[0])
        if block is None:
            self._put(user, source, term, entry[0], [entry])
            return
        entries = sorted([*self._unpacked(user, source, term, block[0]), entry])
        self._drop(user, source, term, block[0])
        self._put(user, source, term, block[0], entries)

    def _put(self, user: str, source: str, term: str, first: int, entries: list[Entry]) -> None:
        """Store entries as blocks, the first of them under this number."""
        while entries:
            packed = _packed(first, entries)
            count = len(entries) if len(packed) <= _BLOCK else max(1, len(entries) * _BLOCK // (2 * len(packed)))
            chunk, entries = entries[:count], entries[count:]
            self._connection.execute(
                """INSERT INTO postings (user_id, source, term, first, last, documents, block)
                VALUES (?, ?, ?, ?, ?, ?, ?)""",
                (user, source, term, first, chunk[-1][0], len(chunk), _packed(first, chunk)),
            )
            first = entries[0][0] if entries else 0

    def _delete(self, user: str, source: str, entries: list[tuple[str, Entry]]) -> None:
        by_block: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        for term, (doc, _, _) in entries:
            block = self._block_at(user, source, term, doc)
            if block is not None:
                by_block[term, block[0]].add(doc)
        for (term, first), docs in by_block.items():
            left = [entry for entry in self._unpacked(user, source, term, first) if entry[0] not in docs]
            self._drop(user, source, term, first)
            if left:
                self._put(user, source, term, first, left)

    def _drop(self, user: str, source: str, term: str, first: int) -> None:
        self._connection.execute(
            "DELETE FROM postings WHERE user_id = ? AND source = ? AND term = ? AND first = ?",
            (user, source, term, first),
        )

    def _block_at(self, user: str, source: str, term: str, doc: int | None) -> tuple[int, int, int] | None:
        """The first and last number, and the bytes, of the block in which a document belongs, or of the last block."""
        sql = """
            SELECT first, last, length(block) FROM postings WHERE user_id = ? AND source = ? AND term = ?
            AND first <= coalesce(?, 9223372036854775807) ORDER BY first DESC LIMIT 1"""
        return next(iter(self._connection.execute(sql, (user, source, term, doc))), None)  # type: ignore[return-value]

    def _unpacked(self, user: str, source: str, term: str, first: int) -> list[Entry]:
        sql = "SELECT block FROM postings WHERE user_id = ? AND source = ? AND term = ? AND first = ?"
        return list(_entries_of(first, self._one(sql, user, source, term, first)[0]))

    def _entries(self, user: str, source: str, term: str) -> Iterable[Entry]:
        sql = "SELECT first, block FROM postings WHERE user_id = ? AND source = ? AND term = ? ORDER BY first"
        for first, block in self._connection.execute(sql, (user, source, term)):
            yield from _entries_of(first, block)  # type: ignore[arg-type]


def _counted(document: Document) -> tuple[list[tuple[str, Entry]], int]:
    """The postings of a document, and how many terms it has."""
    body, name = terms(document.body), terms(document.name)
    frequencies = Counter(body)
    for term in name:
        frequencies[term] += _NAME_WEIGHT
    length = len(body) + len(name)
    return [(term, (document.doc, frequency, length)) for term, frequency in frequencies.items()], length


def _packed(before: int, entries: list[Entry]) -> bytes:
    """Entries as varints: what each document's number is greater by than the one before, its frequency, its length."""
    packed = bytearray()
    for doc, frequency, length in entries:
        for number in (doc - before, frequency, length):
            _put_varint(packed, number)
        before = doc
    return bytes(packed)


def _entries_of(first: int, block: bytes) -> Iterator[Entry]:
    numbers = varints(block)
    doc = first
    for step, frequency, length in zip(numbers, numbers, numbers, strict=True):
        doc += step
        yield doc, frequency, length


def _put_varint(packed: bytearray, number: int) -> None:
    if number < 0x80:
        packed.append(number)
        return
    bits = [number & 0x7F]
    while number := number >> 7:
        bits.append(number & 0x7F | 0x80)
    packed.extend(reversed(bits))
