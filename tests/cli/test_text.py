"""Presentations as text for a terminal."""

from __future__ import annotations

from picomem.cli.text.results import render
from picomem.operations.presentation import Entry, Fields, Heading, Presentation, Sentence, Table, Text, Verbatim


def test_every_part_of_a_presentation_has_its_lines() -> None:
    shown = render(
        Presentation(
            "memory.db",
            (
                Fields((("user", "ann"), ("memories", "2"))),
                Table(("state", "finding"), (("repaired", "a vector"), ("problem", "a row"))),
                Heading("tea"),
                Entry("green", (Text("Ann drinks it"), Verbatim("two\nlines")), 1),
                Entry("black", (Text("one two " * 40, 2),), 2),
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
