"""Whether something is put beside a prompt at all (X16)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import each_case
from tests.databases import chosen

import picomem
from picomem.engine.audience import note_injected
from picomem.hooks.hook_context import context_of
from picomem.hooks.hook_events import HookEvent
from picomem.injection.prompt_context import AgentPrompt, hits_block, injection, recalled, without_pleasantries
from picomem.injection.relevance import hit_signals, most_useful_first, observe_prompt, relevance
from picomem.models.classifier import linear_logit, load
from picomem.recall.hits import HIT_OVERHEAD
from picomem.records.hit import Hit
from picomem.text.tokens import count_tokens

DECISION = "The billing service uses PostgreSQL 16, because the reports need window functions"


def _event(prompt: str) -> HookEvent:
    return HookEvent(name="UserPromptSubmit", session="s", folder="/work/billing", prompt=prompt)


@pytest.fixture(scope="module")
def billing(tmp_path_factory: pytest.TempPathFactory) -> picomem.Engine:
    memory = picomem.open(chosen().named(tmp_path_factory.mktemp("billing") / "memory.db"), project="billing")
    memory.remember(DECISION, kind="decision")
    memory.remember("Marit signs off changes to the schema of the billing database", kind="fact")
    return memory


@pytest.mark.parametrize(
    "prompt",
    [
        "which database does the billing service use?",
        "why did we choose postgres for billing again",
        "who signs off schema changes for the billing database",
    ],
)
@pytest.mark.requirement("X16")
def test_a_question_that_memory_answers_gets_the_answer(billing: picomem.Engine, prompt: str) -> None:
    text, ids = context_of(billing, _event(prompt))

    assert ids
    assert "billing" in text


@each_case(
    "prompt",
    [
        "continue",
        "thanks, that was quick",
        "继续",
        "run the tests",
        "commit this and push",
        "rename invoice_total to total_due in billing/models.py and fix the tests",
        "what is the difference between a left join and an inner join?",
        "Traceback (most recent call last):\n  File \"billing/app.py\", line 3, in <module>\n    import psycopg\nModuleNotFoundError: No module named 'psycopg'",
        "def total(lines):\n    return sum(line.price for line in lines)\n\nadd type hints",
    ],
)
@pytest.mark.requirement("X16")
def test_a_prompt_that_needs_no_memory_gets_none(billing: picomem.Engine, prompt: str) -> None:
    assert context_of(billing, _event(prompt)) == ("", [])


# Reading and asking memory takes the time that it takes on a busy machine.
_PATIENT = settings(suppress_health_check=[HealthCheck.too_slow])


@_PATIENT
@given(prompt=st.text(max_size=400))
def test_any_prompt_has_a_relevance_between_0_and_1(billing: picomem.Engine, prompt: str) -> None:
    answer, hits = recalled(billing, AgentPrompt(prompt, "s"))

    assert 0.0 <= relevance(prompt, answer, hits) <= 1.0


@_PATIENT
@given(prompt=st.text(max_size=400))
def test_the_classifier_read_without_numpy_says_what_it_says_with_it(prompt: str) -> None:
    from math import exp

    observed = observe_prompt(prompt)
    share = load("recollection").probabilities([observed], "recollection")[0]

    assert 1 / (1 + exp(-linear_logit("recollection", observed))) == pytest.approx(share, abs=1e-9)


@_PATIENT
@given(texts=st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=5), budget=st.integers(0, 600))
def test_what_is_injected_is_within_its_budget_and_fenced(
    billing: picomem.Engine, texts: list[str], budget: int
) -> None:
    (hit, *_) = billing.recall("which database does billing use?").hits
    hits = [
        replace(hit, text=text, id=f"01a2075c-481{number}", tokens=count_tokens(text) + HIT_OVERHEAD)
        for number, text in enumerate(texts)
    ]
    text, ids = hits_block(hits, budget)

    assert count_tokens(text) <= budget
    assert bool(text) == bool(ids)
    assert text.count("</picomem-memory") == (1 if text else 0)
    assert not text or text.endswith("\n</picomem-memory>")


def test_the_sets_name_entries_that_are_there() -> None:
    from benchmarks.injection import SETS
    from training.injection_sets import FITTED_TO

    for path in {*SETS.values(), *FITTED_TO}:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        entries = {row["id"] for row in rows if row["type"] == "memory"}
        entries |= {
            f"{row['id']}:{turn}" for row in rows if row["type"] == "session" for turn in range(len(row["turns"]))
        }
        prompts = [row for row in rows if row["type"] == "prompt"]
        assert len({row["id"] for row in rows}) == len(rows)
        assert all(set(row["answers"]) <= entries for row in prompts)
        assert sum(not row["answers"] for row in prompts) >= 90


def _decision(billing: picomem.Engine) -> Hit:
    hits = billing.recall("which database does billing use?").hits
    return next(hit for hit in hits if hit.text == DECISION)


@pytest.mark.requirement("X16")
def test_what_was_only_asked_comes_last(billing: picomem.Engine) -> None:
    settled = _decision(billing)
    asked = replace(settled, source="episode", role="user", kind="", text="which database does billing use, postgres?")
    said = replace(asked, role="assistant", text="Billing uses PostgreSQL 16 on db-3 as its database")

    ordered = most_useful_first("which database does billing use?", [asked, said, settled])

    assert ordered[-1] == asked


@pytest.mark.requirement("X16")
def test_a_hit_that_is_too_long_leaves_room_for_the_next(billing: picomem.Engine) -> None:
    settled = _decision(billing)
    text, injected = hits_block([replace(settled, id="01a2075c-4810", tokens=2_000), settled], 600)

    assert DECISION in text
    assert len(injected) == 1


def test_a_long_passage_takes_at_most_half_of_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "s01.jsonl"
    talk = "The billing service keeps its invoices in PostgreSQL, sorted by month and by customer. " * 120
    path.write_text(json.dumps({"role": "assistant", "content": talk}) + "\n")
    with picomem.open(chosen().named(tmp_path / "memory.db")) as memory:
        memory.ingest([path])
        _, hits = recalled(memory, AgentPrompt("where does the billing service keep its invoices"))

    assert hits
    assert max(hit.tokens for hit in hits) <= 320


@pytest.mark.requirement("X16")
def test_a_question_that_is_asked_again_gets_nothing_that_fits_it_less(tmp_path: Path) -> None:
    with picomem.open(chosen().named(tmp_path / "memory.db"), project="billing") as memory:
        memory.remember(DECISION, kind="decision")
        memory.remember("Marit signs off changes to the schema of the billing database", kind="fact")
        memory.remember("The billing service was written by Femke", kind="fact")
        asked = AgentPrompt("which database does the billing service use?", "s1")
        first = injection(memory, asked)
        note_injected(memory, "s1", first.injected)
        again = injection(memory, asked)

    assert DECISION in first.block
    assert again.block == ""
    assert again.relevance == first.relevance


@pytest.mark.requirement("X16")
def test_the_id_of_each_entry_opens_that_entry(tmp_path: Path) -> None:
    from training.injection_sets import InjectionStore

    said = [f"Crate {name} of the harbour office stands in hall {hall}." for hall, name in enumerate(("ash", "birch"))]
    turns = [{"role": role, "text": text} for role, text in zip(("user", "assistant"), said, strict=True)]
    row = {"type": "session", "id": "s01", "project": "harbour", "date": "2026-02-03T09:12:00Z", "turns": turns}
    (tmp_path / "set.jsonl").write_text(json.dumps(row) + "\n")
    store = InjectionStore(tmp_path / "set.jsonl", tmp_path)
    engine = store.engine("harbour")
    block = injection(engine, AgentPrompt("in which hall does crate ash of the harbour office stand?")).block
    lines = re.findall(r"^- (.*) \(\w+, [^,]+, ([0-9a-f-]+)\)", block, re.MULTILINE)
    opened = [engine.show(id_)[0].preview for _, id_ in lines]
    store.close()

    assert sorted(opened) == said
    assert opened == [text for text, _ in lines]


@each_case(
    "wrapped",
    [
        "{} please",
        "Please tell me {}",
        "Hey Claude, {}",
        "Would you mind telling me {}",
        "OK so {}",
        "Great, thanks. {}",
        "Sorry, one more thing: {} Thanks!",
        "你好, {}",
        "Hi,\n\n{}\n\nThanks",
        "{}\n\n",
    ],
)
@pytest.mark.requirement("X16")
def test_what_is_said_politely_gets_what_is_said_bluntly(billing: picomem.Engine, wrapped: str) -> None:
    question = "which database does the billing service use?"

    asked = injection(billing, AgentPrompt(question))
    politely = injection(billing, AgentPrompt(wrapped.format(question)))

    assert asked.block
    assert politely == asked


@each_case(
    ("prompt", "asked"),
    [
        ("麻烦问一下支付网关是谁负责的,谢谢", "支付网关是谁负责的"),
        ("好的,继续", "继续"),
        ("早会几点开始", "早会几点开始"),
        ("请假要找谁", "请假要找谁"),
        ("thanks!", "thanks!"),
        ("ok", "ok"),
        ("hide the button", "hide the button"),
        ("ok-button colour?", "ok-button colour?"),
    ],
)
def test_only_what_is_polite_is_taken_off(prompt: str, asked: str) -> None:
    assert without_pleasantries(prompt) == asked


@given(prompt=st.text(max_size=200))
def test_taking_off_what_is_polite_leaves_something_and_nothing_to_take_off(prompt: str) -> None:
    asked = without_pleasantries(prompt)

    assert asked in prompt
    assert bool(asked) == bool(prompt.strip())
    assert without_pleasantries(asked) == asked


def test_the_answer_behind_the_best_passage_of_a_question_follows_that_one(billing: picomem.Engine) -> None:
    hit = replace(_decision(billing), source="episode", role="user", transcript="t")
    passages = [replace(hit, turns=(3, 3), score=score) for score in (0.9, 0.2)]
    answer = replace(hit, role="assistant", turns=(4, 4), score=0.4)
    elsewhere = replace(answer, transcript="other")

    signals = hit_signals("which database does billing use?", [*passages, answer, elsewhere])

    assert [signal["follows"] for signal in signals] == [0.0, 0.0, 0.9, 0.0]
