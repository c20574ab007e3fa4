"""Checks the arguments of callers: a word of a closed list, an importance, a count, a share, an expiry. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.records.kinds import Priority

_Choice = TypeVar("_Choice", bound=StrEnum)


def chosen(choices: type[_Choice], value: str, what: str) -> _Choice:
    """The member of a closed list. Raises InvalidInput with the list for another word."""
    try:
        return choices(value)
    except ValueError:
        raise InvalidInput(f"“{value}” is no {what}; it is one of {', '.join(choices)}.") from None


def importance_of(importance: float | None, priority: Priority | str | None) -> float:
    """The number 0–1 that an importance or a priority stands for, 0.5 for neither. Raises InvalidInput for both."""
    if importance is not None and priority is not None:
        raise InvalidInput("Give the importance or the priority; they are the same number shown two ways.")
    if priority is not None:
        return chosen(Priority, priority, "priority").importance
    if importance is None:
        return 0.5
    if not 0 <= importance <= 1:
        raise InvalidInput(f"The importance is {importance}; it must be between 0 and 1.")
    return float(importance)


def positive(given: int | None, default: int, what: str) -> int:
    """A count of at least 1, or the default. Raises InvalidInput."""
    if given is not None and given < 1:
        raise InvalidInput(f"{what} is {given}; it must be at least 1.")
    return default if given is None else given


def share(given: float | None, default: float, what: str) -> float:
    """A share, 0–1, or the default. Raises InvalidInput."""
    if given is not None and not 0 <= given <= 1:
        raise InvalidInput(f"{what} is {given}; it must be between 0 and 1.")
    return default if given is None else float(given)


def future(expires: Micros | None, now: Micros) -> Micros | None:
    """An expiry that lies ahead, or none. Raises InvalidInput."""
    if expires is not None and expires <= now:
        raise InvalidInput("The expiry date has passed already; choose one in the future.")
    return expires


def check_names(given: Mapping[str, object], known: type, verb: str) -> None:
    """Raise TypeError, as Python does, for an argument that `known`, a TypedDict, does not have."""
    if unknown := given.keys() - known.__annotations__.keys():
        raise TypeError(f"{verb}() got an unexpected keyword argument '{min(unknown)}'")
