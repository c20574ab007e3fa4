"""Tasks beside a block end with it, and an error of the block leaves it as it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from picomem.errors import NotFound
from picomem.side_tasks import side_tasks
from tests.cases import each_case


async def beside(work: Callable[[], Awaitable[str]], ended: list[str]) -> str:
    """Do the work beside a task that never ends by itself."""

    async def task() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("task")

    async with side_tasks() as tasks:
        tasks.start_soon(task)
        return await work()
    return "cancelled"


@each_case("error", [NotFound("There is no such thing."), ValueError("a mistake")])
def test_an_error_leaves_the_block_as_it_is_and_the_tasks_end(error: Exception) -> None:
    ended: list[str] = []

    async def work() -> str:
        await anyio.lowlevel.checkpoint()
        raise error

    with pytest.raises(type(error)) as raised:
        anyio.run(beside, work, ended)
    assert (raised.value, ended) == (error, ["task"])


def test_a_result_leaves_the_block_and_the_tasks_end() -> None:
    ended: list[str] = []

    async def work() -> str:
        await anyio.lowlevel.checkpoint()
        return "done"

    assert (anyio.run(beside, work, ended), ended) == ("done", ["task"])


def test_a_task_may_end_the_block() -> None:
    async def block() -> str:
        async with side_tasks() as tasks:
            tasks.start_soon(_cancel, tasks.cancel_scope)
            await anyio.sleep_forever()
        return "ended"

    assert anyio.run(block) == "ended"


def test_who_is_cancelled_outside_of_the_block_stays_cancelled() -> None:
    reached: list[str] = []

    async def block() -> None:
        with anyio.CancelScope() as scope:
            async with side_tasks() as tasks:
                tasks.start_soon(_cancel, scope)
                await anyio.sleep_forever()
            reached.append("behind the block")

    anyio.run(block)
    assert reached == []


async def _cancel(scope: anyio.CancelScope) -> None:
    scope.cancel()
