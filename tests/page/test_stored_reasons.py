"""The reasons that the engine stores in English, on a page in another language: those that it really writes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.consolidation.conftest import PORT, TALK, Scripted, begun, consolidate, proposal
from tests.consolidation.conftest import settings as consolidating
from tests.consolidation.test_reconcile import Judging, doubt
from tests.databases import Database

from picomem import consolidation_runner
from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.engine.review import decide_on, to_review
from picomem.engine.upkeep import unknown_project
from picomem.memory.review_items import ReviewVerdict
from picomem.models.generator import Fact, PairRelation
from picomem.operations.command_rewriting import for_remote_callers
from picomem.operations.memory_views import damage_warnings
from picomem.operations.table import operation
from picomem.operations.undoing import Undo
from picomem.page.message_catalog import catalog, say_in
from picomem.page.stored_reasons import told_citation, told_reason, told_warning, told_why, told_word
from picomem.policy.refusal import Refusal
from picomem.recall.recency import OUTDATED
from picomem.records.caller import SESSIONS_NOT_READ
from picomem.records.kinds import CHANGE_DECISIONS
from picomem.records.session import Session
from picomem.runtime import Runtime

ENGLISH, CHINESE = say_in("en"), say_in("zh")
# Names, names of refusals, and what a model said stay as they are.
_AS_STORED = re.compile(r"“[^”]*”|（[a-z_]+）|（the wiki moved）|\bscripted\b|[0-9a-f-]{36}")


def _in_thread(call: Callable[..., Any], *arguments: object) -> Any:
    """Call what runs an event loop. In the thread of the tests the browser's loop may be running already."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(call, *arguments).result()


def _reasons(engine: Engine) -> list[str]:
    return [change.reason for change, _ in engine.changes(200)]


def _check_told(reasons: list[str]) -> None:
    for reason in reasons:
        assert told_reason(reason, ENGLISH) == reason
        assert not re.search(r"[a-z]{3}", _AS_STORED.sub("", told_reason(reason, CHINESE))), reason


def _change_much(engine: Engine, clock) -> None:
    """Let the engine decide in many ways."""
    engine.remember("Deploys go out on Tuesdays", key="deploy_day", kind="decision")
    engine.remember("Deploys go out on Tuesdays")
    engine.remember("Deploys go out on Tuesdays and on Thursdays after the stand-up")
    engine.remember("The release train leaves on Friday", key="deploy_day", kind="decision", tags=["release"])
    engine.remember("The race boat is green and lies in the northern dock")
    engine.remember("the race boat is green, and lies in the northern dock.", tags=["boats"])
    engine.remember("Anna keeps the keys of the boat house")
    engine.remember("The queue is Redis", key="queue_old")
    engine.remember("We use Postgres for the queue", key="queue_new")
    engine.remember("The boat house opens at nine on Saturdays")
    engine.remember("The boat house opens at ten on Saturdays")
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
    _check_told(reasons)
    engine.purge(everything=True)
    (erased,) = _reasons(engine)
    assert "versions of memories" in erased
    _check_told([erased])


@pytest.fixture
def consolidated(db, clock, database: Database):
    with Runtime(database.connect(db), consolidating(), clock=clock) as runtime:
        yield runtime.engine()


def test_what_a_consolidation_writes_is_told_in_every_language(consolidated: Engine) -> None:
    talk: Session = begun(consolidated, *TALK)
    consolidated.remember(
        "The staging pool asks port 6432", key="staging_pool_port", origin="agent", since="2026-04-30"
    )
    bad = (
        Fact("invented", "Penguins juggle flaming chainsaws beneath Saturn", 0.5),
        Fact("number", "The staging database listens on port 9911", 0.5),
        Fact("script", "预发环境的数据库很快", 0.5),
        Fact("name", "预发环境的数据库是 Oracle", 0.5),
        Fact("talk", "The user asked why staging is slow", 0.5),
        Fact("excuse", "I am sorry, I cannot help with staging", 0.5),
        Fact("empty", "…", 0.5),
        Fact("long", "Staging is slow. The pool asks 6432. The deploy is left. It answers in 3 ms.", 0.5),
    )
    offered = proposal(PORT, *bad, invalidate=("staging_pool_port", "nowhere"))
    (run,) = _in_thread(consolidate, consolidated, Scripted([offered]), talk.id).runs
    back = consolidated.undo(run.run)[-1].change
    consolidated.undo(back.run)
    reasons = _reasons(consolidated)
    assert len([reason for reason in reasons if reason.startswith("taken back: ")]) >= 4
    _check_told(reasons)


