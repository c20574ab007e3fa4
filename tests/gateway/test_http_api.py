"""The operations over HTTP, as clients of a real server see them."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import jsonschema
import pytest
from tests.cases import each_case
from tests.databases import chosen, open_memory
from tests.engine_parts import resources_of
from tests.forked_program import program

from picomem.app import operations
from picomem.clock import DAY
from picomem.engine.authorization import caller_of, grant, make_sign_in_code, make_token, revoke_token, tokens
from picomem.engine.engine import Engine
from picomem.errors import Conflict, FilesMoved, InvalidInput
from picomem.gateway.calls import Calls
from picomem.gateway.error_replies import error_value
from picomem.gateway.guard import OPEN, OPEN_CHANNELS, OPEN_PAGES, Application, Limits
from picomem.gateway.http_api import application
from picomem.gateway.web_server import bound, names_of
from picomem.light_dataclass import replace
from picomem.operations.purging import PurgeRequest, PurgeResult
from picomem.page.view_table import FORMS, VIEWS
from picomem.records.access_token import Credential
from picomem.records.caller import Caller
from picomem.runtime import Runtime

from .serving import TIMEOUT, Served, environment, made_token, picomem, serving, token

SERVED = sorted(operation.name for operation in operations() if not (operation.operator or operation.reads_local_files))


def _path(name: str) -> str:
    return f"/api/v1/{name}"


@pytest.mark.requirement("P13", "X10")
def test_what_is_stored_over_http_is_recalled_over_http_and_by_another_process(served: Served, anns: str) -> None:
    stored = served.post(anns, "remember", {"content": "The billing service runs on PostgreSQL 17", "key": "billing"})
    assert (stored.status_code, stored.json()["decision"]) == (200, "add")
    answer = served.post(anns, "recall", {"query": "what does billing run on"}).json()
    assert [hit["key"] for hit in answer["hits"]] == ["billing"]
    listed = json.loads(picomem(served.db, "memories", "--user", "ann", "--json").stdout)
    assert "billing" in [memory["key"] for memory in listed["memories"]]
    assert served.post(anns, "changes").json()["changes"][0]["change"]["verb"] == "remember"


@pytest.mark.requirement("P8")
def test_a_user_sees_nothing_of_another(served: Served, anns: str, bobs: str) -> None:
    served.post(anns, "remember", {"content": "The quincemarmalade is in the cellar", "key": "marmalade"})
    for operation in SERVED:
        answer = served.post(bobs, operation, {"query": "what is in the cellar"} if operation == "recall" else {})
        assert "quincemarmalade" not in answer.text, operation


def test_the_document_describes_every_operation_and_nothing_of_the_machine(served: Served, anns: str) -> None:
    with served.client(anns) as client:
        document = client.get("/api/v1/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert sorted(document["paths"]) == [_path(name) for name in SERVED]
    for path, item in document["paths"].items():
        schema = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False, path
    assert (
        "export"
        not in document["paths"][_path("index")]["post"]["requestBody"]["content"]["application/json"]["schema"][
            "properties"
        ]
    )
    for name in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(name)


def test_a_result_is_what_the_document_says(served: Served, anns: str) -> None:
    served.post(anns, "remember", {"content": "Releases are made on Wednesdays", "key": "releases"})
    with served.client(anns) as client:
        document = client.get("/api/v1/openapi.json").json()
        for name, arguments in {
            "recall": {"query": "when are releases made"},
            "memories": {},
            "why": {"id": "releases"},
            "purge": {"everything": True, "dry_run": True},
            "status": {},
        }.items():
            schema = document["paths"][_path(name)]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
            whole = {**schema, "components": document["components"]}
            jsonschema.validate(client.post(_path(name), json=arguments).json(), whole)


@each_case(
    ("body", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "invalid_input"),
        (b"[1]", "application/json", 400, "invalid_input"),
        (b'{"query": NaN}', "application/json", 400, "invalid_input"),
        (b'{"query": 1e999}', "application/json", 400, "invalid_input"),
        (b'{"query": 7, "\\ud800": 7}', "application/json", 400, "invalid_input"),
        (b"[" * 100_000, "application/json", 400, "invalid_input"),
        (b'{"quest": "x"}', "application/json", 400, "invalid_input"),
        (b'{"query": "\xff"}', "application/json", 400, "invalid_input"),
        (b'{"query": "x", "limit": -1}', "application/json", 400, "invalid_input"),
        (b"query=x", "application/x-www-form-urlencoded", 415, "not_json"),
        (b'{"query": "' + b"x" * (1 << 20) + b'"}', "application/json", 413, "too_large"),
    ],
    ids=["broken", "list", "nan", "huge", "half", "deep", "unknown", "bytes", "bounds", "form", "large"],
)
@pytest.mark.reliability("S6")
def test_a_wrong_body_is_answered_with_a_code_and_one_sentence(
    served: Served, anns: str, body: bytes, kind: str, status: int, code: str
) -> None:
    with served.client(anns) as client:
        answer = client.post(_path("recall"), content=body, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert "Traceback" not in answer.text
    assert answer.json()["error"]["message"].endswith((".", "?"))


def test_errors_of_operations_have_their_status(served: Served, anns: str) -> None:
    assert served.post(anns, "forget", {"name": "no_such_memory"}).status_code == 404
    assert served.post(anns, "remember", {"content": "a key", "key": "Not A Key"}).status_code == 400
    assert served.post(anns, "no-such-operation").status_code == 404
    with served.client(anns) as client:
        assert client.get(_path("recall")).status_code == 405
        assert client.get("/nowhere").status_code == 404


@each_case("name", ["ingest", "migrate", "import", "export", "token-make", "token-list", "grant", "pair-list"])
def test_what_reads_files_or_is_the_operators_is_not_served(served: Served, anns: str, name: str) -> None:
    assert served.post(anns, name).status_code == 404


@pytest.mark.requirement("P8")
@pytest.mark.reliability("S2", "S6")
def test_every_route_refuses_who_may_not(served: Served) -> None:
    """Every address × {no token, a wrong one, a revoked one, an expired one, one that permits too little, another
    user's id}."""
    revoked = made_token(served.db, "--user", "carl")
    assert picomem(served.db, "token", "revoke", revoked["id"][:13], "--user", "carl").returncode == 0
    permitted = token(served.db, "--user", "carl")
    nothing = token(served.db, "--user", "carl", "--scope", "memory:purge:user")
    wrong = ["", "pico_", "pico_Y2FybA.", "x" * 5_000, permitted[:-1], permitted + "A", revoked["token"]]
    wrong.append(permitted.replace("pico_Y2FybA", "pico_Ym9i"))  # Carl's secret, Bob's name
    addresses = [("POST", _path(name)) for name in SERVED]
    addresses += [("GET", "/api/v1/openapi.json"), ("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/metrics"), ("GET", "/")]
    addresses += [("GET", view.path) for view in VIEWS]
    addresses += [("POST", path) for path in (*FORMS, *(path for view in VIEWS for path in view.actions))]
    addresses += [("POST", "/sign-out"), ("POST", "/appearance")]
    addresses += [("POST", "/v1/chat/completions"), ("GET", "/v1/models"), ("GET", "/v1/models/picobot")]
    for shown in wrong:
        with served.client(shown) as client:
            for method, path in addresses:
                answer = client.request(method, path, json={})
                assert answer.status_code == 401, (shown[:40], path)
                assert answer.json()["error"]["code"] == "unauthorized"
    with open_memory(served.db, user="carl", embedder="none") as memory:
        code = make_sign_in_code(memory, frozenset({"memory:purge:user"}))
    with served.client(Origin=served.url) as client:
        assert client.post("/sign-in", data={"code": code}).status_code == 303
        assert {view.path: client.get(view.path).status_code for view in VIEWS} == {view.path: 403 for view in VIEWS}
    for name in SERVED:
        if name != "purge":
            assert served.post(nothing, name).status_code == 403, name
        if name != "purge":
            for operation_user in ("bob", "' OR 1=1 --", "%"):
                answer = served.post(permitted, name, {}, Picomem_User=operation_user)
                assert answer.status_code == 403, (name, operation_user)
                assert answer.json()["error"]["code"] == "forbidden"


def test_a_token_is_revoked_by_the_name_that_the_record_of_changes_has_for_it(served: Served) -> None:
    leas = token(served.db, "--user", "lea")
    served.post(leas, "remember", {"content": "The crane is yellow", "key": "crane"})
    changes = json.loads(picomem(served.db, "changes", "--user", "lea", "--json").stdout)["changes"]
    name = changes[0]["change"]["actor"]
    assert name.startswith("api:")
    assert picomem(served.db, "token", "revoke", name, "--user", "lea").returncode == 0
    assert served.post(leas, "status").status_code == 401


def test_a_hint_names_what_a_caller_over_a_network_can_call(served: Served, anns: str) -> None:
    served.post(anns, "remember", {"content": "The berth is number 12", "key": "hinted_berth"})
    served.post(anns, "forget", {"name": "hinted_berth"})
    message = served.post(anns, "forget", {"name": "hinted_berth"}).json()["error"]["message"]
    assert 'the operation `history` with `{"name": "hinted_berth"}`' in message
    assert "picomem" not in message
    message = served.post(anns, "withhold", {"session": "none"}).json()["error"]["message"]
    assert message == "There is no session “none”; the operation `timeline` shows their ids."


def test_a_token_that_may_not_purge_is_told_of_both_scopes(served: Served) -> None:
    refused = served.post(token(served.db, "--user", "eve"), "purge", {"everything": True, "dry_run": True})
    assert refused.status_code == 403
    made = "`picomem token make --user eve --scope memory:purge:user --scope memory:read:user`"
    assert made in refused.json()["error"]["message"]


def test_an_end_of_a_token_that_cannot_be_read_is_met_with_times_to_come(served: Served) -> None:
    refused = picomem(served.db, "token", "make", "--user", "eve", "--expires", "soon")
    assert refused.stderr == "picomem: “soon” cannot be read as a time; write 90d, 12h or a date to come.\n"


def test_an_empty_host_is_refused_and_does_not_mean_every_address() -> None:
    for host in ("", " "):
        with pytest.raises(InvalidInput, match="host is empty"):
            bound(host, 0)


def test_without_a_token_a_client_is_told_where_one_is_made(served: Served) -> None:
    assert "`picomem token make --user USER` on the server's machine" in served.post("", "recall").text


def test_a_client_whose_store_was_moved_is_told_that_the_operator_restarts_the_server() -> None:
    said = error_value(FilesMoved("/var/lib/memory.db was moved; restart the program that uses it."))["message"]
    assert said.endswith("its operator has to restart it.")


def test_the_document_names_no_command_that_it_describes(served: Served, anns: str) -> None:
    with served.client(anns) as client:
        document = client.get("/api/v1/openapi.json").json()
    text = json.dumps(document, ensure_ascii=False)
    offered = {path.rpartition("/")[2] for path in document["paths"]}
    assert not [name for name in re.findall(r"`picomem ([a-z-]+)", text) if name in offered]
    assert not re.search(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"`[^`]*`", "", text))


