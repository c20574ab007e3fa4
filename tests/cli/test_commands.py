"""Every command as a user types it: its result, its JSON, its exit code, its sentence when something is wrong."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.clean_home import variables_of
from tests.cli.conftest import Picomem
from tests.databases import chosen

from picomem import __version__
from picomem.operations.table import NAMES, operation
from picomem.store.files.sealed_files import connect

PORT = "The staging database listens on port 5433"


def transcript(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "talk.jsonl"
    rows = [
        {"role": "user", "content": "Why is the booking queue so slow?", "timestamp": "2026-04-07T09:00:00Z"},
        {"role": "assistant", "content": "It polls Redis every second.", "timestamp": "2026-04-07T09:01:00Z"},
        {"role": "user", "content": "Remember that the queue must never lose a job.", "timestamp": "2026-04-07T09:02:00Z"},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.requirement("O15")
def test_a_first_session_at_the_terminal(picomem: Picomem, home: Path) -> None:
    assert picomem("remember", PORT, "--key", "staging_db_port").code == 0
    assert PORT in picomem("recall", "staging port").out
    revised = picomem("revise", "staging_db_port", "The staging database listens on port 6432", "-m", "pgbouncer")
    assert "version 2" in revised.out
    assert "5433" in picomem("history", "staging_db_port").out
    assert "pgbouncer" in picomem("why", "staging_db_port").out
    assert ": The staging database listens on port 6432\n" in picomem("index").out
    assert "archived" in picomem("forget", "staging_db_port").out
    assert "Nothing was found" in picomem("recall", "staging port").out
    assert "Healthy" in picomem("doctor").out
    assert chosen().files(home / "data" / "picomem" / "picomem.db")


def test_ingest_recall_and_show_over_a_transcript(picomem: Picomem, home: Path) -> None:
    path = transcript(home / "logs")
    first = picomem("ingest", str(path), "--json").json
    assert (first["files"], first["episodes"], first["requests"]) == (1, 3, 1)
    again = picomem("ingest", str(path), "--json").json
    assert (again["unchanged"], again["episodes"]) == (1, 0)
    hit = picomem("recall", "what does it poll", "--json").json["hits"][0]
    assert hit["text"] == "It polls Redis every second."
    shown = picomem("show", hit["id"]).out
    assert "It polls Redis every second." in shown
    assert str(path) in shown
    kept = picomem("recall", "lose a job", "--kind", "knowledge", "--json").json["hits"]
    assert "never lose a job" in kept[0]["text"]
    assert "remember that" in picomem("why", kept[0]["key"]).out.lower()
    path.unlink()
    assert "is gone" in picomem("show", hit["id"]).out


def test_ingest_without_a_path_finds_what_the_agents_keep(picomem: Picomem, home: Path) -> None:
    nothing = picomem("ingest")
    assert nothing.code == 0
    assert "No transcripts were found" in nothing.out
    assert ".claude/projects" in nothing.out
    folder = home / ".claude" / "projects" / "-home-mia-harbor"
    folder.mkdir(parents=True)
    row = {
        "type": "user", "uuid": "6a6f1a52-0f34-4d8b-9b1f-2f3b8a3f7c11", "parentUuid": None, "cwd": "/home/mia/harbor",
        "sessionId": "8463c716-a2ea-4c14-9efa-87158ebd9f20", "timestamp": "2026-04-07T09:00:00Z", "gitBranch": "main",
        "isSidechain": False, "userType": "external", "version": "2.1.330",
        "message": {"role": "user", "content": "Where is the booking calendar?"},
    }  # fmt: skip
    (folder / "8463c716-a2ea-4c14-9efa-87158ebd9f20.jsonl").write_text(json.dumps(row) + "\n")
    report = picomem("ingest", "--json").json
    assert report["hosts"] == {"claude-code": 1}
    hit = picomem("recall", "booking calendar", "--json").json["hits"][0]
    assert (hit["project"], hit["branch"]) == ("harbor", "main")


@each_case("name", NAMES)
def test_every_command_explains_itself_with_an_example(picomem: Picomem, name: str) -> None:
    done = picomem(name, "--help")
    assert done.code == 0
    assert operation(name).example in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("ingest", "talk.jsonl"), ("recall", "queue"), ("remember", "Deploys go out on Tuesdays"), ("revise", "port", "It is 6432"),
        ("why", "port"), ("history", "port"), ("timeline",), ("index",), ("status",), ("doctor",), ("scrub",), ("audit",),
        ("audit-verify",), ("audit-head",), ("index-status",), ("forget", "port"),
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_every_command_prints_one_json_document_on_stdout(picomem: Picomem, home: Path, arguments: tuple) -> None:
    transcript(home)
    picomem("remember", "The port of staging is 5433", "--key", "port")
    done = picomem(*arguments, "--json")
    assert done.code == 0, done.err
    assert isinstance(done.json, dict)


def test_what_a_memory_has_besides_its_text_is_printed(picomem: Picomem) -> None:
    details = ("--tag", "ops", "--context", "the runbook needs it", "--expires-at", "2999-01-01", "--pinned")
    said = ("#ops", "the runbook needs it", "expires 2999-01-01", "pinned", "related to crane")
    stored = picomem("remember", PORT, "--key", "port", *details, "--related-to", "crane").out
    for printed in (stored, picomem("history", "port").out, picomem("why", "port").out):
        assert all(words in printed for words in said)
    assert "#ops" in picomem("recall", "staging").out
    assert "expires" not in picomem("revise", "port", "--expires-at", "never").out


@pytest.mark.requirement("X3")
def test_forget_prints_how_to_take_it_back(picomem: Picomem) -> None:
    """Issue 37, 3.14."""
    picomem("remember", "The crane is yellow", "--key", "crane")
    printed = picomem("forget", "crane").out
    command = re.search(r"picomem (undo [0-9a-f-]+)", printed)
    assert command, printed
    assert picomem(*command[1].split()).code == 0
    assert "yellow" in picomem("recall", "crane").out


def test_a_forgotten_and_renewed_key_shows_both_lives_and_what_is_current(picomem: Picomem) -> None:
    picomem("remember", "The crane is yellow", "--key", "crane", "--since", "last year")
    picomem("forget", "crane")
    picomem("remember", "The crane is red", "--key", "crane")
    printed = picomem("history", "crane").out
    assert printed.index("yellow") < printed.index("(current)") < printed.index("red")
    assert printed.count("1. true from") == 2


def test_the_timeline_is_latest_first(picomem: Picomem, home: Path) -> None:
    picomem("ingest", str(transcript(home)))
    printed = picomem("timeline").out
    assert printed.index("never lose a job") < printed.index("polls Redis") < printed.index("so slow")


def test_showing_a_memory_and_explaining_nothing_say_where_to_look(picomem: Picomem) -> None:
    picomem("remember", PORT, "--key", "port")
    assert "picomem history port" in picomem("show", "port").err
    assert "no memory, change or episode" in picomem("why", "nothing_there").err
    assert "what to change" in picomem("revise", "port").err


def test_show_prints_json_too(picomem: Picomem, home: Path) -> None:
    picomem("ingest", str(transcript(home)))
    hit = picomem("recall", "slow queue", "--json").json["hits"][0]
    assert picomem("show", hit["id"][:18], "--json").json["state"] == "open"


def test_the_options_of_every_command_may_stand_before_or_after_it(picomem: Picomem, home: Path) -> None:
    db = str(home / "other.db")
    picomem("--db", db, "--user", "ann", "remember", PORT, "--key", "port")
    assert picomem("recall", "staging", "--db", db, "--user", "ann", "--json").json["hits"]
    assert not picomem("recall", "staging", "--db", db, "--json").json["hits"]


def test_the_version_is_printed(picomem: Picomem) -> None:
    assert picomem("--version").out.strip() == f"picomem {__version__}"


def test_python_can_run_the_package_as_a_module(home: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "picomem", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"picomem {__version__}"


@pytest.mark.sqlite_file("names files in several ways")
def test_the_more_specific_way_to_name_the_database_wins(picomem: Picomem, home: Path) -> None:
    config = home / "config.toml"
    config.write_text(f"[data]\ndir = '{home / 'by_file'}'\n")
    by_option, by_name = home / "by_option.db", home / "by_name.db"
    # From the least specific to the most: each must win over all before it.
    ways: list[tuple[Path, dict[str, str], tuple[str, ...]]] = [
        (home / "by_file" / "picomem.db", {"PICOMEM_CONFIG": str(config)}, ()),
        (home / "by_dir" / "picomem.db", {"PICOMEM_DATA_DIR": str(home / "by_dir")}, ()),
        (by_name, {"PICOMEM_DB": str(by_name)}, ()),
        (by_option, {}, ("--db", str(by_option))),
    ]
    picomem("remember", PORT)
    for index, (expected, env, option) in enumerate(ways):
        for _, weaker, _ in [(Path(), {}, ()), *ways[:index]]:
            done = picomem("remember", PORT, *option, env={**weaker, **env})
            assert done.code == 0, done.err
            assert picomem("status", "--json", *option, env={**weaker, **env}).json["database"] == str(expected)


READING = (
    ("recall", "queue"), ("show", "01a2"), ("why", "port"), ("why-not", "port", "x"), ("suggestions",), ("history", "port"), ("timeline",), ("index",), ("status",),
    ("doctor",), ("audit",), ("audit-verify",), ("audit-head",), ("index-status",), ("forget", "port"), ("revise", "port", "It is 6432"), ("scrub",),
    ("withhold", "8463c716"), ("tag", "01a2", "--tag", "boats"), ("embed",), ("sessions",), ("messages", "8463c716"), ("read-note", "MEMORY.md"),
    ("rename-session", "8463c716", "Boats"), ("archive-session", "8463c716"), ("fork-session", "8463c716", "1"),
    ("search-notes", "queue"), ("undo", "01a2"), ("changes",), ("review",), ("memories",), ("consolidate",),
    ("purge", "--everything", "--yes"), ("token-list",), ("token-revoke", "01a202b8"), ("backup", "copy.db"),
    ("overview",), ("days",), ("projects",), ("prompt-context", "why this queue?"), ("jobs",), ("cancel-job", "watch"), ("pair-list",), ("pair-accept", "7Q2MXK04TB"), ("pair-revoke",),
    ("export",), ("bulk-edit", "archive", "port"), ("encrypt",), ("decrypt",), ("rekey",),
)  # fmt: skip


@each_case("arguments", READING, ids=lambda arguments: arguments[0])
def test_what_needs_a_store_makes_none_where_a_path_was_mistyped(
    picomem: Picomem, home: Path, arguments: tuple[str, ...]
) -> None:
    missing = home / "folder" / "mistyped.db"
    done = picomem(*arguments, "--db", str(missing))
    assert done.code == 3
    assert f"There is no store at {missing}" in done.err
    assert done.err.count("\n") == 1
    assert not missing.parent.exists()


def test_every_command_either_makes_a_store_or_is_known_to_need_one() -> None:
    assert {name for name in NAMES if not operation(name).creates} == {arguments[0] for arguments in READING}


@pytest.mark.sqlite_file("asks where there is no file yet")
def test_before_anything_is_stored_a_question_is_answered_with_how_to_begin(picomem: Picomem, home: Path) -> None:
    done = picomem("recall", "staging port", "--json")
    assert done.code == 3
    assert done.json["error"]["code"] == "no_store"
    assert "Nothing is stored yet" in done.err
    assert "picomem ingest" in done.err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("remember", PORT, "--kind", "rumour"), 2, "choose from"),
        (("remember", PORT, "--key", "Bad Key"), 2, "try “bad_key”"),
        (("remember", PORT, "--since", "2026-02-31"), 2, "2026-02-31"),
        (("remember", PORT, "--importance", "7"), 2, "between 0 and 1"),
        (("remember", ""), 4, "empty"),
        (("remember", PORT, "--expires-at", "2020-01-01"), 2, "passed already"),
        (("revise", "port", "--pin", "--unpin"), 2, "not both"),
        (("recall", "x", "--since", "blah"), 2, "blah"),
        (("recall", "x", "--limit", "0"), 2, "at least 1"),
        (("forget", "nothing_there"), 3, "no memory"),
        (("history", "nothing_there"), 3, "no memory"),
        (("show", "01a2"), 3, "no episode"),
        (("why", "nothing_there"), 3, "nothing_there"),
        (("ingest", "/nowhere/at/all"), 3, "/nowhere/at/all"),
        (("index", "--budget", "3"), 2, "at least 200"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(picomem: Picomem, arguments: tuple, code: int, said: str) -> None:
    picomem("remember", "Deploys go out on Tuesdays", "--key", "deploys")
    done = picomem(*arguments)
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1


def test_an_error_with_json_is_a_document_too(picomem: Picomem) -> None:
    picomem("remember", PORT)
    done = picomem("forget", "nothing_there", "--json")
    assert done.code == 3
    assert done.json["error"]["code"] == "not_found"


def test_a_file_that_is_no_database_is_named_and_left_alone(picomem: Picomem, home: Path) -> None:
    other = home / "notes.txt"
    other.write_text("my notes, " * 400)
    done = picomem("remember", PORT, "--db", str(other))
    assert done.code == 6
    assert "not a database" in done.err
    assert other.read_text() == "my notes, " * 400


@pytest.mark.sqlite_file("opens files that are no store of this version")
def test_the_database_of_another_program_is_left_alone(picomem: Picomem, home: Path) -> None:
    other = home / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = other.read_bytes()
    done = picomem("status", "--db", str(other))
    assert done.code == 6
    assert "another program" in done.err
    assert other.read_bytes() == before


@pytest.mark.sqlite_file("opens files that are no store of this version")
def test_a_database_of_a_newer_version_is_not_touched(picomem: Picomem, home: Path) -> None:
    db = home / "m.db"
    picomem("remember", PORT, "--db", str(db))
    with closing(connect(db)) as connection:
        connection.pragma("user_version", 99)
    done = picomem("recall", "staging", "--db", str(db))
    assert done.code == 6
    assert "newer picomem" in done.err


def test_a_setting_that_does_not_exist_is_named_with_the_nearest_one(picomem: Picomem, home: Path) -> None:
    config = home / "config.toml"
    config.write_text("[recall]\nembeder = 'none'\n")
    done = picomem("status", env={"PICOMEM_CONFIG": str(config)})
    assert done.code == 2
    assert "did you mean “embedder”" in done.err


def test_settings_come_from_the_file_and_the_environment_over_it(picomem: Picomem, home: Path) -> None:
    config = home / "config.toml"
    config.write_text("[recall]\nembedder = 'none'\n[index]\nbudget = 300\n")
    picomem("remember", PORT)
    env = {"PICOMEM_CONFIG": str(config)}
    assert picomem("status", "--json", env=env).json["embedder"] == "none"
    assert picomem("index", "--json", env=env).json["budget"] == 300
    assert picomem("index", "--json", env={**env, "PICOMEM_INDEX_BUDGET": "400"}).json["budget"] == 400


def test_output_to_a_closed_pipe_is_no_error(picomem: Picomem, home: Path) -> None:
    import subprocess
    import sys

    picomem("remember", PORT)
    command = f"{sys.executable} -m picomem.cli.main recall --help | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.requirement("P1")
@pytest.mark.sqlite_file("looks at the modes of the file")
def test_the_database_and_its_folder_are_private_under_any_umask(picomem: Picomem, home: Path) -> None:
    old = os.umask(0)
    try:
        picomem("remember", PORT)
    finally:
        os.umask(old)
    folder = home / "data" / "picomem"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


@pytest.mark.requirement("X7")
def test_the_progress_bar_takes_a_files_name_for_a_name(home: Path) -> None:
    folder = home / "logs" / "["  # a name cannot hold a slash, and the path of two names can: [/bold]
    transcript(folder).rename(folder / "bold]\x1b[2J.jsonl")
    shown, terminal = os.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "picomem.cli.main", "ingest", str(home / "logs")],
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, **variables_of(home), "TERM": "xterm"},
        check=False,
        timeout=120,
    )
    os.close(terminal)
    said = os.read(shown, 1 << 20)
    os.close(shown)
    assert (done.returncode, b"Traceback" in said, b"\x1b[2J" in said) == (0, False, False)
    assert b"1 transcript" in done.stdout


@pytest.mark.parametrize(
    ("redirected", "code", "told"),
    [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("<&- >&- 2>&-", 0, ""),
        ("> /dev/full", 1, "could not be written to stdout: No space left on device"),
        ("--json > /dev/full", 1, "could not be written to stdout"),
    ],
)
def test_a_stream_that_is_closed_or_full_is_no_traceback(home: Path, redirected: str, code: int, told: str) -> None:
    command = f"'{sys.executable}' -m picomem --db '{home}/a.db' remember 'The harbour opens at noon' {redirected}"
    done = subprocess.run(
        ["bash", "-c", command], env={**os.environ, "HOME": str(home)}, capture_output=True, text=True
    )
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert told in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("remember", b"The caf\xe9 on the quay closes at six"),
        ("remember", "The quay closes at six", "--key", b"caf\xe9"),
        ("remember", "The quay closes at six", "--tag", b"caf\xe9"),
        ("--user", b"caf\xe9", "remember", "The quay closes at six"),
        ("chat", b"When does the caf\xe9 close?"),
    ],
    ids=["content", "option", "list", "user", "chat"],
)
def test_a_text_that_is_no_utf8_is_refused_and_nothing_is_stored(
    arguments: tuple[str | bytes, ...], picomem: Picomem, home: Path
) -> None:
    refused = picomem(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert "caf\\xe9" in refused.err
    assert "is not UTF-8" in refused.err
    assert refused.err.count("\n") == 1
    assert list(home.iterdir()) == []
