"""What the tests themselves keep to, besides what the linter looks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
WAITING = "tests.waiting.wait_until"


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(TESTS.rglob("*.py")):
        yield str(path.relative_to(TESTS)), ast.parse(path.read_text("utf-8"))


def test_no_test_sleeps() -> None:
    """A sleep is too short on a busy machine and too long on every other: wait for what is to happen."""
    sleeping = [
        f"{name}:{node.lineno}: wait on an event, or with {WAITING}"
        for name, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "sleep" in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))
    ]
    assert sleeping == []


def test_what_lies_behind_an_engine_is_reached_in_one_place() -> None:
    reaching = {
        name
        for name, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "_context"
    }
    assert reaching == {"engine_parts.py"}
