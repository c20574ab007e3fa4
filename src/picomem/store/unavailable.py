"""A database that could not be opened, for programs that continue without it.

Each call tries again, so a server need not be restarted when the file is available again; until then each call raises
the error of the opening.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from picomem.records.scope import Scope
from picomem.store.connector import Connector, Everyone, Maintenance, Transaction


class LateConnector:
    """`open_store` opens the database of that name, or raises StoreError."""

    def __init__(self, name: str, open_store: Callable[[], Connector]) -> None:
        self.name = name
        self._open_store = open_store
        self.read_only = True
        self._connector: Connector | None = None

    def read(self) -> AbstractContextManager[Transaction]:
        return self._opened().read()

    def write(
        self, scope: Scope | Everyone, *, wait_seconds: float | None = None
    ) -> AbstractContextManager[Transaction]:
        return self._opened().write(scope, wait_seconds=wait_seconds)

    @property
    def maintenance(self) -> Maintenance:
        return self._opened().maintenance

    def close(self) -> None:
        if self._connector is not None:
            self._connector.close()

    def _opened(self) -> Connector:
        if self._connector is None:
            self._connector = self._open_store()
            self.read_only = self._connector.read_only
        return self._connector
