"""Reads the JSON lines of `benchmarks/data`, which its README describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"


def read_rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file, named by its path below `data` without the suffix."""
    with (_DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
