"""A process that does background work, killed with SIGKILL at many points of each kind of work, and another one after it:
the store is as if the work had been done once.

The process kills itself right before its n-th SQL statement, as in tests/consolidation/test_killed.py. It is forked from
one in which everything is loaded. This file is the program of that one as well.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.amounts import amount
from tests.conftest import START
from tests.consolidation.conftest import TALK
from tests.ingest.test_host_summaries import claude, written
from tests.programs import forking

from picomem.clock import DAY, MINUTE, iso
from picomem.engine.job_store import JobStore
from picomem.jobs import job_kinds, runner
from picomem.jobs.job_kinds import (
    CONSOLIDATE,
    CONSOLIDATE_TRANSCRIPTS,
    EMBED,
    EXPORT_INDEX,
    RETENTION,
    WATCH,
    may_begin,
)
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.caller import Caller
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import IndexSettings, MemorySettings, RecallSettings
from picomem.store.sqlite.connector import SqliteConnector

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGKILL"),
    pytest.mark.sqlite_file("kills a process at one of SQLite's statements"),
]

KILLS = amount(3, 60)  # of each kind
_NEVER = 1_000_000

Work = Callable[..., int]
KINDS = (WATCH, EMBED, RETENTION, CONSOLIDATE, CONSOLIDATE_TRANSCRIPTS, EXPORT_INDEX)
_REPLY = {
    "facts": [{"key": "port", "content": "The staging database listens on port 5433", "kind": "project", "importance": 0.8, "message": 2, "quote": "5433"}],
    "timeline": "They found why staging was slow.", "summary": "", "invalidate": [],
}  # fmt: skip


def _settings(folder: Path, kind: str) -> Settings:
    answer = f"{shlex.quote(sys.executable)} -c {shlex.quote(f'print({json.dumps(json.dumps(_REPLY))})')}"
    command = answer if kind == CONSOLIDATE_TRANSCRIPTS else ""
    return Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"),
        memory=MemorySettings(enabled=True, consolidate_transcripts=True, consolidation_command=command),
        index=IndexSettings(export=str(folder / "MEMORY-INDEX.md")),
    )


def _open(db: Path, kind: str) -> Runtime:
    embedder = StaticEmbedder() if kind == EMBED else None
    return Runtime(SqliteConnector(db), _settings(db.parent, kind), embedder=embedder, clock=lambda: START + 20 * DAY)


def program(kind: str, path: str, statement: int) -> int:
    """Do what is due of a kind, until that statement; how many there were."""
    db, left, lock = Path(path), statement, threading.Lock()

    def count(*_: object) -> bool:
        nonlocal left
        with lock:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
    with _open(db, kind) as runtime:
        background = runner.Background(
            JobStore(runtime.resources), lambda user, actor: runtime.engine(Caller(user, actor)), [], user="local"
        )
        entry = _entry(kind, db, background)
        for due in background.find(entry):
            background._run(entry, due, may_begin)
    return statement - left


def _entry(kind: str, db: Path, background: runner.Background) -> job_kinds.JobKind:
    if kind == WATCH:  # until all that is there was read
        return job_kinds.Watch([str(db.parent / "talks")], watching=lambda _: background.ask_to_end())
    if kind == EMBED:
        return job_kinds.Embed(StaticEmbedder().name)
    return {
        RETENTION: job_kinds.Retention,
        CONSOLIDATE: job_kinds.Consolidate,
        CONSOLIDATE_TRANSCRIPTS: job_kinds.ConsolidateTranscripts,
        EXPORT_INDEX: job_kinds.ExportIndex,
    }[kind]()


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    """`work(kind, db, statement)`: do what is due of a kind until that statement; how many there were, or 0 if the
    process was killed."""
    with forking(__file__) as call:
        yield lambda kind, db, statement=_NEVER: call(kind, str(db), statement) or 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which each kind of work has something to do."""
    folder = tmp_path_factory.mktemp("made")
    said = [
        ("user", "Why is staging slow?"),
        ("assistant", [{"type": "text", "text": "Its database listens on 5433."}]),
    ]
    talks = folder / "talks"
    for number in range(3):
        records = [claude(who, minute, text) for minute, (who, text) in enumerate(said)]
        written(talks / f"{number}.jsonl", *[{**record, "sessionId": f"s{number}", "uuid": f"{number}{record['uuid'][1:]}"} for record in records])  # fmt: skip
    with Runtime(SqliteConnector(folder / "made.db"), _settings(folder, ""), clock=lambda: START) as runtime:
        memory = runtime.engine()
        memory.remember("The crane is yellow", key="crane", pinned=True)
        memory.remember("The pier is closed until May", key="pier", expires=iso(START + MINUTE))
        log = memory.sessions()
        log.append(log.create().id, *TALK[:2])
        memory.ingest(talks / "0.jsonl")
    return folder


