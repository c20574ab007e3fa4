"""How much of a hit's score each part of ranking made, and the origins that a recall is limited to."""

from __future__ import annotations

import pytest

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.operations.table import operation
from picomem.recall.rank import Signals, fuse, parts_of


def recalled(engine: Engine, query: str, **fields):
    verb = operation("recall")
    return verb.call(engine, verb.request(query=query, **fields))


def test_the_parts_of_a_document_make_up_its_score() -> None:
    signals = Signals(
        totals={1: 3.0, 2: 1.0},
        words={1: {"boat": 3.0}, 2: {"boat": 1.0}},
        context={2: 0.5},
        session={1: 2.0},
        meaning={1: 0.2, 2: 0.9},
        own={2},
        in_window={1: 1.0, 2: 0.3},
        event={2: 0.6},
        recent={1: 0.5},
    )
    for reads_sentences in (False, True):
        fusion = fuse([1, 2], signals, {"boat": 4.0}, reads_sentences=reads_sentences)
        for doc, score in fusion.scores.items():
            assert sum(parts_of(doc, fusion, signals).values()) == pytest.approx(score)


def test_a_hit_says_what_made_it_one_and_its_parts_are_its_score(engine: Engine) -> None:
    engine.remember("The ferry leaves the harbour at nine", key="ferry")
    engine.remember("The harbour closes at ten", key="closing")
    hits = recalled(engine, "when does the harbour ferry leave").hits
    assert [hit.key for hit in hits] == ["ferry", "closing"]
    for hit in hits:
        assert "words" in hit.parts
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=0.001)


def test_a_recall_is_limited_to_what_came_from_an_origin(engine: Engine) -> None:
    engine.remember("The ferry leaves the harbour at nine", key="ferry")
    engine.remember("The harbour page says that the ferry is late", key="late", origin="web")
    assert [hit.key for hit in recalled(engine, "harbour ferry").hits] == ["ferry"]
    assert [hit.key for hit in recalled(engine, "harbour ferry", origin=("web",)).hits] == ["late"]
    assert [hit.key for hit in recalled(engine, "harbour ferry", origin=("user",)).hits] == ["ferry"]
    assert recalled(engine, "harbour ferry", origin=("agent",)).hits == []
    with pytest.raises(InvalidInput, match="no origin"):
        recalled(engine, "harbour ferry", origin=("nobody",))
