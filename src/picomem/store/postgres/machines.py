"""The machines on which the tables of a store lie: the one server, or those among which Citus has divided the users.

Citus keeps each table in shards, by the hash of the user; the shards of all tables that hold a user lie on one machine.
What a purge does to tables it does to shards there, by commands that Citus runs on the machine. On a server without
Citus the same commands run on the server itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic, sleep
from typing import Any, NamedTuple

import psycopg

from picomem import errors
from picomem.coded_text import CodedText, Command
from picomem.store.postgres.dialect import SCHEMA

_PAUSE_SECONDS = 0.02


class CitusMachine(NamedTuple):
    """A machine as Citus names it."""

    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


HERE = CitusMachine()  # the server to which a connection leads


class TablePart(NamedTuple):
    """A table, or a shard of it, with its primary key."""

    machine: CitusMachine
    table: str
    key: str


_DISTRIBUTED = f"SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('{SCHEMA}.memories')"
_DIVISION = (
    "SELECT count(DISTINCT s.shardid), count(DISTINCT p.groupid) FROM pg_dist_shard AS s "
    f"JOIN pg_dist_placement AS p ON p.shardid = s.shardid WHERE s.logicalrelid = to_regclass('{SCHEMA}.memories')"
)
_MACHINES = "SELECT nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' ORDER BY nodename, nodeport"
_TABLES = (
    f"SELECT '{SCHEMA}.' || t.relname, k.relname FROM pg_class AS t JOIN pg_index AS x ON x.indrelid = t.oid "
    "AND x.indisprimary JOIN pg_class AS k ON k.oid = x.indexrelid "
    f"WHERE t.relnamespace = to_regnamespace('{SCHEMA}') AND t.relkind = 'r' ORDER BY t.relname"
)
_SHARDS = (
    "SELECT n.nodename, n.nodeport, shard_name(t.oid, s.shardid), shard_name(k.oid, s.shardid) "
    "FROM pg_class AS t JOIN pg_dist_partition AS d ON d.logicalrelid = t.oid "
    "JOIN pg_index AS x ON x.indrelid = t.oid AND x.indisprimary JOIN pg_class AS k ON k.oid = x.indexrelid "
    "JOIN pg_dist_shard AS s ON s.logicalrelid = t.oid JOIN pg_dist_placement AS p ON p.shardid = s.shardid "
    "JOIN pg_dist_node AS n ON n.groupid = p.groupid AND n.noderole = 'primary' "
    f"WHERE t.relnamespace = to_regnamespace('{SCHEMA}') AND (%(user)s::text IS NULL OR d.partmethod = 'h' "
    "AND s.shardid = get_shard_id_for_distribution_column(t.oid, %(user)s::text)) ORDER BY t.relname, s.shardid"
)
_SHARDS_OF_LOCKS = (
    "SELECT n.nodename, n.nodeport, shard_name(s.logicalrelid, s.shardid) FROM pg_dist_shard AS s "
    "JOIN pg_dist_placement AS p ON p.shardid = s.shardid "
    "JOIN pg_dist_node AS n ON n.groupid = p.groupid AND n.noderole = 'primary' "
    f"WHERE s.logicalrelid = to_regclass('{SCHEMA}.user_locks') ORDER BY s.shardid"
)
_ASK = (
    "SELECT success, result FROM master_run_on_worker(ARRAY[%(host)s]::text[], ARRAY[%(port)s]::int[], "
    "ARRAY[%(command)s]::text[], false)"
)
# Copies of shards on machines from which they were moved, until Citus drops them.
_MOVED_COPIES = f"SELECT count(*) FROM pg_dist_cleanup WHERE object_name LIKE '{SCHEMA}.%'"
_NOW = "SELECT CAST(CAST(pg_current_xact_id() AS xid) AS text)"
_SIZE = (
    "SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS bigint) FROM pg_class "
    f"WHERE relnamespace = to_regnamespace('{SCHEMA}') AND relkind = 'r'"
)
_SIZE_OF_SHARDS = (  # of a table with a shard that cannot be asked there is none
    "SELECT CAST(coalesce(sum(citus_total_relation_size(logicalrelid, false)), 0) AS bigint) FROM pg_dist_partition "
    f"JOIN pg_class ON oid = logicalrelid WHERE relnamespace = to_regnamespace('{SCHEMA}')"
)


def is_distributed(connection: psycopg.Connection[Any]) -> bool:
    """Return whether Citus has divided the tables among machines."""
    if connection.execute("SELECT to_regclass('pg_dist_partition')").fetchone() == (None,):
        return False
    return connection.execute(_DISTRIBUTED.encode()).fetchone() is not None


class Division(NamedTuple):
    """Into how many shards each table of users is divided, and on how many machines they lie; 0 and 1 without Citus."""

    shards: int = 0
    machines: int = 1


def division(connection: psycopg.Connection[Any]) -> Division:
    """How the tables of a store are divided."""
    row = connection.execute(_DIVISION.encode()).fetchone() if is_distributed(connection) else None
    return Division(*row) if row else Division()


def machines(connection: psycopg.Connection[Any]) -> list[CitusMachine]:
    """Every machine of the store."""
    if not is_distributed(connection):
        return [HERE]
    return [CitusMachine(*row) for row in connection.execute(_MACHINES).fetchall()]


def silent_machines(connection: psycopg.Connection[Any]) -> list[CitusMachine]:
    """The machines that do not answer."""
    return [machine for machine in machines(connection) if not _answers(connection, machine)]


def _answers(connection: psycopg.Connection[Any], machine: CitusMachine) -> bool:
    try:
        told_by(connection, machine, "SELECT 'here'")
    except errors.StoreError:
        return False
    return True


def told_by(connection: psycopg.Connection[Any], machine: CitusMachine, *commands: str) -> str:
    """Run commands on a machine; the text that the only one of them gives. Raises StoreError, as psycopg's for HERE.

    Of several commands Citus tells how the first one ended."""
    if machine == HERE:
        cursor = connection.cursor()
        for command in commands:
            cursor.execute(command.encode(), prepare=False)
        row = cursor.fetchone() if cursor.description else None
        return str(row[0]) if row else ""
    asked = {"host": machine.host, "port": machine.port, "command": "; ".join(commands)}
    success, result = connection.execute(_ASK, asked).fetchone() or (False, "")
    if not success:
        raise _failed(machine, " ".join(str(result).split()).rstrip("."))
    return str(result)


def _failed(machine: CitusMachine, problem: str) -> errors.StoreError:
    return errors.StoreError(
        CodedText("failure.machine_failed", machine=str(machine), problem=problem, command=Command("purge"))
    )


def rewrite(connection: psycopg.Connection[Any], part: TablePart, wait_seconds: float) -> None:
    """Write a table with its indexes anew, waiting so long at most for its lock. Raises StoreError.

    The proof is that the table has another file afterwards."""
    machine, table, key = part
    limit = f"SET LOCAL lock_timeout TO {max(1, round(wait_seconds * 1000))}"
    in_file = f"SELECT CAST(pg_relation_filenode('{table}') AS text)"
    before = told_by(connection, machine, in_file)
    told_by(connection, machine, "BEGIN", limit, f"CLUSTER {table} USING {key}", "COMMIT")
    if told_by(connection, machine, in_file) == before:
        raise _failed(machine, f"{table} was not written anew, perhaps because it is locked")
    told_by(connection, machine, f"ANALYZE {table}")


def table_parts(connection: psycopg.Connection[Any], user: str | None) -> list[TablePart]:
    """The tables of a store; of Citus the shards, or those that hold a user."""
    if is_distributed(connection):
        rows = connection.execute(_SHARDS.encode(), {"user": user}).fetchall()
        # The name of a shard's index is taken in the schema of the shard.
        return [TablePart(CitusMachine(*row[:2]), row[2], row[3].rpartition(".")[2]) for row in rows]
    return [TablePart(HERE, *row) for row in connection.execute(_TABLES.encode()).fetchall()]


def size(connection: psycopg.Connection[Any]) -> int:
    """Bytes of the tables and indexes; 0 where a machine does not answer."""
    text = _SIZE_OF_SHARDS if is_distributed(connection) else _SIZE
    (total,) = connection.execute(text.encode()).fetchone() or (0,)
    return int(total)


def users_that_answer(connection: psycopg.Connection[Any]) -> list[str]:
    """The users who ever wrote, but for those on machines that do not answer."""
    shards: dict[CitusMachine, list[str]] = {}
    for host, port, shard in connection.execute(_SHARDS_OF_LOCKS.encode()).fetchall():
        shards.setdefault(CitusMachine(host, port), []).append(shard)
    users: list[str] = []
    for machine, tables in shards.items():
        with suppress(errors.StoreError):
            users += json.loads(told_by(connection, machine, _users_in(tables)) or "[]")
    return sorted(users)


def _users_in(tables: Iterable[str]) -> str:
    """The question for all users of some shards: one statement, which shows everyone's rows before it reads any."""
    of_shards = " UNION ALL ".join(f"SELECT user_id FROM {table} WHERE shown.is_on = 'on'" for table in tables)
    return (
        "SELECT CAST(coalesce(json_agg(found.user_id), '[]') AS text) "
        "FROM (SELECT set_config('picomem.everyone', 'on', true) AS is_on OFFSET 0) AS shown "
        f"CROSS JOIN LATERAL ({of_shards}) AS found"
    )


