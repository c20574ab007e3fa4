"""Markdown as HTML: what people write, with its marks, and nothing that a stranger wrote as HTML. Issue 41, point 4."""

from __future__ import annotations

import time
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.page.markdown_rendering import markdown, passage_of

TAGS = {"p", "strong", "em", "code", "pre", "ul", "ol", "li", "blockquote", "br", "mark"}


@each_case(
    ("text", "html"),
    [
        ("plain", "<p>plain</p>"),
        ("one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"),
        ("Two ways:\n\n- a `b` c\n- **d**", "<p>Two ways:</p><ul><li>a <code>b</code> c</li><li><strong>d</strong></li></ul>"),
        ("3. x\n4. y", '<ol start="3"><li>x</li><li>y</li></ol>'),
        ("## Head", "<p><strong>Head</strong></p>"),
        ("> said\n> so", "<blockquote>said<br>so</blockquote>"),
        ("```py\na **b**\n```\nafter", '<pre class="code" tabindex="0">a **b**</pre><p>after</p>'),
        ("<b>x</b> & `<i>`", "<p>&lt;b&gt;x&lt;/b&gt; &amp; <code>&lt;i&gt;</code></p>"),
        ("2 * 3 * 4 and snake_case_name", "<p>2 * 3 * 4 and snake_case_name</p>"),
        ("[a](javascript:x)", "<p>[a](javascript:x)</p>"),
    ],
)  # fmt: skip
def test_what_people_write_looks_as_they_meant_it(text: str, html: str) -> None:
    assert markdown(text) == html


@each_case(
    ("text", "marks", "html"),
    [
        ("a **bold** word", [[4, 8]], "<p>a <strong><mark>bold</mark></strong> word</p>"),
        ("a **bold** word", [[0, 8]], "<p><mark>a **bold</mark>** word</p>"),  # they would overlap
        ("- one\n- two", [[2, 11]], "<ul><li><mark>one</mark></li><li><mark>two</mark></li></ul>"),
        ("x", [[0, 9], [-1, 1]], "<p>x</p>"),
    ],
)
def test_marks_stand_where_they_should(text: str, marks: list[list[int]], html: str) -> None:
    assert markdown(text, marks) == html


class Balanced(HTMLParser):
    """Fails where a tag is not one of ours, or is not closed in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= {"class", "tabindex", "start"}
        if tag != "br":
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


PIECES = ["**", "*", "`", "```", "- ", "1. ", "# ", "> ", "<script>", "&", "\n", " ", "word", "\ue000", "\ue001", "词"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80))),
)
def test_whatever_is_written_is_whole_html_of_our_tags(text: str, marks: list[tuple[int, int]]) -> None:
    parser = Balanced()
    parser.feed(markdown(text, marks))
    parser.close()
    assert parser.opened == []


@each_case("text", ["*" * 50_000, "`a" * 25_000, "# " + " " * 50_000, "**a " * 12_000, "\n" * 50_000, "- a\n" * 12_000])
def test_a_long_text_is_read_in_a_time_that_grows_with_its_length(text: str) -> None:
    begun = time.process_time()
    markdown(text)
    assert time.process_time() - begun < 2


def test_the_passage_is_the_line_that_answers_with_a_line_before_and_after() -> None:
    lines = [f"line {number}" for number in range(9)]
    lines[5] = "the queue moved to PostgreSQL"
    text = "\n".join(lines)
    start = text.index("queue")
    passage, marks = passage_of(text, [[start, start + 5]])
    assert passage == "…\nline 4\nthe queue moved to PostgreSQL\nline 6\n…"
    assert [passage[first:last] for first, last in marks] == ["queue"]
    assert passage_of("short\ntext", [[0, 5]]) == ("short\ntext", [[0, 5]])
