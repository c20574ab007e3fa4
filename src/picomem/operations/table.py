"""Every verb, once. The command line, the MCP tools and the reference page are rendered from this table."""

from __future__ import annotations

from picomem.operations import keeping, reading, writing
from picomem.operations.operation import Operation

OPERATIONS: tuple[Operation, ...] = (*keeping.OPERATIONS, *writing.OPERATIONS, *reading.OPERATIONS)


def operation(name: str) -> Operation:
    """The operation of that name; raises KeyError for another."""
    return next(each for each in OPERATIONS if each.name == name)
