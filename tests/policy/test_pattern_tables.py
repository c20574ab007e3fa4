"""Tables of shapes mean the same to RE2, which reads a line at once, and to Python's `re`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.policy.pattern_tables import matches, shapes_of

pytest.importorskip("re2")

SENTENCES = Path(__file__).parents[2] / "training" / "data"
TABLES = "boilerplate boot_file code_line task transient chatter question hijack directive".split()
WORDS = sorted({word for table in TABLES for one in shapes_of(table) for word in re.findall(r"[A-Za-z']+", one)})
FLAGS = re.IGNORECASE | re.MULTILINE


def _differing(line: str) -> list[str]:
    return [
        table
        for table in TABLES
        if matches(table, line) != any(re.search(one, line, FLAGS) for one in shapes_of(table))
    ]


def test_both_engines_find_the_same_shapes_in_real_sentences() -> None:
    lines = [line for path in SENTENCES.glob("*.txt") for line in path.read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if line.isascii() and line.isprintable()][::5]
    assert len(lines) > 400
    assert [line for line in lines if _differing(line)] == []


@given(st.lists(st.sampled_from(WORDS) | st.text(st.characters(min_codepoint=32, max_codepoint=126)), max_size=8))
def test_both_engines_find_the_same_shapes_in_made_up_lines(words: list[str]) -> None:
    assert _differing(" ".join(words)) == []