@pytest.mark.requirement("P8")
def test_a_token_stops_when_it_is_revoked_or_expires(tmp_path: Path, open_engine) -> None:
    now = [1_777_593_600_000_000]
    engine = open_engine(tmp_path / "memory.db", user="dora", clock=lambda: now[0])
    resources = resources_of(engine)
    first, text = make_token(engine, frozenset(), "laptop", now[0] + DAY)
    caller = caller_of(resources, Credential(text))
    assert caller is not None
    assert caller.user == "dora"
    now[0] += DAY
    assert caller_of(resources, Credential(text)) is None
    _, forever = make_token(engine, frozenset(), "", None)
    assert caller_of(resources, Credential(forever))
    revoke_token(engine, tokens(engine)[1].id)
    assert caller_of(resources, Credential(forever)) is None
    assert [token.is_valid(now[0]) for token in tokens(engine)] == [False, False]
    grant(engine, frozenset({"memory:read:global"}))
    _, wide = make_token(engine, frozenset({"memory:read:global"}), "", None)
    assert caller_of(resources, Credential(wide)).may("memory:read:global")
    grant(engine, frozenset({"memory:read:global"}), withdraw=True)
    assert not caller_of(resources, Credential(wide)).may("memory:read:global")
    assert first.label == "laptop"