def wait_for_readers(
    connection: psycopg.Connection[Any], store: str, parts: Iterable[TablePart], wait_seconds: float
) -> None:
    """Wait until nobody reads from a moment before this one, for rows that somebody still sees would be kept. Raises
    Locked.

    A transaction that is prepared and not ended holds them too, as does a slot of a standby, or of a shard's move.
    """
    deadline = monotonic() + wait_seconds
    for machine in {part.machine for part in parts}:
        now = int(told_by(connection, machine, _NOW))
        while told_by(connection, machine, _who_sees(now)) != "0":
            if monotonic() > deadline:
                raise errors.Locked(CodedText("failure.tables_being_read", place=store, command=Command("purge")))
            sleep(_PAUSE_SECONDS)


def _who_sees(moment: int) -> str:
    """The question who reads from before a transaction of that number."""
    age = f"age(CAST('{moment}' AS xid))"
    return (
        "SELECT CAST((SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        f"AND pid <> pg_backend_pid() AND age(backend_xmin) >= {age}) "
        f"+ (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database() AND age(transaction) >= {age}) "
        f"+ (SELECT count(*) FROM pg_replication_slots WHERE age(xmin) >= {age}) AS text)"
    )


def drop_moved_copies(connection: psycopg.Connection[Any], store: str, wait_seconds: float) -> None:
    """Wait until Citus has dropped the copies of shards that it moved to another machine. Raises Locked.

    The owner of the tables lets it drop them now; otherwise it does so by itself, every ten seconds as a rule."""
    if not is_distributed(connection):
        return
    with suppress(psycopg.Error):
        connection.execute("CALL citus_cleanup_orphaned_resources()")
    deadline = monotonic() + wait_seconds
    while connection.execute(_MOVED_COPIES.encode()).fetchone() != (0,):
        if monotonic() > deadline:
            raise errors.Locked(CodedText("failure.moved_copies_left", place=store, command=Command("purge")))
        sleep(_PAUSE_SECONDS)
