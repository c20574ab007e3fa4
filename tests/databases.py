"""The databases that the tests run on: `pytest --database NAME` chooses one, and a new one joins with an entry.

A test runs on each of them unless it is marked `sqlite_file`, with the reason why it needs SQLite's file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from picomem.store.connector import Connector
from picomem.store.sqlite import SqliteConnector
from tests.sqlite_file import disagreements

MARKER = "sqlite_file"


class Database(NamedTuple):
    """`connect(path)` opens the store of that path, or makes it. `disagreements(path)` tells where full text or vectors
    differ from what the rows would give, a sentence each."""

    name: str
    connect: Callable[[Path], Connector]
    disagreements: Callable[[Path], list[str]]


DATABASES = {database.name: database for database in (Database("sqlite", SqliteConnector, disagreements),)}
DEFAULT = "sqlite"

_chosen = DATABASES[DEFAULT]


def choose(name: str) -> None:
    """Let the tests run on the database of that name."""
    global _chosen
    _chosen = DATABASES[name]


def problem(mark: pytest.Mark) -> str:
    """What is wrong with a mark `sqlite_file`; empty where nothing is."""
    reason = mark.args[0] if len(mark.args) == 1 and not mark.kwargs else None
    return "" if isinstance(reason, str) and reason.strip() else f"{MARKER} takes one argument, the reason"


def chosen() -> Database:
    """What the fixture `database` gives, for what takes no fixtures: a state machine of Hypothesis."""
    return _chosen
