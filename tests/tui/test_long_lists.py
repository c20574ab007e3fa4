"""Lists that are longer than any person reads: they are read page by page, and the interface answers meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import closing

from tests.amounts import amount
from tests.tui.driving import Person, at_the_terminal

from picomem.engine.engine import Engine
from picomem.records.ids import new_id
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Connector
from picomem.store.tables import memories
from picomem.tui.entry_list import EntryList
from picomem.tui.list_entry import ListEntry

_LONGEST_STALL = 0.3  # seconds of work at a stretch in the thread that takes the keys


def fill(connector: Connector, count: int) -> None:
    """Store so many memories, past the gate and the search for near duplicates."""
    with connector.write(Scope("local")) as tx:
        for number in range(count):
            memories.insert(
                tx,
                Memory(
                    id=new_id(),
                    version=1,
                    scope=Scope("local"),
                    key=f"fact_{number:06d}",
                    kind=Kind.FACT,
                    content=f"Fact {number} about the harbour",
                    importance=number % 100 / 100,
                    valid_from=number,
                    known_from=number,
                    created_at=number,
                    tokens=8,
                    change_id="filled",
                ),
            )


def test_a_list_is_read_to_its_end_and_the_interface_answers_meanwhile(engine: Engine, db, database) -> None:
    count = amount(2_000, 100_000)
    with closing(database.connect(db)) as connector:
        fill(connector, count)
    stalls: list[float] = []
    next_beat: asyncio.TimerHandle

    def beat(before: float) -> None:
        nonlocal next_beat
        stalls.append(time.thread_time() - before)
        next_beat = asyncio.get_running_loop().call_later(0.001, beat, time.thread_time())

    async def look(person: Person) -> None:
        beat(time.thread_time())
        await person.press("escape", "2")
        assert f"{count:,} memories" in person.text
        entries = person.app.screen.query_one(EntryList)
        while len(entries.entries) < count:
            shown = len(entries.entries)
            await person.press("end")
            assert len(entries.entries) > shown
        await person.press("end")
        assert_all_once(entries.entries, count)
        assert entries.chosen is entries.entries[-1]
        assert entries.chosen.title in person.text
        next_beat.cancel()
        assert max(stalls) < _LONGEST_STALL

    at_the_terminal(engine, look)


def assert_all_once(entries: Sequence[ListEntry], count: int) -> None:
    """Every memory stands in the list once."""
    assert len({entry.id for entry in entries}) == len(entries) == count
