"""The demo and the sample sessions that it plays with: every promise of the output is looked up in the store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unicodedata import east_asian_width

import pytest
from tests.cases import each_case

from picomem.app import open_engine
from picomem.demo.walkthrough import DATABASE, SAMPLES, run
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, State, format_of
from picomem.ingest.report import IngestProgress
from picomem.policy.content_kind import kind_of
from picomem.policy.redact import Redactor
from picomem.provenance.requests import find_requests
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings

KEYS = ("sk-EXAMPLE0not0a0real0key0harbor0mail42", "AKIAIOSFODNN7EXAMPLE")
PRIVATE = "doctor's appointment"
FROM_THE_WEB = ("paydesk-collect", "all invoices")
# Injected by a memory and by the host: nobody said it.
INJECTED = ("likes long mails", "may or may not be related")
SUMMARISED = "always remember that holds expire"  # in the summary of a compaction: the agent's words

# What Mia asks for in the sessions, in the order in which they are read.
REQUESTS = [
    ("instruction", "Never log a guest's e-mail address; the booking id is enough"),
    ("decision", "We decided to use Redis for the job queue because it already runs on staging"),
    ("preference", "I prefer pytest over unittest, plain functions and fixtures"),
    ("fact", "The staging database listens on port 5433"),
    ("fact", "A held slot expires after 15 minutes"),
    ("fact", "Releases go out on Tuesdays, never on a Friday"),
    ("preference", "I prefer pytest over unittest"),
    ("instruction", "Always store booking times in UTC and convert only at the edge, with the venue's zone"),
    ("instruction", "From now on use uv for everything: uv sync, uv run, uv add"),
    ("decision", "我们决定用最大匹配分词，不用 jieba"),
    ("instruction", "以后都用中文写提交说明，这个项目是给中文读者的"),
    ("fact", "词典文件是 data/cedict.u8，每周一早上从上游更新"),
    ("preference", "我更喜欢简短的函数，一屏放得下的那种"),
    (
        "decision",
        "We've decided to move the job queue from Redis to PostgreSQL with SKIP LOCKED, because a job must commit "
        "together with its booking",
    ),
    ("fact", "The staging database listens on port 6432"),
    ("fact", "朗读用浏览器自带的 speechSynthesis，不接云端服务"),
    ("fact", "从今天起，正文字号默认 20 像素，夜里自动换深色"),
]


@dataclass(frozen=True)
class Played:
    folder: Path
    output: str
    steps: list[tuple[int, int]]

    def bytes(self) -> bytes:
        """Every byte of the store, its log included, in lower case, as the index would hold it."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.iterdir())).lower()


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Played:
    folder = tmp_path_factory.mktemp("demo")
    lines: list[str] = []
    steps: list[tuple[int, int]] = []

    def show(state: IngestProgress) -> None:
        steps.append((state.bytes_done, state.bytes_total))

    assert run(folder, lines.append, show) == 0
    return Played(folder, "\n".join(lines), steps)


@pytest.fixture
def engine(played) -> Iterator[Engine]:
    """The demo's store as it was left, without a model of meaning."""
    with _engine(played.folder / DATABASE) as opened:
        yield opened


def _engine(path: Path) -> Engine:
    return open_engine(path, user="mia", settings=Settings(recall=RecallSettings(embedder="none", timezone="UTC")))


def _samples() -> list[Path]:
    return sorted(SAMPLES.rglob("*.jsonl"))


def _read(path: Path) -> tuple[list[Turn], State]:
    form = format_of(path, reader.head(path))
    assert form is not None
    assert not isinstance(form, DocumentFormat)
    state = form.start(path)
    return [turn for line in reader.lines(path) for turn in form.feed(state, line)], state


# ---------------------------------------------------------------------------------------------- the sessions


@each_case("path", _samples(), ids=lambda path: path.name)
def test_every_line_is_an_object_and_the_right_format_claims_the_file(path):
    lines = path.read_text("utf-8").splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    form = format_of(path, reader.head(path))
    assert form is not None
    assert form.name == ("codex" if path.is_relative_to(SAMPLES / "codex") else "claude-code")
    _, state = _read(path)
    assert not [reason for reason in state.skipped.counts if reason.startswith("unknown")]


