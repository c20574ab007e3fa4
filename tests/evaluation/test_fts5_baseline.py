from __future__ import annotations

from pathlib import Path

import pytest

from question_sets.fts5_baseline import Fts5, match_of, paired

pytestmark = pytest.mark.sqlite_file("is about FTS5, which other databases do not have")


@pytest.fixture
def table(tmp_path: Path):
    table = Fts5(tmp_path / "words.db")
    yield table
    table.close()


def test_the_words_of_a_question_without_stop_words_are_joined_by_or():
    assert match_of("When did Ann go to the harbour, and the harbour again?") == '"ann" OR "go" OR "harbour" OR "again"'


def test_a_question_of_stop_words_alone_keeps_them():
    assert match_of("what about you?") == '"what" OR "about" OR "you"'


def test_a_question_without_words_finds_nothing(table: Fts5):
    table.add(["a heron"])
    assert table.best("…?!", 10) == []


def test_chinese_becomes_pairs_and_the_rest_stays():
    assert paired("用Python写诗歌").split() == ["用", "Python", "写诗", "诗歌"]


def test_documents_are_numbered_in_the_order_in_which_they_come(table: Fts5):
    table.add(["the boat is blue", ""])
    table.add(["herons fish at dawn", "a heron, a heron on the boat"])
    assert table.best("where are the herons?", 10) == [3, 2]
    assert table.best("where are the herons?", 1) == [3]


def test_what_a_question_holds_is_never_syntax(table: Fts5):
    table.add(["left OR right", "NEAR the sea"])
    assert table.best('NEAR("sea" * AND -right) ^col:', 10) == [1, 0]


def test_chinese_is_found_by_pairs(table: Fts5):
    table.add(["昨天我们去了动物园", "今天下雨"])
    assert table.best("动物园在哪里", 10) == [0]


def test_a_shared_table_keeps_users_apart(tmp_path: Path):
    table = Fts5(tmp_path / "shared.db", shared=True)
    table.add(["a heron on the pier", "the pier at night"], "ann")
    table.add(["a heron and a heron"], "bea")
    assert table.best("heron", 10, "ann") == [0]
    assert table.best("heron", 10, "bea") == [2]
    assert table.best("heron", 10, "cy") == []
    table.close()


def test_a_table_goes_on_where_it_ended(tmp_path: Path):
    for text in ("a heron", "a pier"):
        table = Fts5(tmp_path / "words.db")
        table.add([text])
        docs = table.best("pier", 10)
        table.close()
    assert docs == [1]
