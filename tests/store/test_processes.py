"""Several processes on one file, with no daemon between them (X10, R8).

Every process stays, and while the others write it also erases, scrubs, examines, copies, and leaves and comes back.

This file is the program of the other processes too: it reads one line of JSON a job from its input and answers with
one line. A job starts when its line comes, so jobs that are sent one after the other run at once.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.amounts import amount
from tests.databases import chosen
from tests.distinct_texts import distinct_text

from picomem import open as open_memory
from picomem.clock import system_clock
from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.store.files.copying import copy_store

pytestmark = pytest.mark.reliability("R8")

WRITERS = amount(4, 8)
STEPS = amount(20, 2_000)
REPEATS = amount(1, 10)
ROOT = Path(__file__).parents[2]
CHORES = amount(4, 25)  # pieces of maintenance of each process; one may look at the whole file


def _mixed(memory: Engine, seed: int) -> dict[str, Any]:
    """Random verbs on keys of its own, recalls and maintenance; what is believed at the end, as a model has it, and
    what failed."""
    rng = random.Random(seed)
    model: dict[str, str] = {}
    failed: list[str] = []
    for step in range(STEPS):
        key, text = f"p{seed}k{rng.randrange(6)}", distinct_text(seed, step)
        try:
            if rng.random() < CHORES / STEPS:
                failed += _keep(memory, rng, f"p{seed}s{step}")
            if rng.random() < 0.2 and key in model:
                del model[key]
                memory.forget(key)
            elif rng.random() < 0.3 and key in model:
                model[key] = text
                memory.revise(key, text)
            else:
                model[key] = text
                memory.remember(text, key=key)
            recalled = [hit.text for hit in memory.recall(text, include_transcripts=False).hits]
            if (text in recalled) != (model.get(key) == text):
                failed.append(f"step {step}: {key} was recalled as {recalled}")
            memory.index()
        except PicomemError as error:
            failed.append(f"step {step}: {error!r}")
    return {"model": model, "failed": failed}


_CHORES_ON_A_SERVER = ("purge", "scrub", "doctor", "visit")


def _keep(memory: Engine, rng: random.Random, name: str) -> list[str]:
    """One piece of maintenance beside others who write; what is wrong with what it says."""
    store, beside = sys.argv[1:3]
    chores = ("purge", "scrub", "doctor", "copy", "visit") if Path(store).exists() else _CHORES_ON_A_SERVER
    with tempfile.TemporaryDirectory(dir=beside) as folder:
        match rng.choice(chores):
            case "purge":
                return _erase(memory, Path(folder) / f"{name}.jsonl")
            case "scrub":
                memory.scrub()
            case "doctor":
                findings = memory.doctor().findings
                return [f"{name}: {finding}" for finding in findings if finding.check != "purge"]  # another's goes on
            case "copy":
                copy_store(Path(store), Path(folder) / "copy.db")
                with open_memory(Path(folder) / "copy.db", embedder="none") as copy:
                    findings = copy.doctor().findings
                return [f"{name}, in the copy: {finding}" for finding in findings if finding.check != "purge"]
            case "visit":
                with open_memory(store, embedder="none") as second:
                    second.status()
    return []


def _erase(memory: Engine, transcript: Path) -> list[str]:
    """Read a conversation and purge it; what a clean purge would not say."""
    secret = distinct_text(transcript.name)
    transcript.write_text(json.dumps({"role": "user", "content": secret}) + "\n")
    memory.ingest([transcript])
    purged = memory.purge(session=transcript.stem)
    wrong = [] if purged.scan and not (purged.scan.unread or purged.scan.postings) else [f"the scan: {purged.scan}"]
    if purged.finished and purged.scan and purged.scan.found:
        wrong.append(f"left after a purge: {purged.scan.found}")
    return wrong


def _ingest(memory: Engine, folder: str, times: int = 1) -> dict[str, Any]:
    failed, done = [], 0
    for _ in range(times):
        try:
            report = memory.ingest([Path(folder)])
            failed += report.problems
            done += report.episodes
        except PicomemError as error:
            failed.append(repr(error))
    return {"episodes": done, "failed": failed}


def _remember(memory: Engine, text: str, key: str) -> str:
    return memory.remember(text, key=key).change_id


def _recall(memory: Engine, question: str) -> list[str]:
    return [hit.text for hit in memory.recall(question).hits]


_JOBS = {"mixed": _mixed, "ingest": _ingest, "remember": _remember, "recall": _recall}


class Process:
    """Another process with the same file; `send` starts a job, `answer` waits for what it gives."""

    def __init__(self, path: Path) -> None:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        self._process = subprocess.Popen(
            [sys.executable, __file__, chosen().named(path), str(path.parent)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, job: str, *given: object) -> None:
        print(json.dumps([job, *given]), file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process has ended"
        return json.loads(line)

    def ask(self, job: str, *given: object) -> Any:
        self.send(job, *given)
        return self.answer()

    def end(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
        assert self._process.returncode == 0


@contextmanager
def _processes(path: Path, count: int) -> Iterator[list[Process]]:
    """That many processes, each ready (it has answered once) before the first job."""
    with ExitStack() as stack:
        started = [Process(path) for _ in range(count)]
        for process in started:
            stack.callback(process.end)
        for process in started:
            assert process.answer() == "ready"
        yield started


def _transcripts(folder: Path, files: int = 6, turns: int = 40) -> Path:
    folder.mkdir()
    for file in range(files):
        records = [
            {
                "role": ("user", "assistant")[turn % 2],
                "content": " ".join(distinct_text(file, turn, part) for part in range(8)),
            }
            for turn in range(turns)
        ]
        (folder / f"talk{file}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def _episodes(engine: Engine) -> list[tuple]:
    """Every episode of the store by place and text, sorted; whoever wrote it."""
    hits = engine.timeline(limit=100_000)
    return sorted((hit.transcript, hit.turns, hit.text) for hit in hits)


@pytest.mark.timeout(amount(3_600, 36_000))
@pytest.mark.requirement("X10", "P3")
@pytest.mark.parametrize("repeat", range(REPEATS))
def test_processes_that_write_at_once_are_never_refused_and_lose_nothing(
    tmp_path, open_engine, disagreements, repeat: int
):
    path, folder = tmp_path / "memory.db", _transcripts(tmp_path / "talks")
    with _processes(path, WRITERS + 1) as (reader, *writers):
        for seed, writer in enumerate(writers):
            writer.send("mixed", seed + repeat * WRITERS)
        reader.send("ingest", str(folder), 3)
        results = [writer.answer() for writer in writers]
        ingested = reader.answer()
    assert [result["failed"] for result in (*results, ingested)] == [[]] * (WRITERS + 1)
    engine = open_engine(path, clock=system_clock)
    expected = {key: text for result in results for key, text in result["model"].items()}
    assert {memory.key: memory.content for memory in engine.memories()} == expected
    assert len(_episodes(engine)) == ingested["episodes"] > 0
    # A purge that found no moment of its own beside eight writers said so, and is finished when it is run again.
    if [finding.check for finding in engine.doctor().findings] == ["purge"]:
        assert engine.purge().finished
    assert engine.doctor().findings == []
    engine.close()
    assert disagreements(path) == []


@pytest.mark.requirement("X10", "P3")
def test_each_process_sees_at_once_what_another_wrote(tmp_path, open_engine):
    path = tmp_path / "memory.db"
    engine = open_engine(path, clock=system_clock)
    with _processes(path, 1) as (other,):
        for number in range(5):
            other.ask("remember", distinct_text("theirs", number), f"theirs{number}")
            assert _recall(engine, distinct_text("theirs", number)) == [distinct_text("theirs", number)]
            assert distinct_text("theirs", number) in engine.index().text
            engine.remember(distinct_text("mine", number), key=f"mine{number}")
            assert other.ask("recall", distinct_text("mine", number)) == [distinct_text("mine", number)]


@pytest.mark.requirement("X10")
def test_two_processes_that_ingest_one_folder_store_each_turn_once(tmp_path, open_engine, disagreements):
    folder = _transcripts(tmp_path / "talks")
    alone = open_engine(tmp_path / "alone.db")
    expected = _ingest(alone, str(folder))["episodes"]
    path = tmp_path / "memory.db"
    with _processes(path, 2) as pair:
        for process in pair:
            process.send("ingest", str(folder))
        results = [process.answer() for process in pair]
        again = [process.ask("ingest", str(folder)) for process in pair]
    assert [result["failed"] for result in (*results, *again)] == [[]] * 4
    assert sum(result["episodes"] for result in results) == expected
    assert sum(result["episodes"] for result in again) == 0
    engine = open_engine(path)
    assert _episodes(engine) == _episodes(alone)
    assert engine.status().transcripts == alone.status().transcripts
    engine.close()
    assert disagreements(path) == []


@pytest.mark.requirement("X10")
def test_processes_that_make_the_database_at_once_make_one(tmp_path, open_engine):
    """Nobody waits to be ready: all of them open a file that is not there yet."""
    for number in range(2):
        path = tmp_path / str(number) / "memory.db"
        with _processes(path, WRITERS) as writers:
            for seed, writer in enumerate(writers):
                writer.send("remember", distinct_text(seed), f"k{seed}")
            for writer in writers:
                writer.answer()
        engine = open_engine(path, clock=system_clock)
        assert len(engine.memories()) == WRITERS
        assert engine.doctor().findings == []


def _say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _serve(path: str) -> None:
    with open_memory(path, embedder="none") as memory:
        _say("ready")
        for line in sys.stdin:
            job, *given = json.loads(line)
            _say(_JOBS[job](memory, *given))


if __name__ == "__main__":
    _serve(sys.argv[1])
