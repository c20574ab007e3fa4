"""A tool's result in the room that there is for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.sessions.talks import TEXTS

from picomem.sessions.context_window import cut_result
from picomem.text.tokens import count_tokens


@given(TEXTS, st.integers(0, 400))
def test_what_was_cut_once_is_not_cut_again(text: str, most: int) -> None:
    cut = cut_result(text, most)
    assert cut_result(cut, most) == cut
    assert count_tokens(cut) <= max(most, min(count_tokens(text), 60))  # 60: the mark by itself
