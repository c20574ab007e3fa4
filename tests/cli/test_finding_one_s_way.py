"""A person who does not know the commands, or mistypes one, is led to it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem

from picomem.operations.operation import GROUPS
from picomem.operations.table import NAMES
from picomem.records.caller import PERMISSIONS


def test_words_need_no_quotes(picomem: Picomem) -> None:
    assert picomem("remember", "Deploys", "go", "out", "on", "Tuesdays", "--kind", "fact").code == 0
    assert picomem("memories", "--json").json["memories"][0]["content"] == "Deploys go out on Tuesdays"
    hits = picomem("recall", "when", "do", "deploys", "go", "out?", "--limit", "1", "--json").json["hits"]
    assert [hit["text"] for hit in hits] == ["Deploys go out on Tuesdays"]


def _commands_in(text: str) -> set[str]:
    return {line.split()[0] for line in text.splitlines() if line.startswith("  ") and line[2] not in " -"}


def test_help_lists_ten_commands_and_says_how_to_see_the_rest(picomem: Picomem) -> None:
    done = picomem("help")
    assert (done.code, done.out) == (0, picomem("--help").out)
    listed = _commands_in(done.out.partition("Begin with")[0])
    assert len(listed) == 10
    assert listed <= {*NAMES, "install", "open"}
    assert "`picomem help --all`" in done.out


def test_help_on_all_lists_every_command_under_what_it_is_for(picomem: Picomem) -> None:
    done = picomem("help", "--all")
    assert done.code == 0
    assert [line.removesuffix(":") for line in done.out.splitlines() if line.removesuffix(":") in GROUPS] == [*GROUPS]
    assert _commands_in(done.out) >= {*NAMES, "chat", "demo", "mcp", "completion", "help"}
    assert picomem("help", "recall").out == picomem("recall", "--help").out


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["recal", "queue"], "did you mean `picomem recall`?"),
        (["help", "memory"], "did you mean `picomem memories`?"),
        (["zzz"], "`picomem help --all` lists them."),
    ],
)
def test_a_mistyped_command_is_met_with_the_nearest(picomem: Picomem, arguments: list[str], remedy: str) -> None:
    done = picomem(*arguments)
    assert done.code == 2
    assert done.err.strip().endswith(remedy)


def test_a_path_that_is_not_there_is_called_so_by_migrate(picomem: Picomem, home: Path) -> None:
    done = picomem("migrate", "nope.md")
    assert (done.code, done.err) == (
        3, "picomem: There is no file or folder nope.md; name MEMORY.md or the folder that holds it.\n"
    )  # fmt: skip
    (home / "empty").mkdir()
    assert "is not a Markdown file and contains none" in picomem("migrate", "empty").err


def test_a_project_that_nothing_belongs_to_is_met_with_those_that_there_are(picomem: Picomem) -> None:
    picomem("remember", "The lock closes at nine")
    shown = picomem("timeline", "--project", "harbor").out
    assert "! There is no project “harbor”; nothing belongs to any project yet." in shown
    picomem("remember", "The port of staging is 5433", "--project", "harbor")
    picomem("remember", "The crane is yellow", "--project", "pier")
    for command in (("timeline",), ("recall", "hawser")):
        shown = picomem(*command, "--project", "harbour").out
        assert "! There is no project “harbour”; did you mean “harbor”?" in shown, shown
        shown = picomem(*command, "--project", "zzz").out
        assert "! There is no project “zzz”; projects are harbor, pier." in shown, shown
    assert "There is no project" not in picomem("timeline", "--project", "harbor").out
    assert "harbor" not in picomem("--user", "omar", "timeline", "--project", "harbour").out.replace("harbour", "")


@pytest.mark.parametrize("verb", ["why", "history", "forget", "revise"])
def test_a_mistyped_key_is_met_with_the_nearest(picomem: Picomem, verb: str) -> None:
    picomem("remember", "The port of staging is 5433", "--key", "staging_port")
    done = picomem(verb, "stagin_port", *(["It is 6432"] if verb == "revise" else []))
    assert done.code != 0
    assert "did you mean “staging_port”?" in done.err
    other = picomem("--user", "omar", verb, "stagin_port", *(["It is 6432"] if verb == "revise" else []))
    assert "staging_port" not in other.err


def test_a_shell_completes_commands_options_and_words_of_a_closed_list(picomem: Picomem, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(picomem("completion", "bash").out)
    for line, offered in (
        (["re"], "recall"),
        (["recall", "--to"], "--token-budget"),
        (["memories", "--kind", "pre"], "preference"),
        (["tok"], "token"),
        (["token", ""], "make"),
        (["token", "re"], "revoke"),
        (["token", "make", "--j"], "--json"),
    ):
        asked = shlex.join(["picomem", *line])
        driven = f'. "$0"; COMP_WORDS=({asked}); COMP_CWORD={len(line)}; _shtab_picomem; echo "${{COMPREPLY[*]}}"'
        done = subprocess.run(["bash", "-c", driven, str(script)], capture_output=True, text=True, check=True)
        assert offered in done.stdout.split(), (line, done)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_completion_that_names_every_command(picomem: Picomem, shell: str) -> None:
    printed = picomem("completion", shell).out
    assert all(name in printed for name in NAMES)


def test_completion_is_loaded_for_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "picomem.cli.main", "help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "shtab" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["memories", "--achived"], "There is no option --achived; did you mean --archived?"),
        (["recall", "queue", "--projct=harbor"], "There is no option --projct; did you mean --project?"),
        (["status", "--zzzzzz"], "There is no option --zzzzzz; `picomem status --help` shows what there is."),
        (["memories", "--expired"], "There is no option --expired; `picomem memories --help` shows what there is."),
        (["status", "now"], "unrecognized arguments: now; `picomem status --help` shows what there is."),
        (
            ["status", "now", "--user", "ann"],
            "unrecognized arguments: now; `picomem status --help` shows what there is.",
        ),
    ],
)
def test_a_mistyped_option_is_met_with_the_nearest(picomem: Picomem, arguments: list[str], remedy: str) -> None:
    done = picomem(*arguments)
    assert (done.code, done.err) == (2, f"picomem: {remedy}\n")


def test_a_hint_at_the_server_names_no_user(picomem: Picomem) -> None:
    """It does the work of all users, and with `--user` it would read this machine's transcripts for that one."""
    named = ("--user", "ann", "--db", "store.db")
    picomem(*named, "remember", "The lock closes at nine")
    assert "`picomem serve --db store.db`, " in picomem(*named, "jobs").out


