"""Random stores, random purges (S5): what was said only where something goes is nowhere afterwards, and what was said
elsewhere is still found. And of the plan itself: nothing stays that was made of what goes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.amounts import amount
from tests.databases import chosen
from tests.distinct_texts import SYLLABLES
from tests.sealed_stores import stored_bytes

from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.engine.record_chain import verify_record
from picomem.erasure.plan import Choice, PurgeInventory, plan
from picomem.records.session import NewMessage, Role
from picomem.store.retention_rows import EpisodeAge, Link, TranscriptAge

pytestmark = pytest.mark.reliability("S5")

_AGES = (200, 100, 20, 5)  # days


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(SYLLABLES, k=9))


def _transcript(path: Path, session: str, at: int, texts: list[str]) -> None:
    lines: list[dict] = [{"type": "session", "id": session, "version": 3, "cwd": "/tmp"}]
    for number, text in enumerate(texts):
        lines.append(
            {
                "type": "message",
                "id": f"{session}-{number:04}-aaaa-bbbb-cccc-dddddddddddd",
                "parentId": None,
                "timestamp": at // 1000 + number * 1000,
                "message": {"role": "user", "content": text},
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


class _Store:
    """A store, and of every marker the sessions in which it was said ("" stands for: by the person, by hand)."""

    def __init__(self, engine: Engine, folder: Path, rng: random.Random, now: int) -> None:
        self.engine, self.folder, self.rng = engine, folder, rng
        self.ages: dict[str, int] = {}
        self.said: dict[str, set[str]] = {}
        self.talks: dict[str, Path] = {}
        for number in range(6):
            self._tell(f"session-{number}-of-the-store", now)
        for _ in range(4):
            marker = self._marker("")
            engine.remember(f"The crate of {marker} stands on the quay", key=f"crate_{len(self.said)}")

    def _marker(self, session: str) -> str:
        if self.said and self.rng.random() < 0.2:
            marker = self.rng.choice(sorted(self.said))  # it was said elsewhere too
        else:
            marker = _word(self.rng)
        self.said.setdefault(marker, set()).add(session)
        return marker

    def _tell(self, session: str, now: int) -> None:
        age = self.rng.choice(_AGES)
        self.ages[session] = age
        texts = [
            f"{self.rng.choice(('Remember that', 'I saw that'))} the {self._marker(session)} was {self._marker(session)}"
            for _ in range(self.rng.randint(1, 4))
        ]
        self.talks[session] = self.folder / f"{session}.jsonl"
        _transcript(self.talks[session], session, now - age * DAY, texts)

    def bytes(self) -> bytes:
        return b"".join(stored_bytes(path) for path in chosen().files(self.folder / "memory.db"))


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("seed", range(amount(4, 500)))
def test_a_random_purge_takes_what_was_said_only_there_and_nothing_else(
    open_engine, db: Path, clock, disagreements, seed: int
) -> None:
    rng = random.Random(seed)
    engine = open_engine()
    store = _Store(engine, db.parent, rng, clock.now)
    engine.ingest(sorted(store.talks.values()))
    talk = engine.sessions().create()
    spoken = store._marker("talk")
    engine.sessions().append(talk.id, NewMessage(role=Role.USER, content=f"Where is the {spoken}?"))
    gone = set(store.ages)
    if seed % 3 == 0:
        chosen = rng.choice(sorted(store.ages))
        gone, purged = {chosen}, engine.purge(session=chosen)
    elif seed % 3 == 1:
        days = rng.choice((10, 50, 150))
        gone = {session for session, age in store.ages.items() if age > days}
        purged = engine.purge(older_than=days)
    else:
        gone |= {"talk", ""}
        purged = engine.purge(everything=True)
    assert purged.scan is None or (purged.scan.found == {} and purged.scan.postings == 0)
    engine.ingest(sorted(store.talks.values()))
    assert engine.doctor().findings == []
    assert verify_record(engine).whole
    engine.close()
    data = store.bytes()
    for marker, sessions in store.said.items():
        assert (marker.encode() in data) == (not sessions <= gone), (marker, sessions, gone)
        assert sessions - gone or marker[4:].encode() not in data
    assert disagreements(db) == []


_IDS = st.integers(0, 7)


@given(
    links=st.lists(st.tuples(_IDS, _IDS, st.sampled_from(["source", "repeated"])), max_size=24),
    owners=st.lists(st.integers(0, 2), min_size=8, max_size=8),
    chosen=st.integers(0, 2),
)
def test_nothing_stays_that_was_made_of_what_goes(links, owners, chosen) -> None:
    held = PurgeInventory(
        transcripts=[TranscriptAge(f"t{number}", "plain", f"s{number}", "", "", "", 1, 1) for number in range(3)],
        episodes=[EpisodeAge(f"e{number}", f"t{owner}", 1, "") for number, owner in enumerate(owners)],
        sessions=[],
        messages=[],
        covered={},
        versions=[],
        refusals=[],
        links=[Link(("episode", f"e{child}", 0), ("episode", f"e{parent}", 0), role) for child, parent, role in links],
    )
    made = plan(held, Choice(sessions=frozenset([f"s{chosen}"])))
    assert {f"e{number}" for number, owner in enumerate(owners) if owner == chosen} <= made.episodes
    assert made.transcripts == {f"t{chosen}"}
    for child, parent, role in links:
        assert role == "repeated" or f"e{parent}" not in made.episodes or f"e{child}" in made.episodes
    needed = {f"e{number}" for number, owner in enumerate(owners) if owner == chosen}
    for _ in range(8):
        needed |= {f"e{child}" for child, parent, role in links if role == "source" and f"e{parent}" in needed}
    assert made.episodes == needed