@pytest.mark.requirement("P8")
def test_a_global_permission_reaches_another_user_once_it_is_granted(served: Served, bobs: str) -> None:
    served.post(bobs, "remember", {"content": "Bob sails on Sundays", "key": "sailing"})
    refused = picomem(served.db, "token", "make", "--user", "eve", "--scope", "memory:read:global")
    assert refused.returncode == 2
    assert "picomem grant memory:read:global --user eve" in refused.stderr
    assert picomem(served.db, "grant", "memory:read:global", "--user", "eve").returncode == 0
    eves = token(served.db, "--user", "eve", "--scope", "memory:read:global")
    answer = served.post(eves, "recall", {"query": "who sails"}, Picomem_User="bob").json()
    assert [hit["key"] for hit in answer["hits"]] == ["sailing"]
    assert served.post(eves, "remember", {"content": "Bob rows"}, Picomem_User="bob").status_code == 403
    assert served.post(eves, "purge", {"everything": True, "dry_run": True}, Picomem_User="bob").status_code == 403
    assert picomem(served.db, "grant", "memory:read:global", "--withdraw", "--user", "eve").returncode == 0
    assert served.post(eves, "recall", {"query": "who sails"}, Picomem_User="bob").status_code == 403


def test_an_error_of_each_address_says_who_runs_the_command_that_it_names(served: Served, anns: str) -> None:
    message = {"role": "user", "content": "Who sails?"}
    with served.client(anns, Picomem_User="bob") as client:
        answers = [
            client.post(_path("memories"), json={}),
            client.post("/mcp", json={}),
            client.post("/v1/chat/completions", json={"model": "picobot", "messages": [message]}),
            client.get("/metrics"),
        ]
    for answer in answers:
        assert answer.status_code == 403, answer.url
        assert answer.json()["error"]["message"].count("ask its operator") == 1, answer.url


