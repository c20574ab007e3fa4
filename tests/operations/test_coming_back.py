"""What an operation handed to an agent is refused when the agent offers it to memory: every operation of the table, in
words, as text for people and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent
from tests.databases import Database
from tests.engine_parts import caller_context_of

from picomem.cli.presented_text import text_of
from picomem.engine.engine import Engine
from picomem.engine.job_store import job_store
from picomem.errors import Refused
from picomem.gateway.mcp import build_server
from picomem.jobs.job_kinds import Failed, ended
from picomem.light_dataclass import replace
from picomem.models.static_embedder import StaticEmbedder
from picomem.operations.command_names import result_for_agents
from picomem.operations.operation import options
from picomem.operations.schemas import result_json
from picomem.operations.table import operation, operations
from picomem.policy.refusal import LONGEST_CONTENT, Refusal
from picomem.records.caller import PERMISSIONS, Caller
from picomem.records.session import NewMessage, Role
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings, RecallSettings

TALK = [
    ("2026-04-07T09:00:00Z", "user", "Shall the booking queue of the harbor run on Redis?"),
    ("2026-04-07T09:01:00Z", "assistant", "Redis is fine for the harbor queue; it holds 200 jobs a minute."),
]
NOT_FOR_AGENTS = {"purge", "bulk-edit"}  # an agent never purges, and edits one memory at a time

Requests = dict[str, dict[str, Any]]


@pytest.fixture
def person(db: Path, tmp_path: Path, clock, database: Database) -> Iterator[Engine]:
    """The engine of the agent's person, whose notes are a folder."""
    settings = Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"), notes=NotesSettings((str(tmp_path / "notes"),))
    )
    with Runtime(database.connect(db), settings, embedder=StaticEmbedder(), clock=clock) as runtime:
        yield runtime.engine(Caller(permissions=PERMISSIONS))


@pytest.fixture
def filled(person: Engine, tmp_path: Path) -> tuple[Engine, Requests]:
    """An engine of an agent on a filled store, and a request for each operation."""
    talk, note, kept = tmp_path / "8463c716-talk.jsonl", tmp_path / "plan.md", tmp_path / "notes"
    rows = [{"role": role, "content": text, "timestamp": at} for at, role, text in TALK]
    talk.write_text("".join(json.dumps(row) + "\n" for row in rows))
    note.write_text("# Plan\n\nThe harbor pier is painted in May.\n\n## Later\n\nThe lock is oiled in June.\n")
    kept.mkdir()
    (kept / "MEMORY.md").write_text("# Long-term\n\n## Staging\n\nThe staging database listens on port 5433.\n")
    person.ingest([talk])
    person.remember("The harbor API key rotates monthly", key="rotation", priority="critical", tags=["keys"])
    person.remember("Harbor deploys go out on Tuesdays", key="deploys", kind="decision")
    person.revise("deploys", "Harbor deploys go out on Wednesdays")
    person.remember("The harbor museum is closed on Mondays", key="museum", origin="web")
    dockyard = replace(person.scope, project="dockyard", agent="harbor-master")
    person.remember("The dry dock of the harbor holds two boats", key="dock", scope=dockyard)
    log = person.sessions()
    session = log.create("api", title="On cranes").id
    log.append(
        session,
        NewMessage(role=Role.USER, content="Is the crane of the harbor open?"),
        NewMessage(role=Role.ASSISTANT, content="It is open until six."),
    )
    consolidate = operation("consolidate")
    consolidate.call(person, consolidate.request())
    log.append(log.create("api", title="On boats").id, NewMessage(role=Role.USER, content="When is the boat painted?"))
    running = job_store(person).begin("local", "consolidate", "", lambda _job, _now: True)
    assert running is not None
    running.end(lambda job, now: ended(job, Failed("The model of the harbor gives no answer."), "", now))
    agent = person.acting_as("agent:test", agent=True)
    mine = agent.remember("The tugboat is moored at pier nine", key="tugboat", origin="agent").memory
    assert mine is not None
    (tmp_path / "sessions.json").write_text('{"sessions": []}')
    episode = next(hit.id for hit in person.recall("booking queue").hits if hit.source == "episode")
    requests: Requests = {
        "ingest": {"paths": (str(talk),)},
        "withhold": {"session": "8463c716"},
        "tag": {"episode": episode, "tags": ("harbor",)},
        "migrate": {"paths": (str(note),)},
        "remember": {"content": "The crane of the harbor is yellow", "key": "colour", "origin": "agent"},
        "revise": {"name": "tugboat", "content": "The tugboat is moored at pier ten", "origin": "agent"},
        "forget": {"name": "tugboat"},
        "undo": {"change": mine.change_id},
        "prompt-context": {"prompt": "When do the deploys of the harbor go out?", "project": "dockyard"},
        "recall": {"query": "harbor", "include_untrusted": True},
        "search-notes": {"query": "staging database"},
        "read-note": {"path": "MEMORY.md"},
        "show": {"episode": episode},
        "why": {"id": "deploys"},
        "why-not": {"query": "When is the crane of the harbor open?", "id": "deploys"},
        "history": {"name": "deploys"},
        "messages": {"session": session},
        "rename-session": {"session": session, "title": "On yellow cranes"},
        "archive-session": {"session": session},
        "fork-session": {"session": session, "at": 1},
        "cancel-job": {"name": "consolidate"},
        "import-sessions": {"path": str(tmp_path / "sessions.json")},
    }
    return agent, requests


