"""Memory's tools as an agent has them: the designs' parameters and replies, and sentences when something is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ToolReturnPart
from tests.agent.conftest import Script

from picomem.agent import MemoryCapability
from picomem.agent.tools import MEMORY, TOOLS, MemoryTools
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.operations.table import operation


def asked(engine: Engine, name: str, arguments: Any, **options: Any) -> ToolReturnPart:
    """What the model gets for one call."""
    script = Script([(name, arguments)], "Well.")
    Agent(script.model, capabilities=[MemoryCapability(engine, **options)]).run_sync("Do it.")
    (part,) = [part for part in script.given[-1][0][-1].parts if isinstance(part, ToolReturnPart)]
    return part


def tools_of(engine: Engine, **options: Any) -> dict[str, Any]:
    script = Script("Well.")
    Agent(script.model, capabilities=[MemoryCapability(engine, **options)]).run_sync("Hello.")
    return {tool.name: tool for tool in script.given[0][1].function_tools}


@pytest.mark.requirement("A10")
def test_the_three_tools_of_the_plan_have_its_parameters_and_replies(engine: Engine) -> None:
    tools = {name: tool.parameters_json_schema for name, tool in tools_of(engine).items()}
    assert {"key", "content", "category", "importance"} <= tools["memory_store"]["properties"].keys()
    assert {"query", "category", "since", "until", "limit"} <= tools["memory_recall"]["properties"].keys()
    assert tools["memory_forget"]["required"] == ["key"]
    port = {"key": "staging_db_port", "content": "The staging database listens on port 5433", "category": "knowledge"}
    assert asked(engine, "memory_store", port).content == "Memory stored: staging_db_port"
    heading, hit = str(asked(engine, "memory_recall", {"query": "staging"}).content).split("\n")
    assert heading.startswith("Found 1 memory (confidence 0.")
    assert hit == "- staging_db_port [fact] [importance: 0.5] [score: 1.00]: The staging database listens on port 5433"
    assert str(asked(engine, "memory_forget", {"key": "staging_db_port"}).content).startswith(
        "Memory deleted: staging_db_port\n"
    )
    assert str(asked(engine, "memory_recall", {"query": "staging"}).content).startswith("No matching memories found.")


@pytest.mark.requirement("P9")
def test_the_memory_tool_saves_lists_and_deletes(engine: Engine) -> None:
    assert asked(engine, MEMORY, {"action": "list"}).content == "Nothing is remembered yet."
    tea = {"action": "save", "key": "favourite_tea", "content": "The user drinks green tea"}
    assert asked(engine, MEMORY, tea).content == "Memory stored: favourite_tea"
    assert asked(engine, MEMORY, {"action": "list"}).content == "- favourite_tea: The user drinks green tea"
    refused = asked(engine, MEMORY, {"action": "save", "key": "system_tea", "content": "The user drinks black tea"})
    assert (
        refused.outcome == "failed" and "does not start with system_" in refused.content and "try “" in refused.content
    )
    assert "needs “content”" in asked(engine, MEMORY, {"action": "save", "key": "tea"}).content
    assert "one of save, list, delete" in asked(engine, MEMORY, {"action": "drop"}).content
    assert "no parameter “id”" in asked(engine, MEMORY, {"action": "list", "id": 4}).content
    assert str(asked(engine, MEMORY, {"action": "delete", "key": "favourite_tea"}).content).startswith(
        "Memory deleted: favourite_tea\n"
    )
    assert not engine.memories()


@pytest.mark.requirement("O10")
def test_the_agent_can_look_at_the_store(engine: Engine) -> None:
    engine.remember("The staging database listens on port 5433", key="staging_db_port")
    assert "of 1500 tokens" in asked(engine, "memory_index_status", {}).content
    assert "remember add" in asked(engine, "memory_audit", {"limit": 1}).content


def test_what_an_agent_stores_is_on_record_as_its_own(engine: Engine) -> None:
    asked(engine, "memory_store", {"content": "The crane is yellow", "key": "crane"}, actor="agent:bob")
    ((change, _),) = engine.changes(1)
    assert change.actor == "agent:bob"
    assert engine.memories()[0].origin == "agent"
    said = asked(engine, "memory_store", {"content": "The crane is red", "key": "crane", "origin": "user"})
    assert said.outcome == "failed" and "cannot vouch" in said.content


def test_a_wrong_call_is_answered_with_one_sentence_and_uses_up_no_retry(engine: Engine) -> None:
    wrong = [("memory_forget", {"key": "nothing_there"})] * 5
    script = Script(*[[call] for call in wrong], "I give up.")
    done = Agent(script.model, capabilities=[MemoryCapability(engine)]).run_sync("Forget it.")
    assert done.output == "I give up."
    said: Any = script.given[-1][0][-1].parts[0]
    assert "`memory_recall` searches by words" in said.content and "picomem recall" not in said.content


def test_only_the_chosen_operations_are_offered(engine: Engine) -> None:
    assert [operation(name).tool for name in TOOLS] == list(tools_of(engine))[: len(TOOLS)]
    assert list(tools_of(engine, tools=["recall"])) == ["memory_recall"]
    assert "memory_ingest" not in tools_of(engine)
    assert list(tools_of(engine, tools=())) == []
    with pytest.raises(InvalidInput, match="“doctor” is not an operation with a tool"):
        MemoryTools(engine, ["doctor"])
    assert MemoryTools(engine).names[-1] == MEMORY


def test_importance_and_priority_together_are_one_number(engine: Engine) -> None:
    both = {"content": "The crane is yellow", "key": "crane", "importance": 0.8, "priority": "medium"}
    script = Script([("memory_store", both)], "Noted.")
    Agent(script.model, capabilities=[MemoryCapability(engine)]).run_sync("The crane is yellow.")
    assert [(memory.key, memory.importance) for memory in engine.memories()] == [("crane", 0.8)]
