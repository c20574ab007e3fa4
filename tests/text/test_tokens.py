"""Counting tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.text.storable import plain
from picomem.text.tokens import count_tokens, cut_to_tokens, token_ids, tokenizer

words = st.text(alphabet="ab  \n\t.,<>/s[]数据库éñ🙂-_'\"0123456789", max_size=200)


@pytest.mark.requirement("P5")
@given(words | st.text(max_size=300))
def test_counting_word_by_word_gives_what_the_tokenizer_gives_for_the_whole(text: str) -> None:
    assert token_ids(text) == tokenizer().encode(plain(text), add_special_tokens=False).ids


def test_real_prose_and_code_count_the_same_either_way() -> None:
    for path in [*Path(__file__).parents[2].glob("*.md"), Path(__file__), Path(__file__).parents[2] / "Makefile"]:
        text = path.read_text("utf-8")
        assert count_tokens(text) == len(tokenizer().encode(text, add_special_tokens=False).ids)


@given(words, st.integers(0, 60))
def test_a_cut_text_is_a_head_within_the_budget(text: str, budget: int) -> None:
    cut = cut_to_tokens(text, budget)
    assert text.startswith(cut)
    assert count_tokens(cut) <= budget
