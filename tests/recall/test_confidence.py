from __future__ import annotations

from picomem.recall.confidence import confidence
from picomem.recall.rank import Evidence

IDF = {"ann": 1.0, "paint": 3.0, "harbour": 3.0}


def said(*words: str, own: bool = False, near: float = 0.0) -> Evidence:
    return Evidence(words={word: IDF[word] for word in words}, own=own, near=near)


def test_nothing_found_is_nothing_known():
    assert confidence([], IDF, ()) == 0


def test_the_more_of_a_question_a_hit_holds_the_surer():
    sure = [confidence([evidence], IDF, ()) for evidence in (said(), said("paint"), said("paint", "harbour", near=0.5))]
    assert 0 < sure[0] < sure[1] < sure[2] < 1


def test_a_word_that_was_never_said_is_doubt():
    assert confidence([said("paint")], IDF, {"harbour"}) < confidence([said("paint")], IDF, ())


def test_what_another_said_is_doubt_where_a_speaker_is_named():
    ann, ben = said("harbour", own=True), said("paint", "harbour")
    assert confidence([ben, ann], IDF, (), {"ann"}) < confidence([ben, ann], IDF, ())
    assert confidence([said("paint", "harbour", own=True), said("harbour")], IDF, (), {"ann"}) > 0.8
