"""Markdown is cut at its headings, and every line of it is in one section."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.notes.sections import LONGEST, sections, text_of


def _cut(text: str) -> list[tuple[str, int, int]]:
    return [(section.heading, section.first_line, section.last_line) for section in sections(text)]


@pytest.mark.requirement("O11")
def test_a_section_begins_at_a_heading_and_knows_those_above_it():
    text = "before\n\n# One\na\n\n## Two ##\nb\n### Three\nc\n## Four\nd\n# Five\ne\n"
    assert _cut(text) == [
        ("", 1, 1),
        ("One", 3, 4),
        ("One › Two", 6, 7),
        ("One › Two › Three", 8, 9),
        ("One › Four", 10, 11),
        ("Five", 12, 13),
    ]


def test_a_heading_with_only_deeper_ones_under_it_is_no_section_and_one_with_nothing_is():
    assert _cut("# One\n\n## Two\ntext\n## Three\n## Four\n") == [
        ("One › Two", 3, 4),
        ("One › Three", 5, 5),
        ("One › Four", 6, 6),
    ]


def test_what_stands_in_fenced_code_is_no_heading():
    text = "# One\n```sh\n# a comment\n~~~\n```\n~~~\n# still code\n~~~\n# Two\nx\n    # indented code\n#hashtag\n"
    assert _cut(text) == [("One", 1, 8), ("Two", 9, 12)]


def test_a_long_section_is_cut_between_paragraphs_then_lines_then_anywhere():
    paragraph = "word " * 100 + "\n"
    cut = sections("# Long\n\n" + "\n".join([paragraph] * 8))
    assert len(cut) > 1
    assert all(len(section.text) <= LONGEST and section.heading == "Long" for section in cut)
    assert all(section.text.startswith(("# Long", "word")) and section.text.endswith("word") for section in cut)
    assert [len(section.text) for section in sections("x" * (2 * LONGEST + 7))] == [LONGEST, LONGEST, 7]


@given(
    st.lists(
        st.sampled_from(["# A", "## B", "text", "", "```", "~~~ x", "- item", "y" * 900, "# ", "z" * 4_000]),
        max_size=40,
    )
)
def test_every_line_that_says_something_is_in_one_section_where_it_stands(lines):
    cut = sections("\n".join(lines))
    last = 0
    for section in cut:
        assert 0 < len(section.text) <= LONGEST
        assert section.first_line >= last
        last = section.last_line
        held = [line.strip() for line in lines[section.first_line - 1 : section.last_line]]
        assert all(part in whole for part, whole in zip(map(str.strip, section.text.split("\n")), held, strict=True))
    covered = {line for section in cut for line in range(section.first_line, section.last_line + 1)}
    for number, line in enumerate(lines, 1):
        assert number in covered or not line.strip() or re.fullmatch(r"#+ ?\w?", line)


def test_text_is_read_as_it_may_be_stored_with_its_lines_kept():
    assert text_of(b"\xef\xbb\xbf# A\r\nb\rc\x1b[31md\xff\n") == "# A\nb\ncd\ufffd\n"
    assert text_of(b"a\0b") is None
