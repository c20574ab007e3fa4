"""Another embedder: recall goes on with what there is, and the vectors are made, once, by whoever is at it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import apsw
import numpy as np
import pytest
from tests.engine_parts import missing_vectors
from tests.waiting import wait_until

from picomem.app import open_engine
from picomem.clock import SECOND
from picomem.errors import Conflict, EmbedderFailed, InvalidInput
from picomem.jobs import in_background
from picomem.memory import lease as leases
from picomem.memory.lease import LEASE_SECONDS, Lease
from picomem.memory.vectors import EmbedMissing, Vectors
from picomem.records.scope import Scope
from picomem.store.sqlite.connector import SqliteConnector

ROWS = 60
LOCAL = Scope()


def fill(memory, folder: Path, count: int = ROWS) -> None:
    """As many episodes, and one memory."""
    path = folder / "talk.jsonl"
    lines = [{"role": "user", "content": f"Number {n}: does the cat drink milk?", "id": str(n)} for n in range(count)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    memory.ingest([path])
    memory.remember("The automobile is crimson", key="paint")


def counts(db: Path) -> dict:
    """How many vectors there are, by model."""
    connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return dict(  # pyright: ignore[reportCallIssue]
            connection.execute(  # pyright: ignore[reportArgumentType]
                "SELECT s.model, count(*) FROM vectors JOIN vector_spaces AS s USING (user_id, space) GROUP BY s.model"
            ).fetchall()
        )
    finally:
        connection.close()


class Words:
    """An embedder of the test's own; `meanwhile` is called before it answers."""

    local = True
    reads_sentences = False

    def __init__(self, name: str = "words", meanwhile=lambda: None) -> None:
        self.name = name
        self.texts: list[str] = []
        self.meanwhile = meanwhile

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.meanwhile()
        self.texts += texts
        return np.ones((len(texts), 4), np.float32) / 2

    def embed_question(self, text: str) -> np.ndarray:
        return self.embed([text])[0]

    def trust(self, text: str) -> float:
        return 1.0


@pytest.mark.sqlite_file("reads and changes rows in the file")
@pytest.mark.requirement("O4", "O12")
def test_recall_goes_on_while_vectors_are_made_and_says_how_many_there_are(db, tmp_path, chosen, model) -> None:
    with open_engine(db, settings=chosen("static")) as memory:
        fill(memory, tmp_path)
        assert memory.recall("milk").legs["episodes by vector"] == "60"
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        recalled = memory.recall("milk")
        assert recalled.legs["episodes by vector"] == "0; partial: 0 of 60 have a vector"
        assert len(recalled.hits) == 10
        assert not memory.doctor().healthy
        assert counts(db) == {"wordllama-l2-256": 61}

        seen: list[tuple[int, int]] = []
        partly: list[str] = []

        def progress(done: int, total: int, _: str) -> None:
            seen.append((done, total))
            if done < total:
                partly.append(memory.recall("milk").legs["episodes by vector"])
                assert counts(db)["wordllama-l2-256"] == 61, "the old ones stay until the new ones are complete"

        done = memory.embed(progress=progress)
        assert (done.made, done.waiting, done.removed) == (61, 0, 61)
        assert seen[-1] == (61, 61)
        assert sorted(seen) == seen
        assert any("partial: " in leg for leg in partly)
        assert counts(db) == {memory.embedder_name: 61}
        assert memory.recall("milk").legs["episodes by vector"] == "60"
        assert memory.doctor().healthy
        assert memory.embed().made == 0


def test_going_back_before_the_end_costs_nothing(db, tmp_path, chosen, server) -> None:
    with open_engine(db, settings=chosen("static")) as memory:
        fill(memory, tmp_path)

    def second_fails(handler: BaseHTTPRequestHandler, texts: list[str]) -> bool:
        if len(server.requests) > 1:
            handler.send_error(500)
        return len(server.requests) == 1

    server.behave = second_fails
    with open_engine(db, settings=chosen("endpoint:tiny", base_url=server.url)) as memory:
        with pytest.raises(EmbedderFailed, match="answered 500"):
            memory.embed()
        assert missing_vectors(memory) == 60
    with open_engine(db, settings=chosen("static")) as memory:
        assert missing_vectors(memory) == 0
        assert memory.embed().removed == 1


