"""Background tasks of a block of code, which end with the block."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import create_task_group
from anyio.abc import TaskGroup


@asynccontextmanager
async def side_tasks() -> AsyncIterator[TaskGroup]:
    """A task group whose tasks are cancelled at the end of the block. A task may end the block with `cancel_scope`.

    An error of the block is raised as it is, while a plain task group would raise it in an ExceptionGroup.
    """
    failure: Exception | None = None
    async with create_task_group() as tasks:
        try:
            yield tasks
        except Exception as error:  # noqa: BLE001 - it is raised below, outside of the group
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
