"""Checks and rebuilds the full text of the rows. Sources are "memory" and "episode"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from picomem.records.scope import Scope
from picomem.store import search
from picomem.store.connector import Transaction
from picomem.store.search import Document
from picomem.store.tables import episodes, memories


def holds_the_words(tx: Transaction, users: Iterable[Scope], source: str) -> bool:
    """Return whether full text holds what the rows of all users make, and nothing else."""
    return search.of(tx).holds(source, _documents(tx, users, source))


def rebuild(tx: Transaction, users: Iterable[Scope], source: str) -> None:
    """Make a full-text index again from the rows of all users."""
    index = search.of(tx)
    index.clear(source)
    for scope, document in _documents(tx, users, source):
        index.add(scope, source, [document])


def _documents(tx: Transaction, users: Iterable[Scope], source: str) -> Iterator[tuple[Scope, Document]]:
    """Every row of a source as full text indexes it, with its owner: of memories the searchable versions."""
    for scope in users:
        if source == "memory":
            for memory, *_ in memories.stored_versions(tx, scope):
                if memory.searchable:
                    yield memory.scope, memories.document(memory)
        else:
            for episode, *_ in episodes.stored_episodes(tx, scope):
                yield scope, episodes.document(episode)