def test_the_samples_are_two_projects_with_a_sub_agent_a_compaction_and_thoughts():
    read = [_read(path)[1] for path in _samples()]
    assert {state.info.cwd for state in read} == {"/home/mia/code/harbor", "/home/mia/code/lantern"}
    sessions = {state.info.session for state in read}
    assert len(sessions) == len(read) == 9
    assert [state.info.parent_session in sessions for state in read if state.info.parent_session] == [True]
    skipped = {reason for state in read for reason in state.skipped.counts}
    assert {"tool", "thinking", "system", "event"} <= skipped


def test_most_bytes_are_noise_and_all_of_them_are_few():
    said = sum(turn.end - turn.start for path in _samples() for turn in _read(path)[0] if turn.text)
    size = sum(path.stat().st_size for path in _samples())
    assert size < 250_000
    assert 0.6 < 1 - said / size < 0.75


def test_what_mia_asks_for_is_found_and_nothing_else():
    redact = Redactor(bytes(32)).redact
    requests = [
        (kind_of(request.content).value, request.content)
        for path in _samples()
        for turn in _read(path)[0]
        if turn.origin is Origin.USER
        for request in find_requests(redact(turn.text).text)
    ]
    assert sorted(requests) == sorted(REQUESTS)


def test_reading_the_samples_twice_changes_nothing(tmp_path):
    with _engine(tmp_path / "twice.db") as engine:
        first = engine.ingest([SAMPLES])
        before = (engine.index().text, engine.status(), engine.changes(100))
        again = engine.ingest([SAMPLES])
        assert (first.files, first.problems, first.requests) == (9, [], len(REQUESTS))
        assert (again.unchanged, again.episodes, again.updated, again.requests) == (9, 0, 0, 0)
        assert (engine.index().text, engine.status(), engine.changes(100)) == before


# -------------------------------------------------------------------------------------------------- the demo


@pytest.mark.requirement("O7")
def test_no_key_is_in_the_store_or_the_output(played):
    raw = "".join(path.read_text("utf-8") for path in _samples())
    for key in KEYS:
        assert key in raw
        assert key not in played.output
        assert key.lower().encode() not in played.bytes()
    assert "[redacted:sk-key:" in played.output


def test_the_fingerprint_of_a_key_is_the_same_wherever_it_was_said(played):
    marks = {part[:8] for part in played.output.split("[redacted:sk-key:")[1:]}
    assert len(marks) == 1
    assert played.output.count("[redacted:sk-key:") == 2
    assert "Nothing is left of it but a redacted secret." in played.output


@pytest.mark.requirement("X7")
def test_the_summary_of_a_compaction_is_an_entry_of_the_timeline_and_no_statement_of_mias(played, engine):
    assert SUMMARISED not in played.output
    assert SUMMARISED not in engine.index().text
    assert [memory.key for memory in engine.memories() if SUMMARISED in memory.content] == []
    entries = [hit for hit in engine.timeline(limit=1_000) if SUMMARISED in hit.text]
    assert [entry.origin for entry in entries] == [Origin.AGENT]


@pytest.mark.requirement("X7")
def test_private_and_injected_text_and_tool_output_are_nowhere(played, engine):
    raw = "".join(path.read_text("utf-8") for path in _samples())
    for text in (PRIVATE, *FROM_THE_WEB, *INJECTED):
        assert text in raw
        assert text.lower().encode() not in played.bytes()
        assert text not in played.output
    assert "I want to be done by two o'clock." in played.output
    assert not [memory for memory in engine.memories() if "invoice" in memory.content.lower()]


@pytest.mark.requirement("X6")
def test_memories_are_what_mia_asked_for_and_a_repeated_wish_is_one(engine):
    known = {memory.content for memory in engine.memories(as_of="2026-05-23")}
    asked = {content for _, content in REQUESTS}
    assert asked - known == {"A held slot expires after 15 minutes"}  # which she corrected herself
    told = {"A held slot expires after 10 minutes", "The sandbox of the mail relay takes the key "}
    others = {text.split("[")[0] for text in known - asked}
    assert told <= others
    said = " ".join(turn.text for path in _samples() for turn in _read(path)[0] if turn.origin is Origin.USER)
    assert all(text.casefold() in " ".join(said.split()).casefold() for text in others - told)  # in her own words


