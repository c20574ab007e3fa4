"""Hostile calls of the facades' tools, drawn from their schemas: an answer or one sentence, and never a fault of ours."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent
from tests import hostile
from tests.amounts import amount
from tests.inert import assert_inert

from picomem.engine.engine import Engine
from picomem.gateway.facade_tools import UntrustedQuotes, checked_arguments
from picomem.gateway.facades import tools_of_facades
from picomem.settings_tables import FACADES

pytestmark = pytest.mark.reliability("fuzz")

CALLS = amount(300, 30_000)
SEED = int(os.environ.get("FUZZ_SEED", "1"))
PATHS = ("/memories/a.md", "/memories", "/memories/d/b.md", "/memories/d")
KNOWN = ["Ann", "Bo", "person", "owns", "likes tea", *PATHS]


def drawn(random: Random, schema: dict[str, Any], name: str = "") -> Any:
    """A value that mostly fits a schema, of a property of that name."""
    if name.endswith("path") and random.random() < 0.8:
        return random.choice(PATHS)
    if random.random() < 0.03:
        return hostile.json_value(random, KNOWN)
    if "enum" in schema:
        return random.choice(schema["enum"])
    if schema["type"] == "array":
        return [drawn(random, schema["items"]) for _ in range(random.randrange(4))]
    if schema["type"] == "object":
        return {
            name: drawn(random, part, name) for name, part in schema["properties"].items() if random.random() < 0.95
        }
    if schema["type"] == "integer":
        return random.choice((0, 1, -1, 2, *hostile.INTEGERS))
    return random.choice(KNOWN) if random.random() < 0.6 else hostile.text(random, KNOWN)


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def test_hostile_calls_get_an_answer_that_fits_the_schema_or_a_sentence(
    engine: Engine, db: Path, disagreements: Any
) -> None:
    random, quotes, agent = Random(SEED), UntrustedQuotes(), engine.acting_as("agent:desk", agent=True)
    tools = tools_of_facades(FACADES)
    answered: set[str] = set()
    for number in range(CALLS):
        tool = tools[number // 2 % len(tools)] if number % 2 else tools[-1]  # which has six commands
        arguments = drawn(random, tool.takes)
        given = arguments if isinstance(arguments, dict) else {}
        result = tool.answer(agent, given, lambda *_: None, quotes)
        words = texts(result)
        for text in words:
            assert_inert(text.replace("\t", " "))
        if result.is_error:
            assert len(words) == 1 and "\n" not in words[0] and len(words[0]) < 3_000, (tool.name, given)
            continue
        answered.add(tool.name)
        if tool.gives is not None:
            assert result.structured_content is not None
            fits = {name: value for name, value in result.structured_content.items() if name != "success"}
            schema = {**tool.gives, "required": [name for name in tool.gives["required"] if name != "success"]}
            schema["properties"] = {name: part for name, part in schema["properties"].items() if name != "success"}
            checked_arguments(tool.name, schema, fits)
    assert answered == {tool.name for tool in tools}
    assert disagreements(db) == []