@pytest.mark.requirement("X5")
def test_a_purge_takes_the_code_of_its_dry_run(served: Served) -> None:
    scopes = ("--scope", "memory:purge:user", "--scope", "memory:write:user", "--scope", "memory:read:user")
    finns = token(served.db, "--user", "finn", *scopes)
    for number in range(3):
        served.post(finns, "remember", {"content": f"Boat {number} has a walnut mast", "key": f"boat_{number}"})
    asked = served.post(finns, "purge", {"everything": True})
    assert (asked.status_code, asked.json()["error"]["code"]) == (409, "conflict")
    refused = served.post(finns, "purge", {"everything": True, "yes": True})  # a code says yes here
    assert (refused.status_code, "yes" in refused.json()["error"]["message"]) == (400, True)
    planned = served.post(finns, "purge", {"everything": True, "dry_run": True}).json()
    assert planned["counts"]["memories"] == 3
    code = planned["confirmation"]
    for other in (
        {"older_than": 1, "confirmation": code},  # another request
        {"everything": True, "confirmation": code[:-1]},
        {"everything": True, "confirmation": code.replace(code[:3], "999", 1)},  # lasts longer
        {"everything": True, "confirmation": "9" * 5_000},
    ):
        assert served.post(finns, "purge", other).status_code in (400, 409), other
    served.post(finns, "remember", {"content": "Boat 9 has an oak mast", "key": "boat_9"})
    changed = served.post(finns, "purge", {"everything": True, "confirmation": code})
    assert changed.status_code == 409  # there is more than the person saw
    code = served.post(finns, "purge", {"everything": True, "dry_run": True}).json()["confirmation"]
    done = served.post(finns, "purge", {"everything": True, "confirmation": code}).json()
    assert (done["finished"], done["scan"]["found"], done["counts"]["memories"]) == (True, {}, 4)
    assert served.post(finns, "memories").status_code == 401  # the tokens went as well


