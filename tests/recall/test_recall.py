"""Recall through the engine: what it finds, within which limits, and what it says of itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import amount
from tests.cases import each_case
from tests.conftest import SteppingClock
from tests.sqlite_file import connection_of

from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, StoreError
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.scope import Scope

TALK = [
    ("2026-04-07T09:00:00Z", "user", "Shall the booking queue run on Redis?"),
    ("2026-04-07T09:01:00Z", "assistant", "Redis is fine for a start; the queue holds 200 jobs a minute."),
    ("2026-04-14T10:00:00Z", "user", "The bug is in next_free_slot in src/harbor/calendar/slots.py."),
    ("2026-04-14T10:02:00Z", "assistant", "Yes: it adds the offset twice when daylight saving begins."),
    ("2026-05-01T08:00:00Z", "user", "我们决定把数据库迁移到 PostgreSQL，库存表先迁。"),
    ("2026-05-01T08:01:00Z", "assistant", "好的，先迁库存表，再迁订单表。"),
]


@pytest.fixture
def talk(tmp_path: Path) -> Callable[..., Path]:
    """Write a talk as a transcript; its path."""

    def _write(rows: list[tuple[str, str, str]] = TALK, name: str = "talk.jsonl") -> Path:
        path = tmp_path / name
        lines = [json.dumps({"role": role, "content": text, "timestamp": at}) for at, role, text in rows]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    return _write


@pytest.fixture
def told(engine: Engine, talk: Callable[..., Path]) -> Engine:
    engine.ingest([talk()])
    return engine


def recall_texts(engine: Engine, question: str, **options: Any) -> list[str]:
    return [hit.text for hit in engine.recall(question, **options).hits]


@pytest.mark.requirement("A2")
def test_words_find_what_has_them_and_the_best_comes_first(told: Engine) -> None:
    hits = recall_texts(told, "does the queue run on redis")
    assert hits[0].startswith("Shall the booking queue run on Redis")


@pytest.mark.requirement("A2")
def test_a_memory_is_found_by_its_key_and_its_content_as_soon_as_it_is_stored(engine: Engine) -> None:
    engine.remember("It listens on 6432", key="staging_db_port")
    assert recall_texts(engine, "staging port") == ["It listens on 6432"]
    assert recall_texts(engine, "6432") == ["It listens on 6432"]


@pytest.mark.requirement("A3")
@each_case(
    ("question", "expected"),
    [
        ("next_free_slot", "next_free_slot"),
        ("nextFreeSlot", "next_free_slot"),
        ("free slot", "next_free_slot"),
        ("slots.py", "slots.py"),
        ("src/harbor/calendar", "slots.py"),
        ("harb", "src/harbor"),
        ("calender", "calendar"),
        ("Postgre", "PostgreSQL"),
        ("数据库", "数据库"),
        ("库", "数据库"),
        ("库存", "库存"),
        ("订", "订单表"),
    ],
)
def test_identifiers_paths_parts_slips_and_single_characters_are_found(
    told: Engine, question: str, expected: str
) -> None:
    assert any(expected in text for text in recall_texts(told, question)[:3])


def test_a_warning_names_a_slip_and_what_was_found_for_it_as_they_are_written(engine: Engine) -> None:
    engine.remember("The archive of the harbour moves to another database", key="harbour_archive")
    warnings = engine.recall("which databse gets the archives of the harbor?").warnings
    assert "“databse” was not found; looked for database as well." in warnings
    assert "“harbor” was not found; looked for harbour as well." in warnings


@each_case(
    ("question", "why"),
    [
        ("数据库迁移到哪里", "words: 数据库迁移"),
        ("订单表还是库存表先迁", "words: 库存表先迁"),
        ("库存", "words: 库存"),
    ],
)
def test_a_reason_names_the_pieces_of_a_chinese_question_and_not_its_pairs(
    told: Engine, question: str, why: str
) -> None:
    (hit,) = (hit for hit in told.recall(question).hits if "PostgreSQL" in hit.text)
    assert hit.why.split("; ")[0] == why


def test_a_spelling_that_no_hit_has_is_not_named(engine: Engine) -> None:
    engine.remember("The archive of the harbour moves to another database", key="harbour_archive")
    assert not any("harbuor" in warning for warning in engine.recall("harbuor", since="2031-01-01").warnings)


@pytest.mark.requirement("A4")
def test_query_category_range_and_limit_combine(told: Engine) -> None:
    told.remember("The queue holds jobs in Redis", key="queue", kind="decision")
    told.remember("I prefer a queue for everything", key="queue_taste", kind="preference")
    assert len(told.recall("queue", kinds=["decision"], include_transcripts=False).hits) == 1
    inside = told.recall("queue", since="2026-04-01", until="2026-04-08", include_memories=False)
    assert [hit.text[:20] for hit in inside.hits] == ["Shall the booking qu", "Redis is fine for a "]
    assert len(told.recall("queue", since="2026-04-01", until="2026-04-08", limit=1).hits) == 1
    assert not told.recall("queue", since="2026-04-20", until="2026-04-30", include_memories=False).hits


@pytest.mark.requirement("A4")
def test_known_since_finds_what_was_stored_lately_however_much_there_was_before(
    engine: Engine, talk: Callable[..., Path], clock: SteppingClock
) -> None:
    rows = [(f"2026-04-07T{n // 60:02}:{n % 60:02}:00Z", "user", f"The queue has {n} jobs.") for n in range(250)]
    engine.ingest([talk(rows, "before.jsonl")])
    clock.now += DAY
    later, text = clock.now, "Long ago the queue of the ferry was short."
    engine.ingest([talk([("2026-01-01T09:00:00Z", "user", text)], "after.jsonl")])
    for question in ("queue jobs", ""):
        assert recall_texts(engine, question, known_since=later, limit=50) == [text]


@pytest.mark.requirement("A4")
def test_a_limit_in_time_adds_nothing_that_only_lies_within_it(engine: Engine, talk: Callable[..., Path]) -> None:
    said = ["The booking queue runs on Redis.", *(f"The crane lifts {number} crates." for number in range(10, 40))]
    rows = [(f"2026-04-07T09:{minute:02}:00Z", "user", text) for minute, text in enumerate(said)]
    engine.ingest([talk(rows)])
    question = "booking queue on Redis"
    assert recall_texts(engine, question, until="2026-04-08") == recall_texts(engine, question)
    assert len(engine.recall("", until="2026-04-08", limit=40, token_budget=None).hits) == len(said)


def test_time_words_in_the_question_bring_that_time_to_the_front(told: Engine) -> None:
    answer = told.recall("what did we talk about on April 14th?", now="2026-05-02")
    assert answer.time_phrase
    assert {hit.citation[-10:] for hit in answer.hits[:2]} == {"2026-04-14"}
    assert "库存表" in recall_texts(told, "前天我们聊了什么？", now="2026-05-03")[0]


def test_a_time_from_which_nothing_is_known_is_said_and_all_times_are_searched(told: Engine) -> None:
    answer = told.recall("what about the redis queue last Tuesday?", now="2027-01-05")
    assert answer.hits
    assert any("Nothing is known from" in warning for warning in answer.warnings)


def test_an_answer_from_another_time_than_was_asked_for_is_not_sure(told: Engine) -> None:
    asked, elsewhere = (
        told.recall(f"what did we say about the booking queue on {day}?", now="2026-06-01")
        for day in ("7 April", "9 March")
    )
    assert not any("Nothing is known from" in warning for warning in asked.warnings)
    assert any("Nothing is known from" in warning for warning in elsewhere.warnings)
    assert elsewhere.confidence <= 0.3 < asked.confidence


def test_something_is_known_from_a_time_of_which_there_is_only_a_memory(told: Engine) -> None:
    told.remember("We decided to paint the boat shed green", since="2026-03-09")
    answer = told.recall("what did we decide about the boat shed on 9 March?", now="2026-06-01")
    assert answer.hits[0].text.endswith("green")
    assert not any("Nothing is known from" in warning for warning in answer.warnings)


def test_the_token_budget_is_never_exceeded_and_memories_are_served_first(told: Engine) -> None:
    for number in range(20):
        told.remember(
            f"Queue fact number {number} says something about the queue and worker {number}", key=f"q{number}"
        )
    for budget in (1, 40, 150, 400, 1500):
        answer = told.recall("queue", token_budget=budget, limit=50)
        assert answer.tokens == sum(hit.tokens for hit in answer.hits) <= budget
    tight = told.recall("queue", token_budget=150, limit=50)
    assert tight.hits
    assert tight.hits[0].source == "memory"
    assert tight.left_out > 0


def test_filters_for_priority_and_tag(engine: Engine) -> None:
    engine.remember("The queue must never lose a job", key="a", priority="critical", tags=["ops"])
    engine.remember("The queue is blue on the chart", key="b", priority="low", tags=["ui"])
    assert recall_texts(engine, "queue", priority="high") == ["The queue must never lose a job"]
    assert recall_texts(engine, "queue", tag="ui") == ["The queue is blue on the chart"]


def test_context_is_handed_out_only_when_asked_for(engine: Engine) -> None:
    engine.remember("Deploys go out on Tuesdays", key="deploy", context="support is in on Wednesdays")
    assert engine.recall("deploys").hits[0].context == ""
    assert engine.recall("deploys", include_context=True).hits[0].context == "support is in on Wednesdays"


@pytest.mark.requirement("O4", "O12")
def test_a_hit_that_only_vectors_find_can_win_and_words_alone_answer_without_them(
    open_engine, talk: Callable[..., Path]
) -> None:
    engine = open_engine(embedder=StaticEmbedder())
    engine.remember("The automobile is parked behind the house", key="car")
    engine.remember("Bread is baked on Fridays", key="bread")
    answer = engine.recall("where is the sedan?")
    assert answer.hits[0].key == "car"
    assert "meaning" in answer.hits[0].why
    assert answer.legs["memories by vector"] != "off"
    plain = open_engine()
    assert plain.recall("automobile").hits[0].key == "car"
    assert plain.recall("automobile").legs["memories by vector"] == "off"


@pytest.mark.sqlite_file("drops a table of the file")
@pytest.mark.requirement("O12")
@pytest.mark.parametrize("has_vectors", [True, False])
@pytest.mark.parametrize("has_full_text", [True, False])
def test_recall_answers_without_vectors_or_full_text_and_says_which_answered(
    has_vectors: bool, has_full_text: bool, open_engine, talk: Callable[..., Path]
) -> None:
    engine = open_engine(embedder=StaticEmbedder()) if has_vectors else open_engine()
    engine.remember("The automobile is parked behind the house", key="car")
    engine.remember("Bread is baked on Fridays", key="bread")
    engine.ingest([talk([("2026-04-07T09:00:00Z", "user", "Shall the exporter run on the harbor cluster?")])])
    if not has_full_text:
        for source in ("memory", "episode"):
            connection_of(engine).execute(f"DROP TABLE {source}_words")

    for question, text in (
        ("where did we put the automobile?", "The automobile is parked behind the house"),
        ("what about the exporters?", "Shall the exporter run on the harbor cluster?"),
    ):
        answer = engine.recall(question)
        source = answer.hits[0].source
        leg = {"memory": "memories", "episode": "episodes"}[source]
        assert answer.hits[0].text == text
        assert ("by substring; full text failed" in answer.legs[f"{leg} by words"]) is not has_full_text
        assert (answer.legs[f"{leg} by vector"] != "off") is has_vectors


def test_an_answer_gives_its_account(told: Engine) -> None:
    answer = told.recall("redis queue")
    assert set(answer.legs) == {"memories by words", "memories by vector", "episodes by words", "episodes by vector"}
    assert 0 < answer.confidence <= 1
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert all(hit.why for hit in answer.hits)


@pytest.mark.requirement("O8")
def test_an_episode_carries_the_pointer_that_opens_it(told: Engine) -> None:
    hit = next(hit for hit in told.recall("daylight saving").hits if hit.source == "episode")
    assert hit.turns == (3, 3)
    assert hit.citation.endswith("turn 4, 2026-04-14")
    _, _, opened = told.show(hit.id)
    assert [turn.text for turn in opened.turns] == [TALK[3][2]]


def test_a_hit_carries_the_pointer_to_its_turn(told: Engine) -> None:
    hit = told.recall("next_free_slot").hits[0]
    assert (hit.source, hit.turns, Path(hit.transcript).name) == ("episode", (2, 2), "talk.jsonl")
    assert hit.citation.endswith("turn 3, 2026-04-14")


def test_nothing_is_found_where_nothing_fits(told: Engine) -> None:
    answer = told.recall("zebra xylophone")
    assert answer.hits == ()
    assert answer.confidence == 0


@pytest.mark.requirement("X2")
def test_recall_as_of_a_day_answers_what_was_believed_then(engine: Engine, clock) -> None:
    engine.remember("Mia lives in Paris", key="home")
    then = clock.now
    engine.revise("home", "Mia lives in Berlin")
    assert recall_texts(engine, "where does Mia live?", as_of=then) == ["Mia lives in Paris"]
    assert recall_texts(engine, "where does Mia live?") == ["Mia lives in Berlin"]


@pytest.mark.requirement("X7")
def test_text_that_nobody_trusted_wrote_is_only_handed_out_when_asked_for(engine: Engine) -> None:
    engine.remember("The forum page lists port 9999 for staging", key="forum", origin="web")
    assert not engine.recall("staging port 9999").hits
    assert engine.recall("staging port 9999", include_untrusted=True).hits[0].origin == "web"


@pytest.mark.sqlite_file("changes rows in the file")
def test_a_transcript_whose_policy_forbids_it_is_never_handed_out(told: Engine) -> None:
    connection_of(told).execute("UPDATE transcripts SET send_policy = 'deny'")
    assert not told.recall("redis queue").hits
    assert told.timeline() == []


def test_a_project_s_recall_stays_in_it(engine: Engine) -> None:
    engine.remember("The queue is Redis", key="queue_h", scope=Scope(project="harbor"))
    engine.remember("The queue is a file", key="queue_l", scope=Scope(project="lantern"))
    assert recall_texts(engine, "queue", scope=Scope(project="harbor")) == ["The queue is Redis"]
    assert len(recall_texts(engine, "queue")) == 2


HOSTILE = [
    "", " ", '"', "*", "^x", "a NEAR b", "NEAR(a b, 5)", "name: x", "body:(", "(((((", "AND OR NOT", "'; DROP TABLE memories",
    "\x00", "x\x00y", "%", "_", "\\", "🙂" * 500, "‮abc", "\ud800", "a" * 1_000_000, "word " * 10_000,
    " ".join(f"w{i}" for i in range(10_000)), "库" * 100_000, "99999999999 days ago", "-", "{}[]", "${x}", "1e999",
]  # fmt: skip


@pytest.mark.reliability("S11")
@pytest.mark.requirement("A2")
@each_case("question", HOSTILE, ids=[*map(str, range(len(HOSTILE)))])
def test_a_hostile_question_is_a_question_not_an_error(told: Engine, question: str) -> None:
    """S11."""
    assert 0 <= told.recall(question).confidence <= 1


@pytest.mark.reliability("S11")
@settings(max_examples=amount(50, 50_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300) | st.text(alphabet='"*^():-+{}[]AND ORNEAR\x00\\%_', max_size=60))
def test_any_text_is_a_question(told: Engine, question: str) -> None:
    """S11."""
    told.recall(question)


@each_case(
    "bad",
    [{"kinds": ["rumour"]}, {"limit": 0}, {"token_budget": -1}, {"since": "2026-02-30"}, {"priority": "urgent"}],
)
def test_a_bad_option_is_one_sentence(told: Engine, bad: dict) -> None:
    with pytest.raises(InvalidInput) as error:
        told.recall("x", **bad)
    assert "\n" not in str(error.value)


def test_a_closed_store_is_an_error_of_ours(open_engine) -> None:
    engine = open_engine()
    engine.close()
    with pytest.raises(StoreError):
        engine.remember("something worth keeping here", key="x")


def test_what_nobody_ever_spoke_of_is_not_known_and_the_answer_says_so(told: Engine) -> None:
    question = "zirconium smelter quotas in Tuvalu"
    answer = told.recall(question)
    assert answer.confidence < 0.1
    assert not answer.hits or "probably not known" in " ".join(answer.warnings)
    strict = told.recall(question, min_confidence=0.3)
    assert not strict.hits
    assert strict.confidence == answer.confidence


def test_what_is_known_passes_the_threshold_and_a_stricter_one_is_kept(told: Engine) -> None:
    question = "does the queue run on redis"
    sure = told.recall(question).confidence
    assert told.recall(question, min_confidence=round(sure - 0.01, 4)).hits
    strict = told.recall(question, min_confidence=min(1.0, sure + 0.01))
    assert not strict.hits
    assert "held back" in strict.warnings[0]


def test_a_confidence_beyond_one_is_refused(told: Engine) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        told.recall("redis", min_confidence=20)


def test_a_store_into_which_nothing_was_read_says_so_where_it_knows_no_answer(engine: Engine, told: Engine) -> None:
    assert not any("picomem ingest" in warning for warning in told.recall("zebra crossing").warnings)


def test_the_hint_to_ingest_stands_only_where_nothing_was_read(engine: Engine) -> None:
    engine.remember("It listens on 6432", key="staging_db_port")
    assert any("picomem ingest" in warning for warning in engine.recall("zebra crossing").warnings)
    assert not any("picomem ingest" in warning for warning in engine.recall("staging port").warnings)


def test_a_small_budget_goes_to_the_best_hit_whatever_its_source(engine: Engine, talk: Callable[..., Path]) -> None:
    engine.ingest([talk([("2026-04-07T09:00:00Z", "user", "Is the ledger store on SQLite already?")])])
    engine.remember("The ledger store is on SQLite, with a copy every night", key="ledger_store")
    best, second = engine.recall("ledger store on SQLite").hits
    assert (best.source, second.source) == ("memory", "episode")
    budget = best.tokens + 20
    assert best.tokens > second.tokens and best.tokens > 0.6 * budget
    assert [hit.id for hit in engine.recall("ledger store on SQLite", token_budget=budget).hits] == [best.id]
