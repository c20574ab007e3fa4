"""Vectors: one narrow row each, in numbered spaces, one for each source and model. Every call takes a scope.

A cache of vectors asks for the space, then reads the documents after the last one that it has seen, and those that
were rewritten since. Vectors are stored and removed only here, because otherwise such caches would not notice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.reading_order import check_rises
from picomem.store.sql_access import sql

SOURCES = ("memory", "episode")
REWRITES_KEPT = 1_000  # who has missed more of them reads everything again


class Columns(NamedTuple):
    """Vectors by column: the documents, a scale each, and one byte a dimension each. No value is made for each row, of
    which there are thousands."""

    docs: tuple[int, ...]
    scales: tuple[float, ...]
    vectors: tuple[bytes, ...]


class TextToEmbed(NamedTuple):
    """A document without a vector, and the text to make one from."""

    doc: int
    text: str


class ModelCount(NamedTuple):
    """The number of vectors of a source by one model."""

    source: str
    model: str
    vectors: int


class Space(NamedTuple):
    """The number of a space, the highest document that ever had a vector in it, and how often one was rewritten."""

    number: int
    last_doc: int
    rewrites: int


def space(tx: Transaction, scope: Scope, source: str, model: str) -> Space | None:
    """The user's vectors of a source ("memory" or "episode") by a model; None where there never was one."""
    row = sql(tx).one("vector_space", user=scope.user, source=source, model=model)
    return None if row is None else Space(*row)


def put(tx: Transaction, scope: Scope, source: str, model: str, doc: int, scale: float, vector: bytes) -> None:
    """Store the vector of a document; one that it had is replaced."""
    vector_space = space(tx, scope, source, model)
    if vector_space is None:
        (last,) = sql(tx).one("last_vector_space", user=scope.user) or (None,)
        vector_space = Space((last or 0) + 1, doc, 0)
        sql(tx).run("add_vector_space", user=scope.user, source=source, model=model, space=vector_space.number, doc=doc)
    elif doc > vector_space.last_doc:
        sql(tx).run("raise_last_doc", user=scope.user, source=source, model=model, doc=doc)
    else:
        _log(tx, scope, vector_space.number, doc)
    sql(tx).run("put_vector", user=scope.user, space=vector_space.number, doc=doc, scale=scale, vector=vector)


def remove(tx: Transaction, scope: Scope, source: str, doc: int) -> None:
    """Take out a document's vectors, of whichever model."""
    for (number,) in sql(tx).all("vector_spaces_of", user=scope.user, source=source):
        if sql(tx).run("delete_vector", user=scope.user, space=number, doc=doc):
            _log(tx, scope, number, doc)


def clear(tx: Transaction, scope: Scope, model: str, limit: int) -> int:
    """Take out some vectors of a model, at most `limit` a space; how many these were."""
    return _cleared(tx, scope, sql(tx).all("spaces_of_model", user=scope.user, model=model), limit)


def clear_others(tx: Transaction, scope: Scope, model: str, limit: int) -> int:
    """Take out some vectors of every other model, at most `limit` a space; how many these were."""
    return _cleared(tx, scope, sql(tx).all("spaces_of_other_models", user=scope.user, model=model), limit)


def last_doc(tx: Transaction, scope: Scope) -> int:
    """The last number that a document of the user got; 0 where there was none."""
    return sql(tx).last_doc(scope)


def _cleared(tx: Transaction, scope: Scope, spaces: Sequence[Row], limit: int) -> int:
    count = 0
    for (number,) in spaces:
        if removed := sql(tx).run("clear_space", user=scope.user, space=number, limit=limit):
            count += removed
            # Who holds them has missed more than is kept of it: everything is read again.
            sql(tx).run("count_rewrites", user=scope.user, space=number, count=REWRITES_KEPT + 1)
    return count


def length(tx: Transaction, scope: Scope, model: str) -> int:
    """Return how many dimensions the stored vectors of a model have; 0 where there are none."""
    row = sql(tx).one("vector_length", user=scope.user, model=model)
    return int(row[0]) if row else 0


def missing(tx: Transaction, scope: Scope, source: str, model: str, after: int, limit: int) -> list[TextToEmbed]:
    """Rows behind document `after` that have no vector of a model, in their order. Raises Corrupt where they are out of
    order."""
    rows = sql(tx).all(f"{source}_without_vector", user=scope.user, model=model, after=after, limit=limit)
    texts = list(map(TextToEmbed._make, rows))
    if texts:
        check_rises(after, texts[-1].doc, "texts without a vector")
    return texts


def count_missing(tx: Transaction, scope: Scope, source: str, model: str) -> int:
    """Return how many rows have no vector of a model."""
    row = sql(tx).one(f"count_{source}_without_vector", user=scope.user, model=model)
    return int(row[0]) if row else 0


def count_by_model(tx: Transaction, scope: Scope) -> list[ModelCount]:
    """Return how many vectors there are of each source and model, but for withheld sessions."""
    return list(map(ModelCount._make, sql(tx).all("count_vectors", user=scope.user)))


def count_orphans(tx: Transaction, scope: Scope, source: str) -> int:
    """Return how many vectors of a source belong to no row."""
    row = sql(tx).one(f"count_{source}_orphans", user=scope.user)
    return int(row[0]) if row else 0


def delete_orphans(tx: Transaction, scope: Scope, source: str) -> None:
    """Take out the vectors of a source that belong to no row."""
    sql(tx).run(f"delete_{source}_orphans", user=scope.user)


def text(tx: Transaction, scope: Scope, source: str, doc: int) -> str | None:
    """The text that a document's vector is made from, as it is now; None where the row is gone."""
    row = sql(tx).one(f"{source}_text", user=scope.user, doc=doc)
    return None if row is None else row[0]


def after(tx: Transaction, scope: Scope, number: int, doc: int, limit: int) -> Columns:
    """The first `limit` vectors of the documents above `doc`, in order. Raises Corrupt where they are out of order."""
    page = _columns(sql(tx).all("vectors_after", user=scope.user, space=number, doc=doc, limit=limit))
    if page.docs:
        check_rises(doc, page.docs[-1], "vectors")
    return page


def of(tx: Transaction, scope: Scope, number: int, docs: Sequence[int]) -> Columns:
    """The vectors of those documents that have one."""
    return _columns(sql(tx).all("vectors_of", user=scope.user, space=number, docs=json.dumps(docs)))


def rewritten(tx: Transaction, scope: Scope, number: int, since: int) -> list[int]:
    """The documents of the rewrites after the first `since`, as far as they are kept."""
    return [doc for (doc,) in sql(tx).all("rewritten_vectors", user=scope.user, space=number, since=since)]


def _columns(rows: list[Row]) -> Columns:
    """The rows by column. Raises Corrupt where one holds a value of another type, because vectors have no hash."""
    columns = Columns(*zip(*rows, strict=True)) if rows else Columns((), (), ())
    for values, types in zip(columns, ({int}, {float, int}, {bytes}), strict=True):
        if not types.issuperset(map(type, values)):
            raise Corrupt(CodedText("failure.damaged_vector", command=Command("doctor", repair=True)))
    return columns


def _log(tx: Transaction, scope: Scope, number: int, doc: int) -> None:
    (rewrites,) = sql(tx).one("count_rewrite", user=scope.user, space=number) or (0,)
    sql(tx).run("log_rewrite", user=scope.user, space=number, number=rewrites, doc=doc)
    sql(tx).run("forget_rewrites", user=scope.user, space=number, last=rewrites - REWRITES_KEPT)
