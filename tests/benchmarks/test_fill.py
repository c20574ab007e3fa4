from __future__ import annotations

from contextlib import closing

import pytest

from benchmarks.fill import ASKER, Filled, Model, fill
from picomem.app import open_engine
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.scope import Scope
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.tables import vector_rows
from question_sets.fts5_baseline import STOP_WORDS, Fts5

MODEL = Model(name=StaticEmbedder.name, dimensions=StaticEmbedder.dimensions)


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Filled:
    return fill(tmp_path_factory.mktemp("filled"), 45, 3, 10, MODEL)


def test_a_store_holds_what_was_asked_for(filled):
    assert (filled.own, filled.users, filled.episodes) == (45, 3, 135)
    with open_engine(filled.store, user="user-1", embedder="none") as engine:
        assert engine.status().episodes == 45
        assert engine.doctor().healthy


@pytest.mark.sqlite_file("reads the rows in the file")
def test_every_episode_has_a_unit_vector(filled):
    with closing(SqliteConnector(filled.store)) as connector, connector.read() as tx:
        space = vector_rows.space(tx, Scope(ASKER), "episode", MODEL.name)
        page = vector_rows.after(tx, Scope(ASKER), space.number, 0, 1_000)
    assert len(set(page.docs)) == 45
    for scale, vector in zip(page.scales, page.vectors, strict=True):
        assert len(vector) == 256
        assert sum((scale * (byte - 256 if byte > 127 else byte)) ** 2 for byte in vector) == pytest.approx(1, abs=0.01)


def test_the_plain_table_holds_the_same_texts(filled):
    """A question's words are found by both, and the plain table keeps to its user as well."""
    with (
        open_engine(filled.store, user=ASKER, embedder="none") as engine,
        closing(Fts5(filled.plain, shared=True)) as plain,
    ):
        for question in filled.questions:
            hits = engine.recall(question, limit=1000, token_budget=100_000).hits
            numbers = plain.best(question, 1000, ASKER)
            assert numbers
            assert len({hit.id for hit in hits if hit.why}) >= 1
            assert set(numbers) <= set(range(135))
        assert set(plain.best(filled.questions[0], 1000, "user-1")).isdisjoint(
            plain.best(filled.questions[0], 1000, ASKER)
        )
        assert plain.best(filled.questions[0], 1000, "nobody") == []


def test_questions_are_of_the_askers_own_words(filled):
    with open_engine(filled.store, user=ASKER, embedder="none") as engine:
        for question in filled.questions:
            words = [word for word in question.rstrip("?").split() if word not in STOP_WORDS | {"say"}]
            best = engine.recall(question, limit=50, token_budget=100_000).hits
            assert any(all(word in hit.text for word in words) for hit in best)


def test_filling_again_gives_the_same(filled, tmp_path):
    again = fill(tmp_path, 45, 3, 10, MODEL)
    assert again.questions == filled.questions
    with open_engine(again.store, user=ASKER) as one, open_engine(filled.store, user=ASKER) as other:
        answers = [
            [[(hit.text, hit.score) for hit in engine.recall(question).hits] for question in again.questions]
            for engine in (one, other)
        ]
    assert answers[0] == answers[1]


def test_a_store_of_one_user_can_be_smaller_than_its_questions_are_many(tmp_path):
    filled = fill(tmp_path, 2, 1, 7, MODEL)
    assert len(filled.questions) == 7


def test_progress_is_told(tmp_path):
    told: list[str] = []
    fill(tmp_path, 2, 2, 1, MODEL, told.append)
    assert told == ["filling: 4 of 4 episodes, 2 users"]
