"""The same verbs at the same times give the same bytes, whatever the seed of Python's hashes (R16).

Two processes with different PYTHONHASHSEEDs run the same random verbs, each in a store of its own, and export the
index page, memories, changes, timeline and answers. Ids are random; each stands there by the number of its first
appearance. This file is the program of the processes too.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import tempfile
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.amounts import amount
from tests.programs import start

from picomem import open as open_memory
from picomem.clock import HOUR, SECOND, Micros, parse_iso
from picomem.engine.agent_support import window_of
from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.models.static_embedder import StaticEmbedder
from picomem.operations.recall_views import jsonable
from picomem.operations.table import operation
from picomem.records.kinds import Kind
from picomem.records.session import NewMessage, Role
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings

SEEDS = amount(2, 50)
STEPS = 40
BEGIN = parse_iso("2026-05-01")

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TAGS = ("harbour", "money", "people", "tools", "weather")
_WORDS = (
    "ledger", "ferry", "lantern", "walnut", "violin", "rope", "crate", "anchor", "cellar", "pump", "stove", "map",
)  # fmt: skip
_NAMES = ("Mia", "Anton", "Ilse", "Marta", "Jon")


def _clock() -> Callable[[], Micros]:
    """A clock that goes on by a second a look."""
    now = BEGIN

    def _read() -> Micros:
        nonlocal now
        now += SECOND
        return now

    return _read


def _statement(rng: random.Random) -> str:
    first, second = rng.sample(_WORDS, 2)
    return f"{rng.choice(_NAMES)} {rng.choice(('keeps', 'needs', 'sells'))} the {first} beside the {second}"


def _transcript(folder: Path, rng: random.Random, number: int) -> Path:
    path = folder / f"talk{number}.jsonl"
    at = (BEGIN - rng.randrange(1, 900) * HOUR) / SECOND
    lines = [
        {
            "role": ("user", "assistant")[turn % 2],
            "content": f"{rng.choice(('Remember that', 'I saw that', ''))} {_statement(rng)}.",
            "timestamp": at + turn,
        }
        for turn in range(rng.randint(2, 8))
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _step(memory: Engine, rng: random.Random, folder: Path, number: int) -> object:
    """One random verb; what it gave, or the error."""
    key = f"k{rng.randrange(8)}"
    match rng.choice(
        ("remember", "remember", "revise", "forget", "undo", "ingest", "recall", "recall", "talk", "embed")
    ):
        case "remember":
            tags, kind = rng.sample(_TAGS, rng.randint(0, 3)), rng.choice([None, *Kind])
            return memory.remember(_statement(rng), key=rng.choice(("", key)), tags=tags, kind=kind)
        case "revise":
            return memory.revise(key, _statement(rng), tags=rng.sample(_TAGS, 2))
        case "forget":
            return memory.forget(key)
        case "undo":
            changed = memory.changes(5)
            return memory.undo(changed[-1][0].id) if changed else None
        case "ingest":
            return memory.ingest([_transcript(folder, rng, number)]).episodes
        case "recall":
            return _answer(memory, _statement(rng))
        case "talk":
            session = memory.sessions().named("api", rng.choice(_NAMES))
            memory.sessions().append(session.id, NewMessage(role=Role.USER, content=_statement(rng)))
            return window_of(memory, session.id).system
        case _:
            return memory.embed(afresh=rng.random() < 0.5).made


def _answer(memory: Engine, question: str) -> object:
    recall = operation("recall")
    return jsonable(recall.call(memory, recall.request(query=question)))


def _export(memory: Engine, steps: list[str]) -> str:
    """Everything that a user sees, as JSON, but for the link of the record: each store draws a key for it."""
    exported: dict[str, Any] = {"steps": steps}
    for name in ("index", "memories", "changes", "timeline", "sessions", "status", "audit"):
        verb = operation(name)
        exported[name] = jsonable(verb.call(memory, verb.request()))
    del exported["status"]["record"]["link"]
    exported["history"] = [[repr(version) for version in memory.history(held.key)] for held in memory.memories()]
    exported["answers"] = [_answer(memory, " ".join(_WORDS[number : number + 3])) for number in range(8)]
    return json.dumps(exported, ensure_ascii=False)


def _replay(seed: int) -> str:
    rng = random.Random(seed)
    settings = Settings(recall=RecallSettings(timezone="UTC"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_memory(folder / "memory.db", settings=settings, embedder=StaticEmbedder(), clock=_clock()) as memory:
            steps = []
            for number in range(STEPS):
                try:
                    steps.append(repr(_step(memory, rng, folder, number)))
                except PicomemError as error:
                    steps.append(repr(error))
            return _numbered(_export(memory, steps).replace(name, "FOLDER"))


def _numbered(text: str) -> str:
    """The text with each id, whole or its beginning, replaced by the number of its first appearance. Cursors hold ids."""
    numbers: dict[str, str] = {}
    text = re.sub(r'(?<="cursor": ")[\w-]+', lambda cursor: b64decode(cursor[0] + "==", b"-_").decode(), text)
    text = _ID.sub(lambda match: numbers.setdefault(match[0], f"id-{len(numbers)}"), text)
    return re.sub(r"\b[0-9a-f]{8}-[0-9a-f]{4}\b", "id", text)


@pytest.mark.requirement("X2")
@pytest.mark.reliability("R16")
def test_the_same_verbs_at_the_same_times_give_the_same_bytes() -> None:
    with start(__file__, PYTHONHASHSEED="1") as one, start(__file__, PYTHONHASHSEED="2") as other:
        for seed in range(SEEDS):
            for process in (one, other):
                print(seed, file=process.stdin, flush=True)
            first, second = (json.loads(process.stdout.readline()) for process in (one, other))  # type: ignore[union-attr]
            assert first == second, f"seed {seed}"
            assert len(first) > 10_000
        for process in (one, other):
            process.stdin.close()  # type: ignore[union-attr]


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_replay(int(line))) + "\n")
        sys.stdout.flush()
