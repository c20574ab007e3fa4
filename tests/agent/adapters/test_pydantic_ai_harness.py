"""The harness's MemoryStore over our files.

The harness asks for an older pydantic-ai than the one that is tested here, so its four classes are stood in for; with
the real harness 0.62 the same calls gave the same as its own InMemoryStore.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, make_dataclass
from types import SimpleNamespace

import anyio
import pytest
from pydantic_ai import ModelRetry

from picomem.agent.adapters.pydantic_ai_harness import HarnessStore
from picomem.engine.engine import Engine


class Changed(RuntimeError):
    pass


class Reused(RuntimeError):
    pass


@dataclass
class Operation:
    id: str
    fingerprint: str


@pytest.fixture(autouse=True)
def harness(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = SimpleNamespace(
        MemoryFile=make_dataclass("MemoryFile", ["content", "version", "operation_id", "truncated"]),
        MemoryMutation=make_dataclass("MemoryMutation", ["version", "replayed", "existed"]),
        MemoryConflictError=Changed,
        MemoryOperationConflictError=Reused,
    )
    monkeypatch.setitem(sys.modules, "pydantic_ai_harness", SimpleNamespace(memory=classes))
    monkeypatch.setitem(sys.modules, "pydantic_ai_harness.memory", classes)


def test_the_store_of_the_harness(engine: Engine) -> None:
    async def use() -> None:
        store = HarnessStore(engine, actor="agent:bob")
        once = Operation("run:1", "write")
        made = await store.write("a/MEMORY.md", "one\n", expected_version=None, operation=once)
        again = await store.write("a/MEMORY.md", "one\n", expected_version=None, operation=once)
        assert (made.replayed, again.replayed, made.version) == (False, True, again.version)
        assert (await store.get_operation(once)).version == made.version
        assert await store.get_operation(Operation("run:2", "x")) is None
        with pytest.raises(Reused):
            await store.get_operation(Operation("run:1", "another"))
        with pytest.raises(Changed):
            await store.write("a/MEMORY.md", "two", expected_version=None)
        file = await store.read("a/MEMORY.md", max_chars=2)
        assert (file.content, file.truncated, file.operation_id) == ("on", True, "run:1")
        assert await store.read("a/b.md", max_chars=2) is None
        with pytest.raises(ModelRetry, match="8,000 fit"):
            await store.write("a/b.md", "x" * 9_000, expected_version=None)
        for bad in ("../x", "a//b"):
            with pytest.raises(ValueError, match="is no path"):
                await store.read(bad, max_chars=2)
        await store.write("c.md", "three", expected_version=None)
        assert await store.list_paths(limit=9) == ["a/MEMORY.md", "c.md"]
        assert await store.list_paths("a/", limit=1) == ["a/MEMORY.md"]
        assert (await store.delete("a/MEMORY.md", expected_version=made.version)).existed
        assert await store.list_paths(limit=9) == ["c.md"]

    anyio.run(use)
    assert {change.actor for change, _ in engine.changes(9)} == {"agent:bob"}
