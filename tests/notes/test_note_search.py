"""Notes are found by what they say, follow their files, and are opened by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.databases import chosen
from tests.engine_parts import connector_of
from tests.sqlite_file import connection_of

from picomem.errors import InvalidInput, NotFound
from picomem.notes.note_search import MOST_CHARACTERS, MOST_LINES
from picomem.operations.notes import ReadNoteRequest, read_note
from picomem.records.session import NewMessage, Role
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings


def _names(result) -> list[str]:
    return [hit.citation for hit in result.hits]


@pytest.mark.requirement("O11")
def test_a_note_is_found_by_its_words_and_the_hit_opens_it(open_notes):
    engine = open_notes()
    (hit, *_) = engine.search_notes("which port does staging use?").hits
    assert (hit.citation, hit.section.heading) == ("MEMORY.md#L3-L5", "Long-term › Staging")
    assert hit.section.text.endswith("listens on port 5433.")
    assert 0.5 < hit.score <= 1
    opened = engine.read_note(hit.name, first_line=hit.section.first_line, lines=3)
    assert opened.text == hit.section.text
    assert opened.more_from is None


@pytest.mark.requirement("O11")
def test_headings_and_file_names_find_what_stands_under_them(open_notes, workspace):
    workspace.write("memory/garden.md", "# Roses\n\n## Pruning\n\nIn March, above an outer bud.\n")
    engine = open_notes()
    assert _names(engine.search_notes("rose pruning")) == ["memory/garden.md#L3-L5"]
    assert _names(engine.search_notes("garden", min_score=0.5)) == ["memory/garden.md#L3-L5"]


@pytest.mark.requirement("O11")
@pytest.mark.parametrize("question", ["what was decided on 2026-05-03?", "what did I do on 3 May 2026?", "May 2026"])
def test_a_file_that_is_named_after_a_day_answers_a_question_about_it(question, open_notes, workspace, tmp_path):
    workspace.write("memory/2026-06-03-1430.md", "# 3 June\n\n- Decided to sell the boat\n")
    workspace.write("memory/2026-99-99.md", "No day\n")
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database")
    for engine in (open_notes(), open_notes(path=broken)):
        assert engine.search_notes(question).hits[0].name == "memory/2026-05-03.md"
    assert open_notes().recall(question, now="2026-07-01").hits[0].citation == "memory/2026-05-03.md#L1-L4"


@pytest.mark.requirement("O11")
def test_nothing_but_what_is_configured_is_read(open_notes, workspace, tmp_path):
    workspace.write("docs/heron.md", "A heron in another folder")
    workspace.write("memory/.hidden/heron.md", "A hidden heron")
    workspace.write("memory/heron.txt", "A heron that is no Markdown")
    workspace.write("memory/MEMORY-INDEX.md", "A heron in an export of the index")
    (workspace.folder / "memory" / "link.md").symlink_to(workspace.folder / "docs" / "heron.md")
    (workspace.folder / "memory" / "linked").symlink_to(workspace.folder / "docs")
    engine = open_notes()
    assert _names(engine.search_notes("heron")) == ["memory/2026-05-03.md#L1-L4"]
    assert engine.search_notes("yellow paper password").hits == []
    for name in ("AGENTS.md", "docs/heron.md", "memory/heron.txt", "memory/MEMORY-INDEX.md", "memory/linked/heron.md"):
        with pytest.raises(NotFound):
            engine.read_note(name)
    with pytest.raises(InvalidInput, match="it is a link"):
        engine.read_note("memory/link.md")
    for name in ("../AGENTS.md", "memory/../AGENTS.md", str(workspace.folder / "MEMORY.md"), "memory/.hidden/heron.md"):
        with pytest.raises(InvalidInput, match="not the path of a note"):
            engine.read_note(name)


@pytest.mark.requirement("O11")
def test_extra_paths_are_files_or_folders_and_their_names_are_told_apart(open_notes, workspace, tmp_path):
    one, two = tmp_path / "one" / "vault", tmp_path / "two" / "vault"
    for folder, word in ((one, "ibis"), (two, "stork")):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "bird.md").write_text(f"The {word} stands on one leg")
    single = tmp_path / "plan" / "PLAN.md"
    single.parent.mkdir()
    single.write_text("The egret comes later")
    (single.parent / "other.md").write_text("An egret that was not named")
    engine = open_notes(one, two, single)
    assert _names(engine.search_notes("ibis")) == ["vault/deep/bird.md#L1"]
    assert _names(engine.search_notes("stork")) == ["vault-2/deep/bird.md#L1"]
    assert _names(engine.search_notes("egret")) == ["plan/PLAN.md#L1"]
    assert engine.read_note("vault-2/deep/bird.md").text == "The stork stands on one leg"
    with pytest.raises(NotFound):
        engine.read_note("plan/other.md")


@pytest.mark.requirement("O11")
def test_a_file_that_two_paths_name_is_found_once(open_notes, workspace):
    engine = open_notes(workspace.folder / "memory")
    assert len(engine.search_notes("heron").hits) == 1


@pytest.mark.requirement("O11")
def test_the_index_follows_what_is_changed_added_and_removed(open_notes, workspace, db, disagreements):
    engine = open_notes()
    assert _names(engine.search_notes("heron")) == ["memory/2026-05-03.md#L1-L4"]
    note = workspace.write("memory/2026-05-03.md", "# 3 May\n\n- Decided to use the egret queue\n")
    assert engine.search_notes("heron").hits == []
    assert _names(engine.search_notes("egret")) == ["memory/2026-05-03.md#L1-L3"]
    workspace.write("memory/deep/new.md", "An avocet")
    assert _names(engine.search_notes("avocet")) == ["memory/deep/new.md#L1"]
    note.unlink()
    assert engine.search_notes("egret").hits == []
    assert disagreements(db) == []


def test_a_change_of_the_same_length_with_its_old_time_is_seen(open_notes, workspace):
    path = workspace.write("memory/a.md", "The heron")
    old = path.stat()
    engine = open_notes()
    assert len(engine.search_notes("heron queue").hits) == 2
    path.write_text("The egret")
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert _names(engine.search_notes("egret")) == ["memory/a.md#L1"]


@pytest.mark.sqlite_file("changes rows in the file, or counts what was written to it")
def test_what_is_unchanged_is_not_written_again(open_notes, workspace):
    for path in workspace.folder.rglob("*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    engine = open_notes()

    def written() -> int:
        return connection_of(engine).total_changes()

    engine.search_notes("heron")
    before = written()
    engine.search_notes("egret")
    assert written() == before
    os.utime(workspace.folder / "MEMORY.md", (1_700_000_001, 1_700_000_001))
    engine.search_notes("heron")
    assert written() != before


def test_notes_that_are_no_longer_configured_leave_the_store(open_notes, tmp_path):
    open_notes().search_notes("heron")
    other = tmp_path / "other"
    other.mkdir()
    engine = open_notes(paths=(other,))
    assert engine.search_notes("heron").hits == []
    with connector_of(engine).read() as tx:
        assert tx.all("note_files", user="local") == []  # type: ignore[attr-defined]


@pytest.mark.requirement("O11", "O7")
def test_secrets_are_neither_stored_nor_handed_out_and_lines_stay_where_they_are(open_notes, workspace, db):
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Zq9vKp2LmN4sT8\nYb3cW6dF1gH5jK0\n-----END RSA PRIVATE KEY-----"
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fH3jK5"
    workspace.write("memory/keys.md", f"# Keys\n\n{key}\n\n## After\n\nThe deploy token is {token}, for the heron.\n")
    engine = open_notes()
    (hit,) = engine.search_notes("deploy token").hits
    assert hit.citation == "memory/keys.md#L8-L10"
    text = engine.read_note("memory/keys.md").text
    assert text.split("\n")[7:10] == ["## After", "", hit.section.text.split("\n")[-1]]
    assert token not in hit.section.text + text
    assert "MIIEowIBAAKCAQEA" not in text
    assert "MIIEowIBAAKCAQEA" not in engine.read_note("memory/keys.md", first_line=4, lines=1).text
    engine.close()
    stored = b"".join(path.read_bytes() for path in db.parent.glob(db.name + "*"))
    assert token.encode() not in stored
    assert b"MIIEowIBAAKCAQEA" not in stored


def test_long_notes_are_read_in_parts(open_notes, workspace):
    workspace.write("memory/long.md", "".join(f"line {number}\n" for number in range(1, MOST_LINES + 11)))
    engine = open_notes()
    first = engine.read_note("memory/long.md")
    assert (first.lines, first.more_from) == (MOST_LINES, MOST_LINES + 1)
    rest = engine.read_note("memory/long.md", first_line=first.more_from)
    assert (rest.lines, rest.more_from) == (10, None)
    assert rest.text.startswith(f"line {MOST_LINES + 1}\n")
    with pytest.raises(InvalidInput, match="none from"):
        engine.read_note("memory/long.md", first_line=MOST_LINES + 12)
    with pytest.raises(InvalidInput):
        engine.read_note("memory/long.md", first_line=0)


def test_a_line_that_is_too_long_is_cut_with_a_mark_that_says_where_the_rest_is(open_notes, workspace):
    workspace.write("memory/long.md", "short\n" + "zebra " * 500_000 + "\nafter\n" + ("x" * 30_000 + "\n") * 2)
    engine = open_notes()
    assert engine.read_note("memory/long.md").text == "short"
    cut = engine.read_note("memory/long.md", first_line=2)
    assert len(cut.text) < MOST_CHARACTERS + 1_000
    assert "… [line 2 has 3,000,000 characters and is cut here; the rest is in " in cut.text
    assert cut.text.endswith(f"{workspace.folder / 'memory' / 'long.md'}]")
    assert (cut.lines, cut.more_from, cut.cut) == (1, 3, True)
    rest = engine.read_note("memory/long.md", first_line=3)
    assert (rest.lines, rest.more_from, rest.cut) == (2, 5, False)
    said = read_note(engine, ReadNoteRequest("memory/long.md", first_line=2))
    assert (said.truncated, said.nextFrom) == (True, 3)


def test_what_is_no_text_is_left_out_and_said(open_notes, workspace):
    (workspace.folder / "memory" / "blob.md").write_bytes(b"heron\0\1\2")
    result = open_notes().search_notes("heron")
    assert _names(result) == ["memory/2026-05-03.md#L1-L4"]
    assert result.warnings == ["memory/blob.md is not text, so it is not read."]


@pytest.mark.parametrize("question", ["会议", "苍", "getUserName", "100%_sure\\", "", "   ", '"NEAR( *', "zzz qqq"])
def test_any_text_is_a_question(question, open_notes, workspace):
    workspace.write("memory/zh.md", "# 记录\n\n明天的会议在苍鹭厅。\n\ncall getUserName, 100%_sure\\ it works\n")
    result = open_notes().search_notes(question, min_score=0.0)
    said = question.strip() not in ("", '"NEAR( *', "zzz qqq")
    assert ([hit.name for hit in result.hits] == ["memory/zh.md"]) == said


@pytest.mark.requirement("O11", "O12")
@pytest.mark.parametrize(
    "question", ["heron queue", "staging port", "green tea and the port", "苍鹭", "ueue", "nothing"]
)
def test_without_the_store_the_files_give_the_same_answer(question, open_notes, workspace, tmp_path):
    workspace.write("memory/zh.md", "# 记录\n\n明天的会议在苍鹭厅。\n" + "heron " * 40)
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database")
    whole, straight = open_notes().search_notes(question), open_notes(path=broken).search_notes(question)
    assert (whole.searched, straight.searched) == ("index", "files")
    assert "without the store" in straight.warnings[0]
    assert [(hit.citation, hit.score, hit.why) for hit in whole.hits] == [
        (hit.citation, hit.score, hit.why) for hit in straight.hits
    ]


def test_a_store_that_may_not_be_written_does_not_hide_what_changed(open_notes, workspace, db):
    open_notes().search_notes("heron")
    workspace.write("memory/new.md", "An avocet")
    engine = open_notes()
    connector_of(engine)._writer.close()  # type: ignore[attr-defined]
    connector_of(engine)._writer = None  # type: ignore[attr-defined] - as in a folder that is read-only
    result = engine.search_notes("avocet")
    assert (result.searched, _names(result)) == ("files", ["memory/new.md#L1"])


def test_notes_are_of_the_settings_own_user(open_notes):
    engine = open_notes(user="whatsapp:491701234567")
    result = engine.search_notes("heron")
    assert (result.hits, result.warnings) == (
        [],
        ["The notes belong to user local, and this memory is of whatsapp:491701234567."],
    )
    with pytest.raises(NotFound):
        engine.read_note("MEMORY.md")


def test_without_any_configured_nothing_is_read_and_that_is_said(engine, workspace, monkeypatch):
    monkeypatch.chdir(workspace.folder)
    assert "No notes are configured" in engine.search_notes("heron").warnings[0]
    with pytest.raises(NotFound, match="No notes are configured"):
        engine.read_note("MEMORY.md")


@each_case("path", ["workspace", "./workspace", ".."])
def test_a_relative_path_is_refused(path):
    with pytest.raises(InvalidInput, match="relative"):
        Settings(notes=NotesSettings(paths=(path,)))


_WRITER = """
import sys
from picomem.app import open_engine
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings, RecallSettings
settings = Settings(recall=RecallSettings(embedder="none"), notes=NotesSettings((sys.argv[2],)))
with open_engine(sys.argv[1], settings=settings) as engine:
    for _ in range(10):
        assert engine.search_notes("heron").searched == "index"
