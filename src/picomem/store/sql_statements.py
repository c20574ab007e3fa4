"""The SQL statements, by name. They stand in `sql/*.sql`, each once:

    -- name: insert_memory
    INSERT INTO memories (…) VALUES (:user, …)

A block that begins `-- part: NAME` is no statement but a piece, put in wherever a statement says `{NAME}`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_BLOCK = re.compile(r"^-- (name|part): (\w+)\n", re.MULTILINE)
_PART = re.compile(r"\{(\w+)\}")


@cache
def statement(name: str) -> str:
    """The statement of that name. Raises KeyError for a name that no file has: a mistake in the program."""
    return _load()[name]


def schema(name: str) -> str:
    """A whole file of `schema/`, for creating or migrating a database."""
    return (_FOLDER / "schema" / f"{name}.sql").read_text("utf-8")


@cache
def _load() -> dict[str, str]:
    named: dict[str, str] = {}
    parts: dict[str, str] = {}
    for path in sorted((_FOLDER / "sql").glob("*.sql")):
        pieces = _BLOCK.split(path.read_text("utf-8"))[1:]
        for what, name, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            known = parts if what == "part" else named
            if name in known:
                raise ValueError(f"{path.name} says {name} a second time")
            known[name] = body.strip().rstrip(";")
    return {name: _PART.sub(lambda m: parts[m.group(1)], body) for name, body in named.items()}
