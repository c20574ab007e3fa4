"""A power cut at any moment loses nothing that was acknowledged and breaks nothing (R2).

A run does random work on a disk that remembers what was synced (see power_cut.py), and is cut again and again: at
random operations an image is taken of what the disk would hold, with what was acknowledged by then. After the run
each image is opened as a program would after the power came back. What it holds must be the work that was
acknowledged, and of the one step that was under way all or nothing.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.amounts import amount
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine
from picomem.engine.record_chain import verify_record

from .power_cut import Disk, watched_disk

pytestmark = [
    pytest.mark.reliability("R2"),
    pytest.mark.sqlite_file("cuts the power of the disk that the file is on"),
]

RUNS = amount(3, 50)
CUTS = 20  # of a run
STEPS = 24

_NAMES = ("amber", "birch", "cobalt", "dune", "ember", "fjord")
_WORDS = (
    "anchor basin candle dragon engine falcon garden hammer island jacket kettle lantern mirror needle orchard "
    "parrot quarry ribbon saddle tunnel umbrella violin window yellow zephyr bottle copper desert feather glacier"
).split()


@dataclass
class _Model:
    """What is believed, by key, and how many turns of the transcript are in."""

    believed: dict[str, str] = field(default_factory=dict)
    turns: int = 0

    def copy(self) -> _Model:
        return _Model(dict(self.believed), self.turns)


@dataclass
class _Cut:
    folder: Path
    before: _Model
    after: _Model
    place: str


class _Run:
    """Random work by a seed, and cuts in it."""

    def __init__(self, seed: int, folder: Path, disk: Disk, open_engine: Callable[..., Engine], vfs: str) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.cut_at = set(random.Random(f"cuts {seed}").sample(range(1, 1_000), CUTS * 3 // 2))
        self.folder = folder
        self.disk = disk
        self.open = lambda: open_engine(folder / "live" / "memory.db", vfs=vfs)
        self.transcript = folder / "talk.jsonl"
        self.transcript.touch()
        self.acknowledged = _Model()
        self.coming = _Model()
        self.step = "opening"
        self.cuts: list[_Cut] = []
        disk.watch = self._watch

    def _watch(self, number: int) -> None:
        if number not in self.cut_at or len(self.cuts) == CUTS:
            return
        folder = self.folder / f"cut{number}"
        self.disk.cut(f"{self.seed} {number}", folder)
        place = f"seed {self.seed}, operation {number}, in {self.step}"
        self.cuts.append(_Cut(folder, self.acknowledged.copy(), self.coming.copy(), place))

    def work(self, prepare: Callable[[Engine], None]) -> None:
        engine = self.open()
        prepare(engine)
        for _ in range(STEPS):
            verbs = [self.remember, self.remember, self.remember, self.forget, self.ingest, self.checkpoint]
            verb = self.rng.choice(verbs)
            self.step = verb.__name__
            verb(engine)
            self.acknowledged = self.coming.copy()
            if self.rng.random() < 0.1:
                self.step = "close"
                engine.close()
                engine = self.open()
                prepare(engine)
        self.step = "close"
        engine.close()

    def remember(self, engine: Engine) -> None:
        key = self.rng.choice(_NAMES)
        text = f"{key} " + " ".join(self.rng.sample(_WORDS, 8))
        self.coming.believed[key] = text
        engine.remember(text, key=key)

    def forget(self, engine: Engine) -> None:
        if self.coming.believed:
            key = self.rng.choice(sorted(self.coming.believed))
            del self.coming.believed[key]
            engine.forget(key)

    def ingest(self, engine: Engine) -> None:
        with self.transcript.open("a", encoding="utf-8") as file:
            for _ in range(self.rng.randint(1, 4)):
                self.coming.turns += 1
                text = f"turn{self.coming.turns} " + " ".join(self.rng.choices(_WORDS, k=40))
                file.write(json.dumps({"role": "user", "content": text}) + "\n")
        engine.ingest([self.transcript])

    def checkpoint(self, engine: Engine) -> None:
        connection_of(engine).wal_checkpoint()


def _state(engine: Engine) -> _Model:
    believed = {memory.key: memory.content for memory in engine.memories()}
    text = " ".join(hit.text for hit in engine.timeline(limit=1_000))
    turns = sum(word.startswith("turn") and word[4:].isdigit() for word in text.split())
    return _Model(believed, turns)


def _prefer_many_checkpoints(engine: Engine) -> None:
    connection_of(engine).wal_autocheckpoint(30)


def _cuts(seed: int, tmp_path: Path, open_engine: Callable[..., Engine], prepare: Callable) -> list[_Cut]:
    with watched_disk(f"power{seed}") as disk:
        run = _Run(seed, tmp_path, disk, open_engine, f"power{seed}")
        run.work(prepare)
    assert len(run.cuts) == CUTS, f"seed {seed} made {disk.operations} operations and {len(run.cuts)} cuts"
    return run.cuts


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_power_cut_loses_nothing_acknowledged_and_breaks_nothing(seed, tmp_path, open_engine, disagreements):
    for cut in _cuts(seed, tmp_path, open_engine, _prefer_many_checkpoints):
        path = cut.folder / "memory.db"
        shutil.copy(tmp_path / "live" / "memory.db.chain-key", cut.folder)
        engine = open_engine(path)
        state = _state(engine)
        assert state in (cut.before, cut.after), f"{cut.place}: {state}"
        diagnosis = engine.doctor()
        assert diagnosis.findings == [], cut.place
        assert verify_record(engine).whole, cut.place
        engine.remember("After the storm the lighthouse shines again", key="afterwards")
        engine.ingest([tmp_path / "talk.jsonl"])
        engine.close()
        assert disagreements(path) == [], cut.place


def test_the_same_cuts_find_a_store_that_syncs_too_little(tmp_path, open_engine):
    """With synchronous=NORMAL acknowledged rows are lost, so these cuts do find what they are for."""

    def _prepare(engine: Engine) -> None:
        connection_of(engine).pragma("synchronous", 1)

    lost = 0
    for cut in _cuts(0, tmp_path, open_engine, _prepare):
        engine = open_engine(cut.folder / "memory.db")
        lost += _state(engine) not in (cut.before, cut.after)
        assert engine.doctor().findings == [], cut.place
    assert lost
