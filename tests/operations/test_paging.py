"""Lists by pages, through the operations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.operations.paging import page_of
from picomem.operations.table import operation, operations
from picomem.records.session import Channel, NewMessage, Role

HABITS = (
    "use vim key bindings in my editor",
    "drink tea with milk in the morning",
    "write my commit messages in English",
    "keep my notes in Markdown files",
    "take the train to the office in Lisbon",
    "test my changes on Fedora first",
    "prefer tabs over spaces in Go",
)


@given(st.sets(st.tuples(st.integers(-(2**63), 2**63 - 1), st.text())), st.integers(1, 7))
def test_pages_joined_are_the_list(items: set[tuple[int, str]], limit: int) -> None:
    ordered = sorted(items)
    joined: list[tuple[int, str]] = []
    cursor = ""
    while True:
        page, cursor = page_of(ordered, lambda item: item, cursor, limit, example=(0, ""))
        assert len(page) <= limit
        joined += page
        if not cursor:
            break
    assert joined == ordered


@pytest.mark.requirement("O14")
def test_memories_come_by_pages_that_neither_repeat_nor_hide_one(engine: Engine) -> None:
    for number in range(25):
        engine.remember(f"Mooring {number} belongs to the ferry of line {number}", key=f"mooring_{number}")
    listing = operation("memories")
    first = listing.call(engine, listing.request(limit=10))
    assert (len(first.memories), first.left_out) == (10, 15)
    # One that was listed goes, and a more important one comes: neither is of the next page.
    engine.forget(first.memories[3].key)
    engine.remember("The harbour closes at ten in the evening", key="harbour", importance=1.0)
    keys = [memory.key for memory in first.memories]
    cursor = first.cursor
    while cursor:
        page = listing.call(engine, listing.request(limit=10, cursor=cursor))
        keys += [memory.key for memory in page.memories]
        cursor = page.cursor
    assert sorted(keys) == sorted(f"mooring_{number}" for number in range(25))
    assert page.left_out == 0


def test_changes_come_by_pages(engine: Engine) -> None:
    for number in range(7):
        engine.remember(f"Mooring {number} belongs to the ferry of line {number}", key=f"mooring_{number}")
    engine.revise("mooring_3", "Mooring 3 belongs to nobody")
    listing = operation("changes")
    for arguments, expected in (({}, 8), ({"name": "mooring_3"}, 2)):
        ids: list[str] = []
        cursor = ""
        while True:
            page = listing.call(engine, listing.request(limit=3, cursor=cursor, **arguments))
            ids += [listed.change.id for listed in page.changes]
            cursor = page.cursor
            if not cursor:
                break
        assert ids == sorted(set(ids), reverse=True)
        assert len(ids) == expected


def _pages(engine: Engine, name: str, **arguments: Any) -> Iterator[Any]:
    """The pages of an operation, three items each at most, from first to last."""
    listing = operation(name)
    cursor = ""
    while True:
        page = listing.call(engine, listing.request(cursor=cursor, **arguments))
        yield page
        cursor = page.cursor
        if not cursor:
            return


def _transcript(folder: Path, name: str, sayings: list[str], day: int | None) -> Path:
    """A file of chat lines; without times where `day` is None."""
    path = folder / f"{name}.jsonl"
    lines = [
        {"role": "user", "content": text} | ({"timestamp": f"2026-05-{day:02}T10:{minute:02}:00Z"} if day else {})
        for minute, text in enumerate(sayings)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.requirement("O14")
def test_the_timeline_comes_by_pages_while_episodes_are_added(engine: Engine, tmp_path: Path) -> None:
    ships = [f"The ferry of line {number} leaves from mooring {number} at noon" for number in range(10)]
    undated = [f"The barge of line {number} waits at the old quay" for number in range(5)]
    engine.ingest([_transcript(tmp_path, "ships", ships, 7), _transcript(tmp_path, "undated", undated, None)])
    expected = [hit.id for hit in engine.timeline()]
    assert len(expected) == 15
    listed: list[str] = []
    for number, page in enumerate(_pages(engine, "timeline", limit=4)):
        assert len(page.episodes) <= 4
        listed += [episode.id for episode in page.episodes]
        later = _transcript(
            tmp_path, f"later{number}", [f"The pilot boat {number} is back in the harbour"], 20 + number
        )
        engine.ingest([later])
    assert listed == expected
    within = [page.episodes for page in _pages(engine, "timeline", limit=4, since="2026-05-01", until="2026-05-08")]
    assert [episode.id for page in within for episode in page] == expected[:10]


@pytest.mark.requirement("O14")
def test_the_messages_of_a_conversation_come_by_pages_from_the_end(engine: Engine) -> None:
    log = engine.sessions()
    session = log.create(Channel.TUI)
    log.append(session.id, *(NewMessage(role=Role.USER, content=f"Mooring {number} is free") for number in range(10)))
    numbers: list[int] = []
    for page in _pages(engine, "messages", session=session.id, last=4, after=1):
        log.append(session.id, NewMessage(role=Role.USER, content="One more ship has come in"))
        assert page.before == page.messages[0].number - 1
        numbers = [message.number for message in page.messages] + numbers
    assert numbers == list(range(2, 11))


@pytest.mark.requirement("O14")
def test_what_waits_for_a_decision_comes_by_pages(engine: Engine) -> None:
    for number in range(4):
        engine.remember(f"The crane of quay {number} lifts {number} tons", key=f"crane_{number}")
        engine.remember(f"The crane of quay {number} lifts {number + 40} tons", key=f"newer_crane_{number}")
    (whole,) = _pages(engine, "review", limit=100)
    expected = [item.memory.key for item in whole.waiting]
    assert len(expected) >= 4
    keys: list[str] = []
    for page in _pages(engine, "review", limit=2):
        keys += [item.memory.key for item in page.waiting]
        assert page.left_out == len(expected) - len(keys)
        engine.forget(keys[-1])  # what was listed already goes
    assert keys == expected


@pytest.mark.requirement("O14")
def test_the_audit_comes_by_pages(engine: Engine) -> None:
    for number in range(7):
        engine.remember(f"Mooring {number} belongs to the ferry of line {number}", key=f"mooring_{number}")
    ids = [change.id for page in _pages(engine, "audit", limit=3) for change in page.changes]
    assert (len(ids), ids) == (7, sorted(set(ids), reverse=True))


# Lists that cannot grow with what is stored, or are an answer about one thing, and by what they are bounded.
BOUNDED = {
    "ingest": "what one run read",
    "migrate": "the entries of the files that were named",
    "scrub": "what one run could not rewrite",
    "status": "counts by kind",
    "doctor": "what is damaged",
    "index-status": "counts by kind",
    "bulk-edit": "at most 1,000 names",
    "tag": "the tags of one episode",
    "undo": "the changes of one run",
    "purge": "what one purge takes, which is to be seen as a whole before it goes",
    "overview": "the first of each list, which `memories`, `timeline` and `changes` show whole",
    "prompt-context": "the five best hits, within hooks.token_budget",
    "index": "the lines of a page within its budget, and 200 entries that did not fit",
    "recall": "limit and token_budget",
    "search-notes": "max_results",
    "show": "the messages of one episode, and of at most 40 beside it",
    "days": "the days of the time that was asked about",
    "projects": "the names of projects and agents",
    "remember": "the latest of the older statements beside one memory",
    "why": "the decisions about one memory",
    "why-not": "the reasons for one entry",
    "history": "the versions of one memory",
    "import": "counts by reason, and the first problems",
    "consolidate": "what one run did",
    "token-make": "the scopes of one token",
    "token-list": "the tokens that a person made",
    "token-revoke": "the scopes of one token",
    "grant": "the permissions that there are",
    "pair-list": "at most 50 senders wait for an account, besides those that a person accepted",
    "pair-accept": "the ids of one sender",
    "encrypt": "the files that hold its text in plain, which are to be seen as a whole",
    "decrypt": "the stores beside it",
    "rekey": "the stores beside it",
    "restore": "the purges since the backup, which are to be seen as a whole",
}


def test_a_list_comes_by_pages_or_its_bound_is_known() -> None:
    unpaged = {
        operation.name
        for operation in operations()
        if not operation.pages
        and any(get_origin(hint) in (list, tuple, dict) for hint in get_type_hints(operation.result).values())
    }
    assert unpaged == BOUNDED.keys()


@each_case("cursor", ["x", "W10", "bnVsbA", "é", "[1]", "WzEsIDJd"])
@each_case("name", ["memories", "timeline", "messages", "changes", "audit", "review", "jobs"])
def test_a_cursor_that_no_page_gave_is_refused(engine: Engine, name: str, cursor: str) -> None:
    engine.remember("The harbour closes at ten in the evening", key="harbour")
    session = engine.sessions().create(Channel.TUI).id
    listing = operation(name)
    arguments = {"session": session} if name == "messages" else {}
    with pytest.raises(InvalidInput, match="is not a cursor"):
        listing.call(engine, listing.request(cursor=cursor, **arguments))


def test_a_list_takes_no_cursor_of_another_list(engine: Engine) -> None:
    for number in range(4):
        engine.remember(f"Mooring {number} belongs to the ferry of line {number}", key=f"mooring_{number}")
    cursors: dict[str, str] = {}
    for name in ("memories", "changes", "audit"):
        listing = operation(name)
        cursors[name] = listing.call(engine, listing.request(limit=1)).cursor
    for name in (*cursors, "timeline", "review", "jobs"):
        listing = operation(name)
        for cursor in [cursor for giver, cursor in cursors.items() if giver != name]:
            with pytest.raises(InvalidInput, match="is not a cursor"):
                listing.call(engine, listing.request(cursor=cursor))
