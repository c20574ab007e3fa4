"""A small store as a person would have it: memories of several origins and languages, and a conversation."""

from __future__ import annotations

import json
from pathlib import Path

from tests.databases import open_memory

from picomem.operations.table import operation

MEMORIES = (
    {
        "content": "The staging database listens on port 5433",
        "key": "staging_db_port",
        "kind": "fact",
        "project": "harbor",
        "tags": ("database", "staging"),
    },
    {
        "content": "Always run the linters before a commit",
        "key": "lint_first",
        "kind": "instruction",
        "pinned": True,
        "importance": 0.9,
    },
    {
        "content": "Prefers green tea in the morning",
        "key": "tea",
        "kind": "preference",
        "context": "She asked for it on every trip",
    },
    {
        "content": "数据库的备份每天凌晨三点运行，保存在 backup-02 上",
        "key": "backup_time",
        "kind": "fact",
        "tags": ("备份",),
    },
    {
        "content": "The queue moved from Redis to PostgreSQL because Redis lost jobs",
        "key": "queue_store",
        "kind": "decision",
        "project": "harbor",
    },
    {"content": "The vendor page says that port 5433 is blocked on Sundays", "key": "vendor_port", "origin": "web"},
)


def fill_examples(db: Path, user: str = "local") -> None:
    """Store the examples for a user: six memories, one of them with two versions, and a session of four messages."""
    transcript = db.parent / "session-of-ann.jsonl"
    lines = [
        ("user", "Which port does the staging database use after the move?", "2026-04-06T09:00:00Z"),
        (
            "assistant",
            "The staging database listens on port 5433 since the move to the new cluster.",
            "2026-04-06T09:00:20Z",
        ),
        ("user", "Good. Why is the queue slow on Mondays?", "2026-04-07T08:00:00Z"),
        ("assistant", "Because the weekly report locks the jobs table for ten minutes.", "2026-04-07T08:00:30Z"),
    ]
    transcript.write_text("".join(_claude_line(number, *line) for number, line in enumerate(lines)), "utf-8")
    with open_memory(db, user=user, embedder="none") as memory:
        for fields in MEMORIES:
            verb = operation("remember")
            verb.call(memory, verb.request(**fields))
        verb = operation("revise")
        verb.call(
            memory, verb.request(name="tea", content="Prefers black tea in the morning", reason="she said so today")
        )
        verb = operation("ingest")
        verb.call(memory, verb.request(paths=(str(transcript),)))


def _claude_line(number: int, role: str, text: str, at: str) -> str:
    content = text if role == "user" else [{"type": "text", "text": text}]
    line = {
        "type": role,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number else None,
        "sessionId": "8463c716-1111-4222-8333-444455556666",
        "timestamp": at,
        "cwd": "/home/ann/harbor",
        "message": {"role": role, "content": content},
    }
    return json.dumps(line, ensure_ascii=False) + "\n"
