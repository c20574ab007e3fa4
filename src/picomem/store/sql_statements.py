"""The SQL statements, by name. `sql/*.sql` holds each statement once; statements of full text once for each database:

    -- name: insert_memory
    INSERT INTO memories (…) VALUES (:user, …)

A block that begins `-- part: NAME` is a fragment, inserted wherever a statement or another fragment says `{NAME}`. A
block that begins `-- everyone: NAME` is a statement over the rows of all users; every other statement takes a user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

DATABASES = ("sqlite", "postgres")  # a file whose name ends in _sqlite or _postgres is of that database alone

_FOLDER = Path(__file__).parent
_BLOCK = re.compile(r"^-- (name|everyone|part): (\w+)\n", re.MULTILINE)
_PART = re.compile(r"\{(\w+)\}")


@cache
def statement(name: str, database: str = "sqlite") -> str:
    """The statement of that name. Raises KeyError for a name that no file has: a mistake in the program."""
    return load(database)[name]


@cache
def is_of_everyone(name: str) -> bool:
    """Return whether the statement of that name sees the rows of all users."""
    return name in _everyones()


@cache
def _everyones() -> frozenset[str]:
    blocks = (match for path in (_FOLDER / "sql").glob("*.sql") for match in _BLOCK.findall(path.read_text("utf-8")))
    return frozenset(name for kind, name in blocks if kind == "everyone")


def schema(name: str) -> str:
    """A whole file of `schema/`, for making the tables or a step to a later version."""
    return (_FOLDER / "schema" / f"{name}.sql").read_text("utf-8")


@cache
def load(database: str = "sqlite") -> dict[str, str]:
    """Every statement of a database, by name: those that all have, and its own."""
    named: dict[str, str] = {}
    parts: dict[str, str] = {}
    for path in _files(database):
        pieces = _BLOCK.split(path.read_text("utf-8"))[1:]
        for what, name, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            known = parts if what == "part" else named
            if name in known:
                raise ValueError(f"{path.name} says {name} a second time")
            known[name] = body.strip().rstrip(";")
    return {name: _whole(body, parts) for name, body in named.items()}


def _whole(body: str, parts: Mapping[str, str]) -> str:
    """A statement with its pieces."""
    return _PART.sub(lambda match: _whole(parts[match.group(1)], parts), body)


def _files(database: str) -> list[Path]:
    others = tuple(f"_{other}" for other in DATABASES if other != database)
    return sorted(path for path in (_FOLDER / "sql").glob("*.sql") if not path.stem.endswith(others))
