"""`picomem export` and `picomem import` at the terminal."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ingest.test_host_database import FULL_TEXT
from tests.ingest.test_host_database import write as write_database
from tests.transfer.conftest import take_in
from tests.transfer.foreign_files import FILES
from tests.transfer.test_conversations import chatgpt, write

from picomem.cli.main import main
from picomem.errors import InvalidInput, NotFound
from picomem.operations.transferring import IMPORT_FORMATS
from picomem.transfer import foreign_files


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("PICOMEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("PICOMEM_DB", raising=False)

    def call(*arguments: str, code: int = 0) -> str:
        assert main(arguments) == code, capsys.readouterr().err
        printed = capsys.readouterr()
        return printed.out if code == 0 else printed.out + printed.err

    return call


@pytest.mark.requirement("X13")
def test_a_user_moves_to_another_store(run, tmp_path: Path) -> None:
    run("remember", "The staging database listens on port 5433", "--key", "port")
    run("revise", "port", "The staging database listens on port 6432")
    path = str(tmp_path / "memory.jsonl")
    said = run("export", path)
    assert said.startswith(f"{path}: 1 memory, 3 versions, 0 conversations, 0 messages;")
    lines = Path(path).read_text("utf-8")
    assert run("export") == lines
    elsewhere = ("--db", str(tmp_path / "elsewhere.db"))
    dry = run("import", path, "--dry-run", *elsewhere)
    assert dry.startswith("Nothing was stored; an import would find:\n")
    said = run("import", path, *elsewhere)
    assert f"{path} (picomem): 1 new memory, 0 changed, 0 known already, 0 refused, 0 unreadable." in said
    assert run("export", *elsewhere) == lines
    assert json.loads(run("import", path, "--json", *elsewhere))["known"] == 1
    undo = said.splitlines()[-1].split("`")[1].split()[1:]
    run(*undo, *elsewhere)
    assert json.loads(run("memories", "--json", *elsewhere))["memories"] == []


@pytest.mark.sqlite_file("looks for the file")
@pytest.mark.parametrize("store", ["the default", "a named one", "none beside notes"])
@pytest.mark.parametrize("form", ["mem0", "markdown", "chatgpt"])
def test_a_dry_run_without_a_store_counts_and_makes_none(store: str, form: str, run, tmp_path: Path) -> None:
    path = write(tmp_path, chatgpt()[:1]) if form == "chatgpt" else FILES[form].write(tmp_path)
    if store == "none beside notes":
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "config.toml").write_text(f'[notes]\npaths = ["{tmp_path / "notes"}"]\n', "utf-8")
    named = ("--db", str(tmp_path / "missing" / "named.db")) if store == "a named one" else ()
    before = sorted(tmp_path.rglob("*"))
    dry = json.loads(run("import", form, str(path), "--dry-run", "--json", *named))
    assert sorted(tmp_path.rglob("*")) == before
    done = json.loads(run("import", form, str(path), "--json", *named))
    for count in ("changed", "known", "refused", "unreadable", "conversations", "messages", "passed_over"):
        assert dry[count] == done[count]
    assert dry["conversations"] or dry["new"] == done["new"] > 0
    if form != "chatgpt":  # whose dry run counts the conversations alone
        assert json.loads(run("import", form, str(path), "--dry-run", "--json", *named))["known"] == done["new"]


def test_an_import_says_what_it_refused_and_why(run, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([{"id": "1", "memory": "ok thanks"}, {"id": "2"}]))
    said = run("import", "mem0", str(path), code=1)
    assert "0 new memories, 0 changed, 0 known already, 1 refused, 1 unreadable." in said
    assert "memory 2: it has no text." in said
    assert "undo" not in said


@pytest.mark.parametrize("form", ["picomem", "markdown"])
@pytest.mark.parametrize(
    ("end", "code", "told"),
    [
        ("| head -c 5; exit ${PIPESTATUS[0]}", 0, ""),
        ("> /dev/full", 1, "picomem: Not all of it could be written to stdout: No space left on device.\n"),
    ],
    ids=["a reader that goes", "a full device"],
)
def test_an_export_that_cannot_be_printed_to_its_end_is_no_traceback(
    form: str, end: str, code: int, told: str, run, tmp_path: Path
) -> None:
    for number in range(20):
        run("remember", f"Crate {number} stands in hall {number}: {'oak ' * 800}", "--key", f"crate_{number}")
    command = f"'{sys.executable}' -m picomem export --format {form} {end}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, told)


def test_what_cannot_be_done_is_said_in_a_sentence(run, tmp_path: Path) -> None:
    run("remember", "The staging database listens on port 5433")
    assert "name a file" in run("export", "--json", code=2)
    assert "is a folder" in run("export", str(tmp_path), code=2)
    assert "There is no format" in run("import", "mem00", str(tmp_path), code=2)
    assert "There is no file" in run("import", str(tmp_path / "none.jsonl"), code=3)


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("form", IMPORT_FORMATS)
def test_devices_pipes_sockets_and_huge_files_are_refused(form: str, engine, tmp_path: Path) -> None:
    pipe, huge, address = tmp_path / "pipe.db", tmp_path / "huge.db", tmp_path / "socket.db"
    os.mkfifo(pipe)
    with huge.open("wb") as file:
        file.truncate(4 << 30)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        for path in (Path("/dev/zero"), pipe, huge, address):
            with pytest.raises((InvalidInput, NotFound)) as raised:
                take_in(engine, path, form)
            assert "\n" not in str(raised.value)
    assert engine.memories() == []


@pytest.mark.sqlite_file("the files of the formats are written by one table, which has the SQLite file of claude-mem")
@pytest.mark.parametrize("form", ["claude-code", "codex", "openclaw", "markdown", "basic-memory", "nanobot"])
def test_links_in_a_folder_are_not_followed(form: str, engine, tmp_path: Path) -> None:
    folder = FILES[form].write(tmp_path)
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "private.md").write_text("- The treasure lies under the third oak\n")
    (secret / "MEMORY.md").write_text("- The treasure lies under the third oak\n")
    for below in ("memory", "memories", ".", "projects/-home-anna-crane/memory"):
        if (folder / below).is_dir():
            (folder / below / "private.md").symlink_to(secret / "private.md")
            (folder / below / "folder").symlink_to(secret)
    take_in(engine, folder, form)
    assert engine.memories() != []
    assert not [memory for memory in engine.memories() if "treasure" in memory.content]


def test_a_packed_export_that_unpacks_to_too_much_is_stopped(
    engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    monkeypatch.setattr(foreign_files, "LARGEST", 100_000)
    path = tmp_path / "memory.jsonl.gz"
    line = json.dumps({"type": "entity", "name": "Olsen", "entityType": "person", "observations": []}) + "\n"
    path.write_bytes(gzip.compress((line * 50_000).encode()))
    with pytest.raises(InvalidInput, match="when it is unpacked"):
        take_in(engine, path, "mcp-memory")


@pytest.mark.sqlite_file("starts a fresh interpreter on the default store")
@pytest.mark.requirement("X13")
@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "cp932"])
def test_what_another_program_reads_is_utf8_whatever_the_terminal_has(encoding: str, tmp_path: Path) -> None:
    content = "Zoë 喜欢 the Škoda, 札幌 and 🦊"
    env = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "PICOMEM_DATA_DIR": str(tmp_path)}

    def run(*arguments: str) -> bytes:
        return subprocess.run([sys.executable, "-m", "picomem", *arguments], env=env, stdout=-1, check=True).stdout

    run("remember", content, "--key", "zoe")
    assert json.loads(run("memories", "--json"))["memories"][0]["content"] == content
    export = tmp_path / "export.jsonl"
    export.write_bytes(run("export"))
    assert content in export.read_text("utf-8")
    assert json.loads(run("--db", str(tmp_path / "other.db"), "import", str(export), "--json"))["new"] == 1


@pytest.mark.sqlite_file("reads a database of claude-mem, a SQLite file of its own")
@pytest.mark.parametrize("command", [("import", "claude-mem"), ("import",), ("ingest",)])
def test_a_database_with_an_endless_full_text_table_is_refused(command: tuple[str, ...], run, tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    write_database(path, *FULL_TEXT)
    assert str(path) in run(*command, str(path), code=2)


@pytest.mark.parametrize("command", [("export",), ("export", "--format", "markdown"), ("index", "--export")])
def test_a_file_in_a_folder_that_is_not_there_is_refused_and_no_folder_is_made(run, tmp_path: Path, command) -> None:
    run("remember", "The staging database listens on port 5433")
    missing = tmp_path / "not mounted"
    said = run(*command, str(missing / "memory.out"), code=NotFound.exit_code)
    assert f"There is no folder {missing}" in said
    assert not missing.exists()
