"""What a person stated or pinned changes by the person alone: no agent forgets, revises or replaces it, in one step or
in two."""

from __future__ import annotations

import pytest

from picomem.engine.engine import Engine
from picomem.errors import Refused
from picomem.records.kinds import Origin

pytestmark = pytest.mark.requirement("X7", "P9")

RULE = "Payments need two signatures"
FREE = "Payments need no signatures"


@pytest.fixture(params=["stated", "pinned"])
def engine(request: pytest.FixtureRequest, open_engine) -> Engine:
    made = open_engine()
    if request.param == "stated":
        made.remember(RULE, key="payment_rule")
    else:
        made.remember(RULE, key="payment_rule", origin="agent", pinned=True)
    return made


def agent(engine: Engine, said: str = "") -> Engine:
    return engine.acting_as("agent:test", said=said, agent=True)


def test_an_agent_does_not_forget_it_by_itself(engine: Engine) -> None:
    for said in ("", "Read the page.", "What of payments and signatures?", "Forget the crane."):
        with pytest.raises(Refused, match="has not asked for this in their own words"):
            agent(engine, said).forget("payment_rule")
    agent(engine, "Forget the payment rule.").forget("payment_rule")
    assert not engine.memories()


def test_the_person_forgets_it(engine: Engine) -> None:
    engine.forget("payment_rule")
    assert not engine.memories()


@pytest.mark.parametrize(
    "change",
    [
        {"content": FREE},
        {"content": RULE, "expires": "2030-01-01"},
        {"expires": "2030-01-01"},
        {"importance": 0.0},
        {"pinned": False},
        {"context": "for fun"},
        {"correct": True, "content": FREE},
    ],
    ids=str,
)
def test_an_agent_does_not_revise_it_by_itself(engine: Engine, change: dict) -> None:
    before = engine.history("payment_rule")
    for origin in ("agent", "tool"):
        with pytest.raises(Refused):
            agent(engine, "Read the page on payments.").revise("payment_rule", origin=origin, **change)
    assert engine.history("payment_rule") == before


@pytest.mark.parametrize("origin", ["agent", "tool", "web", "other"])
@pytest.mark.parametrize(
    "offer",
    [
        {"content": FREE, "key": "payment_rule"},
        {"content": "Payments", "key": "payment_rule"},
        {"content": RULE, "key": "payment_rule", "expires": "2030-01-01", "tags": ["x"], "context": "Nordic Shell"},
        {"content": RULE, "expires": "2030-01-01"},
        {"content": RULE, "since": "2001-01-01"},
        {"content": "Payments need two signatures unless Nordic Shell is paid"},
        {"content": "Payments do not need two signatures"},
    ],
    ids=str,
)
def test_no_offer_of_an_agents_takes_its_place(engine: Engine, offer: dict, origin: str) -> None:
    before = engine.history("payment_rule")
    try:
        agent(engine, "Read the page on payments.").remember(**offer, origin=origin)
    except Refused as refused:
        assert str(refused)
    assert engine.history("payment_rule") == before


def test_the_refusal_says_what_to_do(engine: Engine) -> None:
    with pytest.raises(Refused, match="ask them to say it in their own words, or to change it in a terminal"):
        agent(engine).remember(FREE, key="payment_rule", origin="agent")


def test_what_the_person_says_now_changes_it_by_their_agent(engine: Engine) -> None:
    said = "Payments over 5000 need three signatures from now on."
    news = "Payments over 5000 need three signatures"
    agent(engine, said).remember(news, key="payment_rule", origin="agent")
    assert [memory.content for memory in engine.memories()] == [news]
    assert engine.memories()[0].origin is Origin.AGENT


def test_what_the_agent_stored_itself_it_changes(open_engine) -> None:
    engine = open_engine()
    engine.remember(RULE, key="payment_rule", origin="agent")
    agent(engine).revise("payment_rule", FREE, origin="agent")
    agent(engine).forget("payment_rule")
    assert not engine.memories()


def test_a_pin_is_a_persons(open_engine) -> None:
    """What an agent pins is stored like its other memories: it may revise and forget it, and ranks it no higher."""
    engine = open_engine()
    agent(engine).remember("The relay runs on port 9000", key="relay_port", origin="agent", pinned=True)
    with pytest.raises(Refused, match=r"Only the user can pin a memory; .*picomem revise relay_port --pin"):
        agent(engine).revise("relay_port", pinned=True, origin="agent")
    (memory,) = engine.memories()
    assert not memory.pinned and not memory.is_a_persons
    agent(engine).revise("relay_port", "The relay runs on port 9001", origin="agent")
    engine.revise("relay_port", pinned=True)
    with pytest.raises(Refused):
        agent(engine).revise("relay_port", "The relay runs on port 9002", origin="agent")
    assert engine.memories()[0].pinned


def test_an_agent_does_not_undo_it(engine: Engine) -> None:
    remembered, _ = engine.changes(1)[0]
    engine.revise("payment_rule", "Payments need three signatures", origin="user")
    revised, _ = engine.changes(1)[0]
    for name in (revised.id, revised.run):
        with pytest.raises(Refused, match=f"ask them to run `picomem undo {revised.id}`"):
            agent(engine).undo(name)
    engine.undo(revised.id)
    with pytest.raises(Refused, match="Not undone"):
        agent(engine).undo(remembered.id)
    assert [memory.content for memory in engine.memories()] == [RULE]


def test_an_agent_undoes_what_an_agent_stored(open_engine) -> None:
    working = agent(open_engine())
    stored = working.remember("The crane stands at pier four", key="crane")
    working.undo(stored.change_id)
    assert not working.memories()
