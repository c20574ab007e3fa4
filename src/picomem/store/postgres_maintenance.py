"""Maintenance of a store on PostgreSQL, as far as it is picomem's: the rest is the administrators'."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from picomem import errors
from picomem.store.postgres_dialect import SCHEMA

if TYPE_CHECKING:
    from picomem.store.postgres import PostgresConnector
    from picomem.store.postgres_transaction import PostgresRepair


class PostgresMaintenance:
    """The database of a connector, as a whole."""

    def __init__(self, connector: PostgresConnector) -> None:
        self._connector = connector

    def place(self) -> str:
        """The database, and the moment at which its server was started."""
        with self._connector.examine() as tx:
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
        """None: the server checks its own pages, and the rows are checked by their hashes."""
        return []

    def words_integrity(self, source: str) -> str:  # noqa: ARG002 - of the protocol
        """None: the rows of full text are compared with those of the memories."""
        return ""

    def examine(self) -> AbstractContextManager[PostgresRepair]:
        return self._connector.examine()

    def repair(self) -> AbstractContextManager[PostgresRepair]:
        return self._connector.repair()

    def give_up_ballast(self) -> bool:
        """Nothing is kept for a full disk."""
        return False

    def leave_no_trace(self, wait_seconds: float) -> None:
        """Write every table and its indexes anew, one after the other; the server locks each meanwhile."""
        self._connector.rewrite_tables(wait_seconds)

    def copies_out_of_reach(self) -> str:
        return (
            "The server's log, its backups and its replicas hold what was purged until they are recycled; picomem sees "
            "none of them, and examined no file of the server."
        )
