"""A small question set, and a writer of such sets as files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

TOPICS = ("kiln glazes for the teapot", "the ferry timetable to Skye", "tomato seedlings on the sill")


def said(session: str, ts: str, *turns: tuple[str, str]) -> dict:
    """A session whose turns are numbered from 0, as they are in every other session."""
    return {
        "id": session,
        "ts": ts,
        "turns": [
            {"id": str(number), "role": role, "text": text, "ts": ts} for number, (role, text) in enumerate(turns)
        ],
    }


def asked(text: str, **fields: object) -> dict:
    return {
        "id": text,
        "type": "plain",
        "text": text,
        "date": "2026-03-01T09:00",
        "gold_sessions": [],
        "gold_turns": [],
        "rel": None,
        "abstain": False,
        "meta": {},
    } | fields


@pytest.fixture
def haystack() -> dict:
    """Three talks: of people by name, of a user with an agent who says much, and one without a date."""
    return {
        "id": "talks",
        "sessions": [
            said("s-kiln", "2026-02-03T18:30", ("Maria", "Hello!"), ("Nate", f"I tried {TOPICS[0]}."), ("Maria", "")),
            said(
                "s-ferry",
                "2026-02-10",
                ("user", f"Tell me about {TOPICS[1]}."),
                ("assistant", "Let me look."),
                ("assistant", "It leaves Mallaig at noon."),
                ("user", "Thanks!"),
            ),
            said("s-sill", "", ("user", f"How do I water {TOPICS[2]}?"), ("assistant", "From below.")),
        ],
        "questions": [
            asked("Who tried glazes on a teapot?", gold_sessions=["s-kiln"], gold_turns=["1"]),
            asked("When does the boat leave Mallaig?", type="time", gold_sessions=["s-ferry"], gold_turns=["2"]),
            asked("How are the seedlings watered?", date="2026-03", gold_sessions=["s-sill"], gold_turns=["0", "1"]),
            asked("What is my shoe size?", abstain=True, gold_sessions=["s-sill"]),
            asked("What else did we say?"),
        ],
    }


@pytest.fixture
def write_set(tmp_path: Path) -> Callable[..., Path]:
    """Write cases as a set, gzipped where the name says so."""

    def _write_set(*cases: dict, name: str = "talks.jsonl.gz") -> Path:
        path = tmp_path / name
        data = "".join(json.dumps(case) + "\n" for case in cases).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return _write_set