def test_a_code_is_for_the_request_that_was_shown_even_where_another_names_the_same(served: Served) -> None:
    doras = token(
        served.db,
        "--user",
        "dora",
        *(
            part
            for scope in ("purge:user", "read:user", "read:session", "write:session")
            for part in ("--scope", f"memory:{scope}")
        ),
    )
    session = served.post(doras, "begin-session").json()["session"]["id"]
    code = served.post(doras, "purge", {"session": session, "dry_run": True}).json()["confirmation"]
    assert served.post(doras, "purge", {"everything": True, "confirmation": code}).status_code == 409
    assert served.post(doras, "purge", {"session": session, "confirmation": code}).json()["finished"] is True


@pytest.mark.requirement("X5")
def test_a_code_erases_nothing_that_is_stored_while_it_is_checked(engine: Engine) -> None:
    resources = resources_of(engine)
    runtime = Runtime(resources.connector, resources.settings, clock=resources.clock)
    caller, dry_runs = Caller("finn"), count(1)
    purge = next(operation for operation in operations() if operation.name == "purge")
    runtime.engine(caller).remember("The ferry to the island leaves at nine")

    def run(finns: Engine, request: PurgeRequest) -> PurgeResult:
        result = purge.run(finns, request)
        if request.dry_run and next(dry_runs) == 2:  # the check of the code
            finns.remember("The harbour master lends out oars")
        return result

    calls = Calls(runtime, [replace(purge, run=run)])

    async def purge_with_code() -> None:
        planned = await calls.call(caller, "purge", {"everything": True, "dry_run": True})
        await calls.call(caller, "purge", {"everything": True, "confirmation": planned["confirmation"]})

    with pytest.raises(Conflict, match="changed since"):
        anyio.run(purge_with_code)
    assert len(runtime.engine(caller).memories()) == 2


def test_a_user_who_has_nothing_but_access_can_be_erased(served: Served) -> None:
    assert picomem(served.db, "grant", "memory:read:global", "--user", "gus").returncode == 0
    scopes = ("memory:purge:user", "memory:read:user", "memory:read:global")
    guss = token(served.db, "--user", "gus", *(part for scope in scopes for part in ("--scope", scope)))
    planned = served.post(guss, "purge", {"everything": True, "dry_run": True}).json()
    assert (planned["counts"], planned["said"]) == ({"tokens": 1, "grants": 1}, "1 token, 1 grant")
    assert "Programs that use one of the tokens are refused afterwards." in planned["explanation"]
    done = served.post(guss, "purge", {"everything": True, "confirmation": planned["confirmation"]}).json()
    assert done["finished"] is True
    assert served.post(guss, "purge", {"everything": True, "dry_run": True}).status_code == 401
    assert json.loads(picomem(served.db, "token", "list", "--user", "gus", "--json").stdout)["tokens"] == []


def test_an_index_page_cannot_be_exported_from_afar(served: Served, anns: str, tmp_path: Path) -> None:
    answer = served.post(anns, "index", {"export": str(tmp_path / "page.md")})
    assert answer.status_code == 400
    assert list(tmp_path.iterdir()) == []


def test_progress_comes_before_the_result_of_a_long_operation(served: Served, anns: str) -> None:
    with served.client(anns, Accept="text/event-stream") as client:
        answer = client.post(_path("consolidate"), json={})
    events = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]
    assert events[-1:] == ["result"]