def test_a_list_says_which_filters_leave_nothing(picomem: Picomem, home: Path) -> None:
    picomem("remember", "The lock closes at nine")
    assert "Nothing was said then" in picomem("timeline", "--since", "2026-01-01").out
    (home / "talk.jsonl").write_text(
        '{"role": "user", "content": "The lock is stuck.", "timestamp": "2020-05-04T00:00:00Z"}\n'
    )
    picomem("ingest", "talk.jsonl")
    assert picomem("memories", "--archived").out == "No memory matches --archived; there are others without it.\n"
    told = picomem("memories", "--kind", "preference", "--tag", "locks").out
    assert told == "No memory matches --kind preference --tag locks; there are others without them.\n"
    for command in ("timeline", "days"):
        told = picomem(command, "--since", "2026-01-01").out
        assert told == "No episode matches --since 2026-01-01; there are others without it.\n"
    assert "2020-05-04" in picomem("timeline").out
    for filters in ("--verb forget", "--actor user:omar", "--until 2020-01-01", "--verb forget --since 2020-01-01"):
        told = picomem("changes", *filters.split()).out
        others = "there are others without " + ("it" if filters.count("--") == 1 else "them")
        assert told == f"No change matches {filters}; {others}.\n"
    assert picomem("--user", "omar", "changes", "--verb", "forget").out == "Nothing has been decided yet.\n"
    told = picomem("recall", "lock", "--kind", "preference", "--valid-at", "2020-01-01").out
    assert "Only what matches --kind preference --valid-at 2020-01-01 was searched." in told
    assert "Only what" not in picomem("recall", "lock", "--kind", "fact").out


def test_a_list_of_conversations_says_where_the_others_are(picomem: Picomem) -> None:
    picomem("remember", "The lock closes at nine")
    assert "There are no such conversations" in picomem("sessions", "--channel", "whatsapp").out
    session = picomem("begin-session", "--title", "Cranes", "--json").json["session"]["id"]
    told = picomem("sessions", "--channel", "whatsapp").out
    assert told == "No conversation matches --channel whatsapp; there are others without it.\n"
    assert "matches --archived" in picomem("sessions", "--archived").out
    picomem("archive-session", session)
    assert picomem("sessions").out == "All conversations are archived; --archived lists them.\n"
    assert "Cranes" in picomem("sessions", "--archived").out


