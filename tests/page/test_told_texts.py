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
from tests.cases import each_case
from tests.consolidation.conftest import PORT, TALK, Scripted, begun, consolidate, proposal
from tests.consolidation.conftest import settings as consolidating
from tests.consolidation.test_reconcile import Judging, doubt
from tests.databases import Database
from tests.engine_parts import to_review

from picomem import consolidation_runner
from picomem.clock import DAY
from picomem.coded_text import CodedText, all_of, without
from picomem.engine.engine import Engine
from picomem.engine.past_sessions import unknown_project
from picomem.engine.review import decide_on
from picomem.memory.review_items import ReviewVerdict
from picomem.models.generator import Fact, PairRelation
from picomem.operations.command_names import for_remote_callers
from picomem.operations.memory_views import damage_warnings
from picomem.operations.table import operation
from picomem.operations.undoing import Undo
from picomem.page.message_catalog import catalog, say_in, told, told_word
from picomem.policy.gate import Verdict
from picomem.policy.refusal import LONGEST_CONTENT, Refusal
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
        assert told(reason, ENGLISH) == reason
        assert not re.search(r"[a-z]{3}", _AS_STORED.sub("", told(reason, CHINESE))), reason


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
    assert told(settled.change.reason, CHINESE).endswith("（the wiki moved）")


@each_case("refusal", Refusal)
def test_every_refusal_is_told(refusal: Refusal) -> None:
    stored = Verdict(False, refusal, refusal.reason).recorded_reason
    assert stored == f"{refusal.reason} ({refusal})"
    assert told(stored, CHINESE) == f"{CHINESE(f'refusal.{refusal}', most=LONGEST_CONTENT)}（{refusal}）"


@pytest.mark.parametrize("given", ["so she says", "it is new", "it is {new}", '["reason.is_new",{}]', '"so" she\nsays'])
def test_a_reason_that_somebody_gave_is_shown_as_it_is(engine: Engine, given: str) -> None:
    """Issue 40, point 3: what a person or an agent wrote is never taken for what picomem found, however it reads."""
    engine.remember("The berth is number 12", key="berth")
    engine.forget("berth", reason=given)
    reason = _reasons(engine)[0]
    assert (reason, told(reason, ENGLISH), told(reason, CHINESE)) == (given, given, given)


def test_every_decision_has_a_word() -> None:
    assert {told_word(decision, ENGLISH) for decision in CHANGE_DECISIONS} == CHANGE_DECISIONS
    assert not [decision for decision in CHANGE_DECISIONS if f"reason_word.{decision}" not in catalog("zh")]
    assert told_word("unheard-of", CHINESE) == "unheard-of"


def test_why_a_hit_was_found_is_told(engine: Engine) -> None:
    engine.remember("The queue moved from Redis to PostgreSQL", key="queue")
    (hit,) = engine.recall("where is the queue").hits
    assert told(hit.why, ENGLISH) == hit.why == "words: queue"
    assert told(hit.why, CHINESE) == "含词：queue"
    near = CodedText("why_word.near", word="quay", asked="key")
    why = all_of(CodedText("why.words", words=(near, "boat")), CodedText("why.meaning"), OUTDATED)
    assert why == "words: quay (near key), boat; near in meaning; older statement, perhaps outdated"
    assert told(without(why, OUTDATED), CHINESE) == "含词：quay（近似“key”）、boat；语义相近"


def test_a_citation_is_told_in_the_language_of_the_page(engine: Engine, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Where does the grey ferry lie?"}))
    engine.ingest([talk])
    (hit,) = engine.recall("Where does the grey ferry lie?").hits
    where = hit.citation.partition(" turn ")[0]
    assert (hit.citation, told(hit.citation, CHINESE)) == (f"{where} turn 1", f"{where} 第 1 轮")
    cited = CodedText(
        "citation.abandoned", citation=CodedText("citation.dated", citation=hit.citation, day="2026-04-14")
    )
    assert cited == f"{where} turn 1, 2026-04-14, on an abandoned branch"
    assert told(cited, CHINESE) == f"{where} 第 1 轮，2026-04-14，在已放弃的分支上"


# What may stay in a warning that is told: names, commands and settings.
_NAMED = re.compile(r"“[^”]*”|`[^`]*`|\bharbour\b|min_confidence|MEMORY\.md|memory/|memory:[a-z:]+|notes\.paths")


def _check_warnings(warnings: Iterable[str]) -> None:
    """Check that each warning is told as the engine says it, and as a caller over a network reads it."""
    requests = {name: operation(name).request for name in ("doctor", "revise")}
    for said in warnings:
        for stored in (said, for_remote_callers(said, requests), for_remote_callers(said, {})):
            assert told(stored, ENGLISH) == stored
            assert not re.search(r"[a-z]{3}", _NAMED.sub("", told(stored, CHINESE))), stored


def test_the_warnings_of_recall_and_of_lists_are_told(engine: Engine, clock, tmp_path: Path) -> None:
    warnings = [
        *engine.recall("what did the harbour master say?").warnings,
        *unknown_project(engine, "quay"),
        *damage_warnings(["a"]),
        *damage_warnings(["a", "b"]),
        *engine.search_notes("harbour").warnings,
        SESSIONS_NOT_READ,
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
