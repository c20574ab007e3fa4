"""The script that makes a fresh SQLite store at once, from a store that the migrations made.

After several new migrations, `python -m tests.store.fresh_schema` writes the script of the latest version; then set
`FRESH_VERSION` and delete the old script.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.store.old_stores import stop_at

from picomem.store import sql_statements
from picomem.store.sqlite import SqliteConnector
from picomem.store.sqlite_migrations import SCHEMA_VERSION

_HEAD = """\
-- A fresh SQLite store of schema {version}, as the migrations up to {version:04} make it, in the words that SQLite keeps; the
-- comments are in those. `python -m tests.store.fresh_schema` writes this file, and a test compares it.
"""
_OBJECTS = """\
SELECT name, sql, sql LIKE 'CREATE VIRTUAL TABLE % USING fts5 (%'
FROM sqlite_schema
WHERE sql IS NOT NULL AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
ORDER BY rowid
"""


def rendered(folder: Path, version: int) -> str:
    """The script for a version."""
    store = folder / "migrated.db"
    with pytest.MonkeyPatch.context() as then:
        for last in (1, version):  # a store of the first version is migrated by the steps
            stop_at(last, then)
            SqliteConnector(store).close()
    with closing(apsw.Connection(str(store))) as connection:
        parts = [_HEAD.format(version=version)]
        for name, sql, is_full_text in connection.execute(_OBJECTS):
            parts.append(f"{sql};\n")
            if is_full_text:
                parts.append(f"INSERT INTO {name} ({name}, rank) VALUES ('secure-delete', 1);\n")
        return "".join(parts)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        script = Path(sql_statements.__file__).parent / "schema" / f"fresh_sqlite_{SCHEMA_VERSION:04}.sql"
        script.write_text(rendered(Path(made), SCHEMA_VERSION), "utf-8")
