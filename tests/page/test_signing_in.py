"""Signing in to the page, and what the page refuses; over HTTP, as any client may ask."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from contextlib import closing
from pathlib import Path

import apsw
import httpx2
import pytest
from tests.databases import chosen, open_memory
from tests.forked_program import program
from tests.gateway.serving import Served, environment, picomem, serving, token

from picomem.cli.serve import database_of
from picomem.clock import MINUTE
from picomem.engine.authorization import caller_of, has_tokens, make_sign_in_code, sign_in, tokens
from picomem.records.access_token import new_token
from picomem.settings import DataSettings, Settings

from .serving_pages import EVERYTHING, HTML, READ_ONLY, browser_client, code_for, form_code_in, signed_in_client

PATHS = ("/", "/search?q=tea")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory):
    """A server on a store with one memory; no browser is needed."""
    db: Path = tmp_path_factory.mktemp("signing") / "memory.db"
    with open_memory(db, embedder="none") as memory:
        memory.remember("Drinks green tea", key="tea")
    with serving(db) as running:
        yield running


def test_a_page_leads_to_the_sign_in_and_back(pages: Served) -> None:
    with browser_client(pages) as client:
        asked = client.get("/search?q=tea")
        assert asked.status_code == 401
        assert 'name="back" value="/search?q=tea"' in asked.text
        assert "green" not in asked.text
        answer = client.post("/sign-in", data={"code": code_for(pages.db), "back": "/search?q=tea"})
        assert answer.headers["location"] == "/search?q=tea"
        assert "green" in client.get("/search?q=tea").text


def test_a_code_works_once_and_is_no_token(pages: Served) -> None:
    code = code_for(pages.db)
    assert pages.post(code, "status").status_code == 401
    with browser_client(pages) as client:
        answer = client.post("/sign-in", data={"code": f"{pages.url}/sign-in#{code}"})
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"].lower()
        assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/;", "max-age=604800"))
    with browser_client(pages) as client:
        for wrong in (code, "", "pico_", "x" * 5_000, token(pages.db)):
            answer = client.post("/sign-in", data={"code": wrong})
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers
            assert "not valid" in answer.text


def test_a_code_lasts_five_minutes_and_unused_ones_go(tmp_path: Path, open_engine) -> None:
    now = [1_777_593_600_000_000]
    engine = open_engine(tmp_path / "memory.db", user="dora", clock=lambda: now[0])
    resources = engine._context.resources
    late = make_sign_in_code(engine, EVERYTHING)
    now[0] += 5 * MINUTE
    assert sign_in(resources, late) is None
    code = make_sign_in_code(engine, READ_ONLY)
    assert len(tokens(engine)) == 1
    assert caller_of(resources, code) is None
    session = sign_in(resources, code)
    assert session is not None
    assert caller_of(resources, session).permissions == READ_ONLY
    assert [known.label for known in tokens(engine)] == ["web page"]
    assert sign_in(resources, session) is None


@pytest.mark.timeout(20)  # a writer waits half a minute for the lock
def test_a_wrong_code_takes_no_lock_and_no_code_counts_as_a_token(open_engine, db: Path) -> None:
    engine = open_engine(db)
    make_sign_in_code(engine, EVERYTHING)
    resources = engine._context.resources
    assert not has_tokens(resources)
    with closing(apsw.Connection(str(db))) as other:
        other.execute("BEGIN IMMEDIATE")
        assert sign_in(resources, new_token("local")) is None


@pytest.mark.requirement("P8")
@pytest.mark.reliability("S6")
def test_a_session_is_a_token_that_can_be_listed_and_revoked_at_once(pages: Served) -> None:
    with signed_in_client(pages, user="carl") as client:
        assert client.get("/").status_code == 200
        listed = json.loads(picomem(pages.db, "token", "list", "--json", "--user", "carl").stdout)["tokens"]
        assert [(known["label"], known["state"]) for known in listed] == [("web page", "valid")]
        assert picomem(pages.db, "token", "revoke", listed[0]["id"], "--user", "carl").returncode == 0
        assert [client.get(path).status_code for path in PATHS] == [401, 401]


def test_signing_out_ends_the_session(pages: Served) -> None:
    with signed_in_client(pages) as client:
        kept = dict(client.cookies)
        answer = client.post("/sign-out", data={"csrf": form_code_in(client.get("/").text)})
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
        client.cookies.update(kept)
        assert client.get("/").status_code == 401


@pytest.mark.reliability("S6")
def test_a_form_needs_the_code_of_its_session_and_an_origin(pages: Served) -> None:
    with signed_in_client(pages) as client, signed_in_client(pages) as other:
        foreign = form_code_in(other.get("/").text)
        for fields in ({"csrf": ""}, {"csrf": "x"}, {"csrf": foreign}):
            for path in ("/sign-out", "/appearance", "/undo"):
                assert client.post(path, data=fields).status_code == 403, (path, fields)
        own = form_code_in(client.get("/").text)
        del client.headers["origin"]
        assert client.post("/appearance", data={"csrf": own}).status_code == 403
        for origin in ("http://127.0.0.1:1", "null", "https://evil.example"):
            assert client.post("/appearance", data={"csrf": own}, headers={"Origin": origin}).status_code == 403
        assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert client.post("/appearance", data={"csrf": own}, headers={"Origin": pages.url}).status_code == 303


@pytest.mark.parametrize(
    "foreign", ['prefs={"a":1}', "x=a b", "a@b=1", "sess[x]=1", "junk", "picomem_notice=" + "[" * 3_500]
)
def test_cookies_of_other_programs_on_this_machine_do_no_harm(pages: Served, foreign: str) -> None:
    """A browser sends them to every port of a host."""
    with signed_in_client(pages) as client:
        own = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        client.cookies.clear()
        assert client.get("/", headers={"Cookie": f"{foreign}; {own}"}).status_code == 200


@pytest.mark.parametrize("year", ["9" * 5_000, "-1", "0", "20260", "２０２６"])
def test_a_year_that_is_none_shows_the_last_one(pages: Served, year: str) -> None:
    with signed_in_client(pages) as client:
        assert client.get("/timeline", params={"year": year}).status_code == 200


@pytest.mark.reliability("S6")
def test_the_cookie_opens_the_page_and_nothing_of_the_api(pages: Served) -> None:
    with signed_in_client(pages) as client:
        assert client.post("/api/v1/recall", json={"query": "tea"}).status_code == 401
        assert client.get("/metrics").status_code == 401
        assert client.post("/mcp", json={}).status_code == 401


@pytest.mark.reliability("S6")
def test_every_answer_of_the_page_forbids_what_it_does_not_use(pages: Served) -> None:
    with signed_in_client(pages) as client:
        home = client.get("/")
        static = re.findall(r'(?:href|src)="(/static/[^"]+)"', home.text)
        assert len(static) == 3
        for path in ("/", "/sign-in", "/search?q=tea", "/static/0/none", *static):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert "frame-ancestors 'none'" in headers["content-security-policy"], path
            assert headers["x-content-type-options"] == "nosniff", path
            assert path in static or headers["cache-control"] == "no-store", path
            assert "access-control-allow-origin" not in headers, path
        assert not re.findall(r"<script(?! type=\"module\" src=)|\sstyle=|\son\w+=", home.text)


def test_errors_are_pages_with_a_sentence(pages: Served) -> None:
    with signed_in_client(pages) as client:
        wrong = client.get("/search?q=tea&kind=nonsense")
        assert wrong.status_code == 400
        assert "<h1>" in wrong.text
        assert client.get("/search/nowhere").status_code == 404
        assert client.get("/search?q=tea&as_of=never").status_code == 400
        assert client.post("/search").status_code == 405
        large = client.post(
            "/undo", content=b"x" * (2 << 20), headers={"Content-Type": "application/x-www-form-urlencoded"}
        )
        assert large.status_code == 413
        assert client.post("/undo", json={}).status_code == 400


def test_language_and_colours_are_kept(pages: Served) -> None:
    with signed_in_client(pages) as client:
        assert '<html lang="zh" data-theme="system">' in client.get("/", headers={"Accept-Language": "zh-CN"}).text
        fields = {
            "csrf": form_code_in(client.get("/").text),
            "language": "zh",
            "theme": "dark",
            "back": "/search?q=tea",
        }
        assert client.post("/appearance", data=fields).headers["location"] == "/search?q=tea"
        assert '<html lang="zh" data-theme="dark">' in client.get("/").text
        client.post("/appearance", data={**fields, "language": "xx", "theme": '"><script>'})
        assert '<html lang="zh" data-theme="dark">' in client.get("/").text


def test_serve_prints_a_link_and_open_finds_the_server(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with serving(db) as running:
        (place,) = tmp_path.rglob("*-server.json")
        assert place.stat().st_mode & 0o777 == 0o600
        said = json.loads(picomem(db, "open", "--json", "--no-browser").stdout)
        assert said["url"] == running.url
        with browser_client(running) as client:
            assert client.post("/sign-in", data={"code": said["link"].partition("#")[2]}).status_code == 303
            reading = json.loads(picomem(db, "open", "--json", "--no-browser", "--read-only").stdout)
            client.post("/sign-in", data={"code": reading["link"].partition("#")[2]})
            assert "only reads" in client.get("/").text
        running.stop()
        assert not place.exists()


def test_the_server_of_each_store_has_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data=DataSettings(dir=str(tmp_path)))
    names = ["", str(tmp_path / "memory.db"), "postgresql://mia@here/one", "postgresql://mia@here/two?sslmode=disable"]
    monkeypatch.delenv("PICOMEM_DB", raising=False)
    by_option = [database_of(Namespace(db=name), settings) for name in names]
    assert by_option[:2] == [tmp_path / "picomem.db", tmp_path / "memory.db"]
    assert len(set(by_option)) == len(names)
    by_variable = []
    for name in names:
        monkeypatch.setenv("PICOMEM_DB", name)
        by_variable.append(database_of(Namespace(db=None), settings))
    assert by_variable == by_option


def test_a_file_that_a_killed_server_left_is_not_believed(tmp_path: Path) -> None:
    from picomem.gateway.server_address import announced, running_address

    db = tmp_path / "memory.db"
    assert running_address(db) == ""
    with announced(db, "http://127.0.0.1:1"):
        assert running_address(db) == ""  # this process lives, and nobody answers there
    for text in (
        "",
        "[]",
        '{"url": 1, "pid": "x"}',
        '{"url": "ftp://a", "pid": 1}',
        '{"url": "http://127.0.0.1:1", "pid": -1}',
    ):
        (tmp_path / "memory.db-server.json").write_text(text)
        assert running_address(db) == ""


def test_open_starts_a_server_where_none_runs(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    words = ["--db", chosen().named(db), "open", "--json", "--no-browser", "--port", "0", "--no-watch"]
    process = program().start(words, env=environment(db))
    try:
        said = json.loads(process.stdout.readline())
        with httpx2.Client(
            base_url=said["url"], headers={"Accept": HTML, "Origin": said["url"]}, trust_env=False
        ) as client:
            answer = client.post("/sign-in", data={"code": said["link"].partition("#")[2]}, follow_redirects=True)
            assert "Nothing is remembered yet" in answer.text
        again = json.loads(picomem(db, "open", "--json", "--no-browser").stdout)
        assert again["url"] == said["url"]
    finally:
        process.kill()
        process.communicate()
