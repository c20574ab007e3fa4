"""A row of the requirements that is said to be done has a test that carries its name."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.conftest import ROWS

# The rows of the engine. What a row asks of later parts (the chat, the gateway) is shown when those are there.
DONE = frozenset(
    """A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 O1 O2 O3 O4 O5 O6 O7 O8 O9 O10 O11 O12 O13 O15 O16 O17 O18 O19 O20
    P1 P2 P3 P4 P5 P6 P7 P9 P10 P11 P12 P13 P14 X1 X2 X3 X4 X5 X6 X7 X9 X10""".split()
)
# Rows of which a part is there, and what is missing. A test that names one of them would claim the missing part too.
UNFINISHED = {
    "X8": "recall.min_confidence is 0, so by default recall never says “nothing” for want of confidence",
}


def marks() -> dict[str, set[str]]:
    """The rows that tests name, each with the files that do."""
    files: dict[str, set[str]] = {}
    for path in Path(__file__).parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
                for argument in node.args:
                    files.setdefault(ast.literal_eval(argument), set()).add(path.name)
    return files


def test_every_row_that_is_done_has_a_test() -> None:
    assert DONE <= ROWS
    assert sorted(DONE - marks().keys()) == []


def test_every_row_that_a_test_names_is_one() -> None:
    assert sorted(marks().keys() - ROWS) == []


def test_no_test_names_a_row_that_is_unfinished() -> None:
    assert not DONE & UNFINISHED.keys()
    assert UNFINISHED.keys() <= ROWS
    assert sorted(marks().keys() & UNFINISHED.keys()) == []
