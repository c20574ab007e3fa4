"""The background work of real servers: one file, several processes, one of which may be killed."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import httpx2
import pytest
from tests.cli.test_consolidate import leading_to
from tests.consolidation.conftest import TALK
from tests.consolidation.server import Server, running
from tests.databases import chosen
from tests.ingest.test_host_summaries import claude, written
from tests.waiting import wait_until

import picomem
from picomem.clock import MINUTE, system_clock
from picomem.operations.background import CancelJobRequest, JobsRequest, JobView
from picomem.operations.table import operation

from .serving import TIMEOUT, Served, running_mcp, serving, token_made_here
from .serving import picomem as command

PROTOCOL = "2026-07-28"  # of MCP, without sessions
USERS = ("ann", "bob", "cid", "dan")
MOST_ASKED = 100  # requests in a loop: a server allows a caller 200 at once


@pytest.fixture
def model() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Where Claude Code keeps its transcripts, for a server of these tests."""
    folder = tmp_path / "home" / ".claude" / "projects"
    folder.mkdir(parents=True)
    return folder


def talk_of_an_hour_ago(db: Path, user: str) -> str:
    """A conversation in which nobody has said anything for an hour; its id."""
    with picomem.open(
        chosen().named(db), user=user, embedder="none", clock=lambda: system_clock() - 60 * MINUTE
    ) as memory:
        session = memory.sessions().create().id
        memory.sessions().append(session, *TALK[:2])
    return session


def jobs(db: Path, user: str = "local") -> dict[str, JobView]:
    """The jobs of a user, as another process sees them."""
    with picomem.open(chosen().named(db), user=user, embedder="none") as memory:
        return {job.name: job for job in operation("jobs").call(memory, JobsRequest()).jobs}


def state(db: Path, name: str, user: str) -> str:
    """The state of a job as its row says; empty where it never ran."""
    return next(
        (said for (said,) in rows(db, f"SELECT state FROM jobs WHERE user_id = '{user}' AND name = '{name}'")), ""
    )


def rows(db: Path, statement: str) -> list[tuple[Any, ...]]:
    return chosen().rows(db, statement)


def let_the_leases_of_the_dead_expire(db: Path) -> None:
    """Let the time pass for which a killed process keeps others out. Whoever lives renews theirs."""
    rows(db, "UPDATE leases SET expires_at = 0")


def said(number: int, text: str) -> dict[str, Any]:
    return claude(
        "user",
        number,
        text,
        uuid=f"{number:08d}-0000-4000-8000-000000000000",
        sessionId="talk",
        timestamp=f"2026-05-04T10:{number:02d}:00.000Z",
    )


@pytest.mark.requirement("O6", "P7")
def test_a_transcript_that_is_written_while_a_server_runs_is_found_over_http(db: Path, projects: Path) -> None:
    with serving(db) as served:
        locals_ = token_made_here(db)
        written(projects / "harbor" / "talk.jsonl", said(1, "The ferry to the harbor leaves at seven from pier nine."))

        def is_found() -> bool:
            hits = served.post(locals_, "recall", {"query": "when does the ferry leave"}).json()["hits"]
            return any("pier nine" in hit["text"] for hit in hits)

        wait_until(is_found)
        watching = served.post(locals_, "jobs").json()["jobs"]
        assert [(job["name"], job["state"]) for job in watching] == [("watch", "running")]
        assert served.stop() == 0
    assert jobs(db)["watch"].state == "waiting"


def test_a_server_watches_nothing_where_it_is_told_so(db: Path, projects: Path) -> None:
    written(projects / "harbor" / "talk.jsonl", said(1, "The ferry to the harbor leaves at seven from pier nine."))
    talk_of_an_hour_ago(db, "local")
    with serving(db, "--no-watch", PICOMEM_MEMORY_ENABLED="on") as served:
        locals_ = token_made_here(db)
        wait_until(lambda: served.post(locals_, "jobs").json()["jobs"])
        wait_until(lambda: served.post(locals_, "jobs").json()["jobs"][0]["state"] == "done")
        assert [job["name"] for job in served.post(locals_, "jobs").json()["jobs"]] == ["consolidate"]


