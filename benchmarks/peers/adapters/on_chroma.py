"""Chroma as it is installed, on disk. Its default model is looked for where it would have been downloaded to."""

from __future__ import annotations

from pathlib import Path

import chromadb  # pyright: ignore[reportMissingImports]
from serving import serve


class Chroma:
    def __init__(self, folder: Path, _: Path) -> None:
        self.version = str(chromadb.__version__)
        client = chromadb.PersistentClient(str(folder), chromadb.Settings(anonymized_telemetry=False))
        self._texts = client.create_collection("texts")

    def add(self, ids: list[str], texts: list[str]) -> None:
        self._texts.add(ids=ids, documents=texts)

    def ready(self) -> None:
        pass

    def ask(self, question: str, count: int) -> list[str]:
        return self._texts.query(query_texts=[question], n_results=count, include=[])["ids"][0]

    def close(self) -> None:
        pass


if __name__ == "__main__":
    serve(Chroma)
