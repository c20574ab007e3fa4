"""Each kind of background work begins when it is due, for every user who has something due, and not before."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.consolidation.conftest import TALK, begun
from tests.ingest.test_transcript_copies import write
from tests.sqlite_file import connection_of
from tests.waiting import wait_until

from picomem.clock import DAY, MINUTE, iso
from picomem.engine.engine import Engine
from picomem.engine.job_store import JobStore, job_store
from picomem.errors import StoreError
from picomem.jobs import Background, in_background
from picomem.jobs.job_kinds import (
    CONSOLIDATE,
    EXPORT_INDEX,
    KEEP_TRANSCRIPTS,
    RETENTION,
    Consolidate,
    Done,
    Failed,
    Retention,
    Watch,
    ended,
    may_begin,
    read_transcripts,
)
from picomem.light_dataclass import replace
from picomem.operations.background import CancelJobRequest, JobsRequest, JobView, state_of
from picomem.operations.maintenance import StatusRequest
from picomem.operations.table import operation
from picomem.records.caller import Caller
from picomem.records.scope import Scope
from picomem.records.session import NewMessage
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import IndexSettings, IngestSettings, MemorySettings, RecallSettings, SessionSettings

from .conftest import at_work, job, state


def _engine(runtime: Runtime, user: str):
    return runtime.engine(scope=Scope(user))


@pytest.mark.requirement("A6", "P7")
def test_idle_conversations_of_every_user_are_consolidated(runtime: Runtime, clock) -> None:
    talks = {user: begun(_engine(runtime, user), *TALK[:2]).id for user in ("ann", "bob")}
    with at_work(runtime):
        clock.now += 9 * MINUTE
        begun(_engine(runtime, "cid"), *TALK[:2])
        clock.now += MINUTE
        for user, talk in talks.items():
            wait_until(
                lambda user=user, talk=talk: _engine(runtime, user).sessions().get(talk).last_consolidated_seq == 2
            )
            wait_until(lambda user=user: state(runtime, CONSOLIDATE, user) == "done")
    assert state(runtime, CONSOLIDATE, "cid") == "", "what is not idle is left"


_RARE = {"idle_consolidation_minutes": 10_000, "consolidation_turn_threshold": 100}
_LONG = [replace(message, content=f"{message.content} {'and a boat ' * 100}") for message in TALK[2:4]]


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("chosen", "window", "then", "wait"),
    [
        ({"idle_consolidation_minutes": 10}, 16_000, (), 10 * MINUTE),
        ({"consolidation_turn_threshold": 2}, 16_000, TALK[2:4], 0),
        ({}, 800, _LONG, 0),
        ({"consolidation_time": "03:30"}, 16_000, (), 210 * MINUTE),
    ],
    ids=["idle", "turns", "size", "time of day"],
)
def test_each_trigger_begins_consolidation_once(
    db: Path, database, clock, chosen: dict[str, Any], window: int, then: list[NewMessage], wait: int
) -> None:
    settings = Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"),
        memory=MemorySettings(enabled=True, **{**_RARE, **chosen}),
        session=SessionSettings(context_window=window),
    )
    with Runtime(database.connect(db), settings, clock=clock) as runtime:
        talk = begun(runtime.engine(), *TALK[:2]).id
        clock.now += max(0, wait - 1)
        assert Consolidate().find(JobStore(runtime.resources), "") == []
        clock.now += min(wait, 1)
        if then:
            runtime.engine().sessions().append(talk, *then)
        with at_work(runtime):
            wait_until(lambda: state(runtime, CONSOLIDATE) == "done")
        assert runtime.engine().sessions().get(talk).last_consolidated_seq == 2 + len(then)
        clock.now += DAY
        assert Consolidate().find(JobStore(runtime.resources), "") == []


@pytest.mark.requirement("A6")
def test_a_process_of_one_user_leaves_the_conversations_of_others(runtime: Runtime, clock) -> None:
    talks = {user: begun(_engine(runtime, user), *TALK[:2]).id for user in ("ann", "bob", "cid")}
    clock.now += 10 * MINUTE
    with in_background(_engine(runtime, "bob"), look_seconds=0.01):
        wait_until(lambda: state(runtime, CONSOLIDATE, "bob") == "done")
    consolidated = {
        user: _engine(runtime, user).sessions().get(talk).last_consolidated_seq for user, talk in talks.items()
    }
    assert consolidated == {"ann": 0, "bob": 2, "cid": 0}


def test_without_memory_enabled_nothing_is_consolidated(db: Path, database, clock) -> None:
    settings = Settings(recall=RecallSettings(embedder="none", timezone="UTC"))
    with Runtime(database.connect(db), settings, clock=clock) as runtime:
        begun(runtime.engine(), *TALK)
        clock.now += 10 * MINUTE
        assert Consolidate().find(JobStore(runtime.resources), "") == []


@pytest.mark.requirement("P7", "O19")
def test_what_is_past_its_time_is_archived_once_in_an_interval(runtime: Runtime, clock) -> None:
    ann = _engine(runtime, "ann")
    ann.remember("The crane is yellow until June", key="crane", expires=iso(clock.now + 100 * MINUTE))
    ann.remember("The pier is closed until May", key="pier", expires=iso(clock.now + MINUTE))
    with at_work(runtime):
        clock.now += MINUTE
        wait_until(lambda: state(runtime, RETENTION, "ann") == "done")
        assert [memory.key for memory in ann.memories()] == ["crane"]
        assert job(runtime, RETENTION, "ann").next_run_at == iso(clock.now + 60 * MINUTE)
        clock.now += 100 * MINUTE
        wait_until(lambda: ann.memories(archived=True)[-1].key and len(ann.memories(archived=True)) == 2)
    assert {change.actor for change, _ in ann.changes() if change.verb == "expire"} == {"job:retention"}
    assert state(runtime, RETENTION, "bob") == ""


def test_the_index_page_is_exported_when_memory_changed(db: Path, tmp_path: Path, database, settings, clock) -> None:
    page = tmp_path / "MEMORY-INDEX.md"
    settings = replace(settings, index=IndexSettings(export=str(page)))
    with Runtime(database.connect(db), settings, clock=clock) as runtime, at_work(runtime):
        engine = runtime.engine()
        engine.remember("The staging database listens on port 5433", key="staging_db_port", pinned=True)
        wait_until(lambda: page.exists() and "5433" in page.read_text())
        wait_until(lambda: state(runtime, EXPORT_INDEX) == "done")
        page.unlink()
        engine.revise("staging_db_port", "The staging database listens on port 6432")
        wait_until(lambda: page.exists() and "6432" in page.read_text())
        runtime.engine(scope=Scope("ann")).remember("Ann mends the lute on Fridays", key="lute")
    assert "lute" not in page.read_text()


@pytest.mark.requirement("P7")
def test_a_failing_job_shows_its_error_and_is_tried_again_later(runtime: Runtime, clock, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    settings = replace(runtime.settings, index=IndexSettings(export=str(blocked)))
    runtime.resources.settings = settings
    runtime.engine().remember("The crane is yellow", key="crane")
    with at_work(runtime):
        wait_until(lambda: state(runtime, EXPORT_INDEX) == "failed")
        first = job(runtime, EXPORT_INDEX)
        assert (first.failures, first.next_run_at) == (1, iso(clock.now + MINUTE))
        assert str(blocked) in first.last_error
        shown = operation("status").call(runtime.engine(), StatusRequest())
        assert shown.jobs == {EXPORT_INDEX: "failed"}
        assert shown.job_errors == {EXPORT_INDEX: first.last_error}
        assert f"The job {EXPORT_INDEX} says: {first.last_error}" in operation("status").presentation(shown).warnings
        clock.now += MINUTE
        wait_until(lambda: job(runtime, EXPORT_INDEX).failures == 2)
        wait_until(lambda: state(runtime, EXPORT_INDEX) == "failed")
        assert job(runtime, EXPORT_INDEX).next_run_at == iso(clock.now + 2 * MINUTE)
        blocked.rmdir()
        clock.now += 2 * MINUTE
        wait_until(lambda: state(runtime, EXPORT_INDEX) == "done")
    mended = job(runtime, EXPORT_INDEX)
    assert (mended.failures, mended.last_error) == (0, "")


def test_a_job_whose_engine_cannot_be_made_leaves_no_lease_behind(runtime: Runtime) -> None:
    failures = [StoreError("The store is away.")]

    def engine_of(user: str, actor: str) -> Engine:
        if failures:
            raise failures.pop()
        return runtime.engine(Caller(user, actor))

    background = Background(JobStore(runtime.resources), engine_of, [], user="ann")
    with pytest.raises(StoreError, match="is away"):
        background.run_here(Retention(), lambda: None)
    assert isinstance(background.run_here(Retention(), lambda: pytest.fail("The job is still leased.")), Done)


def test_a_cancelled_job_rests_a_day_or_until_it_is_resumed(runtime: Runtime, clock) -> None:
    ann = _engine(runtime, "ann")
    first = begun(ann, *TALK[:2]).id
    cancel = operation("cancel-job")
    with at_work(runtime):
        clock.now += 10 * MINUTE
        wait_until(lambda: state(runtime, CONSOLIDATE, "ann") == "done")
    assert cancel.call(ann, CancelJobRequest(CONSOLIDATE)).state == "cancelled"
    second = begun(ann, *TALK[:2]).id
    clock.now += DAY - MINUTE
    store = JobStore(runtime.resources)
    assert Consolidate().find(store, "") == []
    assert cancel.call(ann, CancelJobRequest(CONSOLIDATE, resume=True)).state == "waiting"
    assert [due.user for due in Consolidate().find(store, "")] == ["ann"]
    with at_work(runtime):
        wait_until(lambda: ann.sessions().get(second).last_consolidated_seq == 2)
    assert ann.sessions().get(first).last_consolidated_seq == 2


def test_jobs_come_by_pages_and_belong_to_their_user(runtime: Runtime, clock) -> None:
    ann = _engine(runtime, "ann")
    begun(ann, *TALK[:2])
    ann.remember("The pier is closed until May", key="pier", expires=iso(clock.now + MINUTE))
    with at_work(runtime):
        clock.now += 10 * MINUTE
        wait_until(lambda: state(runtime, CONSOLIDATE, "ann") == state(runtime, RETENTION, "ann") == "done")
    listing = operation("jobs")
    first = listing.call(ann, JobsRequest(limit=1))
    second = listing.call(ann, JobsRequest(limit=1, cursor=first.cursor))
    assert [view.name for page in (first, second) for view in page.jobs] == [CONSOLIDATE, RETENTION]
    assert second.cursor == ""
    assert listing.call(_engine(runtime, "bob"), JobsRequest()).jobs == []


def test_who_may_only_read_cancels_nothing(runtime: Runtime) -> None:
    reader = runtime.engine(Caller("ann", permissions=frozenset({"memory:read:user"})))
    assert operation("jobs").call(reader, JobsRequest()).jobs == []
    with pytest.raises(Exception, match="memory:write:user"):
        operation("cancel-job").call(reader, CancelJobRequest(CONSOLIDATE))


def test_a_purge_leaves_no_job_and_no_error_behind(runtime: Runtime, clock) -> None:
    ann = _engine(runtime, "ann")
    begun(ann, *TALK[:2])
    with at_work(runtime):
        clock.now += 10 * MINUTE
        wait_until(lambda: state(runtime, CONSOLIDATE, "ann") == "done")
    ann.purge(everything=True)
    assert operation("jobs").call(ann, JobsRequest()).jobs == []
    json.dumps(ann.status().jobs)


@pytest.mark.sqlite_file("damages a row in the file")
def test_a_damaged_job_is_left_out_and_begins_anew(runtime: Runtime, clock) -> None:
    ann = _engine(runtime, "ann")
    session = begun(ann, *TALK[:2])
    clock.now += 10 * MINUTE
    running = job_store(ann).begin("ann", CONSOLIDATE, "", may_begin)
    assert running is not None
    running.end(lambda job, now: ended(job, Failed("It broke."), "", now))
    connection = connection_of(ann)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE jobs SET state = 'faimed', next_run_at = 0")
    assert operation("jobs").call(ann, JobsRequest()).jobs == []
    assert ann.status().jobs == {}
    with at_work(runtime):
        wait_until(lambda: ann.sessions().get(session.id).last_consolidated_seq == 2)
        wait_until(lambda: state(runtime, CONSOLIDATE, "ann") == "done")
    assert job(runtime, CONSOLIDATE, "ann").failures == 0


@pytest.mark.sqlite_file("copies of transcripts lie beside the file")
@pytest.mark.requirement("X9")
def test_transcripts_are_copied_while_a_process_stays(db: Path, database, clock, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    log = write(tmp_path / "claude" / "projects" / "-w" / "5e55.jsonl")
    os.utime(log, ns=(clock.now * 1_000 - 29 * DAY * 1_000,) * 2)
    settings = Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"), ingest=IngestSettings(keep="expiring"),
    )  # fmt: skip
    with Runtime(database.connect(db), settings, clock=clock) as runtime:
        runtime.engine().ingest([log])
        with at_work(runtime):
            wait_until(lambda: runtime.engine().status().copies["files"] == 1)
            assert job(runtime, KEEP_TRANSCRIPTS, "local").last_error == ""


class _Noted:
    """A run that notes what it is told."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.told: list[tuple[int, int]] = []

    def tell(self, done: int, total: int, text: str = "") -> None:
        self.told.append((done, total))

    progress = tell

    def note_error(self, error: str) -> None:
        assert not error


def test_a_watch_says_how_many_megabytes_it_reads(runtime: Runtime, tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"The crane of quay {number} is red."} for number in range(40)]
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said), "utf-8")
    run = _Noted()
    read_transcripts(runtime.engine(Caller("local")), [str(tmp_path)], run)
    assert run.told[0][1] == (tmp_path / "talk.jsonl").stat().st_size
    view = JobView("watch", "watch", "", "running", False, 1_500_000, 4_000_000, "bytes", None, None, "", 0, "")
    assert state_of(view) == "running, 1.5 of 4.0 MB read"


@pytest.mark.requirement("X10")
def test_a_watch_that_waits_for_more_tells_no_progress_whatever_reads_for_it(runtime: Runtime, tmp_path: Path) -> None:
    run = _Noted()
    watch = Watch(
        [str(tmp_path)], lambda _engine, _paths, run: run.progress(0, 600_000), watching=lambda _: run.stop.set()
    )
    watch.work(runtime.engine(Caller("local")), run)
    assert run.told == [(0, 600_000), (0, 0)]
