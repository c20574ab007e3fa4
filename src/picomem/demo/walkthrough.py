"""The demo: five weeks of a developer's sessions, read into a separate store, and what memory does with them.

`sessions/` holds invented transcripts of a person called Mia, as Claude Code and Codex write them; the keys in them
are invented too. The demo has its own clock, set to 22 May 2026, so "this morning" and every date in the output
belong to the story. The output comes from the engine; only the sentences around it are written here.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

from picomem import paths
from picomem.app import open_engine
from picomem.clock import MINUTE, Micros, parse_iso, to_datetime
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, Refused
from picomem.ingest.report import IngestProgress, Report
from picomem.light_dataclass import dataclass
from picomem.records.hit import Hit
from picomem.records.kinds import Origin
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.files.database_files import files_of
from picomem.text.line_breaks import line_spans

SAMPLES = Path(__file__).parent / "sessions"
DATABASE = "picomem-demo.db"

_ZONE = "Europe/Berlin"
_WIDTH = 92  # columns
_HITS = 3  # shown for each question
_LINES = 3  # of a hit's text
_KEY = "sk-EXAMPLE0not0a0real0key0harbor0mail42"  # the one that Mia pastes in a session; it opens nothing
_PORT = "staging_database_listens_port_2"
_HOLD = "held_slot_expires_minutes"

Say = Callable[[str], None]


def run(
    folder: Path, say: Say, progress: Callable[[IngestProgress], None] | None = None, *, columns: int = _WIDTH
) -> int:
    """Play the demo in `folder`; 0 when it went through.

    `say` gets plain lines of at most `columns`, `progress` the state of the ingest. The database `picomem-demo.db` in
    the folder is replaced; no other file is touched, and no settings are read. Raises InvalidInput where that file is
    the user's own store, and StoreError where it cannot be written.
    """
    database = _fresh(folder)
    clock = _Clock(parse_iso("2026-05-22T09:00", ZoneInfo(_ZONE)))
    settings = Settings(recall=RecallSettings(timezone=_ZONE))
    with open_engine(database, user="mia", settings=settings, clock=clock) as engine:
        page = _Page(say, columns)
        _introduce(page, database)
        _ingest(page, engine, progress)
        _show_index(page, engine)
        _ask(page, engine)
        _explain(page, engine)
        _revise(page, engine, clock)
        _keep_out(page, engine)
        _what_next(page)
    return 0


@dataclass(slots=True)
class _Clock:
    """The time in the story."""

    now: Micros

    def __call__(self) -> Micros:
        return self.now


def _fresh(folder: Path) -> Path:
    """The path of the demo's database, with no database there."""
    database = folder / DATABASE
    try:
        named = paths.named_store()
        if not paths.is_server(named) and database.resolve() == paths.database_path(named=named).resolve():
            raise InvalidInput(f"{database} is your own store; choose another folder for the demo.")
        for file in files_of(database):
            file.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
        reason = error.strerror if isinstance(error, OSError) else "a link leads back to itself"
        raise InvalidInput(f"{folder} cannot hold the demo's store ({reason}); name another folder.") from error
    return database


# ------------------------------------------------------------------------------------------------ the scenes


def _introduce(page: _Page, database: Path) -> None:
    page.title("picomem demo")
    page.text(
        "Mia has worked for five weeks with Claude Code and Codex, on harbor, a booking service, and on 灯笼 "
        "(lantern), a small reading app. It is Friday, 22 May 2026. Her agents remember nothing of it; picomem "
        "reads their transcripts."
    )
    page.text(f"The store is {database}. Your own is not touched, and nothing leaves this machine.")


def _ingest(page: _Page, engine: Engine, progress: Callable[[IngestProgress], None] | None) -> None:
    page.title("Ingest: what five weeks of sessions hold")
    started = time.perf_counter()
    report = engine.ingest([SAMPLES], progress=progress)
    seconds = time.perf_counter() - started
    hosts = ", ".join(f"{host} {count}" for host, count in sorted(report.hosts.items()))
    page.fact("read", f"{report.files} transcripts ({hosts}), {report.bytes / 1000:,.0f} kB in {seconds:.1f} s")
    page.fact("passed over", _passed_over(report))
    page.fact("said", f"{report.turns} messages, kept as {report.episodes} episodes that point back into the files")
    page.fact("asked for", _asked_for(report, engine))
    page.fact("redacted", f"{report.redacted} secrets, before anything was stored")
    again = engine.ingest([SAMPLES])
    page.fact("read again", f"{again.unchanged} of {again.files} unchanged, {again.episodes} new episodes")


