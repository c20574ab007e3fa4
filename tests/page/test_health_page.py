"""The health view: jobs, spending, what was read, and the doctor for those who may ask it."""

from __future__ import annotations

import re

import pytest
from tests.databases import open_memory
from tests.engine_parts import connector_of
from tests.gateway.serving import Served

from picomem.clock import DAY
from picomem.engine.authorization import grant
from picomem.engine.record_chain import record_head
from picomem.operations.table import operation
from picomem.page.svg_marks import columns
from picomem.records.job import Job, JobState
from picomem.records.spend import Spend
from picomem.store.tables import consolidations, job_rows

from .serving_pages import EVERYTHING, PHONE, READ_ONLY, form_code_in, signed_in, signed_in_client


def fill_jobs_and_spending(pages: Served, user: str) -> None:
    """A job that failed, one that is done, and what a model cost on three days."""
    with open_memory(pages.db, user=user, embedder="none") as memory:
        now = memory.now()
        with connector_of(memory).write(memory.scope) as tx:
            for name, state, error in (
                ("embed", JobState.FAILED, "The endpoint <b>did not</b> answer"),
                ("consolidate", JobState.DONE, ""),
            ):
                job = Job(
                    user=user,
                    name=name,
                    kind=name,
                    state=state,
                    done=3,
                    total=9,
                    started_at=now - DAY,
                    finished_at=now,
                    next_run_at=now + DAY,
                    failures=2 if error else 0,
                    last_error=error,
                )
                job_rows.begin(tx, memory.scope, job)
            for days, tokens in ((0, 1_200), (2, 40_000), (40, 999_999)):
                consolidations.add_spending(tx, memory.scope, now - days * DAY, "test-model", Spend(1, tokens, 5))


@pytest.mark.requirement("O16")
def test_jobs_show_their_state_and_are_cancelled_and_resumed(pages: Served) -> None:
    fill_jobs_and_spending(pages, "jobs")
    with signed_in_client(pages, user="jobs") as client:
        text = client.get("/status").text
        assert text.index("embed") < text.index("consolidate")  # what failed comes first
        assert "The endpoint &lt;b&gt;did not&lt;/b&gt; answer" in text
        assert "failed 2 times in a row" in text
        fields = {"csrf": form_code_in(text), "back": "/status", "name": "consolidate"}
        assert client.post("/status/cancel-job", data=fields).status_code == 303
        assert "It rests for a day: consolidate" in client.get("/status").text
        client.post("/status/cancel-job", data={**fields, "resume": "1"})
        assert "It may run again: consolidate" in client.get("/status").text
        client.post("/status/cancel-job", data={**fields, "name": "nonsense"})
        assert "It went on meanwhile: nonsense" in client.get("/status").text


def test_spending_is_columns_by_day_and_a_table(pages: Served) -> None:
    fill_jobs_and_spending(pages, "spending")
    with signed_in_client(pages, user="spending") as client:
        text = client.get("/status").text
        assert "41,210 tokens in 30 days" in text
        assert "1,205 today" in text
        assert len(re.findall(r'<rect class="column"', text)) == 2
        assert len(re.findall(r'<rect class="column-none"', text)) == 28
        assert "999,999" not in text.partition("<tbody>")[0]
        assert "test-model" in text


def test_what_was_read_of_each_agent_and_when(pages: Served) -> None:
    with signed_in_client(pages) as client:
        row = re.findall(r'<th scope="row">claude-code</th>.*?</tr>', client.get("/status").text, re.DOTALL)[0]
        assert "<time datetime=" in row
    with open_memory(pages.db, embedder="none") as memory:
        verb = operation("status")
        status = verb.call(memory, verb.request())
        assert set(status.read_at) == set(status.transcripts)


@pytest.mark.requirement("P8")
def test_controls_are_for_those_who_may_use_them(pages: Served) -> None:
    fill_jobs_and_spending(pages, "reading")
    with signed_in_client(pages, user="reading", permissions=READ_ONLY) as client:
        text = client.get("/status").text
        assert "embed" in text
        assert "/status/" not in text
        assert "/purge" not in text
        code = form_code_in(text)
        assert client.post("/status/cancel-job", data={"csrf": code, "name": "embed"}).status_code == 403
        assert client.post("/status/examine", data={"csrf": code}).status_code == 403
    with signed_in_client(pages, user="reading") as client:
        text = client.get("/status").text
        assert "picomem doctor" in text
        assert client.post("/status/examine", data={"csrf": form_code_in(text)}).status_code == 403


def test_the_doctor_is_asked_on_demand_and_says_what_it_found(pages: Served) -> None:
    with open_memory(pages.db, user="operator", embedder="none") as memory:
        grant(memory, frozenset({"memory:write:global"}))
    with signed_in_client(pages, user="operator", permissions=EVERYTHING | {"memory:write:global"}) as client:
        text = client.get("/status").text
        assert "Examine everything" in text
        assert "Healthy" not in text
        examined = client.post("/status/examine", data={"csrf": form_code_in(text)})
        assert examined.status_code == 200
        assert "Healthy" in examined.text


def test_an_empty_store_says_what_to_do(pages: Served) -> None:
    with signed_in_client(pages, user="bare") as client:
        text = client.get("/status").text
        assert "No model was asked" in text
        assert "picomem ingest" in text


def test_columns_stand_on_their_ground_below_the_limit() -> None:
    drawn = columns([("2026-05-01", 0), ("2026-05-02", 50), ("2026-05-03", 100)], 100, "All <b>", "Limit")
    assert 'height="48.0"' in drawn
    assert 'class="column-over" x="42" y="0.0"' in drawn
    assert 'class="column-limit" x1="0" x2="60" y1="1.0"' in drawn
    assert "All &lt;b&gt;" in drawn
    assert "column-limit" not in columns([("2026-05-01", 0)], 0, "", "")


def test_the_doctor_says_how_far_it_is(open_engine, tmp_path) -> None:
    engine = open_engine(tmp_path / "memory.db")
    engine.remember("Prefers green tea in the morning")
    told: list[tuple[int, int, str]] = []
    assert engine.doctor(progress=lambda *state: told.append(state)).healthy
    assert told == [(1, 3, "users"), (2, 3, "full text")]


def test_a_section_with_nothing_in_it_has_the_space_of_the_others(pages: Served) -> None:
    with signed_in(pages.url, pages.db, user="empty", viewport=PHONE) as page:  # one below the other
        page.goto("/status")

        def edges(text: str) -> tuple[float, float]:
            lines = (
                "node => { const all = new Range(); all.selectNodeContents(node); return all.getBoundingClientRect() }"
            )
            box = page.get_by_text(text, exact=True).evaluate(lines)
            return box["top"], box["bottom"]

        texts = (
            "Spent on models",
            "No model was asked.",
            "What was read",
            "No transcript was read yet. This reads those of this machine:",
        )
        spent, none, read, unread = (edges(text) for text in texts)
        assert none[0] - spent[1] == pytest.approx(12, abs=6)
        assert read[0] - none[1] == pytest.approx(28, abs=6)
        assert unread[0] - read[1] == pytest.approx(none[0] - spent[1], abs=1)


@pytest.mark.requirement("X12")
def test_the_end_of_the_record_of_changes_is_shown(pages: Served) -> None:
    with open_memory(pages.db, user="recorded", embedder="none") as memory:
        memory.remember("The tide table hangs in the amber harbour")
        link = record_head(memory)["changes"]["link"]
    with signed_in_client(pages, user="recorded") as client:
        assert link in client.get("/status").text