def _stored(engine: Engine) -> list[tuple[str, str]]:
    return sorted((memory.key, memory.content) for memory in engine.memories())


def _parts(text: str) -> list[str]:
    """A text, and each entry of a numbered list in it."""
    return [text, *(part for part in text.split("\n\n") if re.match(r"\d+\. ", part))]


def _offer(engine: Engine, text: str) -> str:
    """Offer a text to memory as an agent does; what is said against it, empty where it was stored."""
    store = operation("remember")
    try:
        store.call(engine, store.request(content=text, origin="agent"))
    except Refused as refused:
        return str(refused)
    return ""


@pytest.mark.requirement("X6", "X7")
@pytest.mark.parametrize(
    "name", [verb.name for verb in operations() if not (verb.operator or verb.name in NOT_FOR_AGENTS)]
)
def test_what_an_operation_handed_to_an_agent_is_not_stored(filled: tuple[Engine, Requests], name: str) -> None:
    engine, requests = filled
    done = operation(name)
    result = done.call(engine, done.request(**requests.get(name, {})))
    before = _stored(engine)
    safe = result_for_agents(result, {})
    outputs = [
        text_of(done, result),
        json.dumps(result_json(safe)),
        json.dumps(result_json(safe), indent=2),
        done.reply(safe),
    ]
    for output in outputs:
        for part in _parts(output):
            assert Refusal.RECALLED.reason in _offer(engine, part[:LONGEST_CONTENT]), part
    assert _stored(engine) == before


@pytest.mark.requirement("X6", "X7")
@pytest.mark.parametrize("name", [verb.name for verb in operations() if verb.tool and not verb.reads_local_files])
def test_what_a_tool_answered_over_mcp_is_not_stored(filled: tuple[Engine, Requests], name: str) -> None:
    engine, requests = filled
    done = operation(name)
    parameters = {name: about["tool"] or name for name, _, about in options(done.request)}
    given = {parameters[name]: value for name, value in requests.get(name, {}).items()}

    async def conversation() -> None:
        async with Client(build_server(engine)) as client:
            answer = await client.call_tool(done.tool, given)
            assert not answer.is_error, answer.content
            before = _stored(engine)
            for text in (_said(answer), json.dumps(answer.structured_content)):
                again = await client.call_tool("memory_store", {"content": text[:LONGEST_CONTENT]})
                assert again.is_error and Refusal.RECALLED.reason in _said(again), text
            assert _stored(engine) == before

    anyio.run(conversation)


def _said(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.requirement("X6")
@pytest.mark.parametrize(
    "statement",
    [
        "Harbor deploys go out on Fridays since the crane was repaired",  # more than was handed out
        "The decision on harbor deploys was made by Omar",
        "Status: the harbor pier has 3 entries",
    ],
)
def test_what_an_agent_says_of_an_answer_is_stored(filled: tuple[Engine, Requests], statement: str) -> None:
    engine, _ = filled
    for name in ("recall", "memories", "status"):
        done = operation(name)
        done.call(engine, done.request(**({"query": "harbor"} if name == "recall" else {})))
    assert _offer(engine, statement) == ""


@pytest.mark.requirement("X6")
def test_a_known_statement_is_matched_and_not_refused(filled: tuple[Engine, Requests]) -> None:
    engine, _ = filled
    recall, store = operation("recall"), operation("remember")
    recall.call(engine, recall.request(query="harbor deploys"))
    said = store.call(engine, store.request(content="Harbor deploys go out on Wednesdays", origin="agent"))
    assert (said.memory.key, said.merged_with) == ("deploys", said.memory.id)


def test_what_was_handed_out_is_forgotten_with_a_purge(person: Engine, filled: tuple[Engine, Requests]) -> None:
    engine, _ = filled
    recall = operation("recall")
    recall.call(engine, recall.request(query="harbor"))
    assert caller_context_of(engine).returned_texts().pieces()
    person.purge(everything=True)
    assert not caller_context_of(engine).returned_texts().pieces()
