"""The small pure parts of the page: times, marks, bars, and paths to go back to."""

from __future__ import annotations

import re
from datetime import UTC
from pathlib import Path
from threading import get_ident

import anyio
from starlette.requests import Request
from tests.cases import each_case
from tests.databases import Database
from tests.gateway.serving import Served

from picomem.app import open_runtime, operations
from picomem.clock import DAY, HOUR, MINUTE, SECOND
from picomem.gateway.calls import Calls
from picomem.gateway.web_pages import WebPages
from picomem.page.html_rendering import ago, exactly, marked_pieces, passage_mark
from picomem.page.message_catalog import say_in
from picomem.page.page_view import PageContent, PageRequest, PageView, own_path
from picomem.page.svg_marks import score_bar
from picomem.records.caller import Caller

from .serving_pages import close_browser, signed_in_client

NOW = 1_777_593_600 * SECOND


@each_case(
    ("before", "text"),
    [
        (0, "just now"),
        (50 * SECOND, "50 seconds ago"),
        (90 * SECOND, "1 minute ago"),
        (5 * HOUR, "5 hours ago"),
        (3 * DAY, "3 days ago"),
        (70 * DAY, "2 months ago"),
        (800 * DAY, "2 years ago"),
        (-3 * MINUTE, "in 3 minutes"),
    ],
)
def test_a_time_is_told_beside_now(before: int, text: str) -> None:
    assert ago(NOW - before, NOW, say_in("en")) == text
    assert exactly(NOW, UTC) == "2026-05-01 00:00"


def test_the_list_of_keys_names_those_of_the_documentation(pages: Served) -> None:
    section = (Path(__file__).parents[2] / "docs/page.md").read_text("utf-8").split("## Keys")[1].split("##")[0]
    documented = [key for row in re.findall(r"^\| (`.*?) \|", section, re.M) for key in re.findall(r"`([^`]+)`", row)]
    assert len(documented) > 12
    with signed_in_client(pages) as client:
        listed = re.findall(r"<kbd>([^<]+)</kbd>", client.get("/").text)
    named = {*listed, *(key for keys in listed for key in keys.split(" "))}
    assert [key for key in documented if key not in named] == []


def test_marks_stay_on_their_words_when_what_is_invisible_goes() -> None:
    text = "a\x1b[31m port\u202e and\u200b a port"
    start = text.rindex("port")
    pieces = list(marked_pieces(text, [[start, start + 4], [0, 1], [0, 3], [90, 99]]))
    assert ("port", True) in pieces
    assert ("a", True) in pieces
    assert "".join(piece for piece, _ in pieces) == "a\\x1b[31m port\\u202e and a port"


@each_case(
    ("text", "statement", "marked"),
    [
        ("Fine. From now on use uv: uv sync!", "from now on, use uv - uv sync", "From now on use uv: uv sync"),
        ("同意，不要密钥。请记住", "不要密钥", "不要密钥"),
        ("We use uv now", "From now on use uv", ""),
        ("anything", "…", ""),
    ],
)
def test_the_passage_of_a_statement_is_marked_as_a_whole(text: str, statement: str, marked: str) -> None:
    marks = passage_mark(text, statement)
    assert "".join(text[start:end] for start, end in marks) == marked


def test_a_bar_never_leaves_its_ground_and_its_title_is_text() -> None:
    bar = score_bar([("words", 0.9), ("meaning", 0.9), ("time", 0.0)], "Score <b>")
    assert 'x="0.0" width="54.0"' in bar
    assert 'x="54.0" width="6.0"' in bar
    assert "part-time" not in bar
    assert "<title>Score &lt;b&gt;</title>" in bar


@each_case("given", ["//evil.example/", "https://evil.example", "/\\evil.example", "", "/a\nb", "/" * 5_000])
def test_a_way_back_leads_nowhere_else(given: str) -> None:
    assert own_path(given) == "/"
    assert own_path("/search?q=a") == "/search?q=a"


def test_a_view_is_rendered_outside_of_the_event_loop(db: Path, database: Database) -> None:
    """A list takes milliseconds, in which a server that renders in its event loop answers nobody."""
    threads: list[int] = []

    class NotingThread:
        def __str__(self) -> str:
            threads.append(get_ident())
            return "noted"

    async def show(_asked: PageRequest) -> PageContent:
        return PageContent(
            template="error.html", title="Noted", values={"code": "error", "message": NotingThread(), "sentence": ""}
        )

    view = PageView(name="noted", path="/noted", show=show, permission="memory:read:user")
    state = {"caller": Caller()}
    scope = {"type": "http", "method": "GET", "path": "/noted", "query_string": b"", "headers": [], "state": state}
    request = Request({**scope, "path_params": {}, "server": ("127.0.0.1", 80)})
    close_browser()
    with open_runtime(database.named(db), embedder="none") as runtime:
        answer = anyio.run(WebPages(Calls(runtime, operations()), [])._view(view), request)
    assert b"noted" in answer.body
    assert threads
    assert get_ident() not in threads