def test_the_doctor_makes_what_is_missing(db, tmp_path, chosen, model) -> None:
    with open_engine(db, settings=chosen("none")) as memory:
        fill(memory, tmp_path)
        with pytest.raises(InvalidInput, match=r"recall\.embedder is none"):
            memory.embed()
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        assert memory.doctor(repair=True).healthy
        assert missing_vectors(memory) == 0


@pytest.mark.sqlite_file("reads and changes rows in the file")
def test_a_text_that_changes_meanwhile_does_not_get_the_vector_of_what_it_said(db, open_engine) -> None:
    connector = SqliteConnector(db)
    with open_engine(embedder=None) as memory:
        memory.remember("The automobile is crimson", key="paint")
        rewritten = "UPDATE memories SET content = 'The automobile is gone'"
        embedder = Words(meanwhile=lambda: connector.connection().execute(rewritten))
        job = EmbedMissing(connector, Scope("local"), Vectors(embedder, Scope("local")), memory.now)
        assert job.run().made == 0
        assert counts(db) == {}
        embedder.meanwhile = lambda: None
        assert job.run().made == 1
        assert embedder.texts == ["The automobile is crimson", "The automobile is gone"]
    connector.close()


@pytest.mark.sqlite_file("reads and changes rows in the file")
@pytest.mark.requirement("X10")
def test_an_embedder_that_is_slower_than_a_lease_lasts_keeps_the_work(db, open_engine, monkeypatch) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.001)
    now = [1_000 * SECOND]
    with open_engine(embedder=None) as memory:
        memory.remember("The automobile is crimson", key="paint")
    connector = SqliteConnector(db)
    refused = []

    def work_for_two_minutes() -> None:
        for _ in range(4):
            now[0] += 30 * SECOND
            deadline = time.monotonic() + 30
            while expiry(connector) != now[0] + LEASE_SECONDS * SECOND:
                assert time.monotonic() < deadline, "the lease was not renewed"
            with connector.write(LOCAL) as tx:
                refused.append(not Lease(scope=LOCAL, name="embedding", clock=lambda: now[0]).acquire(tx))

    slow = Vectors(Words(meanwhile=work_for_two_minutes), LOCAL)
    assert EmbedMissing(connector, LOCAL, slow, lambda: now[0]).run().made == 1
    assert refused == [True] * 4
    assert expiry(connector) is None  # given back
    connector.close()


def expiry(connector: SqliteConnector) -> int | None:
    """When the one lease there is ends, by a connection of its own: no two threads can use the writer's at once."""
    with closing(apsw.Connection(str(connector.path))) as looking:
        return next((end for (end,) in looking.execute("SELECT expires_at FROM leases")), None)


@pytest.mark.sqlite_file("reads and changes rows in the file")
def test_a_run_that_is_stopped_gives_the_lease_back(db, open_engine) -> None:
    with open_engine(embedder=None) as memory:
        memory.remember("The automobile is crimson", key="paint")
        connector = SqliteConnector(db)
        stop = threading.Event()
        EmbedMissing(connector, LOCAL, Vectors(Words(meanwhile=stop.set), LOCAL), memory.now, stop).run()
        assert expiry(connector) is None
        connector.close()


@pytest.mark.sqlite_file("reads and changes rows in the file")
def test_a_process_that_was_overtaken_stops(db, open_engine) -> None:
    now = [1_000 * SECOND]
    with open_engine(embedder=None) as memory:
        memory.remember("The automobile is crimson", key="paint")
    connector = SqliteConnector(db)

    def overtaken() -> None:
        now[0] += 2 * LEASE_SECONDS * SECOND
        with connector.write(LOCAL) as tx:
            assert Lease(scope=LOCAL, name="embedding", clock=lambda: now[0]).acquire(tx)

    slow = Vectors(Words(meanwhile=overtaken), Scope("local"))
    with pytest.raises(Conflict, match="taken over"):
        EmbedMissing(connector, Scope("local"), slow, lambda: now[0]).run()
    with pytest.raises(Conflict, match="Another process"):
        EmbedMissing(connector, Scope("local"), slow, lambda: now[0]).run(wait=False)
    assert counts(db) == {}
    connector.close()


def start(db: Path, url: str, *arguments: str) -> subprocess.Popen:
    """The real program with the server as its embedder."""
    env = {
        "PICOMEM_DATA_DIR": str(db.parent),
        "PICOMEM_RECALL_EMBEDDER": "endpoint:tiny",
        "PICOMEM_EMBEDDER_BASE_URL": url,
    }
    command = [sys.executable, "-m", "picomem.cli.main", "--db", str(db), *arguments]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.sqlite_file("reads and changes rows in the file")