@pytest.mark.requirement("A6", "X10")
def test_two_servers_on_a_file_share_the_work_and_do_nothing_twice(db: Path, projects: Path, model: Server) -> None:
    written(projects / "harbor" / "talk.jsonl", said(1, "The ferry to the harbor leaves at seven from pier nine."))
    talks = {user: talk_of_an_hour_ago(db, user) for user in USERS}
    variables = {**leading_to(model), "PICOMEM_MEMORY_ENABLED": "on"}
    with serving(db, **variables) as first, serving(db, **variables) as second:
        for user in USERS:
            wait_until(lambda user=user: rows(db, f"SELECT 1 FROM jobs WHERE user_id = '{user}' AND state = 'done'"))
        wait_until(lambda: rows(db, "SELECT 1 FROM episodes WHERE user_id = 'local'"))
        assert len(model.requests) == len(USERS)
        runs = rows(db, "SELECT user_id, session_id FROM consolidations ORDER BY user_id")
        assert dict(runs) == talks
        assert len(runs) == len(USERS)
        # One of them watches. After a kill of either, there is still one that does.
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(TIMEOUT)
        let_the_leases_of_the_dead_expire(db)
        written(projects / "harbor" / "talk.jsonl", said(1, "The ferry to the harbor leaves at seven from pier nine."), said(2, "The lute is mended on Fridays."))  # fmt: skip
        locals_ = token_made_here(db)
        wait_until(lambda: "Fridays" in second.post(locals_, "recall", {"query": "when is the lute mended"}).text)
    previews = rows(db, "SELECT preview FROM episodes WHERE user_id = 'local' AND category = 'transcript'")
    assert sorted(previews) == [
        ("The ferry to the harbor leaves at seven from pier nine.",),
        ("The lute is mended on Fridays.",),
    ]


@pytest.mark.requirement("A6")
def test_a_server_for_one_agent_consolidates_what_is_idle(db: Path) -> None:
    session = talk_of_an_hour_ago(db, "local")
    with running_mcp(db, PICOMEM_MEMORY_ENABLED="on"):
        wait_until(lambda: state(db, "consolidate", "local") == "done")
    assert rows(db, "SELECT session_id, generator FROM consolidations") == [(session, "extractive")]


@pytest.mark.requirement("A6", "X10")
def test_a_job_whose_process_is_killed_is_done_once_by_the_next(db: Path, model: Server) -> None:
    session = talk_of_an_hour_ago(db, "ann")
    variables = {**leading_to(model), "PICOMEM_MEMORY_ENABLED": "on"}
    asked = model.hold()
    with serving(db, "--no-watch", **variables) as served:
        assert asked.wait(TIMEOUT)
        assert jobs(db, "ann")["consolidate"].state == "running"
        served.process.send_signal(signal.SIGKILL)
        served.process.wait(TIMEOUT)
    model.behave = None
    let_the_leases_of_the_dead_expire(db)
    assert jobs(db, "ann")["consolidate"].state == "waiting"
    with serving(db, "--no-watch", **variables):
        wait_until(lambda: state(db, "consolidate", "ann") == "done")
    assert rows(db, "SELECT session_id FROM consolidations") == [(session,)]
    assert rows(db, "SELECT key FROM memories") == [("staging_db_port",)]


def test_a_running_job_is_cancelled_from_another_process(db: Path, model: Server) -> None:
    talk_of_an_hour_ago(db, "ann")
    asked = model.hold()
    with serving(db, "--no-watch", **leading_to(model), PICOMEM_MEMORY_ENABLED="on") as served:
        anns = token_made_here(db, "ann")
        assert asked.wait(TIMEOUT)
        with picomem.open(chosen().named(db), user="ann", embedder="none") as memory:
            assert operation("cancel-job").call(memory, CancelJobRequest("consolidate")).cancelling
        wait_until(lambda: state(db, "consolidate", "ann") == "cancelled")
        assert served.post(anns, "memories").json()["memories"] == []
    assert rows(db, "SELECT 1 FROM consolidations") == []


@pytest.mark.requirement("P7")
def test_a_job_that_fails_says_so_in_status_and_is_tried_again(db: Path, model: Server) -> None:
    talk_of_an_hour_ago(db, "ann")
    model.behave = lambda handler, _request: handler.send_error(401)
    variables = {**leading_to(model), "PICOMEM_MEMORY_ENABLED": "on"}
    with serving(db, "--no-watch", **variables) as served:
        wait_until(lambda: state(db, "consolidate", "ann") == "failed")
        shown = command(db, "--user", "ann", "status")
        assert "The job consolidate says: " in shown.stdout + shown.stderr
        model.behave = None
        rows(db, "UPDATE jobs SET next_run_at = 0")  # a minute passes
        wait_until(lambda: state(db, "consolidate", "ann") == "done")
        assert jobs(db, "ann")["consolidate"].last_error == ""
        assert served.process.poll() is None


