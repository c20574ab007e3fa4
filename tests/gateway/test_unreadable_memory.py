"""What a caller may not read, no answer, count or error tells (P8): over HTTP, from a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from tests.databases import open_memory

from picomem.app import operations
from picomem.records.session import NewMessage, Role

from .serving import Served, picomem, serving, token
from .test_mcp_over_http import talk

pytestmark = [
    pytest.mark.requirement("P8"),
]

SECRET = "quincemarmalade"
SERVED = [operation for operation in operations() if not (operation.operator or operation.reads_local_files)]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "remember": {"content": f"The {SECRET[:5]} jam is in the cellar", "key": "jam"},
    "revise": {"name": "jam", "pin": True},
    "forget": {"name": "jam"},
    "bulk-edit": {"action": "pin", "names": ["jam"]},
    "undo": {"change": "0"},
    "purge": {"everything": True, "dry_run": True},
    "recall": {"query": "what is in the cellar"},
    "chat": {"message": "What is in the cellar?"},
}


SESSION = "5e5510aa-0000-4000-8000-000000000001"
SAID = [
    ("user", "Where do we keep the amberwax for the violins?"),
    ("assistant", "The amberwax for the violins is in the green cupboard of the workshop."),
]


def ingested(db: Path, folder: Path, said: list[tuple[str, str]] = SAID) -> str:
    """Read a session, by default of one question and its answer; the id of its first episode."""
    lines = [
        {
            "type": role,
            "sessionId": SESSION,
            "uuid": f"u{number}",
            "timestamp": f"2026-05-01T09:0{number}:00.000Z",
            "cwd": "/home/ann/violins",
            "message": {"role": role, "content": text},
        }
        for number, (role, text) in enumerate(said)
    ]
    folder.mkdir()
    (folder / f"{SESSION}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    done = picomem(db, "ingest", str(folder), "--user", "ann", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(picomem(db, "timeline", "--user", "ann", "--json").stdout)["episodes"][0]["id"]


def test_a_token_that_may_write_or_erase_and_not_read_is_shown_nothing_of_what_is_stored(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with open_memory(db, user="ann", embedder="none") as memory:
        memory.remember(f"The {SECRET} is in the cellar, behind the ladder", key="jam", tags=[f"{SECRET}s"])
        log = memory.sessions()
        log.create(title=f"About {SECRET}")
    blind = [f"memory:{scope}" for scope in ("write:user", "write:session", "purge:user")]
    shown = token(db, "--user", "ann", *(part for scope in blind for part in ("--scope", scope)))
    with serving(db, "--no-watch") as served:
        for operation in SERVED:
            answer = served.post(shown, operation.name, ARGUMENTS.get(operation.name))
            assert SECRET not in answer.text, operation.name
            if operation.answer_permissions or operation.read_only:
                assert answer.status_code in (400, 403), operation.name
        again = served.post(shown, "remember", {"content": "The jam is behind the ladder in the cellar", "key": "jam"})
        assert (again.status_code, again.json()["memory"]["content"]) == (
            200,
            "The jam is behind the ladder in the cellar",
        )
        assert SECRET not in again.text


def test_a_token_that_may_not_read_learns_from_remember_only_whether_it_was_known(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with open_memory(db, user="ann", embedder="none") as memory:
        memory.remember(
            "The jam is in the cellar, behind the ladder",
            key="jam",
            kind="decision",
            importance=0.93,
            pinned=True,
            since="2021-03-04",
            expires="2090-01-01",
        )
        memory.remember("The harbour closes at nine", key="harbour", importance=0.93, since="2021-03-04")
    blind = token(db, "--user", "ann", "--scope", "memory:write:user")
    offers = {
        "add": {"content": "The ferry leaves at noon"},
        "merge": {"content": "the jam is in the cellar behind the ladder."},
        "supersede": {"content": "The harbour closes at ten", "key": "harbour"},
    }
    with serving(db, "--no-watch") as served:
        answers = {name: served.post(blind, "remember", offer).json() for name, offer in offers.items()}
        lasting = served.post(blind, "remember", {"content": "The mole is closed", "expires_at": "2091-02-03"}).json()
    with open_memory(db, user="ann", embedder="none") as memory:
        assert [change.decision for change, _ in memory.changes(4)][1:] == ["supersede", "merge", "add"]
    assert {name: answer["decision"] for name, answer in answers.items()} == {
        "add": "add",
        "merge": "merge",
        "supersede": "add",
    }
    times = ("valid_from", "known_from", "created_at", "updated_at", "said_at")
    varying = ("content", "key", "token_estimate", *times)
    alike = [
        {name: value for name, value in answer["memory"].items() if name not in varying} for answer in answers.values()
    ]
    assert alike[0] == alike[1] == alike[2]
    for name, answer in answers.items():
        assert (answer["memory"]["content"], answer["merged_with"]) == (offers[name]["content"], "")
        timeless = {name: value for name, value in answer["memory"].items() if name not in times}
        assert "0.93" not in str(answer | {"memory": timeless})  # as the seconds of a time may be: 06:30.931
        assert "2021" not in str(answer)
        assert "2090" not in str(answer)
    assert lasting["memory"]["expires_at"].startswith("2091-02-03")


def test_a_token_that_may_write_conversations_and_not_read_them_finds_none_by_its_channel(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with open_memory(db, user="ann", embedder="none") as memory:
        log = memory.sessions()
        log.append(
            log.named("whatsapp", "main/direct").id, NewMessage(role=Role.USER, content=f"Where is the {SECRET}?")
        )
    blind = token(db, "--user", "ann", "--scope", "memory:write:session")
    seeing = token(db, "--user", "ann", "--scope", "memory:write:session", "--scope", "memory:read:session")
    named = {"channel": "whatsapp", "channel_id": "main/direct"}
    with serving(db, "--no-watch") as served:
        refused = served.post(blind, "begin-session", named)
        assert (refused.status_code, refused.json()["error"]["permission"]) == (403, "memory:read:session")
        assert served.post(blind, "begin-session", {"channel": "api"}).status_code == 200
        assert SECRET in served.post(seeing, "begin-session", named).json()["session"]["title"]


def counts(served: Served, shown: str) -> tuple[Any, ...]:
    status = served.post(shown, "status").json()
    page = served.post(shown, "index").json()["page"]
    index = served.post(shown, "index-status").json()
    return status["episodes"], status["transcripts"], status["vectors"], "episodes)" in page, index["episodes"]


def test_nothing_counts_or_cites_a_withheld_session(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    episode = ingested(db, tmp_path / "transcripts")
    shown = token(db, "--user", "ann")
    with serving(db, "--no-watch") as served:
        assert counts(served, shown)[0] > 0
        assert served.post(shown, "why", {"id": episode}).json()["transcript"]
        assert served.post(shown, "withhold", {"session": "5e5510aa"}).status_code == 200
        assert counts(served, shown) == (0, {}, {}, False, 0)
        for operation, arguments in (("why", {"id": episode}), ("show", {"episode": episode})):
            answer = served.post(shown, operation, arguments)
            assert (answer.status_code, "withheld" in answer.json()["error"]["message"]) == (422, True)
            assert "5e5510aa" not in answer.text
        for operation in SERVED:
            if operation.read_only:
                arguments = {"recall": {"query": "where is the amberwax"}}.get(operation.name, {})
                answer = served.post(shown, operation.name, arguments).text
                assert "amberwax" not in answer.replace("where is the amberwax", ""), operation.name
                assert "5e5510aa" not in answer, operation.name
        assert served.post(shown, "withhold", {"session": "5e5510aa", "release": True}).status_code == 200
        assert counts(served, shown)[0] > 0


def test_a_token_that_reads_memories_alone_is_shown_nothing_of_past_sessions(tmp_path: Path) -> None:
    """Where an answer has other parts, it comes without those of sessions, and says so."""
    db = tmp_path / "memory.db"
    request = ("user", "Remember that my violin bow weighs 62 grams. Which jar had the amberwax?")
    episode = ingested(db, tmp_path / "transcripts", [*SAID, request])
    with open_memory(db, user="ann", embedder="none") as memory:
        log = memory.sessions()
        log.append(
            log.create(title="About amberwax").id, NewMessage(role=Role.USER, content="Is there any amberwax left?")
        )
        bow = next(known.key for known in memory.memories() if "62 grams" in known.content)
    reads = [f"memory:{scope}" for scope in ("read:user", "write:user", "purge:user")]
    shown = token(db, "--user", "ann", *(part for scope in reads for part in ("--scope", scope)))
    arguments: dict[str, dict[str, Any]] = {
        "recall": {"query": "where is the wax for the violins, and what weighs 62 grams"},
        "prompt-context": {"prompt": "where is the wax for the violins?", "project": "violins"},
        "search-notes": {"query": "wax violins workshop", "corpus": "all"},
        "why": {"id": bow},
        "purge": {"everything": True, "dry_run": True},
        "index": {"lines": True},
    }
    with serving(db, "--no-watch") as served:
        for operation in SERVED:
            if operation.read_only or operation.name in arguments:
                answer = served.post(shown, operation.name, arguments.get(operation.name))
                assert "amberwax" not in answer.text, operation.name
                assert str(tmp_path) not in answer.text, operation.name
                if operation.name in arguments:
                    assert answer.status_code == 200, answer.text
                    assert operation.name == "index" or "memory:read:session" in answer.text, operation.name
        recalled = served.post(shown, "recall", arguments["recall"]).json()
        assert {hit["source"] for hit in recalled["hits"]} == {"memory"}
        refused = served.post(shown, "why", {"id": episode})
        assert (refused.status_code, "memory:read:session" in refused.json()["error"]["message"]) == (403, True)
        both = token(db, "--user", "ann", "--scope", "memory:read:user", "--scope", "memory:read:session")
        assert "amberwax" in served.post(both, "recall", arguments["recall"]).text
        assert "amberwax" in served.post(both, "why", {"id": bow}).text

        async def of_agent(client: Client) -> list[str]:
            calls = {
                "memory_recall": arguments["recall"],
                "memory_why": arguments["why"],
                "memory_search": arguments["search-notes"],
            }
            offered = {tool.name for tool in (await client.list_tools()).tools}
            return [str(await client.call_tool(name, given)) for name, given in calls.items() if name in offered]

        answers = talk(served, shown, "auto", of_agent)
        assert len(answers) >= 2
        assert all("amberwax" not in answer and "memory:read:session" in answer for answer in answers)


def test_no_answer_names_a_folder_of_the_server_and_the_dry_run_of_everything_names_the_tokens(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    request = ("user", "Remember that my violin bow weighs 62 grams.")
    episode = ingested(db, tmp_path / "transcripts", [*SAID, request])
    scopes = ("read:user", "read:session", "write:user", "purge:user")
    shown = token(db, "--user", "ann", *(part for scope in scopes for part in ("--scope", f"memory:{scope}")))
    arguments: dict[str, dict[str, Any]] = {
        "recall": {"query": "where is the amberwax, and what weighs 62 grams"},
        "prompt-context": {"prompt": "where is the amberwax?", "project": "violins"},
        "search-notes": {"query": "amberwax", "corpus": "all"},
        "why": {"id": episode},
        "show": {"episode": episode, "around": 1},
        "purge": {"everything": True, "dry_run": True},
    }
    with serving(db, "--no-watch") as served:
        for operation in SERVED:
            if operation.read_only or operation.name in arguments:
                answer = served.post(shown, operation.name, arguments.get(operation.name))
                assert str(tmp_path) not in answer.text, operation.name
        assert served.post(shown, "why", {"id": episode}).json()["transcript"] == f"{SESSION}.jsonl"

        async def of_agent(client: Client) -> str:
            return str(await client.call_tool("memory_recall", arguments["recall"]))

        told = talk(served, shown, "auto", of_agent)
        assert "amberwax" in told
        assert str(tmp_path) not in told
        planned = served.post(shown, "purge", arguments["purge"]).json()
        assert "Programs that use one of the tokens are refused" in planned["explanation"]
        assert planned["counts"]["tokens"] >= 1
        assert [going["path"] for going in planned["sessions"] if going["path"]] == [f"{SESSION}.jsonl"]
        erased = served.post(shown, "purge", {"everything": True, "confirmation": planned["confirmation"]})
        assert erased.json()["counts"], erased.text
        assert str(tmp_path) not in erased.text
