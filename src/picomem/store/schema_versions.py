"""The versions of the schema, for both databases: the files of version 1, and the steps that lead to later versions.

A released version is never changed: a change of the schema is a new step at the end of `STEPS`, which a fresh store
takes as well. RELEASING.md says how to add one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from picomem import errors
from picomem.coded_text import CodedText, Command
from picomem.store.connector import Row
from picomem.store.row_hash import COLUMNS, KEYS, row_hash

# Files of schema/; a table stands behind those to which its foreign keys lead.
FIRST_FILES = ("store", "memories", "transcripts", "sessions", "channels", "notes", "vectors")


class AddedColumns(NamedTuple):
    """Columns that a step adds to a table. They are the last ones of its hash, so the rows are hashed anew."""

    table: str
    columns: tuple[str, ...]

    def select(self) -> str:
        """The statement that reads the rows as `new_hashes` takes them."""
        return f"SELECT {', '.join(self._hashed())}, row_hash FROM {self.table}"

    def update(self) -> str:
        """The statement that stores what `new_hashes` gives."""
        key = " AND ".join(f"{name} = :{name}" for name in KEYS[self.table])
        return f"UPDATE {self.table} SET row_hash = :row_hash WHERE {key}"

    def new_hashes(self, rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
        """The key and the new hash of each row that matches its old hash: a damaged row stays damaged."""
        names = self._hashed()
        for *values, stored in rows:
            if stored == row_hash(self.table, values[: -len(self.columns)]):
                row = dict(zip(names, values, strict=True))
                yield {name: row[name] for name in KEYS[self.table]} | {"row_hash": row_hash(self.table, values)}

    def _hashed(self) -> tuple[str, ...]:
        """The columns of the hash after this step; a later step adds the others."""
        names = COLUMNS[self.table]
        return names[: names.index(self.columns[-1]) + 1]


class Step(NamedTuple):
    """A step from one version to the next: a file of `schema/`, and the rows that are then hashed anew."""

    file: str
    added: tuple[AddedColumns, ...] = ()


STEPS: tuple[Step, ...] = ()


def latest_version() -> int:
    """The version that this program makes and reads."""
    return 1 + len(STEPS)


def steps_after(version: int) -> tuple[Step, ...]:
    """The steps that a store of a version lacks."""
    return STEPS[version - 1 :]


def refuse_newer(store: str, version: int) -> None:
    """Raise NewerSchema for a version that this program does not know."""
    if version > latest_version():
        raise errors.NewerSchema(
            f"{store} was written by a newer picomem (schema {version}, this one knows {latest_version()}); upgrade "
            "picomem to open it."
        )


def unreleased_layout(store: str) -> errors.StoreError:
    """The refusal of a store from before the first release, whose tables no step knows."""
    return errors.StoreError(
        CodedText("failure.old_schema", place=str(store), take_out=Command("export"), take_in=Command("import"))
    )