@pytest.mark.requirement("X10")
def test_of_two_processes_that_begin_at_once_each_row_is_embedded_once(db, tmp_path, chosen, server) -> None:
    with open_engine(db, settings=chosen("static")) as memory:
        fill(memory, tmp_path, 200)
    running = [start(db, server.url, "embed", "--json") for _ in range(2)]
    done = [json.loads(process.communicate(timeout=120)[0]) for process in running]
    assert sum(report["made"] for report in done) == 201
    assert sum(report["removed"] for report in done) == 201
    assert len(server.texts) == len(set(server.texts)) == 201
    assert counts(db) == {"endpoint-tiny": 201}


@pytest.mark.sqlite_file("reads and changes rows in the file")
def test_a_run_that_is_killed_anywhere_goes_on_from_there(db, tmp_path, chosen, server) -> None:
    with open_engine(db, settings=chosen("static")) as memory:
        fill(memory, tmp_path, 100)
    victim: list[subprocess.Popen] = []

    def kills(handler: BaseHTTPRequestHandler, texts: list[str]) -> bool:
        if victim and len(server.requests) % 2 == 0:
            victim.pop().send_signal(signal.SIGKILL)
            return False
        return True

    server.behave = kills
    for _ in range(3):
        victim[:] = [start(db, server.url, "embed")]
        process = victim[0]
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
        with apsw.Connection(str(db)) as connection:  # the time that the dead one's lease still has
            connection.execute("UPDATE leases SET expires_at = 0")
        assert counts(db)["wordllama-l2-256"] == 101
    server.behave = None
    out, err = start(db, server.url, "embed").communicate(timeout=120)
    assert err == b""
    assert b"of other models removed" in out
    assert counts(db) == {"endpoint-tiny": 101}
    assert len(server.texts) < 101 + 3 * 40, "what was made before a kill is not made again"


@pytest.mark.sqlite_file("reads and changes rows in the file")
@pytest.mark.requirement("X10")
@pytest.mark.parametrize("command", [["mcp"], ["ingest", "--watch", "."]])
def test_a_process_that_stays_makes_them_in_the_background(db, tmp_path, chosen, server, command) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    with open_engine(db, settings=chosen("static")) as memory:
        fill(memory, folder)
    process = start(db, server.url, *[str(folder) if part == "." else part for part in command])
    try:
        wait_until(lambda: counts(db).get("endpoint-tiny", 0) == 61)
        assert counts(db)["wordllama-l2-256"] == 61, "only a person's command removes the old ones"
    finally:
        process.kill()
        process.communicate()


def test_an_episode_that_came_in_while_the_server_was_away_gets_its_vector_later(db, tmp_path, chosen, server) -> None:
    settings = chosen("endpoint:tiny", base_url=server.url)
    with open_engine(db, settings=settings) as memory:
        server.behave = lambda handler, _: handler.send_error(500)
        fill(memory, tmp_path, 5)
        assert missing_vectors(memory) == 6
    server.behave = None
    with open_engine(db, settings=settings) as memory:
        with in_background(memory, look_seconds=0.01):
            wait_until(lambda: missing_vectors(memory) == 0)
            memory.remember("The kitten is blue", key="pet")
        assert memory.recall("feline").hits[0].key == "pet"


@pytest.mark.sqlite_file("reads and changes rows in the file")
def test_the_end_does_not_wait_for_a_server_that_hangs(db, tmp_path, chosen, server) -> None:
    with open_engine(db, settings=chosen("static")) as memory:
        fill(memory, tmp_path, 5)
    asked, free = threading.Event(), threading.Event()

    def hanging(handler: BaseHTTPRequestHandler, texts: list[str]) -> bool:
        asked.set()
        return free.wait(60)

    server.behave = hanging
    settings = chosen("endpoint:tiny", base_url=server.url, timeout_secs=60)
    with open_engine(db, settings=settings) as memory, in_background(memory):
        assert asked.wait(30)
    worker = next(thread for thread in threading.enumerate() if thread.name == "picomem-embed")
    free.set()
    worker.join(30)
    assert not worker.is_alive()
    assert counts(db) == {"wordllama-l2-256": 6}