@pytest.mark.parametrize("relation", PairRelation)
def test_what_a_model_decides_about_a_pair_is_told(consolidated: Engine, relation: PairRelation) -> None:
    doubt(consolidated)
    (settled,), _ = _in_thread(anyio.run, consolidation_runner.reconcile, consolidated, Judging(relation))
    _check_told([settled.change.reason])
    assert told_reason(settled.change.reason, CHINESE).endswith("（the wiki moved）")


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_is_told(refusal: Refusal) -> None:
    stored = f"{refusal.reason} ({refusal})"
    assert told_reason(stored, ENGLISH) == stored
    assert told_reason(stored, CHINESE) == CHINESE(f"reason.refused_{refusal.value}")
    assert told_reason(f"{stored}; and more", CHINESE) == f"{stored}; and more"


def test_a_sentence_keeps_what_it_names() -> None:
    assert told_reason("it is new; it may outdate “text”", CHINESE) == "这是新的；它可能使“text”过时"
    assert told_reason("changed: text, tags", CHINESE) == "已更改：内容、标签"


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


def test_why_a_hit_was_found_is_told(engine: Engine) -> None:
    engine.remember("The queue moved from Redis to PostgreSQL", key="queue")
    (hit,) = engine.recall("where is the queue").hits
    assert told_why(hit.why, ENGLISH) == hit.why == "words: queue"
    assert told_why(hit.why, CHINESE) == "含词：queue"
    assert (
        told_why("words: quay (near key), boat; near in meaning", CHINESE) == "含词：quay（近似“key”）、boat；语义相近"
    )
    assert told_why(OUTDATED, ENGLISH) == OUTDATED != told_why(OUTDATED, CHINESE)
    assert told_why("unheard of; no word of the question", CHINESE) == "unheard of；不含问题中的词"


@pytest.mark.parametrize(
    ("citation", "told"),
    [
        ("claude-code 97c5bbc9 turn 27, 2026-04-14", "claude-code 97c5bbc9 第 27 轮，2026-04-14"),
        ("codex 019df1e5 turns 10–19", "codex 019df1e5 第 10–19 轮"),
        (
            "claude-code 97c5bbc9 turns 2–4, 2026-05-04, on an abandoned branch",
            "claude-code 97c5bbc9 第 2–4 轮，2026-05-04，在已放弃的分支上",
        ),
        ("picobot 01a20090 message 12, 2026-02-10", "picobot 01a20090 第 12 条消息，2026-02-10"),
        ("transcript gone", "会话记录已不存在"),
        ("notes/harbor, opening hours.md", "notes/harbor, opening hours.md"),
    ],
)
def test_a_citation_is_told_in_the_language_of_the_page(citation: str, told: str) -> None:
    assert (told_citation(citation, ENGLISH), told_citation(citation, CHINESE)) == (citation, told)


# What may stay in a warning that is told: names, commands and settings.
_NAMED = re.compile(r"“[^”]*”|`[^`]*`|\bharbour\b|min_confidence|MEMORY\.md|memory/|memory:[a-z:]+|notes\.paths")


def _check_warnings(warnings: Iterable[str]) -> None:
    """Check that each warning is told as the engine says it, and as a caller over a network reads it."""
    requests = {name: operation(name).request for name in ("doctor", "revise")}
    for said in warnings:
        for stored in (said, for_remote_callers(said, requests), for_remote_callers(said, {})):
            assert told_warning(stored, ENGLISH) == stored
            told = told_warning(stored, CHINESE)
            assert not re.search(r"[a-z]{3}", _NAMED.sub("", told)), told


def test_the_warnings_of_recall_and_of_lists_are_told(engine: Engine, clock, tmp_path: Path) -> None:
    warnings = [
        *engine.recall("what did the harbour master say?").warnings,
        *unknown_project(engine, "quay"),
        *damage_warnings(["a"]),
        *damage_warnings(["a", "b"]),
        *engine.search_notes("harbour").warnings,
        SESSIONS_NOT_READ,
        *(
            f"{reason}, so the notes were searched as well."
            for reason in ("The store could not answer", "Recall found nothing", "Recall is not sure")
        ),
    ]
    engine.remember("The harbour master keeps the ledgers of the quay", key="ledgers")
    warnings += engine.recall("the harbuor ledgers").warnings
    warnings += engine.recall("the ledgers of the quay", min_confidence=1.0).warnings
    engine.remember("The harbour master is called Anna", key="master")
    warnings += engine.recall("the harbour master", min_confidence=1.0).warnings
    engine.remember("The gate is open until noon", key="gate", expires="2026-06-01")
    gone = engine.forget("gate")
    clock.now += 90 * DAY
    warnings += operation("undo").call(engine, Undo(gone.id)).warnings
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Where does the grey ferry lie?"}))
    engine.ingest([talk])
    warnings += engine.recall("what did I say about the ferry in May 2019?").warnings
    warnings += engine.recall("what did I say about the ferry in our ninth session?").warnings
    starts = ("One hit was", "2 hits were", "There is no project", "Nothing is known", "“gate” is believed", "No past")
    for start in starts:
        assert any(said.startswith(start) for said in warnings), start
    _check_warnings(warnings)


def test_a_warning_that_is_not_known_stays_as_it_is() -> None:
    assert told_warning("Something new happened.", CHINESE) == "Something new happened."
