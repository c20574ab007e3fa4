"""`python -m benchmarks page`: the server's time for each view of the web page, on a large store and on a small one.

Both stores hold the memories and episodes of one user (fill.py, fill_memories.py), with random vectors. `picomem serve`
runs on each as a process of its own, and one client at a time asks for the pages over a connection that stays. The
request that comes first fills the caches of the server, so it is told apart; the two servers then take turns. A deep
cursor is that of the middle of a list.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from urllib.parse import quote, urlencode

from benchmarks.fill import ASKER, Filled, Model, fill
from benchmarks.fill_memories import PROJECTS, RARE_TAG, TAGS, fill_memories
from benchmarks.http_connection import HttpConnection
from benchmarks.servers import PicomemServer, ServerFailed, cpu_seconds, running
from picomem.app import open_engine
from picomem.engine.authorization import make_sign_in_code
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.models.static_embedder import StaticEmbedder
from picomem.operations.table import operation
from picomem.records.caller import OWN_DATA
from picomem.store.sqlite.connector import SqliteConnector
from question_sets.metrics import median

SMALL = 1_000
_ROUNDS = 10
_QUESTIONS = 5
_AIM_MS = 100
_LEAST_MS = 1.0  # below which the processor time of a process is not known
_ARCHIVED_SHARE, _WAITING_SHARE = 20, 20  # one memory in so many is archived, and waits
_HTML = {"Accept": "text/html,application/xhtml+xml"}
Telling = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSpeed:
    """The time of a page in milliseconds: of the first request, the median of the later ones, and the mean processor
    time of the server, to a millisecond; then the same with the small store. `times` is the ratio of processor times.
    """

    view: str
    what: str
    first_ms: float
    p50_ms: float
    cpu_ms: float
    small_p50_ms: float
    small_cpu_ms: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReport:
    """`memories`, and as many episodes, are in the large store; `small` of both in the other."""

    machine: str
    memories: int
    small: int
    pages: tuple[PageSpeed, ...]


@dataclass(frozen=True, slots=True)
class _Page:
    view: str
    what: str
    path: str


@dataclass(frozen=True, slots=True)
class _Asking:
    """A server, a connection to it, and the pages that are asked for."""

    server: PicomemServer
    connection: HttpConnection
    cookies: str
    pages: Sequence[_Page]

    async def ask(self, number: int) -> float:
        """Ask for a page; the milliseconds until it is there. Raises ServerFailed where it is none."""
        headers = {**_HTML, "Cookie": self.cookies}
        page = self.pages[number]
        started = perf_counter()
        status, text = await self.connection.get(page.path, headers)
        elapsed = (perf_counter() - started) * 1000
        if status != 200:
            raise ServerFailed(f"{page.path} answered {status}: {text[:200]}")
        return elapsed

    async def repeat(self, number: int, rounds: int) -> tuple[float, float]:
        """Ask so many times; the median in milliseconds, and the mean of the server's processor time."""
        used = cpu_seconds(self.server)
        elapsed = [await self.ask(number) for _ in range(rounds)]
        return median(elapsed), (cpu_seconds(self.server) - used) * 1000 / rounds


def run(memories: int, progress: Telling | None = None, *, small: int = SMALL, rounds: int = _ROUNDS) -> PageReport:
    """Measure. Linux only: it reads /proc. Raises ServerFailed, and InvalidInput for too few memories."""
    if memories < small:
        raise InvalidInput(f"--memories is {memories}; it must be at least {small:,}.")
    tell = progress or (lambda _: None)
    with TemporaryDirectory(prefix="picomem-bench-") as folder, ExitStack() as stack:
        large, little = (
            _filled(Path(folder).resolve() / name, count, tell)
            for name, count in (("large", memories), ("small", small))
        )
        paths = [_pages(store) for store in (large, little)]
        codes = [_sign_in_code(store) for store in (large, little)]
        servers = [stack.enter_context(running(PicomemServer(store, "static", 1))) for store in (large, little)]
        cookies = [_session_cookies(server, code) for server, code in zip(servers, codes, strict=True)]
        speeds = asyncio.run(_measured(servers, cookies, paths, rounds, tell))
    return PageReport(
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        memories=memories,
        small=small,
        pages=tuple(speeds),
    )


