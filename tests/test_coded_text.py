"""What picomem says about its own decisions, as it is stored, read and rewritten."""

from __future__ import annotations

from picomem.coded_text import (
    CodedText,
    Command,
    all_of,
    code_of,
    read_stored,
    rewritten,
    stored_form,
    value_of,
    with_commands,
    word_of,
    written_in,
)
from tests.cases import each_case

COUNT = CodedText("counts.count", count=1, what=CodedText("going.memories", count=1))
TEXTS = [
    "so she says",
    "",
    '["reason.is_new",{}]',
    CodedText("reason.is_new"),
    all_of(CodedText("reason.is_new"), CodedText("reason.may_outdate", key="berth"), CodedText("reason.true_earlier")),
    CodedText("reason.changed", fields=(word_of("text"), word_of("tags"))),
    CodedText("reason.erased", counts=(COUNT,)),
    CodedText("reason.consolidation_taken_back", reason=CodedText("reason.moved_to", path='a "b"\nc')),
    CodedText("warning.spelled", name="quay", words=("key", "{words}")),
]


@each_case("text", TEXTS)
def test_a_text_is_read_as_it_was_stored(text: str) -> None:
    read = read_stored(stored_form(text))
    assert (read, code_of(read), stored_form(read)) == (text, code_of(text), stored_form(text))


@each_case(
    "stored", ['["reason.unheard_of",{}]', '["reason.same_key",{}]', '["reason.is_new"', "[1,2]", "[" * 300 + "]" * 300]
)
def test_what_is_no_text_of_ours_is_read_as_it_stands(stored: str) -> None:
    assert read_stored(stored) == stored
    assert code_of(read_stored(stored)) == ""


def test_only_what_others_wrote_is_rewritten() -> None:
    text = all_of(CodedText("reason.is_new"), CodedText("reason.may_outdate", key="new"))
    assert rewritten(text, str.upper) == "it is new; it may outdate “NEW”"
    assert written_in(text) == ["new"]


def test_a_value_is_found_in_the_texts_of_a_text() -> None:
    turn = CodedText("citation.turn", where="codex 019df1e5", turn="3")
    assert value_of(CodedText("citation.dated", citation=turn, day="2026-04-14"), "where") == "codex 019df1e5"
    assert value_of("codex 019df1e5 turn 3", "where") == value_of(turn, "day") == ""


def test_a_command_in_a_text_is_named_as_its_reader_needs_it() -> None:
    text = CodedText("warning.believed_again", key="gate", command=Command("revise", "gate", expires_at="never"))
    assert "; `picomem revise gate --expires-at never` keeps it." in text
    assert with_commands(text, lambda command: command.name).endswith("; revise keeps it.")
