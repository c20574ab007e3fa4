"""A step of the schema as a later version may have one: a table, a column that is filled, and an index."""

from __future__ import annotations

import pytest

from picomem.records.scope import Scope
from picomem.store import row_hash, schema_versions
from picomem.store.connector import Connector
from picomem.store.postgres import schema as postgres_schema
from picomem.store.schema_versions import AddedColumns, Step
from picomem.store.sql_statements import schema
from picomem.store.sqlite import schema as sqlite_schema
from picomem.store.tables import user_entries

USERS = ("ann", "mia", "tom")
COLUMNS = (*row_hash.COLUMNS["user_marks"], "note")  # of the hash after the step
_FILE = "9999"
_TEXT = """\
CREATE TABLE parcels (
    user_id  TEXT NOT NULL,
    id       TEXT NOT NULL,
    weight   REAL,
    PRIMARY KEY (user_id, id)
) STRICT;
ALTER TABLE user_marks ADD COLUMN note TEXT;
UPDATE user_marks SET note = 'of ' || user_id;
CREATE INDEX user_marks_note ON user_marks (user_id, note) WHERE note IS NOT NULL;
"""


def learn(patch: pytest.MonkeyPatch) -> None:
    """Let the program know the step."""
    patch.setattr(schema_versions, "STEPS", (Step(_FILE, (AddedColumns("user_marks", ("note",)),)),))
    patch.setitem(row_hash.COLUMNS, "user_marks", COLUMNS)
    for module in (sqlite_schema, postgres_schema):
        patch.setattr(module, "schema", lambda name: _TEXT if name == _FILE else schema(name))


def put_marks(connector: Connector) -> None:
    """Store rows of version 1 that the step hashes anew."""
    for user in USERS:
        with connector.write(Scope(user)) as tx:
            user_entries.put(tx, Scope(user), "retained", "then")
