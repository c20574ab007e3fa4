"""Several programs that open an old store at once: it is migrated once, and never backwards."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.forked_program import program
from tests.store.old_stores import stop_at

from picomem.errors import NewerSchema
from picomem.store.sqlite import SqliteConnector
from picomem.store.sqlite_migrations import APPLICATION_ID, SCHEMA_VERSION

pytestmark = pytest.mark.sqlite_file("migrates the schema of a file")

# A process that opens the store when its line comes, and writes to it.
OPENER = """
import sys
from pathlib import Path
from picomem.store.connector import EVERYONE
from picomem.store.sqlite import SqliteConnector
sys.stdout.write("ready\\n"), sys.stdout.flush(), sys.stdin.readline()
connector = SqliteConnector(Path(sys.argv[1]))
with connector.write(EVERYONE) as tx:
    tx.run("set_meta", name=sys.argv[2], value="was here")
with connector.read() as tx:
    print(tx.one("meta", name="redaction_key")[0])
"""


@pytest.mark.requirement("X10")
@pytest.mark.parametrize("version", range(SCHEMA_VERSION))
def test_processes_that_open_an_old_store_at_once_migrate_it_once(version, db: Path, open_engine, monkeypatch) -> None:
    with monkeypatch.context() as then:
        stop_at(version, then)
        open_engine().close()
    started = [
        program().start([str(db), f"opener {number}"], env=os.environ, has_stdin=True, code=OPENER)
        for number in range(4)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0] * 4, ended
    assert len({out for out, _ in ended}) == 1  # one key, so one of them made it
    with closing(apsw.Connection(str(db))) as connection:
        assert connection.pragma("user_version") == SCHEMA_VERSION
        ((count,),) = connection.execute("SELECT count(*) FROM meta WHERE value = 'was here'")
        assert count == 4


class _Overtaken(SqliteConnector):
    """A program that was still to take the lock when a newer one had migrated the file."""

    @staticmethod
    def _switch_to_wal(connection: apsw.Connection) -> None:
        SqliteConnector._switch_to_wal(connection)
        with closing(apsw.Connection(connection.filename)) as newer:
            newer.pragma("application_id", APPLICATION_ID)
            newer.pragma("user_version", SCHEMA_VERSION + 1)


def test_a_store_that_a_newer_program_migrated_meanwhile_is_not_taken_back(db: Path) -> None:
    with pytest.raises(NewerSchema):
        _Overtaken(db)
    with closing(apsw.Connection(str(db))) as connection:
        assert connection.pragma("user_version") == SCHEMA_VERSION + 1
