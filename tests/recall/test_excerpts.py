"""A long text opened at a passage."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from picomem.recall.passages import ROOM, excerpt


def test_a_short_text_is_whole_and_marked() -> None:
    shown = excerpt("Ships sail.\nThe port is 5433.", "which port")
    assert (shown.text, shown.earlier_lines, shown.later_lines) == ("Ships sail.\nThe port is 5433.", 0, 0)
    assert [shown.text[start:end] for start, end in shown.marks] == ["port"]


def test_the_words_that_stand_together_win_over_one_of_them_nearer_by() -> None:
    text = "port\n" + "wind and waves\n" * 600 + "the staging port\n" + "wind and waves\n" * 600
    shown = excerpt(text, "staging port")
    assert "the staging port" in shown.text


def test_a_line_that_is_longer_than_the_room_is_cut_around_the_words() -> None:
    shown = excerpt("salt " * 2_000 + "anchor " + "salt " * 2_000, "anchor")
    assert shown.text.startswith("…")
    assert shown.text.endswith("…")
    assert "anchor" in shown.text
    assert (shown.earlier_lines, shown.later_lines) == (1, 1)


@given(st.text("a b\nport锚", max_size=9_000), st.text("port锚 ", max_size=20), st.integers(0, 9_000))
def test_an_excerpt_is_a_part_of_the_text_and_its_marks_lie_in_it(text: str, query: str, place: int) -> None:
    shown = excerpt(text * 3, query, place)
    assert shown.text.strip("…") in text * 3
    assert len(shown.text) <= 3 * ROOM
    assert all(0 <= start < end <= len(shown.text) for start, end in shown.marks)
