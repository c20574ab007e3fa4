"""Which part of a large episode is handed out, and where the question's words stand in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.recall.passages import allowance, marks, passage
from picomem.text.tokens import count_tokens

BUSY = " ".join(f"Let me look at file number {number} of the project first." for number in range(20))
ANSWER = "The release key lies in the blue safe."


def test_the_passage_is_the_sentence_that_answers_with_what_stands_around_it() -> None:
    cut = passage(f"{BUSY} {ANSWER} {BUSY}", {"releas": 3.0, "safe": 2.0, "project": 0.1}, 60)
    assert ANSWER in cut
    assert cut.startswith("… Let me look at")
    assert cut.endswith("first. …")
    assert count_tokens(cut) <= 60


def test_a_text_that_fits_is_whole() -> None:
    assert passage(ANSWER, {}, 60) == ANSWER


def test_one_long_sentence_is_cut_around_the_words() -> None:
    text = f"{'word ' * 300}the release key {'word ' * 300}".strip()
    cut = passage(text, {"releas": 1.0, "kei": 1.0}, 50)
    assert "the release key" in cut
    assert count_tokens(cut) <= 50


def test_chinese_is_cut_at_its_own_marks() -> None:
    cut = passage(
        "我先看一下文件。" * 30 + "钥匙在蓝色的保险箱里。" + "我先看一下文件。" * 30, {"钥匙": 2.0, "保险": 1.0}, 80
    )
    assert "钥匙在蓝色的保险箱里。" in cut
    assert count_tokens(cut) <= 80


@each_case(
    ("text", "weights", "marked"),
    [
        ("We released it twice.", {"releas": 1.0}, ["released"]),
        ("next_free_slot is slow", {"slot": 1.0}, ["next_free_slot"]),
        ("钥匙在保险箱里", {"保险": 1.0, "险箱": 1.0}, ["保险箱"]),
        ("Café in Köln", {"cafe": 1.0, "koln": 1.0}, ["Café", "Köln"]),
        ("nothing of it", {"boat": 1.0}, []),
    ],
)
def test_marks_are_where_the_words_stand(text: str, weights: dict[str, float], marked: list[str]) -> None:
    assert [text[start:end] for start, end in marks(text, weights)] == marked


@given(st.lists(st.integers(0, 400), max_size=12), st.integers(0, 2_000))
def test_what_each_may_cost_fits_the_budget_and_wastes_little(costs: list[int], budget: int) -> None:
    most = allowance(costs, budget)
    spent = sum(min(cost, most) for cost in costs)
    assert spent <= budget
    assert spent == sum(costs) or spent > budget - len(costs)


@given(st.text(max_size=400), st.integers(8, 60))
def test_no_text_makes_a_passage_larger_than_its_room(text: str, room: int) -> None:
    assert count_tokens(passage(text, {"a": 1.0}, room)) <= max(room, 0) + 8


@pytest.mark.requirement("A5")
def test_a_budget_holds_ten_hits_of_large_episodes_and_each_shows_its_answer(engine: Engine, tmp_path: Path) -> None:
    for number in range(10):
        text = f"{BUSY} {ANSWER} That was in week {number}. {BUSY}"
        record = {"role": "assistant", "content": text[:1400]}
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
        engine.ingest([tmp_path / f"{number}.jsonl"])
    answer = engine.recall("where is the release key, in which safe?")
    assert len(answer.hits) == 10
    assert answer.left_out == 0
    assert answer.tokens <= 2_000
    for hit in answer.hits:
        assert ANSWER in hit.text
        assert {"release", "safe"} <= {hit.text[start:end] for start, end in hit.marks}