async def _measured(
    servers: Sequence[PicomemServer],
    cookies: Sequence[str],
    paths: Sequence[list[_Page]],
    rounds: int,
    tell: Telling,
) -> list[PageSpeed]:
    large, small = [
        _Asking(server, await HttpConnection.open(server.port), session, pages)
        for server, session, pages in zip(servers, cookies, paths, strict=True)
    ]
    speeds: list[PageSpeed] = []
    for number, page in enumerate(large.pages):
        tell(f"{page.view}: {page.what}")
        first = await large.ask(number)
        await small.ask(number)
        p50, cpu = await large.repeat(number, rounds)
        small_p50, small_cpu = await small.repeat(number, rounds)
        speeds.append(
            PageSpeed(
                view=page.view,
                what=page.what,
                first_ms=first,
                p50_ms=p50,
                cpu_ms=cpu,
                small_p50_ms=small_p50,
                small_cpu_ms=small_cpu,
                times=cpu / max(small_cpu, _LEAST_MS),
            )
        )
    return speeds


def _sign_in_code(filled: Filled) -> str:
    with open_engine(filled.store, user=ASKER, embedder="none") as engine:
        return make_sign_in_code(engine, OWN_DATA)


def _session_cookies(server: PicomemServer, code: str) -> str:
    """Sign in as a browser does; the cookies of the session. Raises ServerFailed."""
    connection = HTTPConnection("127.0.0.1", server.port)
    sent = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{server.port}", **_HTML}
    connection.request("POST", "/sign-in", urlencode({"code": code}), sent)
    answer = connection.getresponse()
    cookies = [value.partition(";")[0] for name, value in answer.getheaders() if name.lower() == "set-cookie"]
    connection.close()
    if answer.status != 303 or not cookies:
        raise ServerFailed(f"/sign-in answered {answer.status}.")
    return "; ".join(cookies)


def _filled(folder: Path, count: int, tell: Telling) -> Filled:
    """A store with as many memories as episodes, of one user."""
    model = Model(name=StaticEmbedder.name, dimensions=StaticEmbedder.dimensions)
    filled = fill(folder, count, 1, _QUESTIONS, model, tell)
    with closing(SqliteConnector(filled.store)) as connector:
        fill_memories(connector, ASKER, count, model, tell)
    return filled


