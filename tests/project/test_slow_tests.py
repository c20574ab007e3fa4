"""The list of the tests that `make test` leaves to CI."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.slow_tests import listed, slow

ROOT = Path(__file__).parents[2]


def test_every_listed_test_exists() -> None:
    names_by_file: dict[str, set[str]] = {}
    for test in listed():
        file, name, *_ = test.split("::")
        names_by_file.setdefault(file, set()).add(name)
    unknown = {file: names - _names_in(ROOT / file) for file, names in names_by_file.items()}
    assert not any(unknown.values()), unknown


def _names_in(path: Path) -> set[str]:
    """The functions and classes of a file, and what it assigns: a test case of Hypothesis is assigned."""
    tree = ast.parse(path.read_text("utf-8"))
    defined = {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    return defined | {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def test_a_test_is_slow_whose_phases_together_take_long() -> None:
    printed = [
        "1.00s call     tests/a/test_b.py::test_c[one, two]",
        "0.60s setup    tests/a/test_b.py::test_c[one, two]",
        "1.40s call     tests/a/test_b.py::test_quick",
        "12 passed in 3.00s",
    ]
    assert slow(printed) == ["tests/a/test_b.py::test_c"]


def test_the_slow_ones_are_left_out_only_when_asked() -> None:
    file = "tests/store/test_kill.py"
    collect = [sys.executable, "-m", "pytest", "--collect-only", file]
    whole = subprocess.run(collect, cwd=ROOT, capture_output=True, text=True, timeout=120)
    quick = subprocess.run([*collect, "--without-slow"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    name = f"{file}::test_a_killed_writer_loses_nothing_that_it_acknowledged"
    assert name in listed()
    assert name in whole.stdout
    assert name not in quick.stdout
