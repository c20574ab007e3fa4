"""Questions about when something happened, over turns that tell of it on another day."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine_parts import connector_of

from picomem.clock import DAY, parse_iso
from picomem.engine.engine import Engine
from picomem.store.tables import episode_events

ASKED = parse_iso("2026-06-10")


def say(engine: Engine, folder: Path, name: str, *said: tuple[str, str]) -> None:
    lines = [
        json.dumps({"role": "user", "content": text, "timestamp": at, "id": f"{number}"})
        for number, (at, text) in enumerate(said)
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    engine.ingest([folder / f"{name}.jsonl"])


@pytest.fixture
def told(engine: Engine, tmp_path: Path) -> Engine:
    """A trip in April that is told of in May, and talk of April that plans walks."""
    say(engine, tmp_path, "may", ("2026-05-02T09:00:00Z", "We took a trip to the lakes last month."))
    april = [(f"2026-04-{day:02}T09:00:00Z", f"Shall we take a walk, number {day}?") for day in range(10, 22)]
    say(engine, tmp_path, "april", *april)
    return engine


def test_what_happened_then_comes_first_though_it_was_told_later(told: Engine) -> None:
    answer = told.recall("Which trip did we take in April 2026?", now=ASKED)
    assert answer.hits[0].text == "We took a trip to the lakes last month."
    assert answer.hits[0].event == (parse_iso("2026-04-01"), parse_iso("2026-05-01"))
    assert "tells of the time asked for" in answer.hits[0].why


def test_a_question_about_talk_asks_for_what_was_said_then(told: Engine) -> None:
    answer = told.recall("What did we say we would take in April 2026?", now=ASKED)
    assert "number" in answer.hits[0].text


def test_the_event_of_words_that_changed_is_read_anew(engine: Engine, tmp_path: Path) -> None:
    say(engine, tmp_path, "one", ("2026-05-02T09:00:00Z", "I planted roses yesterday."))
    assert engine.recall("roses", now=ASKED).hits[0].event == (parse_iso("2026-05-01"), parse_iso("2026-05-02"))
    say(engine, tmp_path, "one", ("2026-05-02T09:00:00Z", "I planted roses last week."))
    assert [hit.event for hit in engine.recall("roses", now=ASKED).hits] == [
        (parse_iso("2026-04-20"), parse_iso("2026-04-27"))
    ]
    say(engine, tmp_path, "one", ("2026-05-02T09:00:00Z", "I planted roses."))
    assert [hit.event for hit in engine.recall("roses", now=ASKED).hits] == [None]


def test_an_event_goes_with_its_episode(told: Engine) -> None:
    def events() -> int:
        with connector_of(told).read() as tx:
            return len(episode_events.within(tx, told.scope, 0, ASKED, 10))

    assert events() == 1
    told.purge(session="may")
    assert events() == 0


def test_an_agents_page_dates_no_event(engine: Engine, tmp_path: Path) -> None:
    line = {"role": "assistant", "content": "The bridge was opened in May 2022.", "timestamp": "2026-05-02T09:00:00Z"}
    (tmp_path / "page.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    engine.ingest([tmp_path / "page.jsonl"])
    assert [hit.event for hit in engine.recall("bridge", now=ASKED + DAY).hits] == [None]
