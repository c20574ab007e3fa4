"""The signals of a sentence, from which a classifier decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.policy.sentence_signals import LinearCues, PlainCues

pytest.importorskip("re2")

SENTENCES = Path(__file__).parents[2] / "training" / "data"
PLAIN, LINEAR = PlainCues(), LinearCues()
WORDS = (
    "please always never from now on we decided I'm my our line 3 it says \"quoted\" 'so it is' `code` a/b.py a_b aB "
    "error: Monday 10:30 1,2 don't ... !? because -- prefer mother bug you X"
).split()


def test_both_engines_find_the_same_cues_in_real_sentences() -> None:
    lines = [line for path in SENTENCES.glob("*.txt") for line in path.read_text(encoding="utf-8").splitlines()]
    sentences = [" ".join(line.split()) for line in lines if line.isascii()]
    assert len(sentences) > 2_000
    assert [sentence for sentence in sentences if LINEAR(sentence) != PLAIN(sentence)] == []


@given(st.lists(st.sampled_from(WORDS) | st.text(st.characters(min_codepoint=33, max_codepoint=126)), max_size=12))
def test_both_engines_find_the_same_cues_in_any_ascii(words: list[str]) -> None:
    text = " ".join(words)
    assert LINEAR(text) == PLAIN(text)
