"""Whether full text is what the rows make, and making it again. Sources are "memory" and "episode"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from picomem.records.scope import Scope
from picomem.store import episodes, memories, search
from picomem.store.connector import RepairTransaction, Transaction
from picomem.store.sql_access import repairs, sql
from picomem.text.terms import indexed, owner_token


def holds_the_words(tx: RepairTransaction, users: Iterable[Scope], source: str) -> bool:
    """Whether full text is what the rows make. SQLite's own check sees no word that became another, and no wrong place.

    Each word with its place counts into one sum, so that neither side is kept in memory.
    """
    fields = ("name", "body") if source == "memory" else ("body",)
    expected, rows, sizes = 0, 0, [0] * len(fields)
    for scope in users:
        for doc, texts in _worded(tx, scope, source):
            rows += 1
            for column, name in enumerate(fields):
                words = texts[name].split()
                sizes[column] += len(words)
                expected += hash((doc, column, len(words)))
                expected += sum(hash((word, doc, name, place)) for place, word in enumerate(words))
    held = sum(map(hash, repairs(tx).indexed_words(source)))
    return held == expected and (not rows or search.totals(tx, source) == [rows, *sizes])


def rebuild(tx: Transaction, users: Iterable[Scope], source: str) -> None:
    """Make a full-text index again from the rows of all users."""
    sql(tx).run(f"{source}_words_clear")
    for scope in users:
        for doc, texts in _worded(tx, scope, source):
            sql(tx).run(f"{source}_words_add", doc=doc, **texts)


def _worded(tx: Transaction, scope: Scope, source: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row of a user as full text takes it: its number, and its fields."""
    if source == "memory":
        for memory, *_ in memories.stored_versions(tx, scope):
            yield memory.doc, memories.words(memory)
    else:
        owner = owner_token(scope.user)
        for episode, *_ in episodes.stored_episodes(tx, scope):
            yield episode.doc, {"body": indexed(episodes.text_of(episode), owner)}
