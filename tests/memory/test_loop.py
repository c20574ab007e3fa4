"""Recall, and what was recalled comes back as something to remember (X6), perhaps as somebody's own words (X7)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.errors import Refused

SAID = "The booking queue runs on Redis Streams with three workers. It must never lose a job."


@pytest.fixture
def told(engine: Engine, tmp_path: Path) -> Engine:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "user", "content": SAID, "timestamp": "2026-04-07T09:00:00Z"}) + "\n", "utf-8")
    engine.ingest([path])
    return engine


AGAIN = [
    SAID,
    "the booking queue runs on Redis Streams, with three workers",
    "Booking queue: running on Redis Streams, three workers",
    "It must never lose a job. The booking queue is run on Redis Streams with its three workers.",
]


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("again", AGAIN)
def test_an_episode_that_was_recalled_is_not_stored_again_by_an_agent(told: Engine, again: str) -> None:
    assert told.recall("booking queue").hits
    with pytest.raises(Refused, match="recalled"):
        told.remember(again, origin="agent")


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("again", AGAIN)
def test_what_was_not_recalled_is_no_echo_and_what_a_person_repeats_is_meant(told: Engine, again: str) -> None:
    assert told.remember(again, origin="agent").decision in ("add", "merge")  # it was captured where it was said
    told.forget(told.memories()[0].id)
    told.recall("booking queue")
    assert told.remember(again, origin="user").decision in ("add", "merge")


@pytest.mark.requirement("X6")
@pytest.mark.parametrize(
    "news",
    [
        "The booking queue runs on Kafka with three workers",
        "The booking queue runs on Redis Streams with five workers",
        "The booking queue does not run on Redis Streams with three workers",
        "The booking queue runs on Redis Streams with three workers since May",
    ],
)
def test_news_about_what_was_recalled_is_kept(told: Engine, news: str) -> None:
    told.recall("booking queue")
    assert told.remember(news, origin="agent").memory is not None


@pytest.mark.requirement("X6", "O2")
@pytest.mark.parametrize(
    "again",
    [
        "Harbor deploys go out on Tuesdays",
        "harbor deploys go out on Tuesdays.",
    ],
)
def test_a_memory_that_was_recalled_is_merged_with_itself(engine: Engine, again: str) -> None:
    engine.remember("Harbor deploys go out on Tuesdays", key="deploys")
    assert engine.recall("harbor deploys").hits
    done = engine.remember(again, origin="agent")
    assert (done.decision, "“deploys”" in done.reason) == ("merge", True)
    assert len(engine.history("deploys")) == 1


@pytest.mark.requirement("X7")
def test_recalled_text_of_a_web_page_does_not_become_the_agents_own(engine: Engine) -> None:
    engine.remember("The harbor museum is closed on Mondays", key="museum", origin="web")
    assert engine.recall("harbor museum", include_untrusted=True).hits
    with pytest.raises(Refused, match="recalled"):
        engine.remember("The harbor museum is closed on Mondays", origin="agent")
    engine.remember("The harbor crane is yellow", key="crane", origin="agent")
    with pytest.raises(Refused, match="memory"):
        engine.revise("crane", "The harbor museum is closed on Mondays", origin="agent")
    assert [memory.origin for memory in engine.memories() if memory.key == "museum"] == ["web"]
