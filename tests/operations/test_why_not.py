"""why-not: the reason for which recall did not hand out an entry, of recall's own decisions and what is recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.databases import Database

from picomem import Engine
from picomem.light_dataclass import replace
from picomem.operations.table import operation
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings

DAY = 86_400_000_000
NOW = 1_777_593_600_000_000
QUESTION = "which port does staging use"


def asked(engine: Engine, name: str, **options: object):
    verb = operation("why-not")
    return verb.call(engine, verb.request(QUESTION, name, **options))


@pytest.fixture
def engine(database: Database, tmp_path: Path) -> Iterator[Engine]:
    runtime = Runtime(database.connect(tmp_path / "memory.db"), Settings(), clock=lambda: NOW)
    engine = runtime.engine(scope=Scope("local"), closes=True)
    engine.remember("Staging listens on port 6432.", key="staging_port", tags=("net",))
    engine.remember("The staging banner is amber, so that nobody takes it for production.", key="banner")
    engine.remember("Tea is drunk without sugar.", key="tea")
    yield engine
    engine.close()


@pytest.mark.requirement("X4")
def test_an_entry_that_is_handed_out_says_its_place(engine: Engine) -> None:
    said = asked(engine, "staging_port")
    assert (said.is_handed_out, said.causes) == (True, ["handed_out"])
    assert said.reasons[0].startswith("It is handed out: number 1 of ")


@pytest.mark.requirement("X4")
@pytest.mark.parametrize(
    ("name", "options", "cause", "words"),
    [
        ("tea", {}, "not_found", "no word of the question"),
        ("staging_port", {"tag": "tea"}, "filtered", "the filter tag tea"),
        ("staging_port", {"kind": ("preference",), "tag": "net"}, "filtered", "the filter kind preference"),
        (
            "staging_port",
            {"project": "yard", "tag": "tea", "kind": ("preference",)},
            "filtered",
            "the filter kind preference",
        ),
        ("banner", {"limit": 1}, "limit", "the limit is 1 hit, the last of which scores"),
        ("banner", {"token_budget": 35}, "budget", "did not fit the budget"),
        ("staging_port", {"min_confidence": 1.0}, "unsure", "less than 100% counts as nothing"),
    ],
)
def test_recall_s_own_decision_is_the_reason(
    engine: Engine, name: str, options: dict[str, object], cause: str, words: str
) -> None:
    said = asked(engine, name, **options)
    assert (said.is_handed_out, said.causes) == (False, [cause])
    assert words in said.reasons[0]


@pytest.mark.requirement("X4")
def test_what_is_on_record_is_the_reason(engine: Engine) -> None:
    engine.remember("Staging used port 1 once.", key="web_port", origin="web")
    engine.remember("Port 7000 is staging's.", key="yard_port", scope=replace(engine.scope, project="yard"))
    engine.remember("Staging will use port 9.", key="next_port", since=NOW + DAY)
    engine.remember("Staging had port 5.", key="old_port")
    engine.forget("old_port")
    causes = {
        "web_port": ("untrusted", "“web”"),
        "next_port": ("not_begun", "It holds only from"),
        "old_port": ("archived", "believed no longer"),
    }
    for name, (cause, words) in causes.items():
        said = asked(engine, name)
        assert (said.causes, words in said.reasons[0]) == ([cause], True), name
    said = asked(engine, "yard_port", project="harbor")
    assert (said.causes, "“yard”" in said.reasons[0]) == (["other_project"], True)


@pytest.mark.requirement("X4")
def test_a_withheld_episode_says_that_it_is(engine: Engine, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(
        json.dumps(
            {
                "type": "user",
                "uuid": "00000000-0000-4000-8000-000000000001",
                "sessionId": "8463c716-1111-4222-8333-444455556666",
                "timestamp": "2026-04-06T21:00:00Z",
                "cwd": "/home/ann/harbor",
                "message": {"role": "user", "content": "The port that staging uses is taken by Bob's laptop."},
            }
        )
    )
    operation("ingest").call(engine, operation("ingest").request(paths=(str(talk),)))
    episode = engine.timeline()[0].id
    assert asked(engine, episode).is_handed_out
    engine.withhold("8463c716")
    said = asked(engine, episode)
    assert (said.causes, "Bob" in said.reasons[0]) == (["withheld"], False)


@pytest.mark.requirement("X4")
def test_a_key_of_several_projects_means_that_of_the_project_that_is_asked(engine: Engine) -> None:
    """37 §3.16."""
    for project in ("billing", "harbour"):
        engine.remember(f"The crane of {project} is red.", key="crane", scope=Scope("local", project=project))
    (crane,) = (held for held in engine.memories() if held.key == "crane" and held.scope.project == "harbour")
    assert asked(engine, "crane", project="harbour").id == crane.id
