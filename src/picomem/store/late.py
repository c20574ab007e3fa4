"""A database that could not be opened, for a program that goes on without it.

Each call tries again, so a server need not be restarted when the file is there again; until then each call raises
what opening raises.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from picomem.store.connector import Connector, Transaction


class LateConnector:
    """`open_store` opens the database at `path`, or raises StoreError."""

    def __init__(self, path: Path, open_store: Callable[[], Connector]) -> None:
        self.name = str(path)
        self._open_store = open_store
        self.read_only = True
        self._connector: Connector | None = None

    def read(self) -> AbstractContextManager[Transaction]:
        return self._opened().read()

    def write(self, *, rebuilding: bool = False) -> AbstractContextManager[Transaction]:
        return self._opened().write(rebuilding=rebuilding)

    def integrity(self) -> list[str]:
        return self._opened().integrity()

    def words_integrity(self, source: str) -> str:
        return self._opened().words_integrity(source)

    def size(self) -> int:
        return self._opened().size()

    def files(self) -> list[Path]:
        return self._opened().files()

    def give_up_ballast(self) -> bool:
        return self._opened().give_up_ballast()

    def leave_no_trace(self, wait_seconds: float) -> None:
        self._opened().leave_no_trace(wait_seconds)

    def close(self) -> None:
        if self._connector is not None:
            self._connector.close()

    def _opened(self) -> Connector:
        if self._connector is None:
            self._connector = self._open_store()
            self.read_only = self._connector.read_only
        return self._connector
