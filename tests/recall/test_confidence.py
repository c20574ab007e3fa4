from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import cycle
from pathlib import Path

import pytest
from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.models.static_embedder import StaticEmbedder
from picomem.recall import confidence as judging
from picomem.recall.confidence import JudgedHit
from picomem.recall.lexical_search import idf, relative_rarity
from picomem.store.search import EpisodePlace

WORTH = {"ann": 1.0, "paint": 3.0, "harbour": 3.0}
QUESTION = "What did Ann paint at the harbour?"


def said(*words: str, own: bool = False, near: float = 0.0, statement: str = "") -> JudgedHit:
    return JudgedHit(held=dict.fromkeys(words, 1.0), own=own, near=near, statement=statement)


def confidence(best: Sequence[JudgedHit], named: Collection[str] = (), question: str = QUESTION) -> float:
    signs = judging.read_signs(question, best, WORTH, named)
    assert signs is not None
    return judging.confidence(signs)


def test_nothing_found_is_nothing_known():
    assert judging.read_signs(QUESTION, [], WORTH) is None


def test_the_more_of_a_question_a_hit_holds_the_surer():
    sure = [confidence([candidate]) for candidate in (said(), said("paint"), said("paint", "harbour", near=0.5))]
    assert 0 < sure[0] < sure[1] < sure[2] < 1


def test_another_word_in_the_place_of_one_counts_for_less_than_the_word():
    nearly = JudgedHit(held={"paint": 0.5})
    assert confidence([said()]) < confidence([nearly]) < confidence([said("paint")])


def test_a_term_of_the_talk_around_a_hit_counts_for_less_than_one_of_its_own():
    beside, session = JudgedHit(held={}, surrounding={"paint": 0.3}), JudgedHit(held={}, surrounding={"paint": 0.2})
    sure = [confidence([hit]) for hit in (said(), session, beside, said("paint"))]
    assert sure == sorted(set(sure))


def test_the_hit_that_fits_best_is_sought_among_the_first_five():
    fitting = said("paint", "harbour")
    assert confidence([said()] * 4 + [fitting]) == confidence([fitting])
    assert confidence([said()] * 5 + [fitting]) == confidence([said()])


def test_the_terms_around_a_turn_are_those_of_the_turns_beside_it_and_of_its_session() -> None:
    def place(transcript: str, turn: int, doc: int) -> EpisodePlace:
        return EpisodePlace(transcript, turn, 0, turn, doc, 20, "user", None)

    places = [place("a", 3, 13), place("a", 1, 11), place("b", 1, 21), place("a", 2, 12), place("a", 9, 19)]
    terms = {11: {"epic"}, 12: {"test"}, 13: {"migration"}, 19: {"badge", "epic"}, 21: {"port"}}
    beside, session = judging.surrounding_terms({12}, places, terms)[12]["epic"], 0.2
    assert judging.surrounding_terms({12, 21}, places, terms) == {
        12: {"epic": beside, "migration": beside, "badge": session, "test": session},
        21: {"port": session},
    }
    assert beside > session


def test_what_another_said_is_doubt_where_a_speaker_is_named():
    ann, ben = said("harbour", own=True), said("paint", "harbour")
    assert confidence([ben, ann], {"ann"}) < confidence([ben, ann])
    assert confidence([said("paint", "harbour", own=True), said("harbour")], {"ann"}) > 0.8


def test_a_statement_that_is_known_word_for_word_is_known(engine: Engine):
    """Issue 37, 3.15."""
    said = "The anchor winch was made by Dolphin Ltd in 1987"
    engine.remember(said)
    answer = engine.recall(said)
    assert answer.confidence > 0.5 and not answer.warnings


def test_a_text_that_asks_nothing_is_not_answered_whatever_it_shares_with_a_hit():
    fitting = [said("ann", "paint", "harbour")]
    assert confidence(fitting, question="Paint the harbour for Ann.") < 0.2 < confidence(fitting)


def test_a_phrase_that_names_what_is_sought_is_answered_by_what_fits():
    fitting = [said("ann", "paint", "harbour")]
    assert confidence(fitting, question="the harbour that Ann painted") > 0.5
    assert confidence([said()], question="the harbour that Ann painted") < 0.3


