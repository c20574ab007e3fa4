"""Sets of prompts: what was said in one developer's sessions, and prompts of a later one.

A row of a set (data/injection_*.jsonl, and those of `python -m benchmarks inject`) is a `session` (project, date,
turns), a `memory` (kind, project, date, text), or a `prompt` (language, class, project, text, and the entries that help
with it: `s01:3` is the fourth turn of s01).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from picomem.clock import Micros, iso, parse_iso
from picomem.engine.current_index_page import index_account
from picomem.engine.engine import Engine
from picomem.errors import Refused
from picomem.light_dataclass import dataclass
from picomem.records.hit import Hit
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.sqlite.connector import SqliteConnector
from training.examples import DATA

FITTED_TO = tuple(DATA / f"injection_{number}.jsonl" for number in range(1, 8))  # each of another developer
_MINUTE = 60_000_000
_LATER = 30 * 24 * 60 * _MINUTE  # after the last session, the prompts are typed


@dataclass(frozen=True, slots=True)
class Prompt:
    """What somebody types; `answers` are the entries that help, none where nothing does."""

    id: str
    language: str
    kind: str
    project: str
    text: str
    answers: frozenset[str]

    @property
    def recollects(self) -> bool:
        """Whether it asks for something of the developer's past, be it there or not."""
        return self.kind == "near-miss" or (bool(self.answers) and self.kind != "order")


def prompts_of(path: Path) -> list[Prompt]:
    """The prompts of a set."""
    return [_prompt(row) for row in _rows(path) if row["type"] == "prompt"]


class InjectionStore:
    """A set, in a store of its own: its sessions as transcripts of Claude Code, read by the real ingest."""

    def __init__(self, path: Path, folder: Path) -> None:
        """`path` is the set, `folder` an empty one for the store and the transcripts."""
        rows = _rows(path)
        self.prompts = prompts_of(path)
        self._folder = folder
        self._now: Micros = 0
        self._ids: dict[str, str] = {}  # of memories, as the set names them
        settings = Settings(recall=RecallSettings(timezone="UTC"))
        self._runtime = Runtime(SqliteConnector(folder / "memory.db"), settings, clock=lambda: self._now)
        for row in sorted((row for row in rows if row["type"] != "prompt"), key=lambda row: row["date"]):
            self._now = max(self._now, parse_iso(row["date"]))
            (self._add_session if row["type"] == "session" else self._add_memory)(row)
        self._now += _LATER

    def close(self) -> None:
        self._runtime.close()

    def engine(self, project: str) -> Engine:
        """Memory as the hook of a session in that project has it."""
        return self._runtime.engine(scope=Scope("local", project=project))

    def helps(self, hit: Hit, prompt: Prompt) -> bool:
        """Return whether a hit is one of the entries that help, or holds one of those turns."""
        if self._ids.get(hit.id) in prompt.answers:
            return True
        first, last = hit.turns or (0, -1)
        session = Path(hit.transcript).stem
        return any(f"{session}:{turn}" in prompt.answers for turn in range(first, last + 1))

    def begins_with_help(self, prompt: Prompt) -> bool:
        """Return whether the index page, with which a session of the prompt's project begins, has an entry that
        helps."""
        engine = self.engine(prompt.project)
        account = index_account(engine, engine.scope, budget=None, omitted=0)
        listed = {line.memory.id for line in account.lines if line.memory is not None}
        return any(self._ids.get(id_) in prompt.answers for id_ in listed)

    def _add_session(self, row: Mapping[str, Any]) -> None:
        folder = self._folder / row["project"]
        folder.mkdir(exist_ok=True)
        path = folder / f"{row['id']}.jsonl"
        begun = parse_iso(row["date"])
        path.write_text(
            "".join(
                json.dumps(_line(row, number, turn, iso(begun + number * _MINUTE)), ensure_ascii=False) + "\n"
                for number, turn in enumerate(row["turns"])
            ),
            "utf-8",
        )
        self.engine(row["project"]).ingest([path])

    def _add_memory(self, row: Mapping[str, Any]) -> None:
        try:
            stored = self.engine(row["project"]).remember(row["text"], kind=row["kind"])
        except Refused:
            return
        if stored.memory is not None:
            self._ids[stored.memory.id] = row["id"]


def _rows(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _prompt(row: Mapping[str, Any]) -> Prompt:
    return Prompt(row["id"], row["language"], row["class"], row["project"], row["text"], frozenset(row["answers"]))


def _line(row: Mapping[str, Any], number: int, turn: Mapping[str, str], at: str) -> Mapping[str, Any]:
    """A line of a transcript, as Claude Code writes it."""
    return {
        "type": turn["role"],
        "sessionId": row["id"],
        "uuid": f"{row['id']}-{number}",
        "parentUuid": f"{row['id']}-{number - 1}" if number else None,
        "timestamp": at,
        "cwd": f"/work/{row['project']}",
        "message": {"role": turn["role"], "content": [{"type": "text", "text": turn["text"]}]},
    }
