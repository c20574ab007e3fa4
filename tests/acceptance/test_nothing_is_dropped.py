"""Nothing that anybody stated is overwritten or dropped by a guess: each statement is found by its words (X20)."""

from __future__ import annotations

import random
from itertools import product

import pytest
from tests.amounts import amount

from picomem.engine.engine import Engine

_FRAMES = [
    "The {thing} of the {place} is {value}",
    "The {thing} of the {place} is not {value}",
    "We no longer use {value} for the {thing} of the {place}",
    "Always use {value} for the {thing} of the {place}",
    "Never use {value} for the {thing} of the {place}",
    "I like {value} as {thing} of the {place}",
    "I hate {value} as {thing} of the {place}",
    "{place}的{thing}用{value}",
    "{place}的{thing}不用{value}",
    "Wir nehmen {value} als {thing} für {place}",
    "Wir nehmen {value} nicht mehr als {thing} für {place}",
    "Usamos {value} como {thing} de {place}",
]
_THINGS = ["language", "database", "queue", "port", "plan"]
_PLACES = ["harbour", "orchard", "bakery", "museum"]
_VALUES = ["C", "C++", "C#", "F", "F#", "Pro", "Pro+", "A", "A+", "5433", "5434", "-5", "5"]


@pytest.mark.requirement("X20")
def test_every_statement_is_found_by_its_words_whatever_was_said_after_it(engine: Engine) -> None:
    chance = random.Random(20)
    possible = [
        frame.format(thing=thing, place=place, value=value)
        for frame, thing, place, value in product(_FRAMES, _THINGS, _PLACES, _VALUES)
    ]
    statements = chance.sample(possible, amount(60, 2_000))
    for statement in statements:
        assert engine.remember(statement).memory is not None
    assert {memory.content for memory in engine.memories()} == set(statements)
    for statement in chance.sample(statements, min(len(statements), 60)):
        assert statement in [hit.text for hit in engine.recall(statement, limit=50, token_budget=20_000).hits]