@pytest.mark.reliability("S6")
@each_case(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example"}, 421, "wrong_host"),
        ({"Host": "evil.example:8765"}, 421, "wrong_host"),
        ({"Host": "127.0.0.1.evil.example"}, 421, "wrong_host"),
        ({"Host": "127.0.0.1:8765.evil.example"}, 421, "wrong_host"),
        ({"Host": "localhost:evil.example"}, 421, "wrong_host"),
        ({"Host": "localhost:8765:8765"}, 421, "wrong_host"),
        ({"Origin": "http://evil.example"}, 403, "foreign_origin"),
        ({"Origin": "null"}, 403, "foreign_origin"),
        ({"Origin": "http://127.0.0.1:1"}, 403, "foreign_origin"),
        ({"Origin": "http://127.0.0.1:9001", "Host": "127.0.0.1:9000"}, 403, "foreign_origin"),
        ({"Origin": "http://localhost:9000", "Host": "127.0.0.1:9000"}, 403, "foreign_origin"),
        ({"Origin": "https://127.0.0.1:9000", "Host": "127.0.0.1:9000"}, 403, "foreign_origin"),
        ({"Origin": "http://evil.example:9000", "Host": "evil.example:9000"}, 421, "wrong_host"),
        ({"Sec-Fetch-Site": "cross-site"}, 403, "foreign_origin"),
        ({"Sec-Fetch-Site": "same-site"}, 403, "foreign_origin"),
    ],
)
def test_a_page_of_another_site_is_refused_on_every_address(
    served: Served, anns: str, headers: dict[str, str], status: int, code: str
) -> None:
    with served.client(anns) as client:
        for path in ("/health", "/ready", _path("recall"), "/mcp", "/ws", "/api/v1/openapi.json"):
            answer = client.post(path, json={"query": "x"}, headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), path
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.reliability("S6")
@pytest.mark.parametrize("host", ["127.0.0.1:9000", "localhost:9000", "[::1]:9000", "127.0.0.1"])
def test_a_page_that_is_published_on_another_port_of_the_machine_is_ours(served: Served, anns: str, host: str) -> None:
    with served.client(anns, Host=host, Origin=f"http://{host}", Sec_Fetch_Site="same-origin") as client:
        assert client.post(_path("recall"), json={"query": "x"}).status_code == 200


@pytest.mark.reliability("S6")
def test_a_name_with_a_port_is_that_of_a_page_on_that_port() -> None:
    with bound("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        names, origins = names_of(listening, ["Nas.example:9000", "memory.example", "[fd00::1]:9000"])
    assert names == ["127.0.0.1", "localhost", "[::1]", "nas.example", "memory.example", "[fd00::1]"]
    assert {"http://nas.example:9000", "https://nas.example:9000", "http://[fd00::1]:9000"} <= set(origins)
    assert {f"http://memory.example:{port}", "https://memory.example"} <= set(origins)
    assert not {"http://memory.example", "http://nas.example", "https://nas.example"} & set(origins)


@pytest.mark.reliability("S6")
@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("memory.example:443", "https://memory.example"),
        ("memory.example:80", "http://memory.example"),
        ("memory.example", "https://memory.example"),
        ("memory.example:9000", "http://memory.example:9000"),
        ("[fd00::1]:443", "https://[fd00::1]"),
    ],
)
def test_a_usual_port_in_hosts_is_left_out_as_browsers_do(tmp_path: Path, host: str, origin: str) -> None:
    called = origin.partition("://")[2]
    with serving(tmp_path / "memory.db", "--no-watch", PICOMEM_SERVER_HOSTS=f"other.example, {host}") as running:
        for asked, status in ((origin, 401), ("https://other.example", 401), ("http://other.example", 403)):
            headers = {"Host": called if asked == origin else "other.example", "Origin": asked}
            with running.client("", **headers) as client:
                assert client.get("/").status_code == status, asked


@pytest.mark.reliability("S6")
@pytest.mark.parametrize(
    ("host", "meant"),
    [
        ("https://memory.example/", "memory.example"),
        ("https://memory.example:9000", "memory.example:9000"),
        ("memory.example/picomem", "memory.example"),
        ("*", "memory.example.org"),
        ("*.example.org", "memory.example.org"),
        ("fd00::1", "[fd00::1]"),
        ("münchen.example", "xn--mnchen-3ya.example"),
        ("", "memory.example.org"),
        ("9000", "memory.example.org"),
        ("memory.example:", "memory.example.org"),
    ],
)
def test_a_value_of_hosts_that_never_matches_is_refused_with_what_to_write(
    tmp_path: Path, host: str, meant: str
) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(f"[server]\nhosts = [{json.dumps(host)}]\n", "utf-8")
    code, _, err = program().run(
        ["--db", chosen().named(tmp_path / "memory.db"), "serve", "--port", "0"],
        stdin=b"",
        cwd=tmp_path,
        env={**environment(tmp_path / "memory.db"), "PICOMEM_CONFIG": str(settings)},
        timeout=TIMEOUT,
    )
    assert (code, f"write the name alone, such as “{meant}”" in err.decode()) == (2, True), err.decode()


