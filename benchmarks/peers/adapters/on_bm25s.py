"""bm25s, with the stemmer and the stop words that its own page recommends."""

from __future__ import annotations

from pathlib import Path

import bm25s  # pyright: ignore[reportMissingImports]
import Stemmer
from serving import serve


class Bm25s:
    """It cannot be added to: all is indexed anew each time."""

    def __init__(self, folder: Path, _: Path) -> None:
        self.version = str(bm25s.__version__)
        self._folder = folder
        self._stemmer = Stemmer.Stemmer("english")
        self._ids: list[str] = []
        self._texts: list[str] = []

    def add(self, ids: list[str], texts: list[str]) -> None:
        self._ids += ids
        self._texts += texts

    def ready(self) -> None:
        self._index = bm25s.BM25()
        self._index.index(self._terms(self._texts), show_progress=False)
        self._index.save(str(self._folder), corpus=self._texts)

    def ask(self, question: str, count: int) -> list[str]:
        most = min(count, len(self._ids))
        numbers, scores = self._index.retrieve(self._terms([question]), k=most, show_progress=False)
        return [self._ids[number] for number, score in zip(numbers[0], scores[0], strict=True) if score > 0]

    def close(self) -> None:
        pass

    def _terms(self, texts: list[str]) -> object:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)


if __name__ == "__main__":
    serve(Bm25s)
