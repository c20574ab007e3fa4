"""Sessions in a real database, and words to fill them with."""

from __future__ import annotations

import pytest

from picomem.engine.engine import Engine
from picomem.records.session import NewMessage, Role, ToolCall
from picomem.sessions.log import Sessions


@pytest.fixture
def log(engine: Engine) -> Sessions:
    return engine.sessions()


def user(text: str) -> NewMessage:
    return NewMessage(role=Role.USER, content=text)


def assistant(text: str = "", *calls: ToolCall) -> NewMessage:
    return NewMessage(role=Role.ASSISTANT, content=text, tool_calls=calls)


def call(name: str = "look", id: str = "c1", arguments: str = "{}") -> ToolCall:  # noqa: A002
    return ToolCall(id, name, arguments)


def result(text: str, id: str = "c1") -> NewMessage:  # noqa: A002
    return NewMessage(role=Role.TOOL, content=text, tool_call_id=id)
