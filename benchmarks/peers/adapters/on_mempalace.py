"""MemPalace as it is installed: drawers in batches, as its miner writes them, and its search with its defaults.

Its miner does more with a text (rooms, entities, closets) and cuts it into drawers of 800 characters; here a text is a
drawer, so that it is known which of them was found. Each has a file of its own, for a search folds what is of one file.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from mempalace.palace import get_collection  # pyright: ignore[reportMissingImports]
from mempalace.searcher import search_memories  # pyright: ignore[reportMissingImports]
from serving import serve


class MemPalace:
    def __init__(self, folder: Path, _: Path) -> None:
        self.version = version("mempalace")
        self._palace = str(folder)
        self._drawers = get_collection(self._palace, create=True)

    def add(self, ids: list[str], texts: list[str]) -> None:
        about = [
            {"wing": "bench", "room": "talks", "source_file": f"/{text_id}", "chunk_index": 0, "added_by": "bench"}
            for text_id in ids
        ]
        self._drawers.upsert(ids=ids, documents=texts, metadatas=about)

    def ready(self) -> None:
        pass

    def ask(self, question: str, count: int) -> list[str]:
        answer = search_memories(question, self._palace, n_results=count)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return [hit["source_path"].removeprefix("/") for hit in answer["results"]]

    def close(self) -> None:
        pass


if __name__ == "__main__":
    serve(MemPalace)