def test_an_address_without_a_token_is_on_the_short_list(served: Served) -> None:
    with served.client() as client:
        assert {path: client.get(path).status_code for path in OPEN} == {"/health": 200, "/ready": 200, "/proof": 400}
        for path in ("/", "/api/v1/recall", "/mcp", "/ws", "/docs", "/openapi.json", "/metrics"):
            assert client.get(path).status_code == 401, path
        for path in ("/channels", "/channels/", "/channels/whatsapp", "/Channels/whatsapp/main"):
            assert client.get(path).status_code == 401, path
        assert client.get("/channels/whatsapp/main").status_code == 404
    assert {"/health", "/ready", "/proof"} == OPEN
    assert OPEN_CHANNELS == ("/channels/whatsapp/",)
    assert OPEN_PAGES == ("/sign-in", "/static/", "/purge/certificate")


@pytest.mark.reliability("S6")
def test_who_asks_too_often_waits(engine: Engine) -> None:
    """In the process itself: a bucket of five, so that the test asks six times and not two hundred."""
    resources = resources_of(engine)
    runtime = Runtime(resources.connector, resources.settings, clock=resources.clock)
    _, text = make_token(engine, frozenset(), "", None)
    limits = Limits(rate=0.001, burst=5, strangers_burst=3)
    server = application(runtime, operations(), hosts=["server"], origins=[], limits=limits)

    async def asked(shown: str, times: int) -> list[int]:
        transport = httpx2.ASGITransport(server)
        headers = {"Authorization": f"Bearer {shown}"}
        async with httpx2.AsyncClient(transport=transport, base_url="http://server", headers=headers) as client:
            answers = [await client.post("/api/v1/memories", json={}) for _ in range(times)]
            assert answers[-1].status_code != 429 or int(answers[-1].headers["Retry-After"]) > 0
            return [answer.status_code for answer in answers]

    async def all_asked() -> list[list[int]]:
        """Strangers are counted by their address, and keep no token out."""
        return [await asked("wrong", 4), await asked("", 1), await asked(text, 6)]

    assert anyio.run(all_asked) == [[401] * 3 + [429], [429], [200] * 5 + [429]]


