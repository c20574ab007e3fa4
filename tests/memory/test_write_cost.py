"""What a write costs, in functions called: the same on every machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cost import python_calls

from picomem.clock import SECOND, iso
from picomem.engine.engine import Engine

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
    lines[40]["content"] = "The ferry lies beside the northern pier now."
    lines[60]["content"] = "The barge lies beside the northern bridge now."
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
