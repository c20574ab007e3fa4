"""Maintenance of a store on PostgreSQL, as far as it is picomem's: the rest is the administrators'."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from picomem import errors
from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store.postgres_dialect import SCHEMA

if TYPE_CHECKING:
    from picomem.store.postgres import PostgresConnector
    from picomem.store.postgres_transaction import PostgresTransaction

_LOG = (
    "SELECT pg_walfile_name(pg_current_wal_lsn()), "
    "(SELECT ceil(CAST(setting AS float) / 60) FROM pg_settings WHERE name = 'checkpoint_timeout'), "
    "current_setting('archive_mode') <> 'off', EXISTS (SELECT FROM pg_replication_slots) "
    "OR (SELECT setting <> '0' FROM pg_settings WHERE name = 'wal_keep_size'), "
    "(SELECT count(*) FROM pg_stat_replication)"
)


class PostgresMaintenance:
    """The database of a connector, as a whole."""

    def __init__(self, connector: PostgresConnector) -> None:
        self._connector = connector

    def place(self) -> str:
        """The database, and the moment at which its server was started."""
        with self._connector.read() as tx:
            return str(tx.rows_of("SELECT current_database(), CAST(pg_postmaster_start_time() AS text)", {})[0])

    def size(self) -> int:
        """Bytes of the tables and indexes."""
        return self._connector.one_number(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c "
            f"WHERE c.relnamespace = to_regnamespace('{SCHEMA}') AND c.relkind = 'r'"
        )

    def files(self) -> list[Path]:
        """None: the files are the server's."""
        return []

    def copy_to(self, target: Path) -> None:
        """Refuse: a server is backed up by its own tools."""
        raise errors.Unsupported(
            f"picomem does not back up PostgreSQL, so {target.name} was not written; use pg_dump as a superuser, or "
            "the server's own backups."
        )

    def integrity(self) -> list[str]:
        """What is wrong with the role, and with the tables of full text. The server checks its own pages, and the rows
        are checked by their hashes."""
        return [*map(_lacking, self._connector.incomplete_full_text()), *self.left_alone()]

    def left_alone(self) -> list[str]:
        """What is wrong with the role, which is changed by who runs the server."""
        (passes,) = self._connector.one_row(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        )
        if not passes:
            return []
        return [
            "the role passes over row-level security, which keeps the users apart; connect with a role that is no "
            "superuser and has no BYPASSRLS"
        ]

    def words_integrity(self, source: str) -> str:  # noqa: ARG002 - of the protocol
        """Whether the tables are complete; their rows are compared with those of the memories."""
        return "; ".join(map(_lacking, self._connector.incomplete_full_text()))

    def has_damaged_index(self) -> bool:
        return False

    def copy_daily(self, now: Micros, most_bytes: int) -> None:
        """Nothing: the server's administrators check its indexes and make its backups."""

    def newest_copy(self) -> Path | None:
        return None

    def repair(self) -> AbstractContextManager[PostgresTransaction]:
        return self._connector.repair()

    def give_up_ballast(self) -> bool:
        """Nothing is kept for a full disk."""
        return False

    def leave_no_trace(self, wait_seconds: float, scope: Scope | None = None) -> None:
        """Write the partitions of a user, or all tables, and their indexes anew; the server locks each meanwhile."""
        self._connector.rewrite_tables(wait_seconds, None if scope is None else scope.user)

    def copies_out_of_reach(self) -> str:
        """What of the server still holds what was deleted by now, and until when."""
        segment, minutes, is_archived, is_kept, replicas = self._connector.one_row(_LOG)
        others = ["its backups until they are deleted", "the statistics of its planner until they are made anew"]
        if is_archived:
            others.append("the archive of its log until that is deleted")
        if replicas:
            others.append(f"its replicas ({replicas}) until they have recycled their log")
        later = ", and later, because wal_keep_size or a replication slot keeps it" if is_kept else ""
        return (
            f"The server's log holds what was purged in the segments up to {segment}, until the server removes or "
            f"overwrites them; its next two checkpoints free them, at most {minutes:.0f} minutes apart while something "
            f"is written{later}. What was purged may also be in {', in '.join(others)}. picomem examined no file of "
            "the server."
        )


def _lacking(table: str) -> str:
    return f"the table {table} of full text is gone, or lacks a column, its key or a partition"
