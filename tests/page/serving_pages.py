"""The web page in a real browser: a server of its own process, Chromium by Playwright, and a session signed in."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.databases import open_memory
from tests.gateway.serving import Served

from picomem.engine.authorization import make_sign_in_code
from picomem.records.caller import OWN_DATA, PURGE

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
HTML = "text/html,application/xhtml+xml"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
TIMEOUT = 10_000  # milliseconds
EVERYTHING = OWN_DATA | {PURGE}
READ_ONLY = frozenset({"memory:read:user", "memory:read:session"})
_stops: list[Callable[[], None]] = []


def browser_path() -> str:
    """The browser of this machine. Skips the test where there is none."""
    named = os.environ.get("PICOMEM_BROWSER", "")
    path = named or shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        pytest.skip("No browser: install Chromium (apt-get install chromium), or set PICOMEM_BROWSER to one.")
    return path


@cache
def browser() -> Browser:
    """The browser of this process, started once for the tests of this folder."""
    path = browser_path()
    playwright = sync_playwright().start()
    started = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
    expect.set_options(timeout=TIMEOUT)
    _stops.extend((playwright.stop, started.close))
    return started


def close_browser() -> None:
    """End the browser, as is needed before a test that starts an event loop of its own: while Playwright runs, its loop
    counts as the running one of this thread."""
    while _stops:
        _stops.pop()()
    browser.cache_clear()


def code_for(db: Path, user: str = "local", permissions: frozenset[str] = EVERYTHING) -> str:
    """A one-time code, made in this process."""
    with open_memory(db, user=user, embedder="none") as memory:
        return make_sign_in_code(memory, permissions)


@contextmanager
def browsing(url: str, **options: Any) -> Iterator[BrowserContext]:
    """A browser without cookies, for the pages of a server."""
    context = browser().new_context(base_url=url, **{"viewport": DESKTOP, "locale": "en-GB", **options})
    context.set_default_timeout(TIMEOUT)
    try:
        yield context
    finally:
        context.close()


@contextmanager
def watched_page(context: BrowserContext) -> Iterator[Page]:
    """A page. What its console says of errors fails the test."""
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert not errors, errors


@contextmanager
def signed_in(
    url: str, db: Path, user: str = "local", permissions: frozenset[str] = EVERYTHING, **options: Any
) -> Iterator[Page]:
    """A watched page that is signed in and has no address yet.

    The browser's client sends the code, without the page of the link: its two loads would cost as much as most tests.
    `sign_in` goes by the page."""
    with browsing(url, **options) as context:
        code, headers = code_for(db, user, permissions), {"Accept": HTML, "Origin": url}
        answer = context.request.post("/sign-in", form={"code": code}, headers=headers)
        assert (answer.status, answer.url) == (200, f"{url}/")
        with watched_page(context) as page:
            yield page


def sign_in(page: Page, code: str) -> None:
    """Use a link as `picomem open` makes it."""
    page.goto(f"/sign-in#{code}")
    expect(page.get_by_role("searchbox")).to_be_visible()


def browser_client(pages: Served, **headers: str) -> httpx2.Client:
    """A client that behaves as a browser does: cookies, an Origin on forms, HTML. Without a TLS context, which takes
    longer to make than a page."""
    shown = {"Accept": HTML, "Origin": pages.url, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx2.Client(base_url=pages.url, headers=shown, timeout=60, trust_env=False, verify=False)


@contextmanager
def signed_in_client(
    pages: Served, permissions: frozenset[str] = EVERYTHING, user: str = "local"
) -> Iterator[httpx2.Client]:
    """A client with a session."""
    with browser_client(pages) as client:
        answer = client.post("/sign-in", data={"code": code_for(pages.db, user, permissions)})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        yield client


def form_code_in(text: str) -> str:
    return re.findall(r'name="csrf" value="(\w+)"', text)[0]
