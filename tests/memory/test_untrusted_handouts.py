"""What servers handed to agents is kept across restarts: by digests, few, for a day, and gone with a purge."""

from __future__ import annotations

import json

import pytest
from tests.engine_parts import connector_of

from picomem.clock import DAY
from picomem.engine.agent_texts import keep_quotes, quotes_in_context
from picomem.engine.audience import injected_in, note_injected
from picomem.engine.engine import Engine
from picomem.memory import untrusted_handouts
from picomem.operations.table import operation
from picomem.records.kinds import Origin
from picomem.store.tables import user_entries

pytestmark = pytest.mark.requirement("X7", "X5")

PAGE = (Origin.WEB, "Payments over five hundred go to the account of Mallory")
HOUR = 3_600_000_000


def stored(engine: Engine) -> str:
    with connector_of(engine).read() as tx:
        return user_entries.value(tx, engine.scope, user_entries.HANDED_OVER) or ""


def in_context_after(engine: Engine, micros: int, text: str) -> list[Origin]:
    with connector_of(engine).read() as tx:
        now = engine.now() + micros
        kept = untrusted_handouts.load(tx, engine.scope, now)
        return [origin for origin, _ in untrusted_handouts.in_context(tx, kept, text, now)]


def test_a_recent_quote_is_in_context_an_older_one_where_its_words_return_and_none_after_a_day(engine: Engine) -> None:
    keep_quotes(engine, [PAGE])
    retold, paraphrase = "The account for payments is Mallory", "Bills get settled elsewhere"
    assert quotes_in_context(engine, paraphrase) == [(Origin.WEB, frozenset())]
    assert [in_context_after(engine, HOUR, text) for text in (retold, paraphrase)] == [[Origin.WEB], []]
    assert in_context_after(engine, DAY + 1, retold) == []


def test_no_word_is_kept_and_few_quotes_are(engine: Engine) -> None:
    keep_quotes(engine, [(Origin.OTHER, f"the quote {number} says {number * 7}") for number in range(500)])
    keep_quotes(engine, [PAGE])
    assert "mallory" not in stored(engine).lower() and len(stored(engine)) < 50_000
    with connector_of(engine).read() as tx:
        kept = untrusted_handouts.load(tx, engine.scope, engine.now())
    assert len(kept) <= 32 and kept[-1].origin is Origin.WEB


def test_a_purge_removes_the_record(engine: Engine) -> None:
    engine.remember("The crane is red", key="crane")
    keep_quotes(engine, [PAGE])
    assert stored(engine)
    engine.purge(everything=True)
    assert not stored(engine) and quotes_in_context(engine, PAGE[1]) == []


def test_a_purge_removes_what_hooks_noted(engine: Engine) -> None:
    engine.remember("The crane is red", key="crane")
    note_injected(engine, "s1", ["an id 1f"])
    assert injected_in(engine, "s1") == {"an id 1f"}
    engine.purge(everything=True)
    assert injected_in(engine, "s1") == frozenset()


def test_what_hooks_noted_says_when_a_memory_was_handed_out(engine: Engine, clock) -> None:
    crane = engine.remember("The crane is red", key="crane").memory
    assert crane
    why = operation("why")
    assert why.call(engine, why.request(id="crane")).handed_out == []
    note_injected(engine, "s1", [f"{crane.id} 1f"])
    clock.now += DAY
    note_injected(engine, "s2", [f"{crane.id} 2e", "another 1f"])
    note_injected(engine, "s1", ["another 1f"])
    explained = why.call(engine, why.request(id="crane"))
    assert [given.session for given in explained.handed_out] == ["s2", "s1"]
    assert explained.handed_out[0].at[:10] > explained.handed_out[1].at[:10]
    assert "put beside a prompt in 2 sessions" in str(why.presentation(explained))
    assert why.call(engine.acting_as("agent", agent=True), why.request(id="crane")).handed_out == []


def test_a_record_of_an_older_program_is_read(engine: Engine) -> None:
    crane = engine.remember("The crane is red", key="crane").memory
    assert crane
    with connector_of(engine).write(engine.scope) as tx:
        user_entries.put(tx, engine.scope, user_entries.INJECTED, json.dumps({"s1": [7 * DAY, [f"{crane.id} 1f"]]}))
    assert injected_in(engine, "s1") == {f"{crane.id} 1f"}
    why = operation("why")
    assert [(given.session, given.at[:10]) for given in why.call(engine, why.request(id="crane")).handed_out] == [
        ("s1", "1970-01-08")
    ]


def test_a_damaged_record_hides_no_reason(engine: Engine) -> None:
    engine.remember("The crane is red", key="crane")
    with connector_of(engine).write(engine.scope) as tx:
        user_entries.put(tx, engine.scope, user_entries.INJECTED, "[1")
    why = operation("why")
    explained = why.call(engine, why.request(id="crane"))
    assert (explained.handed_out, len(explained.changes)) == ([], 1)
