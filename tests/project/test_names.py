"""Names of classes are unique, and those of variables say something, so that a reader knows what is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import picomem

SOURCES = Path(picomem.__file__).parent
REPOSITORY = Path(__file__).parents[2]
VAGUE = {"each", "found"}  # they fit any value, so they tell the reader nothing
CHECKED = ("benchmarks", "training", "src", "tests")


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCES)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_a_local_variable_says_what_it_holds() -> None:
    paths = {path for folder in CHECKED for path in (REPOSITORY / folder).rglob("*.py")}
    assert len(paths) > 300
    places = [
        f"{path.relative_to(REPOSITORY)}:{line}: {name}"
        for path in sorted(paths)
        for name, line in _locals(ast.parse(path.read_text("utf-8")))
        if name in VAGUE
    ]
    assert places == []


def _locals(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every name that a module or a function binds, and every parameter; the fields of a class are no locals."""
    fields = {
        node.target
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.id, node.lineno
