"""Records answers to agents, so that the echo guard recognises them when an agent offers them as its own words.

`Operation.call` records every answer, so surfaces do not have to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from picomem.engine import agent_support
from picomem.light_dataclass import fields
from picomem.operations.command_rewriting import result_for_agents
from picomem.operations.inert_results import inert
from picomem.operations.recall_views import jsonable

if TYPE_CHECKING:
    from picomem.engine.engine import Engine
    from picomem.operations.operation import Operation


def record_answer(engine: Engine, operation: Operation, result: Any) -> None:
    """Note the result of an operation as data, in words and as it is presented to people."""
    safe = result_for_agents(result, {})
    presented = _texts(operation.present(inert(result)))
    agent_support.answered(engine, operation.reply(safe), presented, jsonable(safe))


def _texts(presented: Any) -> Iterator[str]:
    """Every text of a presentation."""
    if isinstance(presented, str):
        yield presented
    elif isinstance(presented, tuple):
        for part in presented:
            yield from _texts(part)
    elif hasattr(type(presented), "__match_args__"):
        for field in fields(presented):
            yield from _texts(getattr(presented, field.name))
