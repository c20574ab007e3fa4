"""The reasons that the engine stores in English, on a page in another language: those that it really writes."""

from __future__ import annotations

import re

import pytest

from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.engine.review import decide_on, to_review
from picomem.memory.review_items import ReviewVerdict
from picomem.page.message_catalog import catalog, say_in
from picomem.page.stored_reasons import told_reason, told_word
from picomem.policy.refusal import Refusal
from picomem.records.kinds import CHANGE_DECISIONS

ENGLISH, CHINESE = say_in("en"), say_in("zh")
_QUOTED = re.compile(r"“[^”]*”|\([^()]*\)|（[^（）]*）")  # names, and signals, which stay as they are


def _reasons(engine: Engine) -> list[str]:
    return [change.reason for change, _ in engine.changes(200)]


def _change_much(engine: Engine, clock) -> None:
    """Let the engine decide in many ways."""
    engine.remember("Deploys go out on Tuesdays", key="deploy_day", kind="decision")
    engine.remember("Deploys go out on Tuesdays")
    engine.remember("Deploys go out on Tuesdays and on Thursdays after the stand-up")
    engine.remember("The release train leaves on Friday", key="deploy_day", kind="decision", tags=["release"])
    engine.remember("The race boat is green and lies in the northern dock")
    engine.remember("the race boat is green, and lies in the Northern dock!", tags=["boats"])
    engine.remember("Anna keeps the keys of the boat house")
    engine.remember("The queue is Redis", key="queue_old")
    engine.remember("We use Postgres for the queue", key="queue_new")
    engine.remember("The vendor says that port 5433 is blocked", key="vendor_port", origin="web")
    engine.remember("ok")
    engine.revise("queue_old", "The queue is Valkey", tags=["jobs"])
    engine.revise("queue_old", "The queue is Valkey 8", correct=True)
    for item in to_review(engine, untrusted=True):
        decide_on(engine, item.memory.key, ReviewVerdict.KEEP)
    gone = engine.forget("deploy_day")
    engine.undo(gone.id)
    engine.remember("The gate is open until noon", key="gate", expires="2026-06-01")
    clock.now += 90 * DAY
    engine.remember("The gate stays closed in winter", key="gate")


def test_what_the_engine_writes_is_told_in_every_language(engine: Engine, clock) -> None:
    _change_much(engine, clock)
    reasons = _reasons(engine)
    assert len(set(reasons)) > 12
    for reason in reasons:
        assert told_reason(reason, ENGLISH) == reason
        assert not re.search(r"[a-z]{3}", _QUOTED.sub("", told_reason(reason, CHINESE))), reason


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_is_told(refusal: Refusal) -> None:
    stored = f"{refusal.reason} ({refusal})"
    assert told_reason(stored, ENGLISH) == stored
    assert told_reason(stored, CHINESE) == CHINESE(f"reason.refused_{refusal.value}")
    assert told_reason(f"{stored}; and more", CHINESE) == f"{stored}; and more"


def test_a_sentence_keeps_what_it_names() -> None:
    stored = "it is new; it may outdate “text” (the numbers differ, “a”)"
    assert told_reason(stored, CHINESE) == "这是新的；它可能使“text”过时 (the numbers differ, “a”)"
    assert told_reason("changed: text, tags", CHINESE) == "已更改：内容、标签"
    assert told_reason("captured by its signals: it is short; it has a name", CHINESE).endswith(
        "it is short; it has a name"
    )


@pytest.mark.parametrize(
    "given", ["", "so she says", "it is new; so she says", "it is {new}", "{key}", "it is new; ", "(x)"]
)
def test_a_reason_that_somebody_gave_is_shown_as_it_is(given: str) -> None:
    assert told_reason(given, ENGLISH) == given
    assert told_reason(given, CHINESE) == given


def test_every_decision_has_a_word() -> None:
    assert {told_word(decision, ENGLISH) for decision in CHANGE_DECISIONS} == CHANGE_DECISIONS
    assert not [decision for decision in CHANGE_DECISIONS if f"reason_word.{decision}" not in catalog("zh")]
    assert told_word("unheard-of", CHINESE) == "unheard-of"
