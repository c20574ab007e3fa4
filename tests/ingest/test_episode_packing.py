from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.cost import cost

from picomem.errors import InvalidInput
from picomem.ingest.episode_packing import (
    LONGEST_PREVIEW,
    Packer,
    Piece,
    PieceDecision,
    TurnCounts,
    apart,
    cut,
    decide_piece,
    episode_of,
    identity,
)
from picomem.records.episode import Episode
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn

_WORDS = st.text(st.sampled_from("ab \n.。，é日"), min_size=1, max_size=60)
_TEXTS = st.builds(lambda words, times: (words * times).strip() or "x", _WORDS, st.sampled_from([1, 1, 3, 20, 120]))
_SPEAKERS = st.sampled_from([("user", Origin.USER), ("assistant", Origin.AGENT), ("assistant", Origin.AGENT)])
_ACTIONS = st.lists(st.sampled_from(["ran make", "edited a.py", "read b" * 80]), max_size=3)
_OUTCOMES = st.lists(st.sampled_from(["tests passed: 1 passed (mix)", "command failed: x", "E" * 300]), max_size=4)


@st.composite
def _turns(draw: st.DrawFn) -> list[Turn]:
    turns = []
    for number in range(draw(st.integers(0, 14))):
        role, origin = draw(_SPEAKERS)
        turn = Turn(number, role, draw(_TEXTS), None, origin, number * 10, number * 10 + 10)
        told = draw(st.sampled_from(["id", "time", "nothing"]))
        turn = replace(turn, id=f"{number:036}" if told == "id" else "", at=number if told == "time" else None)
        done = draw(_ACTIONS) if role == "assistant" else []
        outcomes = draw(_OUTCOMES) if role == "assistant" else []
        text = turn.text if draw(st.booleans()) or not (done or outcomes) else ""
        branch = draw(st.sampled_from(["main", "main", "main", "other"]))
        turns.append(replace(turn, branch=branch, text=text, actions=tuple(done), outcomes=tuple(outcomes)))
    return turns


def _packed(packer: Packer, turns: list[Turn]) -> dict[str, Piece]:
    return {piece.identity: piece for turn in turns for piece in packer.add(turn)}


@given(turns=_turns(), cuts=st.lists(st.integers(0, 14), max_size=5))
def test_any_cut_of_the_turns_into_steps_gives_the_same_pieces(turns, cuts):
    whole = _packed(Packer("plain", "s"), turns)
    stored, pieces, start = Packer("plain", "s").to_json(), {}, 0
    for end in [*sorted(cuts), len(turns)]:
        packer = Packer.resumed(
            "plain",
            "s",
            json.loads(json.dumps(stored)),
            [(piece.text, piece.actions, piece.outcomes) for piece in pieces.values()],
        )
        pieces |= _packed(packer, turns[start:end])
        stored, start = packer.to_json(), max(start, end)
    assert list(pieces.items()) == list(whole.items())


@given(turns=_turns())
def test_no_piece_is_over_the_bound_and_all_text_is_in_some_piece_in_order(turns):
    pieces = list(_packed(Packer("plain", "s"), turns).values())
    assert all(len(piece.text) <= LONGEST_PREVIEW and piece.meaning for piece in pieces)
    assert {done for turn in turns for done in turn.actions} == {
        done for piece in pieces for done in piece.actions.splitlines()
    }
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(
        "".join(turn.text.split()) for turn in turns
    )
    assert [piece.first_turn for piece in pieces] == sorted(piece.first_turn for piece in pieces)
    for piece in pieces:
        assert (piece.start, piece.end) == (piece.first_turn * 10, piece.last_turn * 10 + 10)


