from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from picomem.ingest import reader
from picomem.ingest.format import LineFormat, State, format_of
from picomem.records.transcript import Turn

Read = Callable[..., tuple[list[Turn], State]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write records (or bytes) to a file, find its format by its content, and read it."""

    def _read(content: list | bytes, name: str = "a.jsonl", expected: str = "") -> tuple[list[Turn], State]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in content)
        path.write_bytes(content)
        form = format_of(path, reader.head(path))
        assert isinstance(form, LineFormat)
        assert form.name == (expected or form.name)
        state = form.start(path)
        return [turn for line in reader.lines(path) for turn in form.feed(state, line)], state

    return _read
