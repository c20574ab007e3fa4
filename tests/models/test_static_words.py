"""What the static model says of single words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from picomem.models.static_embedder import Lexicon
from picomem.text.terms import query_terms

LEXICON = Lexicon()


def test_a_word_that_carries_a_question_says_more_than_one_in_passing() -> None:
    passing = [LEXICON.says(word) for word in ("thing", "actually", "pretty", "someone")]
    carrying = [LEXICON.says(word) for word in ("backup", "invoice", "Gordon", "replication")]
    assert max(passing) < min(carrying)


def test_what_the_model_does_not_know_is_as_good_as_any_other_word() -> None:
    assert LEXICON.says("数据库") == LEXICON.says("") == 1.0


def test_near_words_are_terms_of_the_index_without_the_word_itself() -> None:
    near = dict(LEXICON.near("failures"))
    assert {"fault", "problem"} & near.keys()
    assert not near.keys() & set(query_terms("failures"))
    assert all(query_terms(term) for term in near)


def test_the_nearest_come_first_and_there_are_few() -> None:
    cosines = [cosine for _, cosine in LEXICON.near("database")]
    assert cosines == sorted(cosines, reverse=True)
    assert 0 < len(cosines) <= 10
    assert 0.4 <= min(cosines) <= max(cosines) <= 1.0


@given(st.text(max_size=40))
def test_any_text_may_be_asked_about(word: str) -> None:
    assert 0.1 <= LEXICON.says(word) <= 3.0
    LEXICON.near(word)
