"""The bare FTS5 query."""

from __future__ import annotations

from pathlib import Path

import apsw
from serving import serve

from question_sets.fts5_baseline import Fts5


class BareFts5:
    def __init__(self, folder: Path, _: Path) -> None:
        self.version = f"SQLite {apsw.sqlite_lib_version()}"
        self._table = Fts5(folder / "plain.db")
        self._ids: list[str] = []

    def add(self, ids: list[str], texts: list[str]) -> None:
        self._ids += ids
        self._table.add(texts)

    def ready(self) -> None:
        pass

    def ask(self, question: str, count: int) -> list[str]:
        return [self._ids[number] for number in self._table.best(question, count)]

    def close(self) -> None:
        self._table.close()


if __name__ == "__main__":
    serve(BareFts5)
