"""A clean home folder for programs that tests run: no settings, no transcripts, no store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.databases import chosen


@dataclass(frozen=True)
class Ran:
    """What a program printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder; a conftest that imports this fixture has it."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def variables_of(home: Path) -> dict[str, str]:
    """The variables by which a program takes the folder as its user's."""
    variables = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
    if chosen().name != "sqlite":  # which has a file in the data folder
        variables["PICOMEM_DB"] = chosen().named(home / "data" / "picomem" / "picomem.db")
    return variables
