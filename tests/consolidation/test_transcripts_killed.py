"""`consolidate` over transcripts, killed with SIGKILL at many points and run again; and what an age takes of it.

The process kills itself right before its n-th SQL statement, as in test_killed.py. This file is the program of the
process as well. KILLS=all tries every statement.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest
from tests.conftest import SteppingClock
from tests.consolidation.conftest import settings
from tests.ingest.test_host_summaries import claude, written
from tests.programs import forking

from picomem import consolidation_runner
from picomem import open as open_memory
from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.models.generator import CallBudget, Fact, Material, Proposal
from picomem.records.spend import Spend

_NEVER = 1_000_000
_SMALL = settings(consolidation_window=2_000)  # a part has 1,000 tokens of it
_DECIDED = "The {0} of pier {1} is painted {0}-green every spring."
_THINGS_OF_MAY = ("crane", "boat", "lock", "gate", "mast", "winch", "bell", "oar")
_FACTS = len(_THINGS_OF_MAY) + 1
_FILLER = " The rope lay on the quay and nobody asked whose it was." * 40


class Repeating:
    """A generator whose facts are the decisions that it is shown, so that it says the same of the same part."""

    name = "repeating"

    async def propose(self, material: Material, budget: CallBudget) -> Proposal:
        assert await budget.reserve(Spend(1, 300, 60))
        decided = [
            re.findall(r"The \w+ of pier \d+ is painted [\w-]+ every spring\.", line.text) for line in material.lines
        ]
        facts = [
            Fact(re.sub(r"\W+", "_", said.lower())[:40].strip("_"), said, quote=said, message=line.number)
            for line, all_said in zip(material.lines, decided, strict=True)
            for said in all_said
        ]
        await budget.settle(Spend(1, 100, 20))
        return Proposal(facts=tuple(facts), timeline=f"They spoke of {len(facts)} cranes, from {facts[0].content}")


def transcripts(folder: Path) -> Path:
    """A session of three parts in May, and one of a single part in April. The agent says what is a fact, so that none of
    it was captured before."""
    for name, month, things in (("may", 5, _THINGS_OF_MAY), ("april", 4, ("shed",))):
        said = [
            line
            for number, thing in enumerate(things, 1)
            for line in (("user", f"What of the {thing}?"), ("assistant", _DECIDED.format(thing, number) + _FILLER))
        ]
        records = [
            claude(
                role, number, text, sessionId=name, uuid=f"{name}-{number:04d}",
                timestamp=f"2026-{month:02d}-02T10:{number:02d}:00.000Z",
            )
            for number, (role, text) in enumerate(said)
        ]  # fmt: skip
        written(folder / f"{name}.jsonl", *records)
    return folder


def consolidate_all(memory: Engine) -> list[consolidation_runner.Consolidated]:
    return anyio.run(partial(consolidation_runner.consolidate_due, memory, Repeating(), force=True))


def program(db: str, statement: int) -> int:
    """Consolidate until that statement; how many there were."""
    left = statement

    def count(*_: object) -> bool:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
    with open_memory(db, embedder="none", settings=_SMALL) as memory:
        consolidate_all(memory)
    return statement - left


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two sessions that were read and not consolidated yet."""
    folder = tmp_path_factory.mktemp("read")
    with open_memory(folder / "read.db", embedder="none", settings=_SMALL) as memory:
        assert memory.ingest([transcripts(folder / "s")]).files == 2
    return folder / "read.db"


