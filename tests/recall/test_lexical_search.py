"""The leg by words beyond the question's own: what a word says, its synonyms, and words near in meaning."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from picomem import open as open_memory
from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.recall.lexical_search import weigh_compounds
from picomem.recall.weights import WEIGHTS

LINES = (
    "The lorry was repaired in the yard",
    "Somebody mentioned that the meeting was pretty long",
    "Rates on the public interface are capped at twenty requests",
)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Engine]:
    def _open(**weights: float) -> Engine:
        engine = open_memory(
            tmp_path / "memory.db", embedder="static", weights=replace(WEIGHTS, meaning=0.0, **weights)
        )
        for line in LINES if not engine.memories() else ():
            engine.remember(line)
        return engine

    return _open


def test_a_word_near_in_meaning_finds_what_says_it_otherwise(opened: Callable[..., Engine]) -> None:
    with opened() as engine:
        hit = engine.recall("which truck did they fix").hits[0]
    assert hit.text == LINES[0]
    assert "repaired (near fix)" in hit.why


def test_without_synonyms_and_near_words_only_the_question_s_own_are_looked_up(opened: Callable[..., Engine]) -> None:
    with opened(near_words=0.0, synonyms=0.0) as engine:
        assert all("near" not in hit.why.replace("near in meaning", "") for hit in engine.recall("which truck").hits)


def test_words_in_passing_do_not_outweigh_what_is_asked_about(opened: Callable[..., Engine]) -> None:
    question = "pretty sure somebody mentioned a cap"
    with opened(near_words=0.0) as engine:
        by_language = [hit.score for hit in engine.recall(question).hits if hit.text == LINES[1]]
    with opened(near_words=0.0, language=0.0) as engine:
        by_rarity = [hit.score for hit in engine.recall(question).hits if hit.text == LINES[1]]
    assert by_language < by_rarity


def test_a_question_that_a_text_holds_asks_for_no_other_words(opened: Callable[..., Engine]) -> None:
    with opened() as engine:
        hits = engine.recall("lorry repaired in the yard").hits
    assert hits[0].why.startswith("words: ")
    assert "(near" not in " ".join(hit.why for hit in hits)


_WITHOUT_MODEL = """
import sys
class Gone:
    def find_spec(self, name, *_):
        if name == "wordllama":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Gone())
import picomem
with picomem.open(sys.argv[1], embedder="static") as memory:
    answer = memory.recall("was the lorry fixed")
    print(answer.hits[0].text, answer.legs["memories by vector"], sep="|")
