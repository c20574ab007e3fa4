"""txtai as it is installed: vectors by the model in the folder, run by torch with the weights as floats, in faiss.

Its default is a model of the same size, all-MiniLM-L6-v2, which it would download.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import txtai  # pyright: ignore[reportMissingImports]
from serving import serve


class Txtai:
    def __init__(self, folder: Path, model: Path) -> None:
        self.version = version("txtai")
        self._folder = str(folder)
        self._texts = txtai.Embeddings(path=str(model))

    def add(self, ids: list[str], texts: list[str]) -> None:
        self._texts.upsert(list(zip(ids, texts, strict=True)))

    def ready(self) -> None:
        self._texts.save(self._folder)

    def ask(self, question: str, count: int) -> list[str]:
        return [text_id for text_id, _ in self._texts.search(question, count)]

    def close(self) -> None:
        self._texts.close()


if __name__ == "__main__":
    serve(Txtai)
