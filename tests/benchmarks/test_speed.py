from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from tests.cases import each_case

from benchmarks import speed
from benchmarks.recall_speed import percentile
from picomem.errors import InvalidInput

LITTLE = speed.Effort(
    questions=3, rounds=1, starts=1, ingests=1, claude_code_bytes=60_000, plain_bytes=20_000, small_files=20
)


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given") / "talks"
    folder.mkdir()
    turns = [{"role": "user", "content": f"The teapot number {n} is glazed.", "id": str(n)} for n in range(9)]
    (folder / "talk.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    (folder / "LICENSE").write_text("no transcript")
    return folder


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def report(transcripts, told):
    return speed.run(sizes=(40,), transcripts=transcripts, progress=told.append, effort=LITTLE)


def test_recall_is_measured_for_one_user_for_one_among_many_and_for_that_one_alone(report):
    assert [(recall.episodes, recall.users, recall.own, recall.embedder) for recall in report.recalls] == [
        (episodes, users, own, embedder)
        for episodes, users, own in ((40, 1, 40), (40, 40, 1), (1, 1, 1))
        for embedder in ("none", "static")
    ]


def test_every_time_and_ratio_is_there(report):
    for recall in report.recalls:
        assert 0 < recall.recall.p50_ms <= recall.recall.p99_ms
        assert 0 < recall.bare.cpu_p50_ms <= recall.bare.cpu_p99_ms
        assert recall.times_p50 == pytest.approx(recall.recall.p50_ms / recall.bare.p50_ms)
        assert recall.after_change_ms > 0
    for start in report.starts:
        assert (start.episodes, start.times) == (40, pytest.approx(start.ms / start.bare_ms))
        assert start.ms > start.bare_ms > 0


def test_ingest_is_measured_on_made_up_transcripts_and_on_those_given(report, transcripts):
    assert [(ingest.name, ingest.embedder) for ingest in report.ingests] == [
        (name, embedder)
        for name in ("made-up claude-code", "made-up plain", "talks")
        for embedder in ("none", "static")
    ]
    given = report.ingests[-1]
    assert (given.files, given.turns, given.episodes) == (1, 9, 9)
    assert given.bytes == (transcripts / "talk.jsonl").stat().st_size
    assert given.store_share == pytest.approx(given.store_bytes / given.bytes)
    with_vectors, without = report.ingests[3], report.ingests[2]
    assert with_vectors.embedder == "static"
    assert with_vectors.store_bytes > without.store_bytes


def test_small_files_are_measured_new_and_unchanged(report):
    files = report.files
    assert files.files == 20
    assert files.bytes > 20 * 300
    assert min(files.new_cpu_seconds, files.unchanged_cpu_seconds) > 0
    assert files.new_per_second == pytest.approx(20 / files.new_seconds)
    assert files.unchanged_per_second == pytest.approx(20 / files.unchanged_seconds)


def test_a_process_that_asked_weighs_more_than_a_bare_one(report):
    assert [use.embedder for use in report.memory] == ["none", "static"]
    for use in report.memory:
        assert use.peak_mb >= use.mb > use.bare_mb > 1


def test_progress_is_told(told, report):
    assert report.machine
    assert told[0] == "making up transcripts"
    assert "recall: 40 episodes, 40 users, embedder static" in told


def test_a_report_is_json_and_a_table(report):
    assert json.loads(json.dumps(asdict(report)))["recalls"][0]["recall"]["p50_ms"] > 0
    text = speed.render(report)
    assert text.startswith("Measured on ")
    assert [len(block.splitlines()) for block in text.split("\n\n")[2::2]] == [7, 7, 2, 3, 3, 3]
    assert "×p50" in text


def test_a_machine_that_does_not_tell_memory_has_an_empty_table(report):
    bare = speed.SpeedReport(
        machine="m",
        recalls=report.recalls,
        ingests=report.ingests,
        files=report.files,
        starts=report.starts,
        hooks=report.hooks,
        memory=(),
    )
    assert speed.render(bare).splitlines()[-1].split()[0] == "episodes"


@each_case("sizes", [(), (0,), (10, -1)])
def test_sizes_are_at_least_one(sizes):
    with pytest.raises(InvalidInput):
        speed.run(sizes=sizes, effort=LITTLE)


def test_a_folder_without_transcripts_is_told(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(InvalidInput, match="no transcript"):
            speed.run(sizes=(1,), transcripts=folder, effort=LITTLE)


def test_percentiles_are_by_nearest_rank():
    assert percentile([5, 1, 3], 0.5) == 3
    assert percentile(range(1, 101), 0.99) == 99
    assert percentile([7], 0.99) == 7
