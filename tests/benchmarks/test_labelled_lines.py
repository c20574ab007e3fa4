"""The labelled lines are data, and each is one that its benchmark understands."""

from __future__ import annotations

from random import Random

from tests.cases import each_case

from benchmarks import gate_lines, secret_shapes, statement_pairs
from benchmarks.secret_patterns import Shape
from picomem.policy.refusal import Refusal

WHOLE_SETS = {"tuned": gate_lines.TUNED, "held_out": gate_lines.HELD_OUT, "fresh": gate_lines.FRESH}
SETS = WHOLE_SETS | {"offered": gate_lines.OFFERED}  # what agents offer alone: no requests


@each_case("name", SETS)
def test_no_line_stands_twice_in_a_set(name: str) -> None:
    for labelled in SETS[name]:
        texts = [line if isinstance(line, str) else line.text for line in labelled]
        assert len(texts) == len(set(texts))


@each_case("name", WHOLE_SETS)
def test_every_label_is_used(name: str) -> None:
    assert all(WHOLE_SETS[name])


@each_case("name", SETS)
def test_the_fair_reasons_of_junk_are_refusals_of_the_gate(name: str) -> None:
    named = {refusal for line in SETS[name].junk for refusal in line.refusals}
    assert named <= set(map(str, Refusal))


def test_no_line_stands_in_two_sets() -> None:
    texts = [line.text for lines in SETS.values() for line in (*lines.keep, *lines.junk)]
    assert len(texts) == len(set(texts))


@each_case("shape", [*secret_shapes.TUNED, *secret_shapes.HELD_OUT], ids=lambda shape: shape.name.replace(" ", "-"))
def test_a_shape_draws_a_secret_with_no_field_left_and_a_text_around_it(shape: Shape) -> None:
    text, secret = shape.draw(Random(1))
    assert secret
    assert "@@" not in text
    if shape.hide is None:
        assert secret in text


def test_the_words_of_a_statement_and_its_rewordings_differ() -> None:
    for told in statement_pairs.TOLD:
        assert len(set(told)) == 3
    assert [known for known, other in statement_pairs.DIFFERENT if known == other] == []


def test_a_statement_and_what_was_said_of_it_later_differ_and_every_relation_is_there() -> None:
    assert [pair for pair in statement_pairs.TOLD_LATER if pair.old == pair.new] == []
    assert {pair.relation for pair in statement_pairs.TOLD_LATER} == {"supersede", "duplicate", "refine", "independent"}