def _rows(db: Path) -> dict[str, Any]:
    """What the store holds, by what does not differ from run to run."""
    statements = {
        "memories": "SELECT key, version, content, origin, source, known_to IS NULL FROM memories ORDER BY key, version",
        "entries": "SELECT preview, first_turn, last_turn FROM episodes WHERE category = 'timeline' ORDER BY preview",
        "runs": "SELECT t.session, c.first_turn, c.last_turn, c.before_turn FROM transcript_consolidations AS c "
        "JOIN transcripts AS t ON t.id = c.transcript_id ORDER BY 1, 2",
        "changes": "SELECT verb, decision, count(*) FROM changes GROUP BY verb, decision ORDER BY 1, 2",
        "lineage": "SELECT m.key, l.role, e.first_turn, count(*) FROM lineage AS l "
        "LEFT JOIN memories AS m ON m.id = l.child_id LEFT JOIN episodes AS e ON e.id = l.parent_id "
        "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    }
    with closing(apsw.Connection(str(db))) as connection:
        return {name: connection.execute(sql).fetchall() for name, sql in statements.items()}


@pytest.mark.requirement("X17")
@pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGKILL")
@pytest.mark.sqlite_file("kills a process at one of SQLite's statements")
def test_a_killed_consolidation_of_transcripts_goes_on_without_loss_or_doubles(
    read: Path, tmp_path: Path, disagreements: Callable[[Path], list[str]]
) -> None:
    with forking(__file__) as call:
        calm = tmp_path / "calm.db"
        shutil.copy(read, calm)
        statements = call(str(calm), _NEVER)
        expected = _rows(calm)
        assert [run[0] for run in expected["runs"]] == ["april", "may", "may", "may"]
        assert len(expected["memories"]) == _FACTS
        points = range(1, statements + 1)
        if os.environ.get("KILLS") != "all":
            points = random.Random(20260501).sample(points, 3)
        for point in points:
            db = tmp_path / f"{point}.db"
            shutil.copy(read, db)
            assert call(str(db), point) is None
            between = _rows(db)
            assert len(between["runs"]) == len(between["entries"])  # a run is there whole, or not at all
            with closing(apsw.Connection(str(db))) as connection:
                connection.execute(
                    "UPDATE leases SET expires_at = 0"
                )  # for which a killed process keeps others waiting
            assert call(str(db), _NEVER) > 0
            assert _rows(db) == expected, f"killed at statement {point}"
            assert disagreements(db) == []


@pytest.mark.requirement("X5")
def test_a_purge_by_age_takes_what_was_distilled_from_what_it_takes(
    memory: Engine, clock: SteppingClock, tmp_path: Path
) -> None:
    folder = transcripts(tmp_path / "s")
    clock.now += 10 * DAY  # 11 May: the session of May is 9 days old, that of April 39
    assert memory.ingest([folder]).files == 2
    consolidate_all(memory)
    assert len(memory.memories()) == _FACTS
    shed = next(known for known in memory.memories() if "shed" in known.content)
    done = memory.purge(older_than=20)
    assert done.scan is not None and done.scan.found == {}
    assert len(memory.memories()) == _FACTS - 1
    assert shed.id not in {version.id for version in memory.memories(archived=True)}
    assert not memory.recall("which shed of pier 1 is painted?").hits or all(
        "shed" not in hit.text for hit in memory.recall("which shed of pier 1 is painted?").hits
    )
    assert [hit.text for hit in memory.timeline() if "shed" in hit.text] == []
    assert memory.doctor().healthy
    assert consolidate_all(memory) == []  # and nothing of what is left is due again
    assert memory.ingest([folder]).episodes == 0
    assert len(memory.memories()) == _FACTS - 1


@pytest.mark.requirement("X5", "A14")
def test_facts_stay_when_the_timeline_entry_of_their_run_is_past_its_time(
    memory: Engine, clock: SteppingClock, tmp_path: Path
) -> None:
    memory.ingest([transcripts(tmp_path / "s")])
    consolidate_all(memory)
    clock.now += 100 * DAY
    assert memory.tidy()["timeline_removed"] == 2
    assert len(memory.memories()) == _FACTS
    why = memory.why(memory.memories()[0].key)
    assert {source.parent.kind for source in why.sources} == {"episode"}
    assert consolidate_all(memory) == []
