"""The SQL of the store in the words of PostgreSQL: what differs from SQLite, and nothing else. Pure.

Statements and tables stand once, in `sql/` and `schema/`, as SQLite takes them. In a statement these differ:

- `:name`, a value, is `%(name)s`, and a `%` of the statement itself is doubled.
- `json_each(:names)`, a list in one value, is `json_array_elements_text` with the type of its members (LISTS), and
  `IN (SELECT value FROM json_each(:names))` is `= ANY` of an array, which looks each member up in an index.
- `LIKE` is `ILIKE`: SQLite compares ASCII letters without their case, and so does `ILIKE` under the collation "C".
- `CROSS JOIN … ON`, by which SQLite keeps the order of a join, is `JOIN … ON`.
- `:name IS NULL` needs the type of a value that may be NULL: it is taken for a number.

In a table:

- TEXT is compared by its bytes (collation "C"), INTEGER has 64 bits, REAL is a double, BLOB is bytea.
- STRICT and WITHOUT ROWID go. Each table with a `user_id` gets row-level security, and for Citus is divided among
  machines by the hash of it.
- Full text is tables of PostgreSQL's own (`schema/search_postgres.sql`), so FTS5's are left out.

Besides, the values differ: a truth value is a number, and the sum of whole numbers is one (`adapt` in `connector.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

SCHEMA = "picomem"  # the schema of the tables, so that a store can share a database with other programs

# The members of the lists that a statement gets as JSON.
LISTS = {
    "but": 'text COLLATE "C"',
    "docs": "bigint",
    "numbers": "bigint",
    "seqs": "bigint",
    "times": "bigint",
    "digests": 'text COLLATE "C"',
    "ids": 'text COLLATE "C"',
    "identities": 'text COLLATE "C"',
    "transcripts": 'text COLLATE "C"',
    "former_projects": 'text COLLATE "C"',
}
_TYPES = {"TEXT": 'text COLLATE "C"', "INTEGER": "bigint", "REAL": "double precision", "BLOB": "bytea"}

_PIECE = re.compile(
    r"""(?P<comment>--[^\n]*)
      | (?P<text>'(?:[^']|'')*')
      | \bIN\ \(SELECT\ value\ FROM\ json_each\(:(?P<members>\w+)\)\)
      | json_each\(:(?P<list>\w+)\)
      | (?P<like>\bLIKE\b)
      | \bCROSS\ JOIN\ (?P<joined>\w+\ AS\ \w+\ ON)\b
      | :(?P<nullable>\w+)(?=\ IS\ (?:NOT\ )?NULL)
      | :(?P<value>\w+)
      | (?P<percent>%)""",
    re.VERBOSE,
)
_SCHEMA_STATEMENT = re.compile(r"(?:--[^\n]*\n|'(?:[^']|'')*'|[^;'])+;")
_SCHEMA_COMMENT = re.compile(r"--[^\n]*\n")
_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*)\)[^()]*", re.DOTALL)
_TYPE = re.compile(r"\b(TEXT|INTEGER|REAL|BLOB)\b")
_OF_FULL_TEXT = re.compile(r"CREATE VIRTUAL TABLE|INSERT INTO \w+_words ")


@lru_cache(maxsize=1024)
def translated_statement(text: str) -> str:
    """A statement as psycopg takes it, given as SQLite takes it."""
    return _PIECE.sub(_translated, text)


def _translated(piece: re.Match[str]) -> str:
    if piece["comment"]:
        return ""
    if piece["text"]:
        return piece["text"].replace("%", "%%")
    if name := piece["members"]:
        return f"= ANY (ARRAY{_members(name)})"
    if name := piece["list"]:
        return _members(name)
    if piece["like"]:
        return "ILIKE"
    if piece["joined"]:
        return f"JOIN {piece['joined']}"
    if piece["nullable"]:
        return f"%({piece['nullable']})s::bigint"
    return f"%({piece['value']})s" if piece["value"] else "%%"


def _members(name: str) -> str:
    """The members of a list as rows of one column, `value`."""
    return f"(SELECT value::{LISTS[name]} AS value FROM json_array_elements_text(%({name})s::json) AS member(value))"


def translated_schema(text: str, *, for_citus: bool) -> Iterator[str]:
    """The statements that make the tables and indexes of a file of `schema/`, full text left out. `for_citus` lets
    Citus divide the tables among its machines."""
    for match in _SCHEMA_STATEMENT.finditer(text):
        sql = _SCHEMA_COMMENT.sub("", match[0]).strip().removesuffix(";")
        if not sql or _OF_FULL_TEXT.match(sql):
            continue
        table = _TABLE.fullmatch(sql)
        if table is None:
            yield _TYPE.sub(_typed, sql) if sql.startswith("ALTER TABLE") else sql
            continue
        name, columns = table[1], _TYPE.sub(_typed, table[2])
        yield f"CREATE TABLE {name} ({columns})"
        if re.search(r"\buser_id\b", columns):
            yield from _fenced(name, for_citus=for_citus)
        elif for_citus:
            yield f"SELECT create_reference_table('{name}')"


def _typed(kind: re.Match[str]) -> str:
    return _TYPES[kind[0]]


FIRST_TABLE = "user_marks"  # the first one with a user: the shards of the others lie beside its shards


def _fenced(table: str, *, for_citus: bool) -> Iterator[str]:
    """Let nobody see rows but those of the user who is named, or everyone's where that is asked for.

    Citus takes no subquery in a policy, and moves no shard while somebody writes where row-level security is forced on
    the owner: there the owner sees all rows, and the doctor says so.
    """
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    if not for_citus:
        yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield (
        f"CREATE POLICY own_rows ON {table} USING (user_id = current_setting('picomem.user_id', true) "
        "OR current_setting('picomem.everyone', true) = 'on')"
    )
    if for_citus:
        beside = "none" if table == FIRST_TABLE else FIRST_TABLE
        yield f"SELECT create_distributed_table('{table}', 'user_id', colocate_with => '{beside}')"
