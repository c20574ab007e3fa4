"""Stores on the server that the tests start, whatever database the other tests run on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import home, picomem
from tests.databases import CITUS, chosen
from tests.postgres_server import ROLE, Server, address_of, as_plain_role, forget_databases, make_folder

from picomem.engine.engine import Engine
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.postgres.connector import PostgresConnector

__all__ = ["home", "picomem"]

OpenStore = Callable[..., Engine]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a new store, for its owner."""
    yield address_of(tmp_path, is_citus=chosen().name in CITUS)
    forget_databases(tmp_path)


@pytest.fixture
def fenced(address: str) -> str:
    """The same for a role to which row-level security applies: on Citus none that owns the tables."""
    return as_plain_role(address) if chosen().name in CITUS else address


@pytest.fixture
def connector(fenced: str) -> Iterator[PostgresConnector]:
    opened = PostgresConnector(fenced)
    yield opened
    opened.close()


@pytest.fixture
def engine_of(connector: PostgresConnector) -> Callable[[str], Engine]:
    """The engine of a user."""
    runtime = Runtime(connector, Settings(recall=RecallSettings(embedder="none", timezone="UTC")))
    return lambda user: runtime.engine(scope=Scope(user))


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """A server of these tests alone, which they stop and start."""
    opened = Server(make_folder(), fsync="off", listen_addresses="", max_connections="40", shared_buffers="16MB")
    opened.make()
    opened.start()
    opened.ask(f"CREATE ROLE {ROLE} LOGIN")
    yield opened
    opened.stop()
