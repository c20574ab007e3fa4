"""Signing in to the page, and what the page refuses; over HTTP, as any client may ask."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import apsw
import httpx2
import pytest
from playwright.sync_api import expect
from tests.databases import chosen, open_memory
from tests.engine_parts import resources_of
from tests.forked_program import program
from tests.gateway.serving import TIMEOUT, Served, environment, picomem, serving, token

from picomem.clock import MINUTE
from picomem.engine.authorization import caller_of, has_tokens, make_sign_in_code, sign_in, tokens
from picomem.gateway.server_address import announced, new_server_address, place_beside, running_address
from picomem.records.access_token import Credential, new_token
from picomem.settings import load

from .serving_pages import (
    EVERYTHING,
    HTML,
    READ_ONLY,
    browser_client,
    browsing,
    code_for,
    form_code_in,
    signed_in_client,
)
from .serving_pages import (
    sign_in as sign_in_by_link,
)

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
    resources = resources_of(engine)
    late = make_sign_in_code(engine, EVERYTHING)
    now[0] += 5 * MINUTE
    assert sign_in(resources, late) is None
    code = make_sign_in_code(engine, READ_ONLY)
    assert len(tokens(engine)) == 1
    assert caller_of(resources, Credential(code)) is None
    session = sign_in(resources, code)
    assert session is not None
    assert caller_of(resources, Credential(session, is_cookie=True)).permissions == READ_ONLY
    assert [known.label for known in tokens(engine)] == ["web page"]
    assert sign_in(resources, session) is None


@pytest.mark.sqlite_file("looks at the rows in the file")
@pytest.mark.timeout(20)  # a writer waits half a minute for the lock
def test_a_wrong_code_takes_no_lock_and_no_code_counts_as_a_token(open_engine, db: Path) -> None:
    engine = open_engine(db)
    make_sign_in_code(engine, EVERYTHING)
    resources = resources_of(engine)
    assert not has_tokens(resources)
    with closing(apsw.Connection(str(db))) as other:
        other.execute("BEGIN IMMEDIATE")
        assert sign_in(resources, new_token("local")) is None


@pytest.mark.reliability("S6")
def test_a_session_works_by_its_cookie_only_and_a_cookie_holds_nothing_else(pages: Served) -> None:
    with signed_in_client(pages, user="sue") as client, browser_client(pages) as other:
        (cookie, session), *_ = client.cookies.items()
        assert session.startswith("pico_")
        assert pages.post(session, "status").status_code == 401
        for path in ("/search", "/metrics", "/mcp", "/v1/models", "/api/v1/openapi.json"):
            assert other.get(path, headers={"Authorization": f"Bearer {session}"}).status_code == 401, path
        other.cookies.set(cookie, token(pages.db, "--user", "sue"))
        assert other.get("/search").status_code == 401
        assert client.get("/search").status_code == 200


def test_a_session_is_no_token_for_an_address_that_others_reach(open_engine, db: Path) -> None:
    engine = open_engine(db)
    resources = resources_of(engine)
    assert sign_in(resources, make_sign_in_code(engine, EVERYTHING))
    assert not has_tokens(resources)


@pytest.mark.reliability("S6")
def test_a_link_of_another_user_asks_before_it_replaces_the_session(pages: Served) -> None:
    with signed_in_client(pages, user="ann") as client:
        anns = dict(client.cookies)
        code = code_for(pages.db, "mallory")
        form = form_code_in(client.get("/").text)
        for fields in ({"code": code}, {"code": code, "csrf": "x"}):
            asked = client.post("/sign-in", data=fields)
            assert (asked.status_code, asked.headers.get("set-cookie")) == (200, None)
            assert "You are signed in as ann, and this link signs in mallory." in asked.text
        assert client.post("/sign-in", data={"code": "wrong"}).status_code == 403
        assert "The memory of ann." in client.get("/").text
        assert client.post("/sign-in", data={"code": code, "csrf": form}).status_code == 303
        arrived = client.get("/").text
        assert "The memory of mallory." in arrived
        assert "Signed in as mallory." in arrived
        client.cookies.clear()
        client.cookies.update(anns)
        assert client.get("/").status_code == 401


def test_a_further_link_of_the_same_user_ends_the_earlier_session(pages: Served) -> None:
    with signed_in_client(pages) as client:
        earlier = dict(client.cookies)
        assert client.post("/sign-in", data={"code": code_for(pages.db)}).status_code == 303
        assert client.get("/").status_code == 200
        client.cookies.clear()
        client.cookies.update(earlier)
        assert client.get("/").status_code == 401


@pytest.mark.reliability("S6")
def test_only_the_page_of_the_link_takes_its_code(pages: Served) -> None:
    code = code_for(pages.db)
    with browsing(pages.url) as context:
        page = context.new_page()
        page.goto(f"/memories#{code}")
        expect(page.get_by_label("One-time code")).to_have_value("")
        page.goto("/sign-in#%E0%A4%A")  # no code, and no text that can be decoded
        expect(page.get_by_role("alert")).to_contain_text("not valid")
        page.goto(f"/sign-in#{code}")
        expect(page.get_by_role("searchbox")).to_be_visible()
        expect(page.locator(".toast")).to_contain_text("Signed in as local.")
        page.goto(f"/sign-in#{code_for(pages.db, 'mallory')}")
        page.get_by_role("link", name="Stay signed in as local").click()
        expect(page.get_by_role("searchbox")).to_be_visible()
        assert "The memory of local." in page.content()


def test_every_window_of_a_session_ends_with_it(pages: Served) -> None:
    """A window that nobody looks at must not go on showing what is no longer theirs, or was erased."""
    with browsing(pages.url) as context:
        page, other = context.new_page(), context.new_page()
        sign_in_by_link(page, code_for(pages.db))
        other.goto("/memories")
        expect(other.locator("body")).to_have_attribute("data-live", "on")
        page.locator(".rail summary").click()
        page.get_by_role("button", name="Sign out").click()
        for window in (page, other):
            expect(window.get_by_role("heading", level=1)).to_have_text("Sign in to picomem")
        assert "green tea" not in other.content()


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
        assert len(static) == 4
        for path in ("/", "/sign-in", "/search?q=tea", "/static/0/none", *static):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert "frame-ancestors 'none'" in headers["content-security-policy"], path
            assert headers["x-content-type-options"] == "nosniff", path
            assert path in static or headers["cache-control"] == "no-store", path
            assert "access-control-allow-origin" not in headers, path
        assert not re.findall(r"<script(?! (?:type=\"module\" )?src=)|\sstyle=|\son\w+=", home.text)


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


def test_an_error_is_told_in_the_language_of_the_page(pages: Served) -> None:
    """Its code is told; what exactly went wrong follows in English, and is marked so for screen readers."""
    with signed_in_client(pages) as client:
        client.headers["Accept-Language"] = "zh"
        assert "<h1>没有找到</h1>" in client.get("/memory/nothing").text
        unreadable = client.get("/timeline?day=soon").text
        assert re.search(
            r'<p class="warning">\s*[^<]*2026-05-03[^<]* <span lang="en">“soon” cannot be read', unreadable
        )
        assert "这个地址要用另一种方法" in client.post("/search").text
        client.cookies.clear()
        assert "登录" in client.get("/memory/nothing").text


@pytest.mark.parametrize(
    ("address", "english", "chinese"),
    [
        ("/purge?session=x", "There is no session with this id", "没有这个编号的会话"),
        ("/chat/x", "There is no conversation with this id", "没有这个编号的对话"),
        ("/episode/x", "There is no passage with this id", "没有这个编号的段落"),
        ("/memory/x", "There is no memory with this name", "没有这个名称的记忆"),
        ("/history/01a20000-0000", "There is no change with this id", "没有这个编号的更改"),
    ],
)
def test_a_person_reads_of_what_is_not_there_in_words_for_people(
    pages: Served, address: str, english: str, chinese: str
) -> None:
    with signed_in_client(pages) as client:
        for language, sentence in (("en", english), ("zh", chinese)):
            missing = client.get(address, headers={"Accept-Language": language})
            (shown,) = re.findall(r'<p class="warning">(.*?)</p>', missing.text, re.DOTALL)
            assert (missing.status_code, sentence in shown) == (404, True), shown
            assert "`" not in shown
            assert "operation" not in shown
            assert "<span" not in shown


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


@pytest.mark.sqlite_file("looks at the files beside the store")
def test_serve_prints_a_link_and_open_finds_the_server(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with serving(db) as running:
        place = tmp_path / "memory.db-server.json"
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


@pytest.mark.sqlite_file("looks at the files beside the store")
def test_a_second_server_on_a_store_leaves_the_first_its_file_and_is_found_after_it(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    files = lambda: sorted(path.name for path in tmp_path.glob("memory.db-server*.json"))  # noqa: E731
    with serving(db) as first:
        with serving(db) as second:
            assert files() == [f"memory.db-server-{second.process.pid}.json", "memory.db-server.json"]
            assert running_address(db) == first.url
            second.stop()
        assert running_address(db) == first.url
        assert files() == ["memory.db-server.json"]
        with serving(db) as second:
            first.stop()
            assert running_address(db) == second.url
            second.process.kill()
            second.process.wait()
    assert len(files()) == 1
    with serving(db) as third:
        assert files() == ["memory.db-server.json"]
        assert running_address(db) == third.url


@pytest.mark.sqlite_file("looks at the files beside the store")
def test_a_file_that_a_killed_server_left_is_not_believed(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    assert running_address(db) == ""
    with announced(db, new_server_address("http://127.0.0.1:1")):
        assert running_address(db) == ""  # this process lives, and nobody answers there
    key = "00" * 32
    for text in (
        "",
        "[]",
        "9" * 5_000,
        '{"url": 1, "pid": "x"}',
        f'{{"url": "ftp://a", "pid": 1, "key": "{key}"}}',
        f'{{"url": "http://127.0.0.1:1", "pid": -1, "key": "{key}"}}',
        f'{{"url": "http://[", "pid": {os.getpid()}, "key": "{key}"}}',
        f'{{"url": "http://127.0.0.1:1", "pid": {os.getpid()}, "key": "00"}}',
    ):
        (tmp_path / "memory.db-server.json").write_text(text)
        assert running_address(db) == ""


@pytest.mark.sqlite_file("looks at the files beside the store")
@pytest.mark.reliability("S6")
def test_a_code_goes_to_no_server_but_that_of_the_store(tmp_path: Path, pages: Served) -> None:
    """A server of another store, or any other program, may have the port of one that was killed."""
    place = tmp_path / "memory.db-server.json"
    stale = {"url": pages.url, "pid": os.getpid(), "key": "11" * 32}
    place.write_text(json.dumps(stale))
    assert running_address(tmp_path / "memory.db") == ""
    known = json.loads((pages.db.parent / "memory.db-server.json").read_text())
    assert running_address(pages.db) == pages.url
    elsewhere = pages.url.replace("127.0.0.1", "localhost")  # an answer that was passed on is for another address
    place.write_text(json.dumps({**known, "url": elsewhere}))
    assert running_address(tmp_path / "memory.db") == ""
    with browser_client(pages) as client:
        assert client.get("/proof").status_code == 400
        assert client.get("/proof", params={"challenge": "x" * 129}).status_code == 400


@pytest.mark.sqlite_file("looks at the files beside the store")
def test_stores_that_are_named_in_other_ways_have_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PICOMEM_DATA_DIR", str(tmp_path))
    settings = load()
    assert place_beside(None, settings) == tmp_path / "picomem.db"
    assert place_beside(str(tmp_path / "x.db"), settings) == tmp_path / "x.db"
    monkeypatch.setenv("PICOMEM_DB", str(tmp_path / "y.db"))
    assert place_beside(None, settings) == tmp_path / "y.db"
    server = place_beside("postgresql://ann:secret@host/memory", settings)
    assert server.parent == tmp_path
    assert "secret" not in server.name
    assert server != place_beside("postgresql://host/other", settings)
    one, other = (place_beside(f"postgresql:///memory?host=/run/{name}", settings) for name in ("a", "b"))
    assert one != other
    assert one == place_beside("postgresql:///memory?host=/run/a&connect_timeout=3", settings)


@pytest.mark.sqlite_file("looks at the files beside the store")
@pytest.mark.reliability("S6")
def test_a_link_goes_to_a_terminal_and_into_no_log(tmp_path: Path) -> None:
    """What `picomem serve` prints as a service is kept in a journal, which others may read."""
    db = tmp_path / "memory.db"
    words = ["--db", str(db), "serve", "--port", "0", "--no-watch"]
    process = program().start(words, env=environment(db))
    try:
        printed = [process.stdout.readline().decode() for _ in range(3)]
        assert printed[0].startswith("picomem serves on http://127.0.0.1:")
        assert f"`picomem open --no-browser --db {db}` prints a link" in printed[1]
        assert "pico_" not in "".join(printed)
        assert "/sign-in#pico_" in picomem(db, "open", "--no-browser").stdout
        reading, terminal = os.openpty()
        opened = subprocess.run(
            [sys.executable, "-m", "picomem", "--db", str(db), "open"],
            env={**environment(db), "BROWSER": "true"},
            stdout=terminal,
            timeout=TIMEOUT,
        )
        os.close(terminal)
        assert opened.returncode == 0
        with os.fdopen(reading, "rb") as shown:
            assert b"/sign-in#pico_" in shown.readline()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.reliability("S6")
def test_the_browser_is_started_without_the_code_and_signs_in(pages: Served, tmp_path: Path) -> None:
    """Other users of a machine see the arguments of its programs."""
    arguments = tmp_path / "arguments"
    starter = tmp_path / "browser"
    starter.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {arguments}\n')
    starter.chmod(0o700)
    env = {**environment(pages.db), "BROWSER": str(starter)}
    words = ["--db", chosen().named(pages.db), "open"]
    code, printed, _ = program().run(words, stdin=b"", cwd=Path.cwd(), env=env, timeout=TIMEOUT)
    assert code == 0
    assert b"pico_" not in printed
    (address,) = arguments.read_text().splitlines()
    (place,) = pages.db.parent.rglob("*-sign-in.html")
    assert address == place.as_uri()
    assert place.stat().st_mode & 0o777 == 0o600
    with browsing(pages.url) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.get_by_role("searchbox")).to_be_visible()
        assert page.url == f"{pages.url}/"


def test_another_site_may_link_to_the_sign_in_only(pages: Served) -> None:
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    with browser_client(pages) as client:
        assert client.get("/sign-in", headers=linked).status_code == 200
        assert client.get("/sign-in", headers={**linked, "Sec-Fetch-Dest": "iframe"}).status_code == 403
        assert client.get("/sign-in", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert client.post("/sign-in", headers=linked, data={"code": "x"}).status_code == 403
        assert client.get("/", headers=linked).status_code == 403


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


def test_who_is_signed_in_reads_that_a_mistyped_address_is_not_there(pages: Served) -> None:
    with browser_client(pages, Accept_Language="zh") as client:
        asked = client.get("/no-such-page")
        assert (asked.status_code, "/sign-in" in asked.text) == (401, True)
    with signed_in_client(pages) as client:
        for address in ("/no-such-page", "/memories/none/at/all"):
            missing = client.get(address, headers={"Accept-Language": "zh"})
            assert (missing.status_code, '<html lang="zh"' in missing.text) == (404, True), address
            assert "没有" in missing.text


@pytest.mark.reliability("S6")
def test_a_notice_that_another_program_has_set_is_not_shown(pages: Served) -> None:
    planted = quote(json.dumps(["notice.revised", "what a stranger says", "01a20919-0000-7000-8000-000000000000"]))
    with signed_in_client(pages, user="nia") as client, signed_in_client(pages, user="olf") as other:
        own = client.cookies["picomem_notice"]
        for cookie in (
            planted,
            f"{'0' * 64}.{planted}",
            f"{own.partition('.')[0]}.{planted}",
            other.cookies["picomem_notice"],
        ):
            client.cookies.set("picomem_notice", cookie, domain="127.0.0.1", path="/")
            text = client.get("/").text
            assert 'class="toast"' not in text and "a stranger" not in text
        client.cookies.set("picomem_notice", own, domain="127.0.0.1", path="/")
        assert "nia" in re.findall(r'class="toast"[^>]*>(.*?)</', client.get("/").text, re.DOTALL)[0]


@pytest.mark.reliability("S6")
def test_the_page_of_a_container_is_signed_in_to_by_the_port_that_is_published(pages: Served) -> None:
    """Two containers listen on the same port, each published on another: the browser sends the cookies of both."""
    with signed_in_client(pages, user="pia") as client:
        session = next(value for name, value in client.cookies.items() if name.startswith("picomem_session_"))
    with browser_client(pages, Host="127.0.0.1:9000", Origin="http://127.0.0.1:9000") as client:
        answer = client.post("/sign-in", data={"code": code_for(pages.db, "pia")})
        assert answer.status_code == 303
        assert [name for name in client.cookies if name.startswith("picomem_session")] == ["picomem_session_9000"]
        code = form_code_in(client.get("/").text)
        assert client.post("/appearance", data={"csrf": code, "theme": "dark"}).status_code == 303
        assert client.post("/appearance", data={"csrf": code}, headers={"Host": "localhost:9000"}).status_code == 403
    with browser_client(pages, Host="127.0.0.1:9001", Cookie=f"picomem_session_9000={session}") as client:
        assert client.get("/search").status_code == 401


@pytest.mark.reliability("S6")
def test_a_code_that_many_show_at_once_opens_one_session(pages: Served) -> None:
    code = code_for(pages.db, "rose")

    def shown(_: int) -> int:
        with browser_client(pages) as client:
            return client.post("/sign-in", data={"code": code}).status_code

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(shown, range(8))) == [303] + [403] * 7
    listed = json.loads(picomem(pages.db, "token", "list", "--json", "--user", "rose").stdout)["tokens"]
    assert len(listed) == 1


@pytest.mark.reliability("S6")
def test_a_cookie_that_was_there_before_is_never_the_sessions(pages: Served) -> None:
    """Session fixation: whoever can set a cookie in the browser must not know the token of its session."""
    name = f"picomem_session_{urlsplit(pages.url).port}"
    planted = new_token("local")
    with signed_in_client(pages, user="eve") as attacker:
        eves = attacker.cookies[name]
    for before in (planted, eves, "chosen-by-somebody-else"):
        with browser_client(pages) as client:
            asked = client.post("/sign-in", data={"code": code_for(pages.db)}, headers={"Cookie": f"{name}={before}"})
            if before == eves:  # asks first, since it is another user's session
                assert (asked.status_code, "set-cookie" in asked.headers) == (200, False)
                continue
            assert asked.status_code == 303
            assert before not in asked.headers["set-cookie"]
            client.cookies.clear()
            assert client.get("/", headers={"Cookie": f"{name}={before}"}).status_code == 401


@pytest.mark.parametrize(
    "back",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "\\\\evil.example",
        "javascript:1",
    ],
)
def test_signing_in_leads_to_no_other_site(pages: Served, back: str) -> None:
    with browser_client(pages) as client:
        answer = client.post("/sign-in", data={"code": code_for(pages.db), "back": back})
        assert answer.status_code == 303
        assert urlsplit(urljoin(pages.url, answer.headers["location"])).netloc == urlsplit(pages.url).netloc
        assert "evil" not in answer.headers["location"] or answer.headers["location"].startswith("/evil")


def test_the_cookie_of_a_page_over_tls_never_leaves_tls(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with open_memory(db, embedder="none") as memory:
        memory.remember("Drinks green tea", key="tea")
    with (
        serving(db, "--no-watch", PICOMEM_SERVER_HOSTS="memory.example") as running,
        browser_client(running, Host="memory.example", Origin="https://memory.example") as client,
    ):
        cookie = client.post("/sign-in", data={"code": code_for(db)}).headers["set-cookie"].lower()
    assert "secure" in cookie and "httponly" in cookie and "samesite=strict" in cookie and "domain" not in cookie
