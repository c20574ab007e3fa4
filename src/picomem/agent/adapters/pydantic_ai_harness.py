"""picomem as the `MemoryStore` of pydantic-ai-harness: its notebook and files, kept as memories.

    from pydantic_ai_harness.memory import Memory
    from picomem.agent.adapters.pydantic_ai_harness import HarnessStore

    Agent(model, capabilities=[Memory(store=HarnessStore(picomem.open()))])

A file holds 8,000 characters. Pass `Memory(max_memory_size=8_000)`, so that the model learns the limit in time. The
harness compares results by its own classes, which are imported when the first answer is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any, TypeVar

from anyio import to_thread
from pydantic_ai import ModelRetry

from picomem.emulation.agent_files import FileWrite, StoredFile, Written
from picomem.engine.engine import Engine
from picomem.errors import Conflict, InvalidInput, Refused
from picomem.recall.passages import marks
from picomem.text.terms import query_terms, terms

_Done = TypeVar("_Done")
_DOTS = "..."
_PART = re.compile(r"[A-Za-z0-9_.-]{1,200}")


class HarnessStore:
    """A `MemoryStore` on an open engine, which it does not close. `actor` is who has changed memory."""

    def __init__(self, engine: Engine, *, actor: str = "agent") -> None:
        self._files = engine.acting_as(actor, agent=True).files()

    def __repr__(self) -> str:
        return "HarnessStore()"

    async def read(self, path: str, *, max_chars: int) -> Any:
        """The file at `path` as a `MemoryFile`, or None where there is none."""
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        _check_path(path)
        file: StoredFile | None = await _run(lambda: self._files.read(path))
        if file is None:
            return None
        return _classes().MemoryFile(
            content=file.text[:max_chars],
            version=file.version,
            operation_id=file.operation or None,
            truncated=len(file.text) > max_chars,
        )

    async def get_operation(self, operation: Any) -> Any:
        """The result of an earlier operation as a `MemoryMutation`, or None."""
        done = await _run(lambda: self._files.done(FileWrite(operation.id, operation.fingerprint)))
        return None if done is None else _mutation(done)

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: Any | None = None
    ) -> Any:
        """Make or replace a file whose version is `expected_version`."""
        _check_path(path)
        given = _operation(operation)
        return _mutation(
            await _run(lambda: self._files.write(path, content, expected=expected_version, operation=given))
        )

    async def delete(self, path: str, *, expected_version: str | None, operation: Any | None = None) -> Any:
        """Archive a file whose version is `expected_version`."""
        _check_path(path)
        given = _operation(operation)
        return _mutation(await _run(lambda: self._files.delete(path, expected=expected_version, operation=given)))

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """The paths that begin with `prefix`, sorted."""
        if limit <= 0:
            raise ValueError("limit must be positive")
        _check_prefix(prefix)
        return (await _run(lambda: self._files.paths(prefix)))[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> Any:
        """The files below `prefix` that hold words of the query, those with the most of them first, as a
        `MemorySearchResult` within the bounds. A bound of 0 finds nothing."""
        _check_prefix(prefix)
        if min(limit, max_files, max_chars, max_file_chars) <= 0:
            return _classes().MemorySearchResult(matches=[], scanned=0, truncated=False)
        return await _run(lambda: self._search(prefix, query, limit, max_files, max_chars, max_file_chars))

    def _search(self, prefix: str, query: str, limit: int, max_files: int, max_chars: int, max_file_chars: int) -> Any:
        asked = set(query_terms(query))
        below = [path for path in self._files.paths(prefix) if asked]
        scored: list[tuple[int, str, str]] = []
        for path in below[:max_files]:
            file = self._files.read(path)
            text = file.text[:max_file_chars] if file else ""
            if score := _count_words(query, asked, f"{path.removeprefix(prefix)}\n{text}"):
                scored.append((-score, path, text))
        matches, room = [], max_chars
        best = sorted(scored)[:limit]
        for left, (score, path, text) in zip(range(len(best), 0, -1), best):
            shown = len(path.removeprefix(prefix))
            if shown >= room:
                break
            snippet = _snippet(text, query, max(1, room // left - shown))
            matches.append(_classes().MemorySearchMatch(path=path, snippet=snippet, score=float(-score)))
            room -= shown + len(snippet)
        is_cut = len(below) > max_files or len(scored) > len(matches)
        return _classes().MemorySearchResult(matches=matches, scanned=min(len(below), max_files), truncated=is_cut)


def _check_path(path: str) -> None:
    """Raise ValueError for a path that the harness's own stores refuse."""
    if not all(_PART.fullmatch(part) and ".." not in part and part != "." for part in path.split("/")):
        raise ValueError(f"invalid memory path: {path[:80]!r}")


def _check_prefix(prefix: str) -> None:
    if prefix:
        _check_path(prefix.removesuffix("/"))


def _count_words(query: str, asked: Collection[str], text: str) -> int:
    """Return how often a text holds words of the query, or, if it holds none, how often they stand inside others."""
    whole = sum(term in asked for term in terms(text))
    return whole or sum(text.casefold().count(word) for word in query.casefold().split())


def _snippet(text: str, query: str, room: int) -> str:
    """The part of a text around the first word of the query, of so many characters at most; dots stand where it is
    cut."""
    lower = text.casefold()
    inside = [place for word in query.casefold().split() if (place := lower.find(word)) >= 0]
    first = next(iter(marks(text, dict.fromkeys(query_terms(query), 1.0))), (min(inside, default=0), 0))[0]
    start = max(0, min(first - room // 3, len(text) - room))
    part = text[start : start + room]
    if start > 0:
        part = _DOTS[: len(part)] + part[len(_DOTS) :]
    if start + room < len(text):
        part = part[: -len(_DOTS)] + _DOTS[: len(part)]
    return part


def _classes() -> Any:
    return import_module("pydantic_ai_harness.memory")


def _operation(given: Any | None) -> FileWrite | None:
    return None if given is None else FileWrite(given.id, given.fingerprint)


def _mutation(done: Written) -> Any:
    return _classes().MemoryMutation(version=done.version, replayed=done.replayed, existed=done.existed)


async def _run(work: Callable[[], _Done]) -> _Done:
    """In a worker thread; what picomem raises becomes what the harness and its model know."""
    try:
        return await to_thread.run_sync(work)
    except Conflict as error:
        kind = "MemoryOperationConflictError" if "operation" in error.data else "MemoryConflictError"
        raise getattr(_classes(), kind)(str(error)) from error
    except (InvalidInput, Refused) as error:
        raise ModelRetry(str(error)) from error
