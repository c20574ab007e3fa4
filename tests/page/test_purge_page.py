"""The purge view: what would go, the word, the code, the proof; and what never purges."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path

import apsw
import httpx2
import pytest
from playwright.sync_api import expect
from tests.databases import open_memory
from tests.gateway.serving import Served

from picomem.operations.table import operation
from picomem.records.caller import OWN_DATA

from .serving_pages import READ_ONLY, form_code_in, signed_in, signed_in_client

PLANTED = "zwyxquorvalpuntigam"


@pytest.fixture
def store_of(pages: Served) -> Iterator[str]:
    """A user of the server with a planted word in their memory, whom a test may purge."""
    yield plant(pages, "dana")


def plant(pages: Served, user: str) -> str:
    with open_memory(pages.db, user=user, embedder="none") as memory:
        for number in range(3):
            remember(memory, f"The {PLANTED}{user}{number} stands in the shed", f"shed_{number}")
    return user


def remember(memory, content: str, key: str) -> None:
    verb = operation("remember")
    verb.call(memory, verb.request(content=content, key=key))


def form_of(client: httpx2.Client, address: str) -> dict[str, str]:
    """The fields of the form that confirms, as the page has them."""
    text = client.get(address).text
    form = text[text.index('action="/purge/run"') :]
    return {"csrf": form_code_in(text), **dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))}


def is_there(pages: Served, user: str) -> bool:
    with open_memory(pages.db, user=user, embedder="none") as memory:
        return bool(memory.memories())


@pytest.mark.requirement("P10", "X5", "O16")
def test_a_dry_run_the_word_the_certificate_and_nothing_left_in_the_files(pages: Served, tmp_path: Path) -> None:
    tell_session(pages, "story", tmp_path)
    with signed_in(pages.url, pages.db, user="story") as page:
        page.goto(f"/search?q={PLANTED}")
        expect(page.locator(".hit")).not_to_have_count(0)
        page.goto("/purge")
        page.locator(".row a").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Erase session 5afe5afe")
        page.get_by_text("Show the list").click()
        expect(page.get_by_text(f"The gate code is {PLANTED}")).to_be_visible()
        yes = page.get_by_role("button", name="Yes, erase it for good")
        yes.click()  # the browser wants the word first
        expect(page).to_have_url(re.compile(r"/purge\?session=5afe"))
        page.get_by_label("To erase it, type").fill("purge")
        yes.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Erased for good")
        expect(page.get_by_text("0 strings of it were found")).to_be_visible()
        with page.expect_download() as downloading:
            page.get_by_role("button", name="Download the certificate").click()
        certificate = json.loads(Path(downloading.value.path()).read_text("utf-8"))
        assert downloading.value.suggested_filename.startswith("picomem-purge-")
        assert (certificate["user"], certificate["counts"]["transcripts"]) == ("story", 1)
        assert (certificate["scan"]["found"], certificate["scan"]["postings"]) == ({}, 0)
        assert certificate["scan"]["patterns"] > 0
        page.goto(f"/search?q={PLANTED}")
        expect(page.locator("#results")).to_contain_text("Nothing was found")
    files = [path for path in pages.db.parent.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
    assert [path.name for path in files if PLANTED.encode() in path.read_bytes()] == []


@pytest.mark.requirement("P10", "X2")
@pytest.mark.sqlite_file("damages rows in the file")
def test_a_proof_is_not_called_clean_if_damaged_rows_may_remain(pages: Served, tmp_path: Path) -> None:
    tell_session(pages, "bits", tmp_path)
    with closing(apsw.Connection(str(pages.db))) as connection:
        connection.execute("UPDATE lineage SET parent_id = 'other' WHERE user_id = 'bits'")
    with signed_in_client(pages, user="bits") as client:
        address = "/purge?session=5afe5afe-1111-4222-8333-444455556666"
        assert "Damaged rows of this user" in client.get(address).text
        form = form_of(client, address)
        done = client.post("/purge/run", data={**form, "word": "purge", "answer": "yes"}).text
    assert "proof-bad" in done
    assert "Damaged rows of this user may belong to what is purged" in done
    with open_memory(pages.db, user="bits", embedder="none") as memory:
        memory.purge(everything=True)


def tell_session(pages: Served, user: str, folder: Path) -> None:
    """Read a session of this user in which the planted word was said."""
    session = "5afe5afe-1111-4222-8333-444455556666"
    lines = [
        {
            "type": "user",
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "sessionId": session,
            "timestamp": f"2026-05-01T09:0{number}:00Z",
            "message": {"role": "user", "content": content},
        }
        for number, content in enumerate((f"Where does the {PLANTED} stand?", f"Remember: The gate code is {PLANTED}"))
    ]
    transcript = folder / f"{session}.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)) + "\n")
    with open_memory(pages.db, user=user, embedder="none") as memory:
        verb = operation("ingest")
        verb.call(memory, verb.request(paths=(str(transcript),)))


@pytest.mark.requirement("P10", "X5")
def test_a_purge_of_everything_ends_the_session_and_says_how_to_come_back(pages: Served) -> None:
    plant(pages, "all")
    with signed_in_client(pages, user="all") as client:
        fields = {**form_of(client, "/purge?everything=1"), "word": "purge", "answer": "yes"}
        over = client.post("/purge/run", data=fields).text
        assert "Erased for good" in over
        assert "0 strings of it were found" in over
        assert "picomem open" in over
        assert 'class="rail"' not in over
        assert client.get("/").status_code == 401
        sealed = {
            name: unescape(value) for name, value in re.findall(r'name="(certificate|seal)" value="([^"]*)"', over)
        }
        given = client.post("/purge/certificate", data=sealed)  # without a session
        assert given.headers["content-disposition"].startswith('attachment; filename="picomem-purge-')
        assert given.headers["content-type"] == "application/json"
        certificate = given.json()
        assert (certificate["user"], certificate["counts"]["memories"]) == ("all", 3)
        for fields in (
            {},
            {**sealed, "seal": ""},
            {**sealed, "certificate": sealed["certificate"].replace("all", "ann")},
        ):
            assert client.post("/purge/certificate", data=fields).status_code == 400
    assert not is_there(pages, "all")


@pytest.mark.requirement("P10")
def test_nothing_is_purged_without_the_word_the_answer_and_the_code(pages: Served, store_of: str) -> None:
    with signed_in_client(pages, user=store_of) as client:
        address = "/purge?everything=1"
        fields = {**form_of(client, address), "word": "purge", "answer": "yes"}
        assert set(fields) == {"csrf", "everything", "confirmation", "word", "answer"}
        assert client.post("/purge/run", data={**fields, "answer": "no"}).headers["location"] == "/purge"
        assert client.post("/purge/run", data={**fields, "answer": ""}).status_code == 303
        wrong = client.post("/purge/run", data={**fields, "word": "purg"})
        assert (wrong.status_code, "the word was not typed" in wrong.text) == (400, True)
        for code in ("", "x", fields["confirmation"][:-1], "1" + fields["confirmation"]):
            assert client.post("/purge/run", data={**fields, "confirmation": code}).status_code == 409, code
        assert client.post("/purge/run", data={**fields, "csrf": "x"}).status_code == 403
        assert client.get("/purge/run").status_code == 405
        assert client.get("/purge/run", params=fields).status_code == 405
        assert client.get(address, params=fields).status_code == 200
        assert is_there(pages, store_of)
    with signed_in_client(pages, user="other") as client:
        theirs = {**fields, "csrf": form_code_in(client.get("/purge").text)}
        assert client.post("/purge/run", data=theirs).status_code == 409
    assert is_there(pages, store_of)


@pytest.mark.requirement("P10")
def test_what_changed_meanwhile_is_asked_anew_and_nothing_goes_twice(pages: Served, store_of: str) -> None:
    with signed_in_client(pages, user=store_of) as client:
        stale = {**form_of(client, "/purge?everything=1"), "word": "Purge ", "answer": "yes"}
        with open_memory(pages.db, user=store_of, embedder="none") as memory:
            remember(memory, "The cellar was painted since", "cellar")
        again = client.post("/purge/run", data=stale)
        assert again.status_code == 409
        assert "has changed" in again.text
        assert "The cellar was painted since" in again.text
        fresh = {**stale, **form_of(client, "/purge?everything=1")}
        assert fresh["confirmation"] != stale["confirmation"]
        assert "Erased for good" in client.post("/purge/run", data=fresh).text
    with signed_in_client(pages, user=store_of) as client:
        fresh["csrf"] = form_code_in(client.get("/purge").text)
        with open_memory(pages.db, user=store_of, embedder="none") as memory:
            remember(memory, "A new life began", "life")
        assert client.post("/purge/run", data=fresh).status_code == 409
    assert is_there(pages, store_of)


def test_a_session_is_chosen_from_the_latest_or_by_its_id(pages: Served) -> None:
    with signed_in_client(pages) as client:
        assert '<a class="row-main" dir="auto" href="/purge?session=8463c716' in client.get("/purge").text
        about = re.findall(r'href="/purge\?session=8463c716[^"]*">([^<]+)</a>', client.get("/purge").text)
        assert about == ["Which port does the staging database use after the move?"]
        plan = client.get("/purge?session=8463c716").text
        assert "Erase session 8463c716?" in plan
        assert "1</strong> transcript" in plan
        assert client.get("/purge?session=nothing").status_code == 404
        assert client.get("/purge?older_than=x").status_code == 400
        assert client.get("/purge?older_than=365&everything=1").status_code == 400
        assert "There is nothing to erase" in client.get("/purge?older_than=36000").text


@pytest.mark.requirement("P8")
def test_only_a_session_that_may_erase_sees_the_page(pages: Served) -> None:
    for permissions in (READ_ONLY, OWN_DATA):
        with signed_in_client(pages, permissions=permissions) as client:
            assert client.get("/purge").status_code == 403
            assert client.get("/purge?everything=1").status_code == 403
            fields = {"csrf": form_code_in(client.get("/").text), "everything": "1", "word": "purge", "answer": "yes"}
            assert client.post("/purge/run", data=fields).status_code == 403
            assert client.post("/purge/finish", data=fields).status_code == 403


def test_thousands_of_memories_are_listed_in_parts(pages: Served) -> None:
    with open_memory(pages.db, user="many", embedder="none") as memory:
        for number in range(103):
            remember(memory, f"Number {number} is a house in street {number * 7}", f"house_{number:03}")
        remember(memory, "w" * 7_900, "long")
    with signed_in_client(pages, user="many") as client:
        first = client.get("/purge?everything=1").text
        assert len(re.findall(r"house_\d+|>long<", first)) == 100
        assert len(first) < 100_000
        more = re.findall(r'rel="next" href="([^"]+)"', first)[0].replace("&amp;", "&")
        second = client.get(more).text
        assert len(re.findall(r"house_\d+|>long<", second)) == 4
        assert form_code_in(second)
