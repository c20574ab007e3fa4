"""Sessions for the views of what was said: months of talk, and texts that break pages."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.databases import open_memory

from picomem.operations.table import operation

BEGIN = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> & \"quotes\" 'too'",
    "متى تغادر العبّارة الأولى من الميناء غدًا؟ The ferry \u202egnorw si txet siht\u202c",
    "渡轮几点从四号码头出发？船长说是六点，但是星期天停航，请在前一天晚上确认。",
    "\x1b[31mred\x1b[0m \x07 zero\u200bwidth \u2066isolated\u2069",
    "word" * 25_000,
    "{{ 7 * 7 }} {% raw %} ${x} %s %(a)s {0}",
)
TALK = (
    ("user", "Which port does the staging database use after the move?"),
    ("assistant", "The staging database listens on port 5433 since the move to the new cluster. The old one is read-only."),
    ("user", "Good. Why is the queue slow on Mondays? It took eleven minutes to drain this morning."),
    ("assistant", "Because the weekly report locks the jobs table for ten minutes.\n\nTwo ways out:\n\n1. run the report on the replica\n2. take the lock per batch"),
    ("user", "Take the replica, and note that we decided it because of the lock."),
)  # fmt: skip


def write_session(path: Path, session: str, project: str, said: list[tuple[str, str]], begin: datetime) -> Path:
    """A transcript of Claude Code, a message a minute."""
    lines = [
        {
            "type": role,
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number else None,
            "sessionId": session,
            "timestamp": f"{begin + timedelta(minutes=number):%Y-%m-%dT%H:%M:%SZ}",
            "cwd": f"/home/ann/{project}",
            "message": {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]},
        }
        for number, (role, text) in enumerate(said)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def fill_sessions(db: Path, user: str = "local", sessions: int = 12, *, begin: datetime = BEGIN) -> None:
    """Store sessions of two projects, one every few days, and one of hostile texts."""
    folder = db.parent / f"talk-{user}"
    folder.mkdir(exist_ok=True)
    paths = [
        write_session(
            folder / f"talk-{number}.jsonl",
            f"8463c716-0000-4222-8333-{number:012}",
            ("harbor", "yard")[number % 2],
            [(role, f"{text} ({number})") for role, text in TALK],
            begin + timedelta(days=3 * number + number % 2, hours=number % 7),
        )
        for number in range(sessions)
    ]
    hostile = [(("user", "assistant")[number % 2], text) for number, text in enumerate(HOSTILE)]
    paths.append(
        write_session(folder / "hostile.jsonl", "8463c716-ffff", "<b>port</b>", hostile, begin - timedelta(days=5))
    )
    with open_memory(db, user=user, embedder="none") as memory:
        verb = operation("ingest")
        verb.call(memory, verb.request(paths=tuple(map(str, paths))))