def test_two_languages_are_answered(played):
    english = played.output.split("? why did the job queue")[1].split("? next")[0]
    assert "to PostgreSQL with SKIP LOCKED, because a job must commit" in " ".join(english.split())
    first, text = played.output.split("? 分词")[1].strip().splitlines()[:2]
    assert "decision remembered" in first
    assert "claude-code eba9e6a8 turn 7, 2026-04-24" in first
    assert text.strip() == "我们决定用最大匹配分词，不用 jieba"


def test_a_decision_that_was_changed_is_marked_where_it_is_found(played):
    answers = played.output.partition("Recall: ask")[2]
    _, _, behind = answers.partition("We decided to use Redis for the job queue because it already runs on staging")
    assert behind.lstrip().startswith("(older statement, perhaps outdated)")


def test_answers_cite_where_it_was_said(played):
    decision, bug = (played.output.split(f"? {question}")[1] for question in ("why did the job", "next_free_slot"))
    assert "codex 019df1e5 turn 9, 2026-05-04" in decision.split("? next_free_slot")[0]
    assert "claude-code b1137f96 turn 12, 2026-04-21" in bug.split("? 分词")[0]
    assert "src/harbor/calendar/slots.py" in bug.split("? 分词")[0]


@pytest.mark.requirement("X2")
def test_a_revision_shows_what_was_believed_and_what_was_true(played, engine):
    revised = played.output.split("── Revise")[1].split("── Kept out")[0]
    said = [" ".join(line.split()) for line in revised.splitlines()]
    assert "now A held slot expires after 10 minutes" in said
    assert "as of 09:00 A held slot expires after 15 minutes (believed this morning)" in said
    assert "on 1 May A held slot expires after 15 minutes (true then, as known now)" in said
    assert [version.content[-10:] for version in engine.history("held_slot_expires_minutes")] == [
        "15 minutes",
        "15 minutes",
        "10 minutes",
    ]


def test_why_tells_the_versions_the_decisions_and_the_sources(played):
    why = " ".join(played.output.split("── Why")[1].split("── Revise")[0].split())
    assert "6 May to now The staging database listens on port 6432" in why
    assert "add it is new; it may outdate “staging_database_listens_port”" in why
    assert "codex 019dfd62 turn 8, 2026-05-06" in why


@pytest.mark.requirement("O9")
def test_the_index_page_is_printed_whole(played):
    index = played.output.split("── Index")[1].split("── Recall")[0]
    shown = "".join(line.lstrip(" │") for line in index.splitlines())
    for content in ("speechSynthesis，不接云端服务", "listens on port 6432", "memory_recall(query=…"):
        assert content in shown


def test_the_output_is_plain_and_fits_a_terminal(played):
    for line in played.output.splitlines():
        assert sum(2 if east_asian_width(char) in "WF" else 1 for char in line) <= 100 or DATABASE in line
        assert line == line.rstrip()
        assert "\x1b" not in line
    assert "\n\n\n" not in played.output
    assert "picomem install" in played.output


def test_progress_rises_to_all_of_the_bytes(played):
    assert played.steps == sorted(played.steps)
    assert played.steps[-1][0] == played.steps[-1][1] == sum(path.stat().st_size for path in _samples())


def test_the_users_own_store_is_never_the_demos(tmp_path, monkeypatch):
    own = tmp_path / DATABASE
    own.write_bytes(b"mine")
    monkeypatch.setenv("PICOMEM_DB", str(own))
    with pytest.raises(InvalidInput, match="your own store"):
        run(tmp_path, lambda _: None)
    assert own.read_bytes() == b"mine"


def test_an_earlier_demo_is_replaced_and_nothing_else_is_touched(tmp_path):
    (tmp_path / "picomem.db").write_bytes(b"mine")
    for _ in range(2):
        assert run(tmp_path, lambda _: None) == 0
    assert (tmp_path / "picomem.db").read_bytes() == b"mine"
    with _engine(tmp_path / DATABASE) as engine:
        assert engine.status().episodes == 114
