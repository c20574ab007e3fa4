"""A task for a language model: the instructions, the input, and how to read the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from picomem.light_dataclass import dataclass

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTask(Generic[Answer]):
    """One question. `read` makes the answer of a reply's text and raises GeneratorFailed where it cannot."""

    name: str  # of the schema
    task: str
    task_with_schema: str  # for a request that cannot carry the schema by itself
    prompt: str
    schema: dict[str, Any]
    output_tokens: int
    read: Callable[[str], Answer]


def no_answer_within(seconds: int, setting: str) -> str:
    """Describe a model that was too slow; `setting` is what gives it more time."""
    return (
        f"no answer within {seconds} seconds; raise {setting}, or lower memory.consolidation_window so that it reads "
        "less at once."
    )
