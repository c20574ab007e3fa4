"""What is said again, said to have been so earlier, planned, expired, forgotten and begun anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.clock import DAY, iso, parse_iso
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, InvalidTime, NotFound
from picomem.operations.table import operation

PARIS, BERLIN = "Mia lives in Paris", "Mia lives in Berlin"


def true_at(engine: Engine, at: str) -> list[str]:
    return [memory.content for memory in engine.memories(valid_at=at)]


@pytest.mark.requirement("X2", "O2")
def test_a_restatement_that_says_since_when_moves_the_beginning_back(engine: Engine) -> None:
    engine.remember(PARIS, key="home", since="2026-03-01")
    again = engine.remember(PARIS, since="2026-01-01")
    assert again.decision == "merge"
    assert "earlier" in again.reason
    assert true_at(engine, "2026-02-01") == [PARIS]
    assert len(engine.memories()) == 1
    (first, *_) = engine.history("home")
    assert (first.valid_from, first.known_to is None) == (parse_iso("2026-03-01"), False)


@pytest.mark.requirement("X2")
def test_what_was_true_before_gives_way_to_the_earlier_beginning_only(engine: Engine) -> None:
    engine.remember(PARIS, key="home", since="2026-01-01")
    engine.revise("home", BERLIN, since="2026-04-01")
    engine.remember(BERLIN, key="home", since="2026-03-01")
    assert [true_at(engine, at) for at in ("2026-02-01", "2026-03-15", "2026-04-15")] == [[PARIS], [BERLIN], [BERLIN]]


@pytest.mark.parametrize("key", ["", "home"])
def test_a_later_since_of_what_is_known_writes_nothing(engine: Engine, key: str) -> None:
    engine.remember(PARIS, key="home", since="2026-01-01")
    engine.remember(PARIS, key=key, since="2026-03-01")
    assert len(engine.history("home")) == 1


@pytest.mark.requirement("O2", "X2")
@pytest.mark.parametrize("key", ["", "home"])
def test_what_holds_until_a_planned_change_is_known_and_not_doubled(engine: Engine, key: str) -> None:
    engine.remember(PARIS, key="home")
    engine.revise("home", BERLIN, since="2027-01-01")
    before = len(engine.history("home"))
    for _ in range(2):
        assert engine.remember(PARIS, key=key).decision == "merge"
    assert len(engine.history("home")) == before
    assert [memory.content for memory in engine.memories()] == [PARIS]
    assert true_at(engine, "2027-02-01") == [BERLIN]


@pytest.mark.requirement("O2", "X2")
@pytest.mark.parametrize("key", ["", "home"])
def test_a_planned_change_that_is_told_twice_is_planned_once(engine: Engine, key: str) -> None:
    engine.remember(PARIS, key="home")
    engine.revise("home", BERLIN, since="2027-01-01")
    before = len(engine.history("home"))
    assert engine.remember(BERLIN, key=key, since="2027-01-01").decision == "merge"
    assert len(engine.history("home")) == before
    assert [memory.content for memory in engine.memories()] == [PARIS]


@pytest.mark.requirement("X2")
def test_a_planned_change_that_is_told_to_be_so_now_has_come(engine: Engine) -> None:
    engine.remember(PARIS, key="home")
    engine.revise("home", BERLIN, since="2027-01-01")
    engine.remember(BERLIN)
    assert [memory.content for memory in engine.memories()] == [BERLIN]
    assert true_at(engine, "2027-02-01") == [BERLIN]


@pytest.mark.requirement("X2")
def test_details_of_what_holds_now_leave_the_planned_change_alone(engine: Engine) -> None:
    engine.remember(PARIS, key="home")
    engine.revise("home", BERLIN, since="2027-01-01")
    engine.remember(PARIS, tags=["family"])
    assert [memory.tags for memory in engine.memories()] == [("family",)]
    assert true_at(engine, "2027-02-01") == [BERLIN]


@pytest.mark.requirement("O19")
def test_an_expiry_can_be_moved_and_taken_away_and_not_set_in_the_past(engine: Engine, clock) -> None:
    engine.remember(PARIS, key="home", expires="2027-01-01")
    with pytest.raises(InvalidInput, match="passed already"):
        engine.revise("home", expires="2020-01-01")
    assert engine.revise("home", expires="2028-01-01").expires_at == parse_iso("2028-01-01")
    assert engine.revise("home", expires="never").expires_at is None
    assert engine.remember(BERLIN, key="other", expires="never").memory.expires_at is None  # type: ignore[union-attr]


@pytest.mark.requirement("O19")
def test_an_expired_memory_comes_back_with_a_new_expiry_and_not_without(engine: Engine, clock) -> None:
    engine.remember("The freeze ends on Friday", key="freeze", expires=clock.now + DAY)
    clock.now += 2 * DAY
    with pytest.raises(InvalidInput, match="has expired; give it a new expiry"):
        engine.revise("freeze", "The freeze ends on Monday")
    engine.revise("freeze", "The freeze ends on Monday", expires=clock.now + 9 * DAY)
    assert [memory.content for memory in engine.memories()] == ["The freeze ends on Monday"]
    assert engine.recall("freeze").hits


def test_an_archived_memory_is_not_revised_and_the_sentence_says_how_to_begin_anew(engine: Engine) -> None:
    engine.remember(PARIS, key="home")
    engine.forget("home")
    with pytest.raises(NotFound, match=r"archived.*starts a new memory"):
        engine.revise("home", BERLIN)


@pytest.mark.requirement("X2")
def test_the_history_of_a_key_shows_every_life_that_it_had(engine: Engine) -> None:
    first = engine.remember(PARIS, key="home").memory
    engine.forget("home")
    second = engine.remember(BERLIN, key="home").memory
    assert first is not None
    assert second is not None
    assert [version.content for version in engine.history("home")] == [PARIS, BERLIN]
    assert [version.content for version in engine.history(first.id)] == [PARIS]
    versions = operation("history").call(engine, operation("history").request(name="home")).versions
    assert [version.current for version in versions] == [False, True]


@pytest.mark.requirement("X2")
def test_a_version_is_current_when_it_is_believed_and_true_now(engine: Engine) -> None:
    engine.remember(PARIS, key="home")
    engine.revise("home", BERLIN, since="2027-01-01")
    versions = operation("history").call(engine, operation("history").request(name="home")).versions
    assert [(version.content, version.current) for version in versions] == [
        (PARIS, False),
        (PARIS, True),
        (BERLIN, False),
    ]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "10000-01-01T00:00:00Z"])
def test_a_transcript_with_a_time_that_no_calendar_has_is_read_without_it(
    engine: Engine, tmp_path: Path, at: str
) -> None:
    message = {"role": "user", "content": "Remember that the tea in the harbour office is black"}
    record = {"type": "user", "sessionId": "n1", "uuid": "u1", "cwd": "/x", "timestamp": at, "message": message}
    (tmp_path / "talk.jsonl").write_text(json.dumps(record) + "\n")
    engine.ingest([tmp_path / "talk.jsonl"])
    for verb in ("timeline", "memories", "index"):
        declared = operation(verb)
        declared.call(engine, declared.request())
    assert [hit.text for hit in engine.timeline()] == ["Remember that the tea in the harbour office is black"]
    assert engine.recall("tea in the harbour").hits


def test_a_time_that_no_calendar_has_is_shown_as_the_nearest_and_not_taken_from_a_caller(engine: Engine) -> None:
    engine.remember("The tea in the harbour office is black", key="tea")
    for at in (-(10**18), 10**18, -(2**62), 2**62):
        assert iso(at)
        with pytest.raises(InvalidTime):
            engine.recall("tea", since=at)
