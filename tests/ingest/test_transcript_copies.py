"""Kept copies: what `show` opens is there after a host deleted its transcript, for as long as it was not erased."""

from __future__ import annotations

import json
import os
import random
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.databases import Database
from tests.engine_parts import caller_context_of, connector_of

from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.engine.transcripts import keep_transcripts
from picomem.errors import InvalidInput, Refused
from picomem.ingest.source import header_of, records_of, texts_of
from picomem.ingest.transcript_copies import copies_folder, folder_name, lifetimes
from picomem.operations.ingesting import IngestRequest
from picomem.operations.maintenance import StatusRequest
from picomem.operations.table import operation
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import IngestSettings, RecallSettings
from picomem.store.tables import transcript_rows

pytestmark = [
    pytest.mark.sqlite_file("copies of transcripts lie beside the file"),
    pytest.mark.plain_file("no copies are made of a sealed store"),
]

SECRET = "ghp_" + "b7Wd13nYpK" * 3 + "Qs82Ax"
TALK = (
    ("user", "Where does the loader keep its cache? It is called Zoë's."),
    ("assistant", "In ~/.cache/loader, 40 files.\nThey are \"small\"."),
    ("user", f"Use {SECRET} for the push"),
    ("assistant", "Yes, it is made anew."),
)  # fmt: skip

Opener = Callable[..., Engine]


def uuid(number: int) -> str:
    return f"{number:08}-d00d-4bad-9fee-1badb002c0de"


def line(number: int, role: str, text: str) -> bytes:
    """A record of Claude Code."""
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    record = {
        "parentUuid": uuid(number - 1) if number else None, "isSidechain": False, "type": role, "message": message,
        "uuid": uuid(number), "timestamp": f"2026-04-03T09:{number // 60:02}:{number % 60:02}.000Z", "cwd": "/w/crane",
        "sessionId": "5e55", "entrypoint": "cli", "version": "2.0.0",
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def write(path: Path, talk: tuple = TALK, *, first: int = 0, session: str = "5e55") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(line(first + number, *said) for number, said in enumerate(talk))
    with path.open("ab") as file:
        file.write(data.replace(b"5e55", session.encode()))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "claude" / "projects" / "-w-crane" / "5e55.jsonl")


