"""The places of an answer go to different things: a session does not fill it, and no statement takes two places."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from picomem.engine.engine import Engine

TOPICS = ("speed", "size", "price", "noise", "colour", "weight", "age", "maker", "shape", "height", "width", "depth")
REST = "It took most of the morning, because the gauge had to be fetched from the yard, and the tide was late. " * 4


@pytest.fixture
def ingest_talks(engine: Engine, tmp_path: Path) -> Callable[..., Engine]:
    """Ingest talks: of each the turns of its user."""

    def _ingest_talks(*talks: list[str]) -> Engine:
        for number, turns in enumerate(talks):
            path = tmp_path / f"talk{number}.jsonl"
            lines = ({"role": "user", "content": turn, "id": str(at)} for at, turn in enumerate(turns))
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            engine.ingest([path])
        return engine

    return _ingest_talks


def test_a_session_that_fits_often_leaves_room_for_another_that_fits_nearly_as_well(ingest_talks) -> None:
    pump = [f"The harbour pump was measured again and its {topic} written down. {REST}" for topic in TOPICS]
    engine = ingest_talks(pump, ["Somebody asked about the harbour pump, and the old boat behind the shed."])
    hits = engine.recall("harbour pump").hits
    assert len(hits) == 10
    assert len({hit.transcript for hit in hits}) == 2


def test_the_records_of_a_log_do_not_hold_each_other_back(engine: Engine, tmp_path: Path) -> None:
    path, other = tmp_path / "log.jsonl", tmp_path / "talk.jsonl"
    kinds = ("sms", "call", "photo")
    records = (
        {"role": kinds[number % 3], "content": f"The harbour pump was measured again and its {topic} noted. {REST}"}
        for number, topic in enumerate(TOPICS)
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    other.write_text(
        json.dumps(
            {"role": "user", "content": "Somebody asked about the harbour pump, and the old boat behind the shed."}
        )
    )
    engine.ingest([path, other])
    hits = engine.recall("harbour pump").hits
    assert [Path(hit.transcript).stem for hit in hits] == ["log"] * 10


def test_the_best_session_still_comes_first_and_keeps_most_places(ingest_talks) -> None:
    pump = [f"The harbour pump was measured again and its {topic} written down. {REST}" for topic in TOPICS]
    engine = ingest_talks(pump, ["Somebody asked about the harbour, and the old boat behind the shed."])
    hits = engine.recall("harbour pump").hits
    assert all("pump" in hit.text for hit in hits[:8])


def test_all_of_a_session_that_is_asked_for_by_its_time_may_be_handed_out(engine: Engine, tmp_path: Path) -> None:
    for day, count in (("2026-03-02", 10), ("2026-03-05", 1)):
        path = tmp_path / f"{day}.jsonl"
        turns = (
            f"The harbour pump was measured again and its {topic} written down. {REST}" for topic in TOPICS[:count]
        )
        lines = ({"role": "user", "content": turn, "timestamp": f"{day}T10:00:00Z"} for turn in turns)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        engine.ingest([path])
    hits = engine.recall("what about the harbour pump on March 2nd?", now="2026-03-10").hits
    assert [Path(hit.transcript).stem for hit in hits] == ["2026-03-02"] * 10


PREFERENCE = "I prefer French over English in the harbour reports."


def test_a_memory_and_the_turn_that_it_was_taken_from_take_one_place(ingest_talks) -> None:
    engine = ingest_talks([f"Remember that {PREFERENCE}", "What time is the ferry?"])
    assert len(engine.memories()) == 1
    hits = engine.recall("which language do I prefer in the harbour reports?").hits
    assert sum("harbour reports" in hit.text for hit in hits) == 1


def test_a_turn_that_says_more_than_the_memory_from_it_keeps_its_place(ingest_talks) -> None:
    engine = ingest_talks(
        [f"Remember that {PREFERENCE} What would you suggest for the minutes? And for the invoices? {REST[:100]}"]
    )
    hits = engine.recall("which language do I prefer in the harbour reports?").hits
    assert {hit.source for hit in hits if PREFERENCE[:-1] in hit.text} == {"memory", "episode"}
