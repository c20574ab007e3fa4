"""A pytest plugin for other projects' own tests: our adapters stand in the place of their stores.

`make peers-tests` loads it (`pytest -p substitutes`) and runs the tests of an unpacked source distribution. Each path that
a test gives a store becomes a database of ours in that place.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import picomem
from picomem.agent.adapters.anthropic_tool import ROOT, memory_tool
from picomem.agent.adapters.openai_session import OpenAISession
from picomem.agent.adapters.pydantic_ai_harness import HarnessStore

_engines: list[picomem.Engine] = []
_folders: dict[str, picomem.Engine] = {}


def _engine(database: str) -> picomem.Engine:
    _engines.append(picomem.open(database, embedder="none"))
    return _engines[-1]


class SubstituteSession(OpenAISession):
    """Made as the SDK's `SQLiteSession` is; without a path each is a store of its own."""

    def __init__(self, session_id: str, db_path: str | Path = ":memory:", session_settings: Any = None, **_: Any):
        path = tempfile.mkdtemp() + "/memory.db" if str(db_path) == ":memory:" else f"{db_path}.picomem"
        super().__init__(_engine(path), session_id, session_settings=session_settings)

    def close(self) -> None:
        pass


def _substitute_memory_tool(base_path: str) -> Any:
    engine = _engine(f"{base_path}/memory.db")
    _folders[str(base_path)] = engine
    tool = memory_tool(engine)
    tool.base_path = base_path
    tool.memory_root = Path(base_path)
    return tool


def _substitute_store(*, database: Path) -> HarnessStore:
    """Made as the harness's `SqliteMemoryStore` is."""
    return HarnessStore(_engine(f"{database}.picomem"))


def _snapshot(base_path: str) -> dict[str, str]:
    """What the files hold, as the test suite reads it from a folder."""
    files = _folders[base_path].acting_as("agent:claude").files()
    return {f"{ROOT[1:]}/{path}": file.text for path in files.paths() if (file := files.read(path)) is not None}


def pytest_configure() -> None:
    try:
        import agents  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        pass
    else:
        agents.SQLiteSession = SubstituteSession
    try:
        from anthropic.lib.tools import _beta_builtin_memory_tool as theirs
    except ModuleNotFoundError:
        pass
    else:
        theirs.BetaLocalFilesystemMemoryTool = _substitute_memory_tool  # type: ignore[assignment,misc]
    try:
        from pydantic_ai_harness import memory  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        pass
    else:
        memory.SqliteMemoryStore = _substitute_store


# Tests of how the projects' own stores lie on a disk, which ours do not, by a part of their names; and tests of what
# ours does otherwise on purpose.
_OF_THE_OTHER_STORE = (
    "worker_thread",  # connections of sqlite3 in threads
    "retired_connections",
    "quarantined_connection",
    "rollback_failure_evicts",
    "file_lock_is_shared",
    "post_commit_cancellation",
    "corrupt",  # rows written into its tables
    "closed_rejects_empty",  # a closed session; ours does not close the engine
    "failed_add_items_releases_write_lock",  # the same behaviour is in tests/agent/adapters
    "failed_clear_session",
    "failed_pop_item",
    "symlink",  # links in a folder
    "world_writable",
    "TestBetaAsync",  # the adapter is synchronous
    "test_in_memory_store",  # of the harness, as the next four
    "test_file_store",
    "test_sqlite_store",  # connections and the schema of its tables
    "test_postgres",
)
_HARNESS = "tests/memory/test_stores.py"
_OTHERWISE_ON_PURPOSE = (
    "unmatched_history_function_call_output",  # an output comes with its call, whoever asks
    "too_many_lines",  # 5 MB; a file holds 8,000 characters
    "preserves_crlf",  # stored text has line feeds
)


def _is_of_the_other_store(item: pytest.Item) -> bool:
    if any(part in item.nodeid for part in (*_OF_THE_OTHER_STORE, *_OTHERWISE_ON_PURPOSE)):
        return True
    # The harness runs each test of its contract with three of its own stores; ours stands in the place of the third.
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return item.nodeid.startswith(_HARNESS) and parameters.get("index", 2) != 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if _is_of_the_other_store(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        module = getattr(item, "module", None)
        if hasattr(module, "get_directory_snapshot"):
            module.get_directory_snapshot = _snapshot


@pytest.fixture(autouse=True)
def _closed_engines() -> Iterator[None]:
    yield
    while _engines:
        _engines.pop().close()
    _folders.clear()
