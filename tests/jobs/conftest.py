"""A store with a clock that stands still until a test moves it, and the background work on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conftest import START
from tests.databases import Database

from picomem.clock import Micros
from picomem.jobs import Background, background_of_all
from picomem.operations.background import JobsRequest, JobView
from picomem.operations.table import operation
from picomem.records.caller import Caller
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, RecallSettings

PATIENCE_SECONDS = 60  # a deadline, not a delay


class StillClock:
    def __init__(self) -> None:
        self.now: Micros = START

    def __call__(self) -> Micros:
        return self.now


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def settings() -> Settings:
    """Memory is on, and no model."""
    return Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"),
        memory=MemorySettings(enabled=True),
    )


@pytest.fixture
def runtime(db: Path, clock: StillClock, database: Database, settings: Settings) -> Iterator[Runtime]:
    with Runtime(database.connect(db), settings, clock=clock) as opened:
        yield opened


@contextmanager
def at_work(runtime: Runtime, *, watches: bool = False) -> Iterator[Background]:
    """Do the background work of all users, as a server does."""
    background = background_of_all(runtime, watches=watches, look_seconds=0.01)
    background.start()
    try:
        yield background
    finally:
        background.end(PATIENCE_SECONDS)


def job(runtime: Runtime, name: str, user: str = "local") -> JobView:
    """A job of a user, as the operation shows it."""
    known = {view.name: view for view in operation("jobs").call(runtime.engine(Caller(user)), JobsRequest()).jobs}
    return known[name]


def state(runtime: Runtime, name: str, user: str = "local") -> str:
    """The state of a job; empty where it never ran."""
    views = operation("jobs").call(runtime.engine(Caller(user)), JobsRequest()).jobs
    return next((view.state for view in views if view.name == name), "")
