"""Small files as other programs write them, and what of each is to become memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw


class ForeignFile(NamedTuple):
    """`write(folder)` makes the file or folder and returns it; `contents` are the entries that become memories, each
    with the day since which it holds (empty: the day of the import); `passed_over` counts what is none."""

    write: Callable[[Path], Path]
    contents: dict[str, str]
    passed_over: dict[str, int] = {}  # noqa: RUF012


def _mem0(folder: Path) -> Path:
    memories = [
        {
            "id": "bf4d4092-cf91-4181-bfeb-b6fa2ed3061b",
            "memory": "Anna prefers black coffee from Kenya",
            "hash": "1ed9f5e6",
            "metadata": {"category": "food"},
            "score": None,
            "created_at": "2026-03-01T09:00:00.123456-08:00",
            "updated_at": "2026-03-02T09:00:00-08:00",
            "user_id": "anna",
        },
        {"id": "2", "memory": "The staging database listens on port 5433", "created_at": "2026-03-03T09:00:00Z"},
    ]
    path = folder / "mem0.json"
    path.write_text(json.dumps({"results": memories, "relations": [{"source": "anna", "relationship": "likes"}]}))
    return path


def _mcp_memory(folder: Path) -> Path:
    lines = [
        {
            "type": "entity",
            "name": "David Barnett",
            "entityType": "person",
            "observations": ["Speaks fluent Spanish", "David Barnett works from the Lisbon office"],
        },
        {"type": "entity", "name": "QuintoAndar", "entityType": "company", "observations": []},
        {"type": "relation", "from": "David Barnett", "to": "QuintoAndar", "relationType": "works_at"},
    ]
    path = folder / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))  # it writes no newline at the end
    return path


def _letta(folder: Path) -> Path:
    document = {
        "agents": [{"name": "memo", "id": "agent-0", "block_ids": ["block-0"], "messages": [{"role": "user"}]}],
        "groups": [],
        "blocks": [
            {"id": "block-0", "label": "human", "value": "Name: Anna Weber\n- Anna lives in Bern since 2019\n"},
            {"id": "block-1", "label": "persona", "value": "I am Sam, a friendly assistant."},
        ],
        "tools": [{"id": "tool-0", "source_code": "def f(): ..."}],
    }
    path = folder / "memo.af"
    path.write_text(json.dumps(document))
    return path


def _older_letta(folder: Path) -> Path:
    document = {
        "agent_type": "memgpt_agent",
        "core_memory": [
            {"label": "human", "value": "Anna lives in Bern since 2019", "updated_at": "2025-04-01T10:00:00Z"},
            {"label": "project", "value": ""},
        ],
        "messages": [],
        "version": "0.6.47",
    }
    path = folder / "agent.json"
    path.write_text(json.dumps(document))
    return path


def _basic_memory(folder: Path) -> Path:
    root = folder / "basic-memory"
    (root / "coffee").mkdir(parents=True)
    (root / "coffee" / "Coffee Brewing.md").write_text(
        "---\ntitle: Coffee Brewing\ntype: note\npermalink: coffee/coffee-brewing\ntags:\n- coffee\n- brewing\n"
        "created: 2026-02-03\n---\n\n# Coffee Brewing\n\n## Observations\n"
        "- [technique] Water at 205°F extracts the optimal compounds #temperature (from tests)\n"
        "- [decision] We decided to buy the burr grinder for the office\n"
        "- [ ] Order filters\n\n## Relations\n- contrasts_with [[Tea Brewing]]\n",
        "utf-8",
    )
    return root


def _markdown(folder: Path) -> Path:
    root = folder / "notes"
    root.mkdir()
    (root / "MEMORY.md").write_text("# Decisions\n- We decided to use Redis for the job queue\n\n```\ncode\n```\n")
    (root / "2026-04-05.md").write_text("- The relay in hall 3 listens on port 7070\n")
    return root


def _claude_code(folder: Path) -> Path:
    root = folder / ".claude"
    memory = root / "projects" / "-home-anna-crane" / "memory"
    memory.mkdir(parents=True)
    (root / "CLAUDE.md").write_text("# Rules\n- Always run the linter before you commit\n@docs/other.md\n")
    (memory / "MEMORY.md").write_text("- [Test database](test_database.md) — which database tests use\n")
    (memory / "test_database.md").write_text(
        "---\nname: Test database\ndescription: which database tests use\ntype: project\n---\n\n"
        "Integration tests use the real PostgreSQL on port 5433.\n"
    )
    return root


def _codex(folder: Path) -> Path:
    root = folder / ".codex"
    (root / "memories").mkdir(parents=True)
    (root / "AGENTS.md").write_text("## Conventions\n- Use tabs in all Makefiles of the project\n")
    (root / "memories" / "MEMORY.md").write_text("- Anna prefers short answers in English\n")
    (root / "memories" / "memory_summary.md").write_text("- A summary that says less\n")
    return root


def _openclaw(folder: Path) -> Path:
    root = folder / "workspace"
    (root / "memory" / "dreaming").mkdir(parents=True)
    (root / "SOUL.md").write_text("You are a lobster.\n")
    (root / "MEMORY.md").write_text("- The crane in the harbour is yellow <!-- importance: 9 -->\n")
    (root / "USER.md").write_text(
        "- Anna speaks Swiss German at home <!-- observed: 2026-03-27 | status: active -->\n"
        "- Anna lives in Paris with her sister <!-- observed: 2025-01-01 | status: superseded -->\n"
    )
    (root / "memory" / "2026-03-13.md").write_text("- The ferry to Murano leaves at nine\n")
    (root / "memory" / "dreaming" / "2026-03-13.md").write_text("- The lighthouse dreams of rain\n")
    return root


def _nanobot(folder: Path) -> Path:
    root = folder / "nanobot"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "MEMORY.md").write_text("- The boiler room key hangs behind the door\n")
    lines = [
        {"cursor": 1, "timestamp": "2026-03-13 14:30", "content": "- [permanent] Anna's sister lives in Rome"},
        {
            "cursor": 2,
            "timestamp": "2026-03-14 14:30",
            "content": "- [ephemeral] She is in the kitchen\n[RAW] 3 messages",
        },
    ]
    (root / "memory" / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


def _claude_mem(folder: Path) -> Path:
    path = folder / "claude-mem.db"
    with closing(apsw.Connection(str(path))) as database:
        database.execute(
            "CREATE TABLE observations(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, "
            "project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, "
            "narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER, "
            "created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)"
        )
        database.execute(
            "CREATE TABLE session_summaries(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT, "
            "request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, created_at TEXT, "
            "created_at_epoch INTEGER)"
        )
        database.execute("CREATE TABLE user_prompts(id INTEGER PRIMARY KEY, prompt_text TEXT)")
        database.execute("INSERT INTO user_prompts VALUES (1, 'Fix the queue')")
        insert = (
            "INSERT INTO observations(memory_session_id, project, type, title, subtitle, facts, narrative, concepts, "
            "created_at, created_at_epoch) VALUES ('s1', 'crane', ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        at = ("2026-03-04T05:06:07.000Z", 1_772_600_767_000)
        facts = json.dumps(["The job queue retries failed jobs five times", "Redis listens on port 6380"])
        database.execute(insert, ("discovery", "Queue retries", "", facts, "Long.", '["how-it-works"]', *at))
        database.execute(
            insert,
            ("decision", "SQLite chosen for the cache", "", "[]", "It needs no server on small machines.", "[]", *at),
        )
        database.execute(
            "INSERT INTO session_summaries(project, request, learned, created_at, created_at_epoch) "
            "VALUES ('crane', 'Why does it hang?', 'The hang came from a lock that nobody released', ?, ?)",
            at,
        )
    return path


FILES = {
    "mem0": ForeignFile(
        _mem0,
        {
            "Anna prefers black coffee from Kenya": "2026-03-02",
            "The staging database listens on port 5433": "2026-03-03",
        },
        {"relation": 1},
    ),
    "mcp-memory": ForeignFile(
        _mcp_memory,
        {
            "David Barnett (person)": "",
            "David Barnett: Speaks fluent Spanish": "",
            "David Barnett works from the Lisbon office": "",
            "David Barnett works at QuintoAndar": "",
            "QuintoAndar (company)": "",
        },
        {},
    ),
    "letta": ForeignFile(
        _letta,
        {"Name: Anna Weber": "", "Anna lives in Bern since 2019": ""},
        {"persona": 1, "message": 1},
    ),
    "letta, older": ForeignFile(_older_letta, {"Anna lives in Bern since 2019": "2025-04-01"}, {"empty block": 1}),
    "basic-memory": ForeignFile(
        _basic_memory,
        {
            "Water at 205°F extracts the optimal compounds (from tests)": "2026-02-03",
            "We decided to buy the burr grinder for the office": "2026-02-03",
            "Coffee Brewing contrasts with Tea Brewing": "2026-02-03",
            "Order filters": "2026-02-03",
        },
    ),
    "markdown": ForeignFile(
        _markdown,
        {"We decided to use Redis for the job queue": "", "The relay in hall 3 listens on port 7070": "2026-04-05"},
    ),
    "claude-code": ForeignFile(
        _claude_code,
        {
            "Always run the linter before you commit @docs/other.md": "",
            "Integration tests use the real PostgreSQL on port 5433.": "",
        },
        {"link to another note": 1},
    ),
    "codex": ForeignFile(
        _codex,
        {"Use tabs in all Makefiles of the project": "", "Anna prefers short answers in English": ""},
    ),
    "openclaw": ForeignFile(
        _openclaw,
        {
            "The crane in the harbour is yellow": "",
            "Anna speaks Swiss German at home": "2026-03-27",
            "The ferry to Murano leaves at nine": "2026-03-13",
        },
    ),
    "nanobot": ForeignFile(
        _nanobot,
        {"The boiler room key hangs behind the door": "", "Anna's sister lives in Rome": "2026-03-13"},
        {"item of the history that is not to last": 2},
    ),
    "claude-mem": ForeignFile(
        _claude_mem,
        {
            "The job queue retries failed jobs five times": "2026-03-04",
            "Redis listens on port 6380": "2026-03-04",
            "SQLite chosen for the cache: It needs no server on small machines.": "2026-03-04",
            "The hang came from a lock that nobody released": "2026-03-04",
        },
        {"prompt": 1},
    ),
}
