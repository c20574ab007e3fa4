"""What tests of the SQLite file may use besides the engine; such a test is marked `sqlite_file`."""

from __future__ import annotations

import apsw

from picomem.engine.engine import Engine
from picomem.store.sqlite import SqliteConnector


def connection_of(engine: Engine) -> apsw.Connection:
    """The connection that an engine writes with."""
    connector = engine._context.connector
    assert isinstance(connector, SqliteConnector)
    return connector.connection()
