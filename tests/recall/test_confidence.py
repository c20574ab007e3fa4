from __future__ import annotations

from collections.abc import Collection, Sequence

from picomem.models.static import StaticEmbedder
from picomem.recall import confidence as judging
from picomem.recall.rank import Evidence

IDF = {"ann": 1.0, "paint": 3.0, "harbour": 3.0}


def said(*words: str, own: bool = False, near: float = 0.0) -> Evidence:
    return Evidence(words={word: IDF[word] for word in words}, own=own, near=near)


def confidence(best: Sequence[Evidence], unheard: Collection[str] = (), named: Collection[str] = ()) -> float:
    signs = judging.read_signs(best, IDF, unheard, named)
    assert signs is not None
    return judging.confidence(signs)


def test_nothing_found_is_nothing_known():
    assert judging.read_signs([], IDF, ()) is None


def test_the_more_of_a_question_a_hit_holds_the_surer():
    sure = [confidence([evidence]) for evidence in (said(), said("paint"), said("paint", "harbour", near=0.5))]
    assert 0 < sure[0] < sure[1] < sure[2] < 1


def test_a_word_that_was_never_said_is_doubt():
    assert confidence([said("paint")], {"harbour"}) < confidence([said("paint")])


def test_what_another_said_is_doubt_where_a_speaker_is_named():
    ann, ben = said("harbour", own=True), said("paint", "harbour")
    assert confidence([ben, ann], (), {"ann"}) < confidence([ben, ann])
    assert confidence([said("paint", "harbour", own=True), said("harbour")], (), {"ann"}) > 0.8


def test_nearness_to_a_question_in_a_language_that_the_model_hardly_knows_counts_little(open_engine) -> None:
    engine = open_engine(embedder=StaticEmbedder())
    engine.remember("大象在动物园里吃草", key="elephants")
    engine.remember("The pump is in the shed", key="pump")
    engine.remember("The ferry leaves at noon", key="ferry")
    signs = engine.recall("草吃里园物动在象大").signs  # the same characters, and no word of it
    assert signs is not None
    assert signs.fit <= 0.2
