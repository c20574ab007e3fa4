"""The harness's MemoryStore over our files.

The harness asks for another pydantic-ai than the one that is tested here, so its classes are stood in for. `make
peers-tests` runs the harness's own tests of a store.
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
        MemorySearchMatch=make_dataclass("MemorySearchMatch", ["path", "snippet", "score"]),
        MemorySearchResult=make_dataclass("MemorySearchResult", ["matches", "scanned", "truncated"]),
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
        for bad in ("../x", "a//b", "a b.md", "a/./b"):
            with pytest.raises(ValueError, match="invalid memory path"):
                await store.read(bad, max_chars=2)
            with pytest.raises(ValueError, match="invalid memory path"):
                await store.write(bad, "one", expected_version=None)
        await store.write("c.md", "three", expected_version=None)
        assert await store.list_paths(limit=9) == ["a/MEMORY.md", "c.md"]
        assert await store.list_paths("a/", limit=1) == ["a/MEMORY.md"]
        assert (await store.delete("a/MEMORY.md", expected_version=made.version)).existed
        assert await store.list_paths(limit=9) == ["c.md"]

    anyio.run(use)
    assert {change.actor for change, _ in engine.changes(9)} == {"agent:bob"}


def test_the_deletion_of_a_missing_file_is_on_record_and_answered_alike_when_it_is_sent_again(engine: Engine) -> None:
    async def use() -> None:
        store = HarnessStore(engine)
        once = Operation("run:7", "delete")
        done = await store.delete("a.md", expected_version=None, operation=once)
        assert (done.version, done.existed, done.replayed) == (None, False, False)
        made = await store.write("a.md", "one", expected_version=None)
        again = await store.delete("a.md", expected_version=None, operation=once)
        assert (again.version, again.existed, again.replayed) == (None, False, True)
        assert (await store.read("a.md", max_chars=9)).version == made.version

    anyio.run(use)


def test_the_files_below_a_prefix_are_searched_within_bounds(engine: Engine) -> None:
    async def use() -> None:
        store = HarnessStore(engine)
        bounds = {"limit": 2, "max_files": 3, "max_chars": 120, "max_file_chars": 1_000}
        for path, text in {
            "a/boats.md": "sail " * 60 + "The boat lies at berth 4. A boat is blue.",
            "a/crane.md": "The crane lifts a boat.",
            "a/none.md": "Nothing of it.",
            "b/boats.md": "boat boat boat",
        }.items():
            await store.write(path, text, expected_version=None)
        result = await store.search("a/", "boats", **bounds)
        assert [match.path for match in result.matches] == ["a/boats.md", "a/crane.md"]
        assert "boat lies at berth" in result.matches[0].snippet
        assert sum(len(match.snippet) for match in result.matches) <= 120
        assert (result.scanned, result.truncated) == (3, False)
        assert (await store.search("a/", "boats", **{**bounds, "limit": 1})).truncated
        assert (await store.search("", "", **bounds)).matches == []
        assert (await store.search("a/", "boats", **{**bounds, "limit": 0})).matches == []
        await store.write("a/mast.md", "The 12sailing-mast is new.", expected_version=None)
        (match,) = (await store.search("a/", "ailing", **{**bounds, "max_files": 9, "max_chars": 20})).matches
        assert match.path == "a/mast.md"
        assert match.snippet.startswith("...")
        assert len(match.snippet) == 13

    anyio.run(use)