"""


@pytest.mark.requirement("X10")
def test_two_processes_bring_the_index_in_step_at_once(open_notes, workspace, db, disagreements):
    for number in range(60):
        workspace.write(f"memory/n{number}.md", f"# Note {number}\n\nThe heron{number} of the heron\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _WRITER, chosen().named(db), str(workspace.folder)]
    running = [subprocess.Popen(command, env=env) for _ in range(2)]
    assert [process.wait(200) for process in running] == [0, 0]
    engine = open_notes()
    assert len(engine.search_notes("heron", limit=100).hits) == 61
    assert disagreements(db) == []
    assert engine.doctor().healthy


@pytest.mark.sqlite_file("changes rows in the file, or counts what was written to it")
@pytest.mark.requirement("O11")
def test_the_doctor_sees_a_damaged_index_and_a_repair_lets_the_files_be_read_again(open_notes, db):
    engine = open_notes()
    engine.search_notes("heron")
    connection_of(engine).execute("UPDATE note_sections SET content = 'The heroin queue' WHERE doc = 2")
    result = engine.search_notes("heron")
    assert result.searched == "files"
    assert "doctor --repair" in result.warnings[0]
    assert [finding.check for finding in engine.doctor().findings] == ["notes"]
    assert engine.doctor(repair=True).healthy
    result = engine.search_notes("heron")
    assert (result.searched, len(result.hits)) == ("index", 1)
    assert engine.doctor().findings == []


def test_a_workspace_may_be_given_from_home(open_notes, workspace, monkeypatch):
    monkeypatch.setenv("HOME", str(workspace.folder.parent))
    assert len(open_notes(paths=(Path("~/workspace"),)).search_notes("heron").hits) == 1


@pytest.mark.requirement("X5")
def test_a_purge_names_the_notes_that_have_words_of_what_went_and_leaves_them(open_notes, workspace) -> None:
    """As the note of the day has, which the agent writes into while the store is down."""
    engine = open_notes()
    talk = engine.sessions().create()
    engine.sessions().append(
        talk.id, NewMessage(role=Role.USER, content="The zwyxquorvalpuntigam hangs in the old shed.")
    )
    engine.remember("The staging database listens on port 5433", key="staging_db_port")
    note = workspace.write("memory/2026-05-04.md", "## 10:30 Before\n\n- Zwyxquorvalpuntigam: in the shed\n")
    engine.search_notes("zwyxquorvalpuntigam")
    done = engine.purge(session=talk.id)
    (left,) = done.left
    assert left.startswith(f"{note} is a note of yours, and has words of what was purged")
    assert "shed" in note.read_text()
    note.unlink()
    engine.search_notes("shed")
    engine.purge(everything=True)
    assert b"zwyxquorvalpuntigam" not in b"".join(path.read_bytes() for path in note.parents[2].glob("memory.db*"))
