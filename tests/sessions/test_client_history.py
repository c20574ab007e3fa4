"""Which stored conversation a client's history continues, as a table of histories."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.engine.client_conversations import Continuation, Conversation, SaidLine, continuation
from picomem.records.session import Role

U, A = Role.USER, Role.ASSISTANT


def conversation(name: str, text: str, *, is_answering: bool = False) -> Conversation:
    """`u1 a1 u2`: a letter for the role, and the whole word as the text."""
    return Conversation(name, tuple(lines(text)), is_answering)


def lines(text: str) -> list[SaidLine]:
    return [SaidLine(U if word[0] == "u" else A, word, seq) for seq, word in enumerate(text.split(), 1)]


@each_case(
    ("history", "asked", "stored", "expected"),
    [
        ("", "u1", [], Continuation()),
        ("", "u1", ["u1 a1"], Continuation()),
        ("", "u1", ["u1"], Continuation("s0", asked=1)),
        ("u1 a1", "u2", ["u1 a1"], Continuation("s0", known=2)),
        ("u1 a1", "u2", ["u1 a1 u2"], Continuation("s0", known=2, asked=3)),
        ("u1 a1", "u2", ["u1 a1 u2 a2"], Continuation("s0", fork_at=2, known=2)),
        ("u1 a1", "u2", ["u1 a1 u3"], Continuation("s0", fork_at=2, known=2)),
        ("u1 a1", "u2", ["u1 a1 u2 a2", "u1 a1"], Continuation("s1", known=2)),
        ("u1 a1 u2 a2", "u3", ["u1 a1 u4 a4"], Continuation("s0", fork_at=2, known=2)),
        ("u1 a9 u2", "u3", ["u1 a1 u2 a2"], Continuation("s0", fork_at=1, known=1)),
        ("u1 a", "u2", ["u1 a1"], Continuation("s0", known=2)),
        ("u1", "u2", ["u1 a1"], Continuation("s0", known=1)),
        ("u1 u2 a2", "u3", ["u1 a1 u2 a2"], Continuation("s0", known=3)),
        ("u2 a2", "u3", ["u1 a1 u2 a2"], Continuation("s0", known=2)),
        ("u2 a2", "u3", ["u1 a1 u2 a2 u3"], Continuation("s0", known=2, asked=5)),
        ("u2 a2", "u3", ["u1 a1 u2 a2 u4 a4"], Continuation()),
        ("u2", "u3", ["u1 a1 u2"], Continuation()),
        ("a1", "u2", ["u1 a1"], Continuation()),
    ],
)
def test_a_history_continues_a_conversation_or_a_fork_of_it(
    history: str, asked: str, stored: list[str], expected: Continuation
) -> None:
    known = [conversation(f"s{place}", text) for place, text in enumerate(stored)]
    assert continuation(lines(history), asked, known) == expected


@each_case(
    ("history", "stored", "expected"),
    [
        ("", "u1 a1", Continuation("s")),
        ("", "", Continuation("s")),
        ("", "u1 a1 u9", Continuation("s", asked=3)),
        ("u1 a1", "u1 a1", Continuation("s", known=2)),
        ("a1", "u1 a1", Continuation("s", known=1)),
        ("u1 a1", "u1 a1 u2 a2", Continuation("s", fork_at=2, known=2)),
        ("u5 a5", "u1 a1", Continuation("s")),
    ],
)
def test_a_named_conversation_goes_on_whatever_history_there_is(
    history: str, stored: str, expected: Continuation
) -> None:
    assert continuation(lines(history), "u9", [conversation("s", stored)], is_named=True) == expected


def test_a_message_that_is_being_answered_is_not_a_request_sent_again() -> None:
    assert continuation([], "u1", [conversation("s", "u1", is_answering=True)]) == Continuation()
    (first, second) = (conversation("s", "u1 a1 u2", is_answering=busy) for busy in (False, True))
    assert continuation(lines("u1 a1"), "u2", [first]).asked == 3
    assert continuation(lines("u1 a1"), "u2", [second]) == Continuation("s", fork_at=2, known=2)


@given(st.lists(st.sampled_from(["u1", "u2", "a1", "a2"]), max_size=8), st.integers(0, 8))
def test_what_is_known_is_never_stored_again(words: list[str], end: int) -> None:
    """With a part of a conversation as its history, each of its messages is known, or the history is of none."""
    whole = " ".join(words)
    place = continuation(lines(" ".join(words[:end])), "u9", [conversation("s", whole)])
    if words[:end]:
        assert place.session == "s"
        assert place.known == len(words[:end])
        assert place.fork_at <= len(words)