"""


@pytest.mark.requirement("O12")
def test_words_answer_where_the_model_is_not_there(opened: Callable[..., Engine], tmp_path: Path) -> None:
    opened().close()
    command = [sys.executable, "-c", _WITHOUT_MODEL, str(tmp_path / "memory.db")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    text, _, leg = run.stdout.partition("|")
    assert (run.returncode, text) == (0, LINES[0]), run.stderr
    assert leg.startswith("failed")


def test_a_compound_weighs_what_its_heaviest_term_does() -> None:
    words = {"salari": "salary", "take": "take-home", "home": "take-home", "takehom": "take-home"}
    weights = {"salari": 3.0, "take": 1.0, "home": 2.0, "takehom": 4.0}
    weighed = weigh_compounds(weights, words, frozenset(weights))
    assert weighed["salari"] == 3.0
    assert weighed["take"] + weighed["home"] + weighed["takehom"] == pytest.approx(4.0)
    assert weighed["takehom"] == max(weighed["take"], weighed["home"], weighed["takehom"])


def test_a_compound_that_nobody_wrote_as_one_counts_as_its_parts() -> None:
    words = {"take": "take-home", "home": "take-home", "takehom": "take-home"}
    weights = {"take": 1.0, "home": 2.0, "takehom": 4.0}
    assert weigh_compounds(weights, words, frozenset(("take", "home"))) == {"take": 1.0, "home": 2.0, "takehom": 0.0}


def test_pairs_of_chinese_characters_are_no_compound() -> None:
    words, weights = {"数据": "数据库", "据库": "数据库"}, {"数据": 2.0, "据库": 2.0}
    assert weigh_compounds(weights, words, frozenset(weights)) == weights


def test_synonyms_find_what_was_said_in_other_words_or_another_language_without_any_model(tmp_path: Path) -> None:
    with open_memory(tmp_path / "memory.db", embedder="none") as engine:
        for line in (
            "We dropped RabbitMQ for good",
            "Snapshots stay for thirty days",
            "新冰箱放在地下室",
            "They roll out on Mondays",
        ):
            engine.remember(line)
        assert engine.recall("why did we ditch the message broker").hits[0].text == "We dropped RabbitMQ for good"
        assert engine.recall("快照保留多久").hits[0].text == "Snapshots stay for thirty days"
        hit = engine.recall("where is the fridge").hits[0]
        assert hit.text == "新冰箱放在地下室"
        assert hit.why == "words: 冰箱 (near fridge)"
        assert [hit.text[start:end] for start, end in hit.marks] == ["冰箱"]
        assert "roll out (near deploy)" in engine.recall("when do you deploy").hits[0].why


def test_without_synonyms_other_words_find_nothing(tmp_path: Path) -> None:
    weights = replace(WEIGHTS, synonyms=0.0)
    with open_memory(tmp_path / "memory.db", embedder="none", weights=weights) as engine:
        engine.remember("We dropped RabbitMQ for good")
        assert not engine.recall("why did you ditch the broker").hits


@pytest.fixture
def by_words(tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    """A store with these memories, in which words are searched and no vectors."""
    with ExitStack() as stack:

        def _open(*lines: str) -> Engine:
            engine = stack.enter_context(open_memory(tmp_path / "memory.db", embedder="none"))
            for line in lines:
                engine.remember(line)
            return engine

        yield _open


def test_a_phrase_goes_before_its_synonym(by_words: Callable[..., Engine]) -> None:
    others = [f"A large model of the car number {number} stands in hall {number}" for number in range(60)]
    engine = by_words(*others, "The large language model is hosted in Oslo", "An LLM answers the calls in Bergen")
    texts = [hit.text for hit in engine.recall("who signed the papers for the large language model").hits]
    assert texts.index("The large language model is hosted in Oslo") < texts.index("An LLM answers the calls in Bergen")


@pytest.mark.sqlite_file("opens a file of its own")
def test_the_words_of_a_phrase_must_follow_each_other(by_words: Callable[..., Engine]) -> None:
    engine = by_words("Sign the lease, then hang up the picture", "You sign up at the desk")
    assert [hit.text for hit in engine.recall("how do I register").hits] == ["You sign up at the desk"]


def test_a_reason_names_what_stands_in_the_hit_once(by_words: Callable[..., Engine]) -> None:
    engine = by_words("The payments team 部署 in Frankfurt", "Every new owner joins", "Postgres runs on port 5433")
    hit = engine.recall("支付团队在哪里部署服务器集群").hits[0]
    assert hit.why == "words: 部署, payments (near 支付), team (near 团队)"
    assert engine.recall("数据库").hits[0].why == "words: Postgres (near 数据库)"


@pytest.mark.requirement("A3")
@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Café", "Café"),
        ("Où est le café à Zürich?", "Zürich, café"),
        ("is the espresso descaled at the café?", "espresso, descaled, café"),
        ("Zürich 的咖啡", "Zürich, espresso (near 咖啡)"),
    ],
)
def test_a_reason_names_words_as_they_stand_in_the_question(
    by_words: Callable[..., Engine], question: str, named: str
) -> None:
    engine = by_words("The espresso machine is descaled at the Cafe in Zurich")
    assert set(engine.recall(question).hits[0].why.removeprefix("words: ").split(", ")) == set(named.split(", "))


def test_a_reason_shows_a_synonym_that_only_the_key_holds(by_words: Callable[..., Engine]) -> None:
    engine = by_words()
    engine.remember("生产环境每周二晚上", key="weekly_release")
    assert engine.recall("when do we ship").hits[0].why == "words: release (near ship)"
