"""The difference of two texts by words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.cost import cost

from picomem.page.word_diff import word_diff

TEXT = st.text(alphabet="ab 备份每\n.", max_size=40)


@given(TEXT, TEXT)
def test_what_stayed_and_went_is_the_old_text_and_what_stayed_and_came_the_new(before: str, after: str) -> None:
    pieces = word_diff(before, after)
    assert "".join(text for kind, text in pieces if kind != "added") == before
    assert "".join(text for kind, text in pieces if kind != "removed") == after


@each_case(
    ("before", "after", "changed"),
    [
        ("Prefers green tea", "Prefers black tea", [("removed", "green"), ("added", "black")]),
        ("It runs on port 5433", "It runs on ports 5433 and 5434", [("removed", "port"), ("added", "ports"), ("added", " and 5434")]),
        ("每天三点备份", "每天四点备份", [("removed", "三"), ("added", "四")]),
        ("the old harbour", "the new quay", [("removed", "old harbour"), ("added", "new quay")]),
        ("", "", []),
    ],
)  # fmt: skip
def test_words_are_compared_and_not_letters(before: str, after: str, changed: list[tuple[str, str]]) -> None:
    assert [piece for piece in word_diff(before, after) if piece[0] != "same"] == changed


def test_long_texts_are_compared_in_no_time() -> None:
    def compare() -> None:
        assert len(word_diff("x" * 100_000, "y" * 100_000)) == 2
        assert word_diff("a b " * 20_000, "b a " * 20_000)[0][0] == "removed"

    assert cost(compare, 1) <= 1
