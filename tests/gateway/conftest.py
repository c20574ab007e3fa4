"""A server that the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .serving import Served, serving, token


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    """A server on a store in which Ann and Bob have something; each test asks for users of its own where it writes."""
    db: Path = tmp_path_factory.mktemp("served") / "memory.db"
    with serving(db) as running:
        yield running


@pytest.fixture(scope="module")
def anns(served: Served) -> str:
    """A token of Ann's that permits everything that needs no grant."""
    scopes = ("read:session", "read:user", "write:session", "write:user", "purge:user")
    return token(served.db, "--user", "ann", *(part for scope in scopes for part in ("--scope", f"memory:{scope}")))


@pytest.fixture(scope="module")
def bobs(served: Served) -> str:
    return token(served.db, "--user", "bob")