def test_a_memory_without_the_kind_of_thing_that_is_asked_for_is_doubt():
    painted = said("ann", "paint", "harbour", statement="Ann painted the harbour in oil.")
    assert confidence([painted], question="How much did Ann's harbour cost?") < confidence([painted])


@each_case("documents", [1, 3, 10, 1_000])
def test_a_word_of_one_memory_weighs_about_as_much_in_a_store_of_any_size(documents):
    assert 0.65 <= relative_rarity(documents, 1) <= 0.95


def test_a_word_of_every_document_weighs_little_where_there_are_many():
    assert idf(1, 1) / idf(1, 0) < 0.3  # which is why a single memory was never enough
    assert relative_rarity(1_000, 1_000) < 0.1 * relative_rarity(1, 1)


def write_talk(path: Path, *turns: str) -> Path:
    roles = cycle(("user", "assistant"))
    lines = [
        {"role": role, "content": text, "timestamp": f"2026-03-02T10:{minute:02}:00Z"}
        for minute, (role, text) in enumerate(zip(roles, turns, strict=False))
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_an_answer_is_surer_where_the_talk_around_it_named_the_subject(open_engine, tmp_path: Path) -> None:
    filler = ("Thanks, that was everything for the ferry timetable.", "Good, then the timetable stays as it is.")
    answer = ("And the result?", "All 87 tests are through, none failed.")
    sure = []
    for name, subject in (("annotated", "Now run the annotation epic."), ("other", "Now run the thing in the shed.")):
        engine = open_engine(tmp_path / f"{name}.db", embedder=StaticEmbedder())
        engine.ingest([write_talk(tmp_path / f"{name}.jsonl", *filler, subject, "Running it.", *answer)])
        sure.append(engine.recall("how many tests were there when the annotation epic was through?").confidence)
    assert sure[0] > sure[1] + 0.1


STORED = "Billing keeps its data in PostgreSQL 16, not in MongoDB: we need transactions."
OTHERS = (
    "The office plants are watered on Mondays.",
    "Marta prefers tea to coffee.",
    "The newsletter goes out in the first week of each quarter.",
    "Lunch is delivered by the bakery on the corner.",
    "The parking garage closes at eleven.",
    "Our band rehearses in the cellar.",
    "The cat is called Biscuit.",
    "Flights to Oslo are booked through the travel desk.",
    "The projector in room four needs a new lamp.",
)


@pytest.mark.parametrize("others", [0, 2, 9])
def test_a_question_is_answered_as_surely_by_the_only_memory_as_by_one_of_many(open_engine, others: int) -> None:
    engine = open_engine(embedder=StaticEmbedder())
    for text in (STORED, *OTHERS[:others]):
        engine.remember(text)
    asked = {
        text: engine.recall(text).confidence
        for text in (
            "which data store does billing use, PostgreSQL or MongoDB?",
            "how many people work in billing?",
            "Add a PostgreSQL data migration to billing.",
            "continue",
            "psycopg.OperationalError: billing=> connection to PostgreSQL (data) refused;",
        )
    }
    answered, left_open, *prompts = asked.values()
    assert answered > 0.6
    assert left_open < answered - 0.15
    assert max(prompts) < 0.3


def test_nearness_to_a_question_in_a_language_that_the_model_hardly_knows_counts_little(open_engine) -> None:
    engine = open_engine(embedder=StaticEmbedder())
    engine.remember("大象在动物园里吃草", key="elephants")
    engine.remember("The pump is in the shed", key="pump")
    engine.remember("The ferry leaves at noon", key="ferry")
    signs = engine.recall("草吃里园物动在象大").signs  # the same characters, and no word of it
    assert signs is not None
    assert signs.fit <= 0.2


def test_the_words_of_a_chinese_question_count_and_what_stands_between_them_hardly_does(open_engine) -> None:
    engine = open_engine(embedder=StaticEmbedder())
    engine.remember("计费服务的数据库是 PostgreSQL。")
    signs = engine.recall("计费服务用的是什么数据库？").signs
    assert signs is not None
    assert signs.fit > 0.7
