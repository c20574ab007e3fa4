"""The tables of full text on PostgreSQL, which are derived: are they complete, and how are they made anew?"""

from __future__ import annotations

from typing import Any

import psycopg

from picomem.store.postgres_dialect import SCHEMA, translated_schema
from picomem.store.sql_statements import schema

TABLES = ("word_postings", "word_totals")
# A table of ours has its columns, its primary key, and as many partitions as the rows have.
_INCOMPLETE = f"""
SELECT t.name FROM (
    VALUES ('word_postings', ARRAY['doc', 'frequency', 'size', 'source', 'term', 'user_id']),
        ('word_totals', ARRAY['documents', 'source', 'terms', 'user_id'])
) AS t (name, columns)
CROSS JOIN LATERAL (SELECT to_regclass('{SCHEMA}.' || t.name)) AS found (id)
WHERE found.id IS NULL
    OR (SELECT array_agg(CAST(attname AS text) ORDER BY attname COLLATE "C") FROM pg_attribute
        WHERE attrelid = found.id AND attnum > 0 AND NOT attisdropped) IS DISTINCT FROM t.columns
    OR NOT EXISTS (SELECT FROM pg_index WHERE indrelid = found.id AND indisprimary AND indisvalid)
    OR (SELECT count(*) FROM pg_inherits WHERE inhparent = found.id)
        <> (SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('{SCHEMA}.memories'))
"""
_PARTITIONS = f"SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('{SCHEMA}.memories')"


def incomplete(connection: psycopg.Connection[Any]) -> list[str]:
    """The names of the tables of full text that are gone, or lack a column, their key or a partition."""
    return [name for (name,) in connection.execute(_INCOMPLETE.encode()).fetchall()]


def make_anew(connection: psycopg.Connection[Any]) -> None:
    """Make both tables anew, empty. Within a transaction whose search path is the schema."""
    (partitions,) = connection.execute(_PARTITIONS.encode()).fetchone() or (0,)
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {SCHEMA}.{table}".encode())
    for text in translated_schema(schema("search_postgres"), int(partitions)):
        if any(table in text for table in TABLES):
            connection.execute(text.encode())