def test_review_says_how_many_come_from_others(picomem: Picomem) -> None:
    picomem("remember", "The lock closes at nine")
    assert picomem("review").out == "Nothing waits for a decision.\n"
    picomem("remember", "The crane is out of order until Friday", "--origin", "web")
    assert "--untrusted lists 1 from tools, the web or others." in picomem("review").out
    assert "crane" in picomem("review", "--untrusted").out


def commands_in(said: str) -> list[list[str]]:
    """The commands that a text gives to copy."""
    return [shlex.split(command)[1:] for command in re.findall(r"`(picomem [^`]+)`", said)]


def test_a_hint_acts_on_the_store_and_the_user_that_were_named(picomem: Picomem) -> None:
    named = ("--db", "my store.db", "--user", "ann lee")
    picomem(*named, "remember", "The crane of the pier runs at noon", "--key", "pier")
    picomem(*named, "remember", "The ferry leaves at eight", "--key", "ferry")
    done = [
        picomem(*named, "forget", "ferry"),
        picomem(*named, "revise", "pier", "--pin"),
        picomem("revise", "pier", "--unpin", *named),
        picomem("memories", "--user=nobody", "--db=my store.db"),
        picomem(*named, "show", "0000"),
        picomem(*named, "memories", "--cursor", "x"),
        picomem(*named, "forget", "ferry"),
    ]
    hints = [hint for ran in done for hint in commands_in(ran.out + ran.err)]
    assert len(hints) >= 5
    for hint in hints:
        assert hint[hint.index("--db") + 1] == "my store.db", hint
        assert hint[hint.index("--user") + 1] in ("ann lee", "nobody"), hint
    undo = next(hint for ran in done for hint in commands_in(ran.out) if "history" in hint)
    assert "ferry" in picomem(*undo).out
    picomem(*named, "remember", "The `picomem doctor` of the harbour runs at six", "--key", "harbour")
    assert "The `picomem doctor` of the harbour" in picomem(*named, "recall", "what runs at six").out
    failed = picomem(*named, "show", "0000", "--json").json["error"]["message"]
    assert all("--user" in hint for hint in commands_in(failed))


def test_a_hint_without_a_named_user_stays_short(picomem: Picomem) -> None:
    picomem("remember", "The ferry leaves at eight", "--key", "ferry")
    assert "`picomem history ferry`" in picomem("forget", "ferry").out


def test_a_hint_shows_no_password_of_a_database(picomem: Picomem) -> None:
    done = picomem("--db", "postgresql://ann:hunter2@127.0.0.1:1/none?connect_timeout=1", "memories")
    assert done.code != 0
    assert "hunter2" not in done.out + done.err


@pytest.mark.parametrize("arguments", [("token", "--help"), ("token", "-h"), ("help", "token"), ("token",)])
def test_the_first_word_of_two_explains_both(picomem: Picomem, arguments: tuple[str, ...]) -> None:
    done = picomem(*arguments)
    assert done.code == (0 if len(arguments) == 2 else 2)
    assert all(f"  {second} " in done.out for second in ("make", "list", "revoke"))
    assert "  picomem token make --user ann --scope memory:read:user" in done.out


def test_a_second_word_that_is_mistyped_is_corrected(picomem: Picomem) -> None:
    done = picomem("token", "mak", "--user", "ann")
    assert (done.code, "did you mean `picomem token make" in done.err) == (2, True), done.err


def test_the_help_on_tokens_says_in_words_what_each_scope_permits(picomem: Picomem) -> None:
    done = picomem("token", "make", "--help").out
    told = " ".join(done[done.index("`--user` says whose") : done.index("options:")].split())
    assert all(scope in told for scope in PERMISSIONS)
    assert "memory:purge:user erases" in told


def test_show_says_of_a_memory_by_key_by_id_and_by_the_beginning_of_one_what_shows_it(picomem: Picomem) -> None:
    memory = picomem("remember", "Deploys go out on Tuesdays", "--key", "deploys", "--json").json["memory"]
    for name in ("deploys", memory["id"], memory["id"][:13]):
        done = picomem("show", name)
        assert done.code != 0
        assert (
            f"“{name}” is a memory, not an episode; `picomem history {name}` and `picomem why {name}` show it."
            in done.err
        )
