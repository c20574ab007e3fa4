"""Issue 40, point 1: a file is read in one sitting."""

from __future__ import annotations

from tests.conftest import SOURCES

_MOST_LINES = 500


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    lengths = {
        str(path.relative_to(SOURCES)): len(path.read_text("utf-8").splitlines()) for path in SOURCES.rglob("*.py")
    }
    assert {path: length for path, length in lengths.items() if length > _MOST_LINES} == {}
