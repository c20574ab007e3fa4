"""picomem as it is installed: transcripts through the real ingest, and recall with its defaults. Its vectors are the
static ones, or the local model's (`model` as an argument)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from serving import serve

from picomem.app import open_engine
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.version import __version__

_TALK = 40  # texts of a transcript


class Picomem:
    def __init__(self, folder: Path, model: Path) -> None:
        self.version = __version__
        embedder = f"onnx:{model}" if "model" in sys.argv[1:] else "static"
        self._engine = open_engine(
            folder / "memory.db", settings=Settings(recall=RecallSettings(timezone="UTC")), embedder=embedder
        )
        self._folder = folder.with_name(f"{folder.name}-transcripts")  # another program's, so not of the store
        self._folder.mkdir()
        self._ids: dict[str, list[str]] = {}

    def add(self, ids: list[str], texts: list[str]) -> None:
        paths: list[Path] = []
        for begin in range(0, len(ids), _TALK):
            path = self._folder / f"{len(self._ids):08}.jsonl"
            lines = ({"role": "user", "content": text} for text in texts[begin : begin + _TALK])
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "ascii")
            self._ids[str(path)] = ids[begin : begin + _TALK]
            paths.append(path)
        self._engine.ingest(paths)

    def ready(self) -> None:
        pass

    def ask(self, question: str, count: int) -> list[str]:
        hits = self._engine.recall(question, limit=count).hits
        return [self._ids[hit.transcript][hit.turns[0]] for hit in hits if hit.turns]

    def close(self) -> None:
        self._engine.close()


if __name__ == "__main__":
    serve(Picomem)
