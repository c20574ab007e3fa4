"""What people see of a recall: hits by session, in words that somebody wrote, and how to go on to the passage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem

SESSION = "8463c716-a2ea-4c14-9efa-87158ebd9f20"
OTHER = "97c5bbc9-0d7e-4d7c-8a3c-b70d0d1bb786"


def row(session: str, number: int, role: str, content: object, at: str) -> dict[str, object]:
    kept = f"{session[:8]}-0000-4000-8000-{number:012}"
    before = f"{session[:8]}-0000-4000-8000-{number - 1:012}" if number else None
    return {
        "type": role, "uuid": kept, "parentUuid": before, "cwd": "/home/mia/harbor", "sessionId": session,
        "timestamp": at, "gitBranch": "main", "isSidechain": False, "userType": "external", "version": "2.1.330",
        "message": {"role": role, "content": content},
    }  # fmt: skip


def claude_session(home: Path, session: str, *rows: dict[str, object]) -> None:
    folder = home / ".claude" / "projects" / "-home-mia-harbor"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows), "utf-8")


@pytest.fixture
def two_sessions(picomem: Picomem, home: Path) -> None:
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/home/mia/harbor/src/queue.py"}}
    claude_session(
        home,
        SESSION,
        row(SESSION, 0, "user", "Why does the booking queue lose jobs?", "2026-04-07T09:00:00Z"),
        row(SESSION, 1, "assistant", "The queue lives in Redis, which forgets jobs.", "2026-04-07T09:01:00Z"),
        row(SESSION, 2, "assistant", [edit], "2026-04-07T09:02:00Z"),
        row(SESSION, 3, "user", "Deploy the queue on Fridays never again.", "2026-04-07T09:03:00Z"),
    )
    claude_session(
        home,
        OTHER,
        row(OTHER, 0, "user", "The queue of the ferry was long, a job for the weekend.", "2026-05-01T10:00:00Z"),
        {"type": "custom-title", "customTitle": "Ferry trip", "sessionId": OTHER},
    )
    assert picomem("ingest").code == 0


def test_people_see_the_hits_of_a_session_together_below_its_title_date_and_files(
    picomem: Picomem, two_sessions: None
) -> None:
    lines = picomem("recall", "why does the queue lose jobs").out.splitlines()
    first = next(number for number, line in enumerate(lines) if "Why does the booking queue lose jobs?" in line)
    assert (
        lines[first] == f"── Why does the booking queue lose jobs?  (claude-code {SESSION[:8]}, 2026-04-07)  [harbor]"
    )
    assert lines[first + 1] == "   files: src/queue.py"
    headings = [line for line in lines if line.startswith("── ")]
    assert len(headings) == 2
    assert "── Ferry trip  (claude-code 97c5bbc9, 2026-05-01)  [harbor]" in headings
    numbered = [line for line in lines if line[:1].isdigit()]
    assert [line.split(".")[0] for line in numbered] == [str(number) for number in range(1, len(numbered) + 1)]
    assert "1. user, 2026-04-07 09:00, turn 1" in numbered


def test_the_json_of_a_recall_is_a_flat_list_of_hits_and_each_session_once(
    picomem: Picomem, two_sessions: None
) -> None:
    answer = picomem("recall", "why does the queue lose jobs", "--json").json
    assert [hit["score"] for hit in answer["hits"]] == sorted((hit["score"] for hit in answer["hits"]), reverse=True)
    assert {hit["session"] for hit in answer["hits"]} == {SESSION, OTHER}
    titles = {session["session"]: (session["title"], session["files"]) for session in answer["sessions"]}
    assert titles == {
        SESSION: ("Why does the booking queue lose jobs?", ["src/queue.py"]),
        OTHER: ("Ferry trip", []),
    }


def test_a_reason_names_words_and_no_stems(picomem: Picomem, two_sessions: None) -> None:
    printed = picomem("recall", "deploys in Redis").out
    assert "deploys" in printed
    assert "Redis" in printed
    assert "deploi" not in printed
    assert "redi " not in printed
    assert "redi," not in printed
