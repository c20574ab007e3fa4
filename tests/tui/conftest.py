"""Stores for the terminal interface."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.cli.conftest import home, picomem
from tests.conftest import OpenEngine

from picomem.demo.walkthrough import SAMPLES
from picomem.engine.engine import Engine

__all__ = ["home", "picomem"]


@pytest.fixture
def samples() -> Iterator[Path]:
    """The sample sessions of the demo at a path that is equally long on every machine, so that lines break alike."""
    with TemporaryDirectory(prefix="pm-", dir="/tmp") as folder:
        shutil.copytree(SAMPLES, Path(folder) / "sessions")
        yield Path(folder) / "sessions"


@pytest.fixture
def demo(open_engine: OpenEngine, samples: Path) -> Engine:
    """The sample sessions, read into a store, and a memory that a person stated."""
    engine = open_engine(user="mia")
    engine.ingest([samples])
    engine.remember("The tide table of Kiel is in docs/tides.md", key="tide_table", kind="fact", pinned=True)
    return engine


@pytest.fixture
def stated(engine: Engine) -> Engine:
    """A store with two statements of a person."""
    engine.remember("The tide table of Kiel is in docs/tides.md", key="tide_table", kind="fact", pinned=True)
    engine.remember("Releases go out on Tuesdays", key="release_day")
    return engine


@pytest.fixture
def snapshots() -> Path:
    return Path(__file__).parent / "snapshots"
