"""Stores for the terminal interface."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import OpenEngine

from picomem.demo.walkthrough import SAMPLES
from picomem.engine.engine import Engine


@pytest.fixture
def demo(open_engine: OpenEngine) -> Engine:
    """The sample sessions of the demo, read into a store, and a memory that a person stated."""
    engine = open_engine(user="mia")
    engine.ingest([SAMPLES])
    engine.remember("The tide table of Kiel is in docs/tides.md", key="tide_table", kind="fact", pinned=True)
    return engine


@pytest.fixture
def snapshots() -> Path:
    return Path(__file__).parent / "snapshots"
