"""Presentations as text for a terminal."""

from __future__ import annotations

from picomem.cli.presented_text import BEGIN, END, marked, render, set_off
from picomem.operations.presentation import (
    Fields,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Table,
    Text,
    Verbatim,
    row_counts,
)


def test_every_part_of_a_presentation_has_its_lines() -> None:
    shown = render(
        Presentation(
            "memory.db",
            (
                Fields((("user", "ann"), ("memories", "2"))),
                Table(("state", "finding"), (("repaired", "a vector"), ("problem", "a row"))),
                Heading("tea"),
                PresentedEntry("green", (Text("Ann drinks it"), Verbatim("two\nlines")), 1),
                PresentedEntry("black", (Text("one two " * 40, 2),), 2),
                Sentence("That is all."),
            ),
            ("1 row is damaged.",),
            ("`picomem doctor` says more.",),
        )
    )
    assert shown.splitlines() == [
        "memory.db",
        "user      ann",
        "memories  2",
        "repaired  a vector",
        "problem   a row",
        "",
        "tea",
        "1. green",
        "   Ann drinks it",
        "   two",
        "   lines",
        "",
        "2. black",
        "   one two one two one two one two one two one two one two one two one two one two one",
        "   two one two one two one two one two one two one two one two one two one two one two …",
        "",
        "That is all.",
        "! 1 row is damaged.",
        "`picomem doctor` says more.",
    ]


def test_what_is_empty_has_no_lines() -> None:
    assert render(Presentation()) == ""


def test_of_a_long_text_the_lines_that_hold_what_is_set_off_are_shown() -> None:
    text = f"{'before ' * 120}the answer {'after ' * 120}".strip()
    at = text.index("answer")
    shown = render(Presentation(blocks=(PresentedEntry("hit", (Text(text, 3, ((at, at + 6),)),), 1),)))
    lines = set_off(shown, "<b>", "</b>").splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("   … before")
    assert "<b>answer</b>" in shown.replace(BEGIN, "<b>").replace(END, "</b>")


def test_what_is_set_off_ends_with_its_line_and_private_characters_of_a_text_are_none_of_ours() -> None:
    assert set_off(marked("钥匙在保险箱", ((0, 2),)), "<", ">") == "<钥匙>在保险箱"
    assert set_off(f"a{BEGIN}b\nc{END}d", "<", ">") == "a<b>\n<c>d"
    assert marked(f"a{BEGIN}b", ((0, 1),)) == f"{BEGIN}a{END}b"


def test_at_a_terminal_every_line_fits_its_width_and_goes_on_below_its_own_beginning() -> None:
    long = "one two three four five six seven eight nine ten eleven twelve thirteen"
    shown = render(
        Presentation(
            "memory.db",
            (
                Heading(f"── {long}", f"files: {long}"),
                PresentedEntry(f"01a2  {long}", (Verbatim(f"def f():\n    return {long}\n\nend"),)),
                Table(("state", "finding"), (("problem", long),)),
                Fields((("user", "ann"), ("memories", long))),
                Sentence(f"Healthy:  {long}"),
            ),
        ),
        40,
    )
    assert all(len(line) <= 40 for line in shown.splitlines()), shown
    assert " ".join(shown.split()).count(long) == 7
    assert shown.splitlines() == [
        "memory.db",
        "── one two three four five six seven",
        "   eight nine ten eleven twelve thirteen",
        "   files: one two three four five six",
        "   seven eight nine ten eleven twelve",
        "   thirteen",
        "01a2  one two three four five six seven",
        "   eight nine ten eleven twelve thirteen",
        "   def f():",
        "       return one two three four five",
        "       six seven eight nine ten eleven",
        "       twelve thirteen",
        "",
        "   end",
        "problem  one two three four five six",
        "         seven eight nine ten eleven",
        "         twelve thirteen",
        "user      ann",
        "memories  one two three four five six",
        "          seven eight nine ten eleven",
        "          twelve thirteen",
        "Healthy:  one two three four five six",
        "seven eight nine ten eleven twelve",
        "thirteen",
    ]


def test_what_a_file_or_a_pipe_gets_keeps_its_lines() -> None:
    line = "a line of a page   with its blanks " * 9
    assert render(Presentation(blocks=(Verbatim(line), Sentence(line)))) == f"{line}\n{line}"


def test_a_path_stays_whole_and_chinese_is_folded_within_words() -> None:
    path = "/home/mia/" + "harbor/" * 12 + "memory.db"
    assert render(Presentation(blocks=(Sentence(path),)), 40) == path
    narrow = render(Presentation(blocks=(Table(("a", "b"), (("钥" * 30, "匙" * 30),)),)), 1)
    assert narrow.replace("\n", "").replace(" ", "") == "钥" * 30 + "匙" * 30
    assert render(Presentation(blocks=(Sentence("钥匙在保险箱" * 3),)), 20).splitlines() == [
        "钥匙在保险箱钥匙在保",
        "险箱钥匙在保险箱",
    ]


def test_one_row_is_named_in_the_singular() -> None:
    one_of_most = {"memories": 1, "summaries": 1, "sessions": 1, "messages": 2_000, "notes": 0}
    said = "1 version of a memory, 1 summary, 1 session, 2,000 messages, 0 notes"
    assert row_counts(one_of_most) == said
    assert row_counts({"memories": 2}) == "2 versions of memories"
