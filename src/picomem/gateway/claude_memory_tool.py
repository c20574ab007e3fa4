"""Claude's memory tool over MCP: one tool, `memory`, whose commands are those of agent/adapters/anthropic_tool.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from picomem.agent.adapters.anthropic_tool import COMMANDS, ClaudeMemory
from picomem.engine.engine import Engine
from picomem.gateway.facade_tools import (
    READING,
    WRITING,
    FacadeReply,
    FacadeTool,
    list_schema,
    object_schema,
    text_schema,
)
from picomem.memory.agent_store import OriginOf
from picomem.text.inert_text import for_prompt

_PROPERTIES: dict[str, dict[str, Any]] = {
    "command": {"type": "string", "enum": list(COMMANDS), "description": "what to do"},
    "path": text_schema("a file or a folder, such as /memories/plan.md; for all commands but rename"),
    "view_range": list_schema({"type": "integer"}, "view: the first and the last line, -1 for the end"),
    "file_text": text_schema("create: the text of the file"),
    "old_str": text_schema("str_replace: the text to replace, which stands in the file once"),
    "new_str": text_schema("str_replace: the text to put there; nothing if it is left out"),
    "insert_line": {"type": "integer", "description": "insert: the line after which to insert, 0 for the beginning"},
    "insert_text": text_schema("insert: the text"),
    "old_path": text_schema("rename: the file or folder"),
    "new_path": text_schema("rename: what it is to be called"),
}
_SHOWING = ("str_replace", "insert")  # commands that change a file, and answer with lines or numbers of lines of it
_OPTIONAL = [name for name in _PROPERTIES if name != "command"]


def claude_memory_tools() -> list[FacadeTool]:
    """The one tool."""
    description = (
        "Keep notes in files below /memories, which last beyond this conversation. View the folder before you begin a "
        "task, and write down what you would need to go on with it later."
    )
    takes = object_schema(*_OPTIONAL, **_PROPERTIES)
    return [FacadeTool("memory", "Memory", description, takes, None, _permissions, _run, destructive=True)]


def _permissions(given: Mapping[str, Any]) -> tuple[str, ...]:
    command = given.get("command")
    if command == "view":
        return (READING,)
    return (WRITING, READING) if command in _SHOWING else (WRITING,)


def _run(engine: Engine, given: Mapping[str, Any], origin_of: OriginOf) -> FacadeReply:
    return FacadeReply(for_prompt(ClaudeMemory(engine, actor="", origin_of=origin_of).run(given)))
