"""What hooks would put beside a prompt, as an operation: what a hook itself says, and why where it says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import picomem
from picomem import Engine
from picomem.hooks.hook_context import context_of
from picomem.hooks.hook_events import HookEvent
from picomem.index_page.page import IndexEntries, account, build
from picomem.light_dataclass import replace
from picomem.operations.operation import checked
from picomem.operations.table import operation
from picomem.settings import Settings
from picomem.settings_tables import HookSettings, RecallSettings
from picomem.text.tokens import count_tokens

pytestmark = pytest.mark.sqlite_file("opens a file as a hook does")

QUESTION = "which database does the billing service use?"
VERB = operation("prompt-context")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose rows have vectors: the operation must not look at them."""
    db = tmp_path_factory.mktemp("billing") / "memory.db"
    with picomem.open(db, project="billing", embedder="static") as memory:
        memory.remember("The billing service uses PostgreSQL 16, because the reports need window functions", kind="decision")  # fmt: skip
        memory.remember("Marit signs off changes to the schema of the billing database", kind="fact")
    return db


@pytest.fixture
def billing(store: Path) -> Iterator[Engine]:
    with picomem.open(store, embedder="static") as memory:
        yield memory


@pytest.mark.requirement("X16")
@pytest.mark.parametrize(
    "prompt", [QUESTION, "who signs off schema changes for the billing database", "continue", "run the tests", "继续"]
)
def test_it_says_what_the_hook_says(store: Path, billing: Engine, prompt: str) -> None:
    with picomem.open(store, project="billing", embedder="none") as hooks_own:
        event = HookEvent(name="UserPromptSubmit", folder="/work/billing", prompt=prompt)
        block, injected = context_of(hooks_own, event)
    shown = VERB.call(billing, VERB.request(prompt=prompt, project="billing"))
    assert shown.block == block
    assert shown.is_injected == bool(block)
    assert sum(entry.is_injected for entry in shown.entries) == len(injected)
    assert shown.tokens == (count_tokens(block) if block else 0)
    assert (shown.obstacle == "") == bool(block)
    assert block or shown.relevance < shown.min_relevance


@pytest.mark.requirement("X16")
def test_blanks_between_the_words_of_a_prompt_change_nothing(billing: Engine) -> None:
    blanks = " " * 1_000
    said, drawn_out = (
        VERB.call(billing, VERB.request(prompt=prompt, project="billing"))
        for prompt in (QUESTION, QUESTION.replace("billing", f"{blanks}billing"))
    )
    assert said.is_injected and drawn_out.block == said.block


def test_why_nothing_is_put_there_is_said(billing: Engine) -> None:
    for arguments, obstacle, words in (
        ({"prompt": QUESTION}, "no_project", "unknown"),
        ({"prompt": "/clear", "project": "billing"}, "command", "command"),
        ({"prompt": "  ", "project": "billing"}, "command", "empty"),
        ({"prompt": "xylophone", "project": "billing"}, "nothing_found", "has nothing"),
        ({"prompt": "drop the billing database", "project": "billing"}, "not_relevant", "relevance is"),
    ):
        shown = VERB.call(billing, VERB.request(**arguments))
        assert (shown.obstacle, shown.block) == (obstacle, ""), arguments
        assert words in VERB.reply(shown)
        assert words in str(VERB.presentation(shown))


def test_a_budget_of_nothing_switches_it_off(store: Path) -> None:
    settings = Settings(hooks=HookSettings(token_budget=0), recall=RecallSettings(embedder="none"))
    with picomem.open(store, settings=settings) as memory:
        assert VERB.call(memory, VERB.request(prompt=QUESTION, project="billing")).obstacle == "switched_off"


def test_what_a_session_was_given_does_not_come_again_and_a_look_notes_nothing(billing: Engine) -> None:
    from picomem.engine.audience import note_injected
    from picomem.injection.prompt_context import as_injected

    request = VERB.request(prompt=QUESTION, project="billing", session="s1")
    first = VERB.call(billing, request)
    assert VERB.call(billing, request) == first
    given = billing.recall(QUESTION).hits
    note_injected(billing, "s1", [as_injected(hit) for hit in given])
    assert VERB.call(billing, request).obstacle == "given_before"


def test_the_index_page_is_told_line_by_line(billing: Engine) -> None:
    for number in range(30):
        billing.remember(
            f"Jetty {number} is painted {'blue' * (number + 1)} by crew {number * 7}", key=f"jetty_{number}"
        )
    index = operation("index")
    shown = index.call(billing, checked(index.request(lines=True, budget=400, project="billing")))
    assert [line.text for line in shown.lines] == shown.page.splitlines()
    assert abs(sum(line.tokens for line in shown.lines) - shown.tokens) <= len(shown.lines)
    entries = [line for line in shown.lines if line.id]
    said = len(entries) + sum("; before: " in line.text for line in entries)
    assert (said, len(shown.omitted)) == (shown.entries, shown.left_out)
    assert all(line.text.startswith("- ") and line.origin == "user" for line in entries)
    assert not {line.id for line in entries} & {memory.id for memory in shown.omitted}
    assert index.call(billing, index.request(budget=400, project="billing")).lines == []
    assert "Did not fit" in str(index.presentation(shown))


def test_an_index_page_can_be_an_agents(billing: Engine) -> None:
    billing.remember("Answers in rhyme", key="rhyme", scope=replace(billing.scope, agent="poet"))
    billing.remember("Counts the boats", key="boats", scope=replace(billing.scope, agent="clerk"))
    index = operation("index")
    page = index.call(billing, index.request(agent="poet")).page
    assert "rhyme" in page
    assert "boats" not in page


def test_lines_that_are_alike_are_counted_each(billing: Engine) -> None:
    memories = [replace(memory, id=f"{memory.id}{copy}") for memory in billing.memories() for copy in range(2)]
    told = account(IndexEntries(memories), 1_000)
    assert told.page == build(IndexEntries(memories), 1_000)
    assert sum(line.memory is not None for line in told.lines) == told.page.entries
    assert len(told.omitted) == told.page.left_out
