"""The list of memories, page by page: the same as sorting all of them, however many there are."""

from __future__ import annotations

import random
import time

import pytest
from tests.amounts import amount
from tests.engine_parts import connector_of

from picomem.clock import DAY, SECOND
from picomem.engine.engine import Engine
from picomem.operations.operation import checked
from picomem.operations.table import operation
from picomem.records.ids import new_id
from picomem.records.kinds import Kind, Origin, Source
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.tables import memories

START = 1_777_593_600 * SECOND


def filled(engine: Engine, count: int) -> list[Memory]:
    """So many memories, many of them equal in what the order looks at first."""
    choose = random.Random(5)
    made = []
    with connector_of(engine).write(engine.scope) as tx:
        for number in range(count):
            at = START - choose.randrange(4) * DAY
            memory = Memory(
                id=new_id(),
                version=1,
                scope=Scope(engine.scope.user, project=choose.choice(["", "harbor", "quay"])),
                key=f"key_{number}",
                kind=choose.choice(list(Kind)),
                content=f"Statement {number}",
                context="",
                importance=choose.choice([0.1 + 0.2, 0.5, 0.95]),
                pinned=choose.random() < 0.1,
                tags=choose.choice([(), ("sea",), ("sea", "“quoted”")]),
                related=(),
                origin=choose.choice(list(Origin)),
                source=Source.MANUAL,
                valid_from=at,
                valid_to=None,
                known_from=at,
                known_to=None,
                expires_at=choose.choice([None, None, START - DAY, START + DAY]),
                created_at=at,
                tokens=3,
                change_id=new_id(),
            )
            made.append(memories.insert(tx, memory))
    return made


def listed(engine: Engine, limit: int, **fields: str) -> tuple[list[str], list[int]]:
    """The keys of every page, and what each said was left."""
    verb, keys, left, cursor = operation("memories"), [], [], ""
    while True:
        page = verb.call(engine, checked(verb.request(limit=limit, cursor=cursor, **fields)))
        keys += [memory.key for memory in page.memories]
        left.append(page.left_out)
        cursor = page.cursor
        if not cursor:
            return keys, left


@pytest.mark.parametrize(
    "fields",
    [{}, {"kind": "decision"}, {"origin": "web"}, {"tag": "“quoted”"}, {"project": "quay"}, {"tag": "nothing"}],
    ids=str,
)
def test_the_pages_hold_what_sorting_everything_gives(engine: Engine, fields: dict[str, str]) -> None:
    made = filled(engine, 150)
    expected = [
        memory.key
        for memory in sorted(made, key=lambda m: (not m.pinned, -m.importance, -m.known_from, m.key))
        if (memory.expires_at is None or memory.expires_at > engine.now())
        and fields.get("kind", memory.kind) == memory.kind
        and fields.get("origin", memory.origin) == memory.origin
        and ("tag" not in fields or fields["tag"] in memory.tags)
        and ("project" not in fields or memory.scope.project in ("", fields["project"]))
    ]
    keys, left = listed(engine, 7, **fields)
    assert keys == expected
    assert left == [max(0, len(expected) - place) for place in range(7, len(expected) + 7, 7)] or not expected
    assert listed(engine, 1_000, **fields)[0] == expected


def test_a_page_costs_the_same_however_many_there_are(engine: Engine) -> None:
    """With SOAK=1 of 100,000."""
    filled(engine, amount(2_000, 100_000))
    verb = operation("memories")
    verb.call(engine, verb.request(limit=50))
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        assert len(verb.call(engine, verb.request(limit=50)).memories) == 50
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.1


def test_what_another_statement_ended_is_listed_with_the_archived_ones(engine: Engine, clock) -> None:
    """A review ends the older statement; what a later version of a memory ended is no memory of its own."""
    engine.remember("The ferry is moored at pier nine", key="pier")
    engine.remember("Ferries are kept at pier four", key="berth")
    engine.remember("The crane is yellow", key="crane")
    clock.now += DAY
    engine.revise("crane", "The crane is red")
    review = operation("review")
    review.call(engine, review.request(name="berth", verdict="supersede", other="pier"))
    clock.now += DAY
    assert sorted(listed(engine, 1)[0]) == ["berth", "crane"]
    verb = operation("memories")
    (ended,) = verb.call(engine, verb.request(archived=True)).memories
    assert (ended.key, ended.archived, ended.known_to) == ("pier", True, None)
    shown = verb.present(verb.call(engine, verb.request(archived=True)))
    assert f", ended {ended.valid_to[:10]}" in str(shown)


def test_an_agent_cannot_vouch_for_the_user_s_words(engine: Engine) -> None:
    agent = engine.acting_as("agent:test", agent=True)
    stored = agent.remember("The ferry is moored at pier nine", key="pier", origin="user").memory
    assert stored is not None and stored.origin is Origin.AGENT
    assert agent.revise("pier", "The ferry is moored at pier ten", origin="user").origin is Origin.AGENT
    assert agent.remember("The page says that pier two is closed", key="page", origin="web").memory.origin is Origin.WEB