@pytest.mark.requirement("X10")
def test_a_long_request_of_a_user_delays_nobody_elses(db: Path, model: Server) -> None:
    for user in ("ann", "bob"):
        talk_of_an_hour_ago(db, user)
    asked = model.hold()
    with serving(db, "--no-watch", **leading_to(model)) as served, ThreadPoolExecutor() as threads:
        anns, bobs = (token_made_here(db, user) for user in ("ann", "bob"))
        # More than a user may have at once: what waits for its turn is Ann's alone.
        long = [threads.submit(served.post, anns, "consolidate") for _ in range(8)]
        assert asked.wait(TIMEOUT)
        for shown in (anns, bobs):
            assert served.post(shown, "recall", {"query": "staging"}).status_code == 200
        assert not all(request.done() for request in long)
        model.stop.set()
        assert {request.result(TIMEOUT).status_code for request in long} == {200}


@pytest.mark.sqlite_file("holds SQLite's lock on the file")
@pytest.mark.requirement("X10")
def test_writers_that_wait_for_another_process_delay_no_reader(db: Path) -> None:
    writers = {user: token_made_here(db, user) for user in USERS}
    eves = token_made_here(db, "eve")
    with serving(db, "--no-watch", PICOMEM_SERVER_BACKGROUND="false") as served, ThreadPoolExecutor(48) as threads:
        assert (
            served.post(eves, "remember", {"content": "The ferry leaves at seven", "key": "ferry"}).status_code == 200
        )

        def write(user: str, number: int) -> int:
            content = f"Boat {number} of {user} is moored at pier {number}"
            return served.post(writers[user], "remember", {"content": content, "key": f"boat_{number}"}).status_code

        def write_over_mcp(user: str, number: int) -> int:
            arguments = {"content": f"Crane {number} of {user} is yellow", "key": f"crane_{number}"}
            return mcp_call(served, writers[user], "memory_store", arguments).status_code

        with closing(apsw.Connection(str(db))) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = [threads.submit(write, user, number) for number in range(5) for user in writers]
            waiting += [threads.submit(write_over_mcp, user, number) for number in range(5) for user in writers]
            seconds: list[float] = []
            for _ in range(10):
                began = time.monotonic()
                assert served.post(eves, "recall", {"query": "when does the ferry leave"}).json()["hits"]
                assert "seven" in mcp_call(served, eves, "memory_recall", {"query": "when does the ferry leave"}).text
                seconds.append(time.monotonic() - began)
            assert not any(write.done() for write in waiting)
            assert max(seconds) < 10, seconds
            other.execute("ROLLBACK")
        assert {write.result(TIMEOUT) for write in waiting} == {200}


def mcp_call(served: Served, token: str, tool: str, arguments: dict[str, Any]) -> httpx2.Response:
    """Call a tool over MCP, without a session."""
    about = {
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": about}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": PROTOCOL}
    with served.client(token) as client:
        document = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return client.post("/mcp", json=document, headers={**headers, "Mcp-Method": "tools/call", "Mcp-Name": tool})


@pytest.mark.requirement("X10")
def test_recall_is_answered_while_transcripts_are_read(db: Path, projects: Path) -> None:
    bobs = token_made_here(db, "bob")
    with serving(db) as served:
        served.post(bobs, "remember", {"content": "The ferry leaves at seven", "key": "ferry"})
        for number in range(4):
            boats = [said(row, f"Boat {row} of {number} is moored at pier {number * row}.") for row in range(30)]
            written(projects / "harbor" / f"{number}.jsonl", *[{**boat, "sessionId": f"s{number}"} for boat in boats])
        answered = 0
        while not rows(db, "SELECT 1 FROM (SELECT count(*) AS files FROM transcripts) WHERE files = 4"):
            if answered == MOST_ASKED:
                continue  # ingest may take long on a busy machine
            hits = served.post(bobs, "recall", {"query": "when does the ferry leave"}).json()["hits"]
            assert [hit["key"] for hit in hits] == ["ferry"]
            answered += 1
        assert answered >= 3