def _passed_over(report: Report) -> str:
    names = {"tool": "tool calls and results", "thinking": "thoughts"}
    return ", ".join(f"{report.skipped.get(reason, 0)} {name}" for reason, name in names.items())


def _asked_for(report: Report, engine: Engine) -> str:
    status = engine.status()
    decided = status.decisions
    parts = {"add": "new", "merge": "known", "supersede": "replaces an older one", "refuse": "refused"}
    told = ", ".join(f"{decided[name]} {words}" for name, words in parts.items() if decided.get(name))
    return f"{report.requests} requests to remember ({told}), {status.suggestions} suggestions"


def _show_index(page: _Page, engine: Engine) -> None:
    index = engine.index()
    page.title("Index: what an agent sees at the start of every session")
    page.text(f"{index.tokens:,} of at most {index.budget:,} tokens; the same bytes until memory changes.")
    page.gap()
    page.quote(index.text)


def _ask(page: _Page, engine: Engine) -> None:
    page.title("Recall: ask, and get the place where it was said")
    for question in ("why did the job queue move away from Redis?", "next_free_slot time-zone bug", "分词"):
        answer = engine.recall(question, include_retold=True, limit=_HITS)
        page.question(question)
        for hit in answer.hits:
            page.hit(hit, _citation(engine, hit))


def _citation(engine: Engine, hit: Hit) -> str:
    """The citation of a hit; for a memory, that of its newest version."""
    if hit.source == "episode":
        return hit.citation
    sources = [source.citation for source in engine.why(hit.id).sources if source.citation]
    return sources[-1] if sources else "told to picomem"


def _explain(page: _Page, engine: Engine) -> None:
    why = engine.why(_PORT)
    page.title("Why: every memory has a history and a source")
    page.text(f"{_PORT} (harbor), as it is believed now:")
    page.gap()
    for version in [candidate for candidate in why.versions if candidate.known_to is None]:
        until = "now" if version.valid_to is None else _day(version.valid_to)
        page.fact(f"{_day(version.valid_from)} to {until}", version.content)
    page.gap()
    page.text("What was decided, and what it was made from:")
    page.gap()
    for change in why.changes:
        page.fact(change.decision, change.reason)
    page.gap()
    for source in why.sources:
        if source.citation:
            page.fact("said in", source.citation)
            page.quote(_cut(source.text, 240))


def _revise(page: _Page, engine: Engine, clock: _Clock) -> None:
    page.title("Revise: nothing is overwritten")
    before = clock.now
    clock.now += 30 * MINUTE
    page.text("Half past nine. Mia corrects something: since Monday a slot is held for ten minutes.")
    engine.revise(
        _HOLD, "A held slot expires after 10 minutes", since="2026-05-18", reason="product changed it on Monday"
    )
    clock.now += MINUTE
    page.question("how long is a slot held?")
    page.fact("now", _held(engine))
    page.fact("as of 09:00", f"{_held(engine, as_of=before)}  (believed this morning)")
    page.fact("on 1 May", f"{_held(engine, valid_at='2026-05-01')}  (true then, as known now)")


def _held(engine: Engine, *, as_of: Micros | None = None, valid_at: str | None = None) -> str:
    answer = engine.recall(
        "how long is a slot held?", as_of=as_of, valid_at=valid_at, include_transcripts=False, limit=1
    )
    return answer.hits[0].text