def _pages(filled: Filled) -> list[_Page]:
    """The pages of every view, with filters and deep cursors."""
    with open_engine(filled.store, user=ASKER, embedder="none") as engine:
        half = filled.own // 2
        memory, _ = _middle(engine, "memories", half, "memories")
        episode, timeline_cursor = _middle(engine, "timeline", half, "episodes")
        change, changes_cursor = _middle(engine, "changes", half, "changes")
        _, memories_cursor = _middle(engine, "memories", half, "memories")
        _, tagged_cursor = _middle(engine, "memories", half // 4, "memories", tag=TAGS[0])
        _, archived_cursor = _middle(engine, "memories", half // _ARCHIVED_SHARE, "memories", archived=True)
        _, review_cursor = _middle(engine, "review", half // _WAITING_SHARE, "waiting", untrusted=True)
    day, question, project = episode.at[:10], filled.questions[0], PROJECTS[0]
    asked: list[tuple[str, str, str, dict[str, str]]] = [
        ("search", "nothing typed", "/search", {}),
        *(("search", f"question {number}", "/search", {"q": text}) for number, text in enumerate(filled.questions, 1)),
        ("search", "by kind and project", "/search", {"q": question, "kind": "fact", "project": project}),
        ("search", "by tag", "/search", {"q": question, "tag": RARE_TAG}),
        ("search", "of the web", "/search", {"q": question, "origin": "web"}),
        ("search", "as of a year ago", "/search", {"q": question, "as_of": "2024-01-01"}),
        ("memories", "first page", "/memories", {}),
        ("memories", "the middle", "/memories", {"cursor": memories_cursor}),
        ("memories", "by kind", "/memories", {"kind": "decision"}),
        ("memories", "by origin", "/memories", {"origin": "web"}),
        ("memories", "by project", "/memories", {"project": project}),
        ("memories", "by a common tag", "/memories", {"tag": TAGS[0]}),
        ("memories", "by that tag, the middle", "/memories", {"tag": TAGS[0], "cursor": tagged_cursor}),
        ("memories", "by a rare tag", "/memories", {"tag": RARE_TAG}),
        ("memories", "by an unknown tag", "/memories", {"tag": "nowhere"}),
        ("memories", "archived", "/memories", {"archived": "1"}),
        ("memories", "archived, the middle", "/memories", {"archived": "1", "cursor": archived_cursor}),
        ("one memory", "by its id", f"/memory/{memory.id}", {}),
        ("one memory", "by its key", f"/memory/{memory.key}", {}),
        ("timeline", "first page", "/timeline", {}),
        ("timeline", "the middle", "/timeline", {"cursor": timeline_cursor}),
        ("timeline", "a day", "/timeline", {"day": day}),
        ("timeline", "another year", "/timeline", {"year": day[:4]}),
        ("timeline", "a session", "/timeline", {"session": episode.session}),
        ("timeline", "a project", "/timeline", {"project": project}),
        ("episode", "its messages", f"/episode/{episode.id}", {}),
        ("review", "first page", "/review", {}),
        ("review", "the middle", "/review", {"cursor": review_cursor}),
        ("chat", "the conversations", "/chat", {}),
        ("agent view", "the index page", "/agent", {}),
        ("agent view", "of a project", "/agent", {"project": project}),
        ("agent view", "beside a prompt", "/agent", {"prompt": question}),
        ("history", "first page", "/history", {}),
        ("history", "the middle", "/history", {"cursor": changes_cursor}),
        ("history", "by a rare verb", "/history", {"verb": "forget"}),
        ("history", "by an unknown actor", "/history", {"actor": "nobody"}),
        ("history", "of a day", "/history", {"since": day, "until": day}),
        ("history", "one change", f"/history/{change.change.id}", {}),
        ("health", "all of it", "/status", {}),
    ]
    return [
        _Page(view, what, quote(path) + (f"?{urlencode(fields)}" if fields else ""))
        for view, what, path, fields in asked
    ]


def _middle(engine: Engine, name: str, count: int, listed: str, **arguments: Any) -> tuple[Any, str]:
    """What stands so many entries down a list, and the cursor there."""
    verb = operation(name)
    result = verb.call(engine, verb.request(limit=max(1, count), **arguments))
    return getattr(result, listed)[-1], result.cursor


def render(report: PageReport, *, as_markdown: bool = False) -> str:
    """The report as plain text, or as a table for a document."""
    columns = ("view", "what", "first", "p50", "cpu", "small p50", "small cpu", "×")
    rows = [
        (
            page.view,
            page.what,
            *(f"{value:.0f}" for value in (page.first_ms, page.p50_ms, page.cpu_ms)),
            *(f"{value:.0f}" for value in (page.small_p50_ms, page.small_cpu_ms)),
            f"{page.times:.1f}",
        )
        for page in report.pages
    ]
    if as_markdown:
        lines = [columns, ("---",) * len(columns), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    widths = [max(len(line[column]) for line in (columns, *rows)) for column in range(len(columns))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in (columns, *rows)
    ]
    slow = [page for page in report.pages if page.cpu_ms > _AIM_MS]
    return "\n".join(
        [
            f"Measured on {report.machine}.",
            f"{report.memories:,} memories and episodes of one user, beside {report.small:,}; times in ms.",
            "",
            *lines,
            "",
            f"{len(report.pages) - len(slow)} of {len(report.pages)} pages take at most {_AIM_MS} ms of the processor.",
        ]
    )
