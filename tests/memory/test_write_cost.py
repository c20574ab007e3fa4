"""What a write costs, in functions called: the same on every machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.cost import python_calls

from picomem.clock import SECOND, iso
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.recall.lexical_search import Corpus

TURNS = 400
WRITES = 4


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