@given(text=st.text(st.sampled_from("ab \n.。é日\u3000"), max_size=300), longest=st.integers(1, 40))
def test_a_cut_text_loses_nothing_but_white_space_at_the_cuts(text, longest):
    parts = list(cut(text.strip(), longest))
    assert all(0 < len(part) <= longest for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_text_is_cut_where_a_paragraph_or_a_sentence_ends():
    paragraph = "One sentence here. Another one there. " * 30
    first, second = cut(f"{paragraph.strip()}\n\n{paragraph.strip()}")
    assert (first, second) == (paragraph.strip(), paragraph.strip())
    assert all(part.endswith(".") for part in cut(paragraph.strip(), 100))


def test_a_turn_of_8_million_characters_is_cut_in_linear_time():
    def cut_words(words: int) -> None:
        turn = Turn(0, "user", "word " * words, 5, Origin.USER, 0, 1)
        assert sum(1 for _ in Packer("h", "s").add(turn)) > words // 300

    enough = 40 * cost(lambda: cut_words(160_000))  # it would be a hundredfold if each part cost the whole
    assert cost(lambda: cut_words(1_600_000), enough) <= enough


def test_what_is_kept_of_the_open_piece_holds_no_word_of_it_and_needs_the_stored_one():
    packer = Packer("plain", "s")
    turn = Turn(0, "assistant", "zebra crossing", 5, Origin.AGENT, 0, 10)
    (piece,) = packer.add(turn)
    stored = packer.to_json()
    assert "zebra" not in json.dumps(stored)
    grown = Packer.resumed(
        "plain", "s", stored, [("other words", "", ""), ("zebra crossing\nand what another copy went on with", "", "")]
    )
    assert grown.open == piece
    assert Packer.resumed("plain", "s", stored, [("zebra crosswalk", "", "")]).open is None
    for broken in ({}, {"open": {"text": [1]}, "said": ""}, {"open": None, "said": "%"}):
        with pytest.raises(InvalidInput):
            Packer.resumed("plain", "s", broken, [("", "", "")])


def test_repeats_are_counted_and_the_count_stays_small():
    said = TurnCounts()
    turn = Turn(0, "user", "yes", None, Origin.USER, 0, 1)
    assert [said.before(turn) for _ in range(3)] == [0, 1, 2]
    for number in range(10_000):
        said.before(replace(turn, text=str(number)))
        said = TurnCounts(said.packed()) if number % 2_000 == 0 else said
        said.before(turn)
    assert said.before(turn) == 10_003
    assert len(said.packed()) < 50_000


def test_a_turns_identity_is_its_own_and_the_same_in_a_copy():
    turn = Turn(0, "user", "hello", 5, Origin.USER, 0, 1, id="0" * 36)
    assert identity("h", "s1", turn) == identity("h", "s2", replace(turn, text="edited"))
    local = replace(turn, id="a1")
    assert identity("h", "s1", local) != identity("h", "s2", local)
    timed = replace(turn, id="")
    assert identity("h", "s1", timed) == identity("h", "s2", timed)
    assert identity("h", "s1", timed) != identity("h", "s1", replace(timed, at=6))
    bare = replace(turn, id="", at=None)
    assert identity("h", "s1", bare) != identity("h", "s2", bare)
    assert identity("h", "s1", bare, 1) != identity("h", "s1", bare, 0)
    assert apart("x", "s1") != apart("x", "s2")


def test_the_parts_of_a_turn_have_identities_of_their_own():
    parts = list(Packer("h", "s").add(Turn(0, "user", "word " * 2_000, 5, Origin.USER, 0, 1)))
    assert len({part.identity for part in parts}) == len(parts) == 7


def _episode(text: str, start: int = 0, origin: Origin = Origin.AGENT) -> Episode:
    piece = Piece(0, 0, 0, start, start + 10, "assistant", origin, "", text, None, None, "i")
    return episode_of(piece, "t", 1, 0)


@each_case(
    ("fresh", "old", "ours", "expected"),
    [
        ("a", None, True, PieceDecision.NEW),
        ("a", "a", True, PieceDecision.KEPT),
        ("a", "a", False, PieceDecision.KEPT),
        ("a\nb", "a", True, PieceDecision.CHANGED),  # it grew
        ("a\nb", "a", False, PieceDecision.CHANGED),  # the copy says more
        ("a", "a\nb", True, PieceDecision.KEPT),  # the file lost its tail
        ("a", "a\nb", False, PieceDecision.KEPT),  # the copy says less
        ("a\nc", "a\nb", True, PieceDecision.CHANGED),  # the file was rewritten
        ("a\nc", "a\nb", False, PieceDecision.APART),  # two copies went on differently
        ("ab", "a", False, PieceDecision.APART),
    ],
)
def test_what_becomes_of_a_piece(fresh, old, ours, expected):
    assert decide_piece(_episode(fresh), _episode(old) if old else None, ours) is expected


def test_a_piece_that_only_moved_changes_and_what_a_person_cut_from_their_words_is_cut():
    assert decide_piece(_episode("a", 5), _episode("a", 0), True) is PieceDecision.CHANGED
    assert decide_piece(_episode("a", 5), _episode("a", 0), False) is PieceDecision.KEPT
    assert decide_piece(_episode("a", 0, Origin.USER), _episode("a\nb", 0, Origin.USER), True) is PieceDecision.CHANGED