def _copied(made: Path, to: Path) -> Path:
    shutil.copytree(made, to)
    return to / "made.db"


_TABLES = {
    "memories": "SELECT key, version, content, origin, source, known_to IS NULL FROM memories ORDER BY key, version",
    "episodes": "SELECT category, preview, first_turn, last_turn, part, origin, role FROM episodes ORDER BY preview, role",
    "transcripts": "SELECT session, cursor, size, turns FROM transcripts ORDER BY session",
    "sessions": "SELECT last_consolidated_seq, consolidation_failures FROM sessions",
    "runs": "SELECT first_seq, last_seq, generator FROM consolidations",
    "runs of transcripts": "SELECT first_turn, last_turn, generator FROM transcript_consolidations",
    "vectors": "SELECT space, doc, vector FROM vectors ORDER BY space, doc",
    "changes": "SELECT verb, decision, reason, actor FROM changes ORDER BY verb, decision, reason",
    "exports": "SELECT content_hash FROM exports",
    "jobs": "SELECT kind, state, failures, last_error, mark <> '' FROM jobs",
    "leases": "SELECT name FROM leases",
}


def _rows(db: Path) -> dict[str, Any]:
    """What the store holds, by what does not differ from run to run, and the exported page."""
    page = db.parent / "MEMORY-INDEX.md"
    with closing(apsw.Connection(str(db))) as connection:
        held: dict[str, Any] = {name: connection.execute(select).fetchall() for name, select in _TABLES.items()}
    return {**held, "page": page.read_text() if page.exists() else ""}


@pytest.mark.requirement("P7", "X10")
@pytest.mark.reliability("R1")
@pytest.mark.parametrize("kind", KINDS)
def test_a_job_that_is_killed_anywhere_is_done_once_by_the_next_process(kind, made, work, tmp_path, disagreements):
    calm = _copied(made, tmp_path / "calm")
    before = _rows(calm)
    count = work(kind, calm)
    expected = _rows(calm)
    assert [(name, state) for name, state, *_ in expected["jobs"]] == [(kind, "waiting" if kind == WATCH else "done")]  # fmt: skip
    assert expected["leases"] == []
    assert {name for name in expected if expected[name] != before[name]} > {"jobs"}, "there was nothing to do"
    points = random.Random(kind).sample(range(1, count), min(KILLS, count - 1))
    for point in points:
        db = _copied(made, tmp_path / f"killed at {point}")
        if work(kind, db, point) == 0:
            with closing(apsw.Connection(str(db))) as connection:
                connection.execute("UPDATE leases SET expires_at = 0")  # 45 seconds pass
            assert work(kind, db) > 0
        actual = _rows(db)
        assert {name: rows for name, rows in actual.items() if name != "leases"} == {
            name: rows for name, rows in expected.items() if name != "leases"
        }, f"killed before statement {point} of {count}"
        assert disagreements(db) == []
        shutil.rmtree(db.parent)
