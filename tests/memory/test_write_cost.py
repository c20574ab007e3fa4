"""What a write costs, in functions called: the same on every machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import pytest
from tests.cost import python_calls
from tests.engine_parts import connector_of

from picomem.clock import SECOND, iso
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.recall.lexical_search import Corpus
from picomem.records.ids import new_id
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.store.tables import memories
from picomem.text.memory_keys import numbered

TURNS = 400
WRITES = 4
COMMON_WORDS = (
    "river stone lamp paper winter garden copper yellow engine basket market silver window harbour ticket feather "
    "bridge candle meadow pepper"
).split()


@pytest.fixture
def talked(engine: Engine, clock, tmp_path: Path) -> Engine:
    """A user who has said much in the last hours."""
    lines = [
        {
            "role": "user" if number % 2 == 0 else "assistant",
            "content": f"Talk number {number} is about the herring fleet, the harbour and the quay of day {number}. "
            "Nobody there keeps a ledger, and the lighthouse needs paint.",
            "timestamp": iso(clock.now - number * SECOND),
        }
        for number in range(TURNS)
    ]
    lines[40]["content"] = "The ferry lies beside the northern pier."
    lines[60]["content"] = "The barge lies beside the northern bridge."
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    engine.ingest([tmp_path / "talk.jsonl"])
    engine.remember("The ferry lies beside the southern quay.", key="ferry")
    engine.remember("The barge lies beside the southern bridge.", key="barge")
    return engine


def _cost_of_writes(engine: Engine, origin: str) -> int:
    """Of new statements, once everything is loaded."""
    texts = iter(f"The {origin} {number} keeps lantern number {number} in shed {number * 7}" for number in range(9))
    engine.remember(next(texts), origin=origin)
    return python_calls(lambda: [engine.remember(next(texts), origin=origin) for _ in range(WRITES)])


def test_a_write_of_an_agent_costs_at_most_twice_as_much_as_one_of_the_user(talked):
    agent = talked.acting_as("bot", agent=True)
    assert _cost_of_writes(agent, "agent") <= 2 * _cost_of_writes(talked, "user")


def test_what_the_user_said_lately_lets_an_agent_change_a_memory_for_twice_the_cost(talked):
    agent = talked.acting_as("bot", agent=True)
    agent.remember("The barge lies beside the northern bridge.", key="barge", origin="agent")  # everything is loaded
    cost = python_calls(lambda: agent.remember("The ferry lies beside the northern pier.", key="ferry", origin="agent"))
    assert [memory.content for memory in talked.memories() if memory.key in ("ferry", "barge")] == [
        "The ferry lies beside the northern pier.",
        "The barge lies beside the northern bridge.",
    ]
    users = python_calls(lambda: talked.remember("The ferry lies beside the eastern pier.", key="ferry"))
    assert cost <= 2 * users


@pytest.fixture
def common(engine: Engine) -> Engine:
    """A user whose memories share most of their words."""
    for number in range(250):
        engine.remember(
            f"The harbour keeps lantern {number} in shed {number % 2} for the ferry", key=f"lantern_{number}"
        )
    return engine


def test_a_word_that_most_memories_hold_is_not_looked_up_for_those_that_are_alike(common, monkeypatch):
    read: list[int] = []

    def scores(corpus: Corpus, weights: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
        scores_of_terms = look_up(corpus, weights)
        read.extend(map(len, scores_of_terms))
        return scores_of_terms

    look_up = Corpus.scores
    monkeypatch.setattr(Corpus, "scores", scores)
    common.remember("The harbour keeps lantern 7 in shed 3 for the ferry")
    assert read
    assert max(read) <= 200


@pytest.mark.parametrize("shed", [0, 1])
def test_the_same_words_are_found_among_many_memories_that_share_most_of_them(common, shed):
    kept = [memory for memory in common.memories() if f"in shed {shed}" in memory.content]
    for memory in (kept[0], kept[-1]):
        again = common.remember(memory.content, key=f"again_{shed}")
        assert (again.decision, again.merged_with) == ("merge", memory.id)


def test_the_same_words_are_found_where_none_of_them_is_rare(common):
    kept = common.remember("The ferry keeps the harbour for its shed", key="ferry")
    again = common.remember("the ferry keeps the harbour for its shed.", key="again")
    assert (again.decision, again.merged_with) == ("merge", kept.memory.id)


def test_too_many_tags_are_refused_before_any_of_them_is_read(engine):
    def refuse(count: int) -> None:
        with pytest.raises(InvalidInput, match="at most 32 of them"):
            engine.remember("The ferry is blue", tags=[f"password=harbour{number}" for number in range(count)])

    few, many = (python_calls(partial(refuse, count)) for count in (33, 3_300))
    assert many <= few + 4 * 3_300


def _store(engine: Engine, contents: Sequence[str]) -> None:
    """Store statements past the gate."""
    with connector_of(engine).write(engine.scope) as tx:
        for number, content in enumerate(contents):
            now = engine.now() + number
            memories.insert(
                tx,
                Memory(
                    id=new_id(),
                    version=1,
                    scope=engine.scope,
                    key=numbered("harbour_word", number + 1),
                    kind=Kind.FACT,
                    content=content,
                    valid_from=now,
                    known_from=now,
                    created_at=now,
                    tokens=10,
                    change_id=new_id(),
                ),
            )


def _of_common_words(count: int) -> list[str]:
    """Statements of twenty words, each of which two of five hold."""
    draw = Random(37)
    return [f"The {' '.join(draw.sample(COMMON_WORDS, 8))}" for _ in range(count)]


def test_a_write_reads_the_same_number_of_memories_however_many_there_are_and_however_common_their_words(
    open_engine, tmp_path
):
    """Issue 37, 2.3."""
    stores = []
    for count in (600, 2_400):
        engine = open_engine(tmp_path / f"{count}.db")
        _store(engine, _of_common_words(count))
        engine.remember("Everything is loaded", key="loaded")
        stores.append(engine)
    new = [f"{words} {number}" for number, words in enumerate(_of_common_words(2_404)[-4:])]
    few, many = (
        python_calls(lambda: [engine.remember(words, key=f"new_{place}") for place, words in enumerate(new)])  # noqa: B023
        for engine in stores
    )
    assert many <= 1.1 * few


def test_the_same_words_are_found_among_many_memories_of_the_same_common_words(engine):
    said = list(dict.fromkeys(_of_common_words(1_200)))
    _store(engine, said)
    for content in (said[0], said[600], said[-1]):
        again = engine.remember(content, key="again")
        assert (again.decision, again.memory.content) == ("merge", content)
    turned = " ".join(["The", *reversed(said[0].split()[1:])])
    assert engine.remember(turned, key="turned").decision == "add"


def test_a_key_that_many_statements_suggest_is_numbered_after_few_looks(open_engine, tmp_path):
    """Issue 37, 2.3: numbers are no part of a suggested key, so all of these suggest one."""
    costs = []
    for count in (300, 2_400):
        engine = open_engine(tmp_path / f"{count}.db")
        _store(engine, [f"The harbour word was {number}" for number in range(count)])
        stored = engine.remember(f"The harbour word was {count}")
        assert stored.memory.key == f"harbour_word_{count + 1}"
        costs.append(python_calls(lambda: engine.remember("The harbour word was 9000")))  # noqa: B023
    assert costs[1] <= 1.3 * costs[0]
