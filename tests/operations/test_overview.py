"""Where to look: the days, projects and agents of a store, and what stands around an episode in its transcript."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.databases import Database

from picomem import Engine
from picomem.light_dataclass import replace
from picomem.operations.table import operation
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings

TURNS = [
    ("user", "Where is the ferry moored tonight?", "2026-04-06T21:00:00Z"),
    ("assistant", "The ferry is moored at pier nine tonight.", "2026-04-06T21:00:20Z"),
    ("user", "And when does the first one leave tomorrow?", "2026-04-06T22:30:00Z"),
    ("assistant", "The first one leaves at six from pier four.", "2026-04-06T22:31:00Z"),
    ("user", "Thanks. Is the crane of the harbour yellow?", "2026-04-08T09:00:00Z"),
]


def run(engine: Engine, name: str, **arguments: object):
    verb = operation(name)
    return verb.call(engine, verb.request(**arguments))


@pytest.fixture
def engine(database: Database, tmp_path: Path) -> Iterator[Engine]:
    """One session in the project `harbor`, two memories; the user lives in Berlin, where it is May."""
    connector = database.connect(tmp_path / "memory.db")
    runtime = Runtime(connector, Settings(), clock=lambda: 1_777_593_600_000_000, zone=ZoneInfo("Europe/Berlin"))
    engine = runtime.engine(scope=Scope("local"), closes=True)
    talk = tmp_path / "talk.jsonl"
    lines = [
        {
            "type": role,
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number else None,
            "sessionId": "8463c716-1111-4222-8333-444455556666",
            "timestamp": at,
            "cwd": "/home/ann/harbor",
            "message": {"role": role, "content": text},
        }
        for number, (role, text, at) in enumerate(TURNS)
    ]
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(engine, "ingest", paths=(str(talk),))
    engine.remember("The boats of the yard are blue", key="boats", scope=replace(engine.scope, project="yard"))
    engine.remember("Answers in rhyme", key="rhyme", scope=replace(engine.scope, agent="poet"))
    yield engine
    engine.close()


def test_a_day_is_the_readers_own(engine: Engine) -> None:
    counted = {day.day: day.episodes for day in run(engine, "days").days}
    # What was said at half past ten in the evening by UTC was said after midnight in Berlin.
    assert counted == {"2026-04-06": 2, "2026-04-07": 2, "2026-04-08": 1}
    assert [day.day for day in run(engine, "days", since="2026-04-07", until="2026-04-07").days] == ["2026-04-07"]
    assert run(engine, "days", project="yard").days == []


def test_a_withheld_session_is_not_counted(engine: Engine) -> None:
    run(engine, "withhold", session="8463c716")
    assert run(engine, "days").days == []
    assert run(engine, "projects").projects == ["yard"]


def test_projects_and_agents_are_those_of_memories_and_sessions(engine: Engine) -> None:
    known = run(engine, "projects")
    assert (known.projects, known.agents) == (["harbor", "yard"], ["poet"])


def test_a_timeline_says_of_each_session_what_it_was_about(engine: Engine) -> None:
    (session,) = run(engine, "timeline").sessions
    assert (session.title, session.project) == (TURNS[0][1], "harbor")
    assert run(engine.acting_as("agent:a", agent=True), "timeline").sessions == []


def test_an_episode_opens_with_what_was_said_before_and_after_it(engine: Engine) -> None:
    episodes = run(engine, "timeline").episodes[::-1]
    shown = run(engine, "show", episode=episodes[2].id, around=1)
    assert [turn.text for turn in shown.turns] == [TURNS[2][1]]
    assert [(near.id, [turn.text for turn in near.turns]) for near in shown.before] == [(episodes[1].id, [TURNS[1][1]])]
    assert [near.turns[0].text for near in shown.after] == [TURNS[3][1]]
    assert shown.session is not None
    assert shown.session.project == "harbor"
    last = run(engine, "show", episode=episodes[4].id, around=20)
    assert [turn.number for near in last.before for turn in near.turns] == [1, 2, 3, 4]
    assert last.after == []
    alone = run(engine, "show", episode=episodes[2].id)
    assert (alone.before, alone.after) == ([], [])


def test_a_long_message_of_several_episodes_stands_there_once(engine: Engine, tmp_path: Path) -> None:
    talk = tmp_path / "long.jsonl"
    words = " ".join(f"plank{number}" for number in range(1_200))
    lines = [
        {"type": "user", "uuid": str(number), "sessionId": "long", "timestamp": f"2026-04-10T09:00:0{number}Z",
         "cwd": "/home/ann/long", "message": {"role": "user", "content": text}}
        for number, text in enumerate(["First, the list of planks comes now.", words, "Was the list of planks whole?"])
    ]  # fmt: skip
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(engine, "ingest", paths=(str(talk),))
    episodes = run(engine, "timeline", session="long").episodes[::-1]
    assert len(episodes) > 3
    shown = run(engine, "show", episode=episodes[-1].id, around=20)
    assert [turn.number for near in shown.before for turn in near.turns] == [1, 2]


def test_the_overview_is_of_the_project_of_the_latest_session(engine: Engine) -> None:
    """Issue 41, point 1."""
    run(engine, "remember", content="The ferry runs on diesel", key="fuel", kind="decision", project="harbor")
    verb = operation("revise")
    verb.call(engine, verb.request(name="fuel", content="The ferry runs on batteries"))
    run(engine, "remember", content="The yard closes at five", kind="decision", project="yard")
    seen = run(engine, "overview")
    assert (seen.project, seen.projects) == ("harbor", ["harbor", "yard"])
    assert [memory.content for memory in seen.holds] == ["The ferry runs on batteries"]
    assert [outcome.session.title for outcome in seen.sessions] == [TURNS[0][1]]
    latest = [(listed.before, listed.after) for listed in seen.changes[:2]]
    assert latest == [("", "The yard closes at five"), ("The ferry runs on diesel", "The ferry runs on batteries")]
    status = engine.status()
    assert seen.counts == {"memories": sum(status.memories.values()), "episodes": status.episodes, "sessions": 1}
    assert seen.read_at == status.read_at
    assert [memory.content for memory in run(engine, "overview", project="yard").holds] == ["The yard closes at five"]


def test_the_overview_of_an_empty_store_is_empty(open_engine, tmp_path: Path) -> None:
    seen = run(open_engine(tmp_path / "memory.db"), "overview")
    assert (seen.project, seen.holds, seen.sessions, seen.changes, seen.read_at) == ("", [], [], [], {})


def test_an_overview_counts_in_words_that_fit(open_engine) -> None:
    engine = open_engine()
    engine.remember("We deploy on Tuesdays", kind="decision")
    verb = operation("overview")
    shown = verb.presentation(verb.call(engine, verb.request()))
    assert "1 memory, 0 episodes, 0 sessions." in str(shown.blocks[0])