@pytest.fixture
def keeping(db: Path, clock, database: Database, tmp_path: Path, monkeypatch) -> Iterator[Opener]:
    """Open an engine that keeps transcripts."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    opened: list[Engine] = []

    def _open(keep: str = "all", *, keep_mb: int = 1_000, user: str = "local") -> Engine:
        settings = Settings(
            recall=RecallSettings(embedder="none", timezone="UTC"), ingest=IngestSettings(keep=keep, keep_mb=keep_mb)
        )
        runtime = Runtime(database.connect(db), settings, clock=clock)
        opened.append(runtime.engine(scope=Scope(user), closes=True))
        return opened[-1]

    yield _open
    for engine in opened:
        engine.close()


def ingest(engine: Engine, *paths: Path):
    return operation("ingest").call(engine, IngestRequest(tuple(map(str, paths))))


def texts(engine: Engine) -> list[str]:
    """The messages behind all episodes, and for those that do not open their state."""
    shown = [engine.show(hit.id) for hit in engine.timeline()]
    shown.sort(key=lambda row: (row[0].started_at or 0, row[0].part))
    return [turn.text for _, _, opened in shown for turn in opened.turns] + [
        opened.state for _, _, opened in shown if opened.state != "open"
    ]


def copies(engine: Engine) -> list[Path]:
    return caller_context_of(engine).copies().paths()


def age(path: Path, engine: Engine, days: int) -> None:
    at = engine.now() // 1_000_000 - days * DAY // 1_000_000
    os.utime(path, (at, at))


def copied_bytes(engine: Engine) -> bytes:
    return b"".join(text for copy in copies(engine) for text in texts_of(copy))


@pytest.mark.requirement("X9")
def test_a_transcript_that_its_host_deleted_opens_from_the_copy(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    assert ingest(engine, path).kept == 1
    before = texts(engine)
    path.unlink()
    assert texts(engine) == before
    assert before[1].startswith("In ~/.cache/loader, 40 files.\nThey")
    assert ingest(engine, path.parent).kept == 0
    assert texts(engine) == before


def test_the_copy_holds_every_record_at_its_place_and_no_secret(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    ingest(engine, path)
    (copy,) = copies(engine)
    original = path.read_bytes()
    records = list(records_of(copy))
    assert [original[record.offset : record.end] for record in records] == original.splitlines(keepends=True)
    same = [record.data == original[record.offset : record.end].strip() for record in records]
    assert same == [True, True, False, True]
    assert SECRET.encode() not in copied_bytes(engine)
    assert b"[redacted:" in (records[2].data or b"")


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_copies_are_for_their_owner_alone(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    ingest(engine, path)
    (copy,) = copies(engine)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (copy.parent, copy.parent.parent)} == {0o700}


def test_without_the_setting_no_copy_is_made_and_gone_is_gone(keeping: Opener, path: Path) -> None:
    engine = keeping("none")
    assert ingest(engine, path).kept == 0
    path.unlink()
    assert set(texts(engine)) == {"gone"}
    assert copies(engine) == []


def test_what_is_appended_is_copied_too_and_only_once(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    ingest(engine, path)
    write(path, (("user", "Then delete it."), ("assistant", "Deleted.")), first=4)
    assert ingest(engine, path).kept == 1
    assert ingest(engine, path).kept == 0
    (copy,) = copies(engine)
    assert header_of(copy).end == path.stat().st_size
    assert [record.offset for record in records_of(copy)] == sorted({record.offset for record in records_of(copy)})
    before = texts(engine)
    path.unlink()
    assert texts(engine) == before
    assert "Deleted." in before


def test_a_transcript_that_was_rewritten_is_copied_anew(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    ingest(engine, path)
    path.write_bytes(b"")
    write(path, (("user", "Something else " * 30), ("assistant", "Very well, as you wish.")))
    ingest(engine, path)
    before = texts(engine)
    path.unlink()
    assert [text for text in texts(engine) if text == "Very well, as you wish."] != []
    assert before[-1] != "gone"


@pytest.mark.parametrize(("period", "kept_at"), [(None, 23), (60, 53), (3, 0), (0, 0), ("soon", 23)])
@pytest.mark.requirement("X9")
def test_expiring_keeps_what_claude_code_deletes_within_a_week(
    keeping: Opener, path: Path, tmp_path: Path, period, kept_at: int
) -> None:
    if period is not None:
        (tmp_path / "claude" / "settings.json").write_text(json.dumps({"cleanupPeriodDays": period}))
    engine = keeping("expiring")
    if kept_at:
        age(path, engine, kept_at - 1)
        assert ingest(engine, path).kept == 0
    age(path, engine, kept_at)
    assert ingest(engine, path).kept == 1
    write(path, (("user", "Then delete it."),), first=4)
    assert ingest(engine, path).kept == 1, "a copy is never older than what the store has read"


def test_a_host_that_deletes_nothing_is_copied_only_with_all(keeping: Opener, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"role": "user", "content": "Which berth is free?"}) + "\n")
    engine = keeping("expiring")
    age(log, engine, 4_000)
    assert ingest(engine, log).kept == 0
    assert lifetimes(tmp_path, {}) == {"claude-code": 30 * DAY}


def test_a_damaged_copy_shows_nothing_and_the_doctor_names_it(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    ingest(engine, path)
    assert engine.doctor().healthy
    before = texts(engine)
    (copy,) = copies(engine)
    data = copy.read_bytes()
    path_data = path.read_bytes()
    path.unlink()
    for damaged in (data[:-40], data[: len(data) // 2], b"", data[:60] + bytes([data[60] ^ 4]) + data[61:]):
        copy.write_bytes(damaged)
        assert not set(texts(engine)) & set(before)
        (finding,) = engine.doctor(repair=True).findings
        assert (finding.check, finding.repaired) == ("copy", False)
        assert str(copy) in finding.problem
    path.write_bytes(path_data)
    write(path, (("user", "Then delete it."),), first=4)
    assert ingest(engine, path).kept == 1, "a damaged copy is made again where the transcript is still there"
    assert engine.doctor().healthy


def test_the_doctor_names_a_copy_of_nothing(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    ingest(engine, path)
    (copy,) = copies(engine)
    copy.with_name(f"01a20090{copy.name[8:]}").write_bytes(copy.read_bytes())
    (copy.parent.parent / "stranger").mkdir()
    problems = [finding.problem for finding in engine.doctor().findings]
    assert len(problems) == 2
    assert "01a20090" in problems[0] and "stranger" in problems[1]


@pytest.mark.requirement("X5", "X9")
def test_a_purged_session_leaves_no_byte_in_the_copies(keeping: Opener, path: Path) -> None:
    other = write(
        path.with_name("07e4.jsonl"), (("user", "Which harbour is nearest?"), ("assistant", "Wismar, I would say.")),
        session="07e4",
    )  # fmt: skip
    engine = keeping("all")
    assert ingest(engine, path, other).kept == 2
    assert b"Zo\xc3\xab's" in copied_bytes(engine)
    (copy,) = [copy for copy in copies(engine) if header_of(copy).session == "5e55"]
    copy.with_name(f".{copy.name}.4711.1").write_bytes(copy.read_bytes())  # as a kill leaves it
    purged = engine.purge(session="5e55")
    assert (purged.unfinished, purged.scan.found, purged.scan.unread) == ("", {}, [])
    (left,) = list(copy.parent.iterdir())
    assert header_of(left).session == "07e4"
    data = copied_bytes(engine)
    assert not any(word in data for word in (b"loader", b"Zo", b"made anew", b"5e55"))
    assert ingest(engine, path, other).kept == 0
    other.unlink()
    assert [text for text in texts(engine) if "Wismar" in text] == ["Wismar, I would say."]
    engine.purge(everything=True)
    assert not copy.parent.exists()


def test_the_scan_finds_what_a_copy_still_holds(keeping: Opener, path: Path, monkeypatch) -> None:
    engine = keeping("all")
    ingest(engine, path)
    from picomem.ingest.transcript_copies import TranscriptCopies

    monkeypatch.setattr(TranscriptCopies, "remove_purged", lambda _copies: None)
    monkeypatch.setattr(TranscriptCopies, "remove_matching", lambda _copies, _matches: None)
    purged = engine.purge(session="5e55")
    assert [Path(file).name.endswith(".copy.zst") for file in purged.scan.found] == [True]


def test_a_purge_by_age_takes_the_old_records_from_the_copy(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    ingest(engine, path)
    (copy,) = copies(engine)
    late = json.loads(line(9, "user", "The new berth is number twelve."))
    with path.open("ab") as file:
        file.write(json.dumps(late | {"timestamp": "2026-04-29T09:00:00.000Z"}).encode() + b"\n")
    ingest(engine, path)
    purged = engine.purge(older_than=20)
    assert purged.counts.get("transcripts", 0) == 0 and purged.scan.clean
    assert b"loader" not in copied_bytes(engine)
    assert [json.loads(record.data or b"")["uuid"] for record in records_of(copy)] == [uuid(9)]
    copy.unlink()
    ingest(engine, path)
    assert [json.loads(record.data or b"")["uuid"] for record in records_of(copy)] == [uuid(9)], "nor does it come back"


def test_the_copy_of_a_session_that_repeats_a_purged_one_loses_it(keeping: Opener, path: Path) -> None:
    fork = path.with_name("f04c.jsonl")
    fork.write_bytes(path.read_bytes().replace(b'"5e55"', b'"f04c"'))
    write(fork, (("user", "Now sort the pier lamps by colour."),), first=4, session="f04c")
    engine = keeping("all")
    ingest(engine, path)
    ingest(engine, fork)
    purged = engine.purge(session="5e55")
    assert purged.scan.found == {}
    assert b"loader" not in copied_bytes(engine)
    for copy in copies(engine):
        copy.unlink()
    ingest(engine, fork)
    assert b"loader" not in copied_bytes(engine)


@pytest.mark.requirement("X5")
def test_scrub_takes_a_secret_out_of_a_copy(keeping: Opener, path: Path, monkeypatch) -> None:
    engine = keeping("all")
    from picomem.ingest import transcript_copies

    with monkeypatch.context() as patched:  # a rule that came later
        patched.setattr(transcript_copies, "redact_json", lambda text, _redact: text)
        ingest(engine, path)
    assert SECRET.encode() in copied_bytes(engine)
    assert engine.scrub(dry_run=True).changed == 1
    assert SECRET.encode() in copied_bytes(engine)
    done = engine.scrub()
    assert (done.changed, sum(done.findings.values())) == (1, 1)
    assert SECRET.encode() not in copied_bytes(engine)
    assert engine.scrub().changed == 0


def test_the_oldest_copies_go_first_and_are_not_made_again(keeping: Opener, path: Path) -> None:
    engine = keeping("all", keep_mb=1)
    noise = random.Random(7)
    for number in range(4):
        session = f"{number}e55"
        text = "".join(noise.choice("abcdefghijklmnopqrstuvwxyz0123456789 ") for _ in range(600_000))
        file = write(path.with_name(f"{session}.jsonl"), (("user", "Read it."), ("assistant", text)), session=session)
        age(file, engine, 10 - number)
    path.unlink()
    ingest(engine, path.parent)
    assert {header_of(copy).session for copy in copies(engine)} == {"2e55", "3e55"}
    again = ingest(engine, path.parent)
    assert (again.kept, again.problems) == (0, [])
    status = operation("status").call(engine, StatusRequest())
    assert status.copies["files"] == 2
    assert 500_000 < status.copies["bytes"] <= status.copies["most_bytes"] == 1_000_000


def test_a_withheld_session_is_not_shown_from_its_copy_and_users_have_folders_of_their_own(
    keeping: Opener, path: Path
) -> None:
    engine, other = keeping("all"), keeping("all", user="mia")
    ingest(engine, path)
    assert copies(other) == []
    ingest(other, path)
    names = {copy.parent.name for copy in (*copies(engine), *copies(other))}
    assert names == {folder_name(Scope("local")), folder_name(Scope("mia"))}
    (hit, *_) = engine.timeline()
    engine.withhold("5e55")
    path.unlink()
    with pytest.raises(Refused):
        engine.show(hit.id)
    engine.purge(everything=True)
    assert len(copies(other)) == 1


def test_a_copy_that_loses_to_a_purge_is_thrown_away(keeping: Opener, path: Path, monkeypatch) -> None:
    engine, purging = keeping("all"), keeping("none")
    engine.ingest([path])
    from picomem.ingest import transcript_copies

    def write_and_purge(target, header, records, written, put):
        def put_later(rename):
            purging.purge(session="5e55")
            return put(rename)

        return original(target, header, records, written, put_later)

    original = transcript_copies.write_copy
    monkeypatch.setattr(transcript_copies, "write_copy", write_and_purge)
    done = keep_transcripts(engine)
    assert done is not None and done.made == 0
    assert list((copies_folder(connector_of(engine)) or path).rglob("*.zst*")) == []


def test_the_setting_names_its_choices() -> None:
    with pytest.raises(InvalidInput, match="none, expiring or all"):
        Settings(ingest=IngestSettings(keep="some"))


def test_an_id_that_picomem_did_not_make_names_no_file(keeping: Opener, path: Path) -> None:
    engine = keeping("all")
    engine.ingest([path])
    with connector_of(engine).write(engine.scope) as tx:
        (known,) = transcript_rows.transcripts(tx, engine.scope)
        from picomem.light_dataclass import replace

        transcript_rows.put_transcript(
            tx, engine.scope, replace(known, id="../../../evil", session="e", path=str(path))
        )
    keep_transcripts(engine)
    assert [copy.name.removesuffix(".copy.zst") for copy in copies(engine)] == [known.id]
