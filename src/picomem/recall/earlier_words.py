"""The words of what was believed at an earlier time, which full text does not hold. Pure.

Full text holds only what is believed now, so that a search costs the same however often a memory was revised. A recall
as of an earlier time is rare. It analyses the texts of that time again and weighs them by the formula of full text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.search import analyse, saturate
from picomem.store.tables.memories import document


class EarlierWords:
    """The versions that were believed at a time, with the look-ups of `Search` that match a question's words."""

    def __init__(self, versions: Sequence[Memory]) -> None:
        self._versions = versions
        self._postings: dict[str, list[tuple[int, int, int]]] = {}  # by term: document, frequency, size
        total = 0
        for version in versions:
            frequencies, size = analyse(document(version), has_name=True)
            total += size
            for term, frequency in frequencies.items():
                self._postings.setdefault(term, []).append((version.doc, frequency, size))
        self._mean_size = max(1.0, total / len(versions)) if versions else 1.0

    def scores_of_prefix(self, _scope: Scope, _source: str, head: str, weight: float) -> dict[int, float]:
        merged: dict[int, tuple[int, int, int]] = {}
        begun = [postings for term, postings in self._postings.items() if term.startswith(head)]
        for doc, frequency, size in chain.from_iterable(begun):
            merged[doc] = (doc, frequency + merged.get(doc, (doc, 0, size))[1], size)
        return saturate(merged.values(), weight, self._mean_size)

    def scores(self, _scope: Scope, _source: str, weights: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
        return [saturate(self._postings.get(term, ()), weight, self._mean_size) for term, weight in weights]

    def counts(self, _scope: Scope, _source: str, terms: Collection[str]) -> dict[str, int]:
        return {term: len(self._postings.get(term, ())) for term in terms}

    def terms_near(
        self, _scope: Scope, _source: str, heads: Collection[str], limit: int
    ) -> Mapping[str, Mapping[str, int]]:
        near = {head: sorted(term for term in self._postings if term.startswith(head))[:limit] for head in heads}
        return {head: {term: len(self._postings[term]) for term in terms} for head, terms in near.items()}

    def containing(self, text: str, limit: int) -> list[int]:
        """The documents with that very string in them, whatever its case, latest first."""
        folded = text.casefold()
        holding = (version for version in self._versions if folded in f"{version.key}\n{version.content}".casefold())
        return sorted((version.doc for version in holding), reverse=True)[:limit]
