"""Names are unique, so that a reader who meets one knows what is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import picomem

SOURCES = Path(picomem.__file__).parent
PRESENTATIONS = "operations/presentations"  # each is named like the module whose results it presents


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCES)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_two_modules_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES.rglob("*.py"):
        folder = path.relative_to(SOURCES).parent.as_posix()
        if path.stem not in ("__init__", "__main__") and folder != PRESENTATIONS:
            places[path.stem].append(folder)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
