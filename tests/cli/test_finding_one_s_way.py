"""A person who does not know the commands, or mistypes one, is led to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem

from picomem.operations.operation import GROUPS
from picomem.operations.table import NAMES


def test_words_need_no_quotes(picomem: Picomem) -> None:
    assert picomem("remember", "Deploys", "go", "out", "on", "Tuesdays", "--kind", "fact").code == 0
    assert picomem("memories", "--json").json["memories"][0]["content"] == "Deploys go out on Tuesdays"
    hits = picomem("recall", "when", "do", "deploys", "go", "out?", "--limit", "1", "--json").json["hits"]
    assert [hit["text"] for hit in hits] == ["Deploys go out on Tuesdays"]


def test_help_lists_every_command_under_what_it_is_for(picomem: Picomem) -> None:
    done = picomem("help")
    assert done.code == 0
    assert done.out == picomem("--help").out
    assert [line.removesuffix(":") for line in done.out.splitlines() if line.removesuffix(":") in GROUPS] == [*GROUPS]
    listed = {line.split()[0] for line in done.out.splitlines() if line.startswith("  ") and line[2] != " "}
    assert listed >= {*NAMES, "chat", "demo", "mcp", "bench", "completion", "help"}
    assert picomem("help", "recall").out == picomem("recall", "--help").out


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["recal", "queue"], "did you mean `picomem recall`?"),
        (["help", "memory"], "did you mean `picomem memories`?"),
        (["zzz"], "`picomem help` lists them."),
    ],
)
def test_a_mistyped_command_is_met_with_the_nearest(picomem: Picomem, arguments: list[str], remedy: str) -> None:
    done = picomem(*arguments)
    assert done.code == 2
    assert done.err.strip().endswith(remedy)


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
    ):
        asked = " ".join(["picomem", *line])
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