def _keep_out(page: _Page, engine: Engine) -> None:
    page.title("Kept out: secrets, private passages, orders from the web")
    page.text("On 29 April Mia pasted a key into a session, and marked a sentence private. What is stored:")
    page.gap()
    page.quote(_first(engine, "confirmation mails through a relay, its sandbox key"))
    page.quote(_first(engine, "plan the rollout for Thursday"))
    page.text("A page that the agent read told assistants to store a billing rule. The store holds this of it:")
    page.gap()
    page.quote(_first(engine, "paragraph addressed to AI assistants, billing rule"))
    page.text("Now the same key is offered as a memory, once within a sentence and once alone:")
    page.gap()
    kept = engine.remember(
        f"The sandbox of the mail relay takes the key {_KEY} and is emptied every hour",
        scope=engine.scope.narrowed(project="harbor"),
    ).memory
    page.fact("stored", kept.content if kept else "")
    try:
        engine.remember(f"key: {_KEY}")
    except Refused as refusal:
        page.fact("refused", str(refusal))
    page.gap()
    page.text("The mark behind “redacted” is a keyed fingerprint: it is the same in both places, and leads nowhere.")


def _first(engine: Engine, question: str) -> str:
    """The first of what an episode says about this, with where it stands."""
    hit = engine.recall(question, include_memories=False, include_retold=True, limit=1).hits[0]
    return f"{_cut(hit.text, 330)}\n({hit.citation})"


def _what_next(page: _Page) -> None:
    page.title("Next: your own sessions")
    program = _program()
    for command, purpose in (
        (f"{program} install", "let your agents use it"),
        (f"{program} ingest", "read their past sessions"),
        (f'{program} recall "what did we decide about …"', "ask"),
    ):
        page.line(f"  {command}" if len(command) > 44 else f"  {command:<46}{purpose}")


def _program() -> str:
    """Return the command that starts picomem for this person: by name where it is on the path, else (a clone) by where
    it was started."""
    if shutil.which("picomem"):
        return "picomem"
    started = Path(sys.argv[0])
    if started.stem != "picomem":
        return "picomem"
    here = Path.cwd()
    return str(started.relative_to(here)) if started.is_relative_to(here) else str(started)


# ---------------------------------------------------------------------------------------------- how it looks


@dataclass(slots=True)
class _Page:
    """Plain lines of at most `columns`; a Chinese character takes two."""

    say: Say
    columns: int
    last: str = "-"

    def line(self, text: str) -> None:
        self.last = text.rstrip()
        self.say(self.last)

    def gap(self) -> None:
        """An empty line, unless there is one."""
        if self.last:
            self.line("")

    def title(self, text: str) -> None:
        self.gap()
        self.line(f"── {text} ".ljust(self.columns, "─"))
        self.line("")

    def text(self, text: str) -> None:
        for line in _wrapped(text, self.columns):
            self.line(line)

    def fact(self, name: str, text: str) -> None:
        """A name in a column of its own, and what is said of it."""
        for number, line in enumerate(_wrapped(text, self.columns - 21)):
            self.line(f"  {'' if number else name:<19}{line}")

    def quote(self, text: str) -> None:
        """Text out of the store, with a bar at its side."""
        for paragraph in text.rstrip().split("\n"):
            hanging = "  " if paragraph.startswith("- ") else ""
            for number, line in enumerate(_wrapped(paragraph, self.columns - 6) or [""]):
                self.line(f"  │ {hanging if number else ''}{line}")
        self.line("")

    def question(self, text: str) -> None:
        self.gap()
        self.line(f"? {text}")
        self.line("")

    def hit(self, hit: Hit, citation: str) -> None:
        said = "Mia said" if hit.origin is Origin.USER else "an agent said"
        what = f"{hit.kind} remembered" if hit.source == "memory" else said
        self.line(f"  {hit.score:.2f}  {what}  ·  {hit.project}  ·  {citation}")
        lines = _wrapped(" ".join(hit.text.split()), self.columns - 10)
        if len(lines) > _LINES:
            lines = [*lines[: _LINES - 1], f"{lines[_LINES - 1]} …"]
        for line in lines:
            self.line(f"        {line}")
        if hit.remark:
            self.line(f"        ({hit.remark})")
        self.line("")


def _day(at: Micros) -> str:
    moment = to_datetime(at, ZoneInfo(_ZONE))
    return f"{moment.day} {moment:%B}"


def _cut(text: str, longest: int) -> str:
    """The text on one line, cut after a word."""
    text = " ".join(text.split())
    return text if len(text) <= longest else text[:longest].rpartition(" ")[0] + " …"


def _wrapped(text: str, columns: int) -> list[str]:
    return [text[start:end] for start, end in line_spans(text, columns)] if text.strip() else []