@pytest.mark.reliability("S6")
def test_a_body_that_never_comes_is_given_up(served: Served, anns: str) -> None:
    """A body of unknown length is counted as it comes, so a client cannot send more by not saying how much."""
    where = urlsplit(served.url)
    with socket.create_connection((where.hostname, where.port), timeout=TIMEOUT) as client:
        head = f"POST /api/v1/recall HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {anns}\r\n"
        client.sendall(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            for _ in range(17):
                client.sendall(piece)
        except OSError:
            pass  # it closed already
        assert b" 413 " in client.recv(4_096).splitlines()[0]


def test_a_server_that_is_asked_to_end_ends(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db") as running:
        assert running.stop() == 0


def test_an_address_that_is_taken_or_open_to_all_is_refused_in_one_sentence(served: Served, tmp_path: Path) -> None:
    port = str(urlsplit(served.url).port)
    taken = picomem(tmp_path / "memory.db", "serve", "--port", port)
    assert (taken.returncode, "cannot be listened on" in taken.stderr) == (2, True)
    for none in ("99999", "-1"):
        refused = picomem(tmp_path / "memory.db", "serve", "--port", none)
        said = f"picomem: There is no port {none}; choose one from 0 to 65535 with --port.\n"
        assert (refused.returncode, refused.stderr) == (2, said)
    for host in ("0.0.0.0", "::"):
        everywhere = picomem(tmp_path / "memory.db", "serve", "--host", host, "--port", "0")
        assert (everywhere.returncode, "no token has been made yet" in everywhere.stderr) == (2, True)
    wrong = picomem(tmp_path / "memory.db", "serve", "--port", "70000")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


def test_without_its_extra_it_says_how_to_get_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['websockets'] = None\n"
        f"from picomem.cli.main import main; sys.exit(main(['--db', {str(tmp_path / 'm.db')!r}, 'serve', '--port', '0']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 2
    assert "install picomem[server]" in done.stderr
    assert done.stderr.count("\n") == 1


@asynccontextmanager
async def started(server: Application) -> AsyncIterator[None]:
    """The lifespan of an application in this process."""
    to_server, from_tester = anyio.create_memory_object_stream[dict[str, Any]](2)
    begun = anyio.Event()

    async def send(message: Any) -> None:
        assert message["type"].endswith("complete"), message
        begun.set()

    async def serve() -> None:
        await server({"type": "lifespan", "state": {}}, from_tester.receive, send)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await to_server.send({"type": "lifespan.startup"})
        await begun.wait()
        yield
        await to_server.send({"type": "lifespan.shutdown"})


def test_where_the_store_lies_is_told_at_the_machine_alone(served: Served, anns: str) -> None:
    with served.client(anns) as client:
        answer = client.post(_path("status"), json={})
        document = client.get("/api/v1/openapi.json").json()
    place = json.loads(picomem(served.db, "status", "--json").stdout)["database"]
    assert place == str(served.db) or place.startswith("postgresql://")
    assert place not in answer.text
    schema = document["paths"][_path("status")]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert "database" not in {*answer.json(), *schema["properties"], *schema["required"]}


@pytest.mark.reliability("S6")
@pytest.mark.parametrize("path", ["/api/v1/recall", "/mcp"])
def test_a_body_that_is_too_large_or_too_slow_is_refused_on_every_address(engine: Engine, path: str) -> None:
    resources = resources_of(engine)
    runtime = Runtime(resources.connector, resources.settings, clock=resources.clock)
    _, text = make_token(engine, frozenset(), "", None)
    headers = [
        (b"host", b"server"),
        (b"authorization", f"Bearer {text}".encode()),
        (b"content-type", b"application/json"),
    ]
    headers.append((b"accept", b"application/json, text/event-stream"))
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": headers,
        "http_version": "1.1",
    }

    async def answered(parts: list[bytes]) -> tuple[int, str, bytes]:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if parts:
                return {"type": "http.request", "body": parts.pop(0), "more_body": True}
            await anyio.sleep_forever()
            raise AssertionError

        async def send(message: Any) -> None:
            sent.append(message)

        limits = Limits(body=1_000, body_seconds=0.05)
        server = application(runtime, operations(), hosts=["server"], origins=[], limits=limits)
        async with started(server):
            await server(dict(scope), receive, send)
        head = dict(sent[0]["headers"])
        return sent[0]["status"], json.loads(sent[1]["body"])["error"]["code"], head.get(b"connection", b"")

    assert anyio.run(answered, [b"x" * 600, b"x" * 600]) == (413, "too_large", b"close")
    assert anyio.run(answered, [b"{"]) == (408, "too_slow", b"close")


@pytest.mark.parametrize(
    ("operation", "arguments", "status", "code"),
    [
        ("embed", {"afresh": "perhaps"}, 400, "invalid_input"),
        ("chat", {"message": "Hello"}, 400, "invalid_input"),
        ("forget", {"name": "nobody_has_this"}, 404, "not_found"),
        ("embed", {}, 403, "forbidden"),
    ],
)
def test_a_refusal_before_the_first_event_has_its_status(
    served: Served, anns: str, operation: str, arguments: dict[str, Any], status: int, code: str
) -> None:
    shown = token(served.db, "--user", "ann", "--scope", "memory:read:user") if status == 403 else anns
    answer = served.post(shown, operation, arguments, Accept="text/event-stream")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
