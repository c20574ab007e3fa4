"""`picomem install` and `picomem uninstall`, as programs."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.hosts.conftest import ROOT, RunPicomem, tree

from picomem.consolidation.due import distils_unasked
from picomem.settings import load


@pytest.fixture
def with_claude_code(home: Path) -> Path:
    """A home folder in which Claude Code was used."""
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{\n  "theme": "dark"\n}\n')
    return home


def test_a_dry_run_prints_a_diff_and_changes_nothing(with_claude_code: Path, run_picomem: RunPicomem) -> None:
    before = tree(with_claude_code)
    done = run_picomem("install", "--dry-run")
    assert (done.code, done.err) == (0, "")
    settings = with_claude_code / ".claude" / "settings.json"
    assert f"--- a{settings}\n+++ b{settings}\n" in done.out
    assert '-  "theme": "dark"\n+  "theme": "dark",\n+  "hooks": {\n' in done.out
    assert f"--- /dev/null\n+++ b{with_claude_code / '.claude.json'}\n" in done.out
    assert tree(with_claude_code) == before


def test_a_diff_of_a_dry_run_can_be_applied(with_claude_code: Path, run_picomem: RunPicomem) -> None:
    diff = run_picomem("install", "--dry-run").out
    assert run_picomem("install", "--yes").code == 0
    settings = with_claude_code / ".claude" / "settings.json"
    installed = settings.read_text()
    assert run_picomem("uninstall", "--yes").code == 0
    assert settings.read_text() != installed
    added = [line[1:] for line in diff.splitlines() if line[:1] in ("+", " ") and line[:3] != "+++"]
    assert "".join(f"{line}\n" for line in added).endswith(installed)


def test_a_diff_splits_lines_only_at_line_ends(home: Path, run_picomem: RunPicomem) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("# one\u2028two\x85three\n")
    diff = run_picomem("install", "codex", "--dry-run").out
    assert "\n@@ -1 +1,5 @@\n" in diff
    assert "No newline at end of file" not in diff


def test_without_a_terminal_nothing_is_changed(with_claude_code: Path, run_picomem: RunPicomem) -> None:
    before = tree(with_claude_code)
    for arguments in (["install"], ["install", "--json"]):
        done = run_picomem(*arguments)
        assert done.code == 2
        assert "Nothing was installed: there is no terminal to ask at" in done.err
        assert tree(with_claude_code) == before
    assert run_picomem("install", "--yes").code == 0
    installed = tree(with_claude_code)
    assert run_picomem("uninstall").code == 2
    assert tree(with_claude_code) == installed


def _all_of(person: int) -> str:
    """What a terminal that was closed at its other end still has, which comes in several pieces."""
    read = b""
    with contextlib.suppress(OSError):
        while piece := os.read(person, 10_000):
            read += piece
    return read.decode()


@pytest.mark.parametrize(
    ("answer", "is_installed", "keep"),
    [("y\ny", True, "expiring"), ("\n", True, ""), ("n", False, "")],
)
def test_at_a_terminal_the_person_is_asked(
    answer: str, is_installed: bool, keep: str, with_claude_code: Path, project: Path, programs: Path
) -> None:
    person, terminal = pty.openpty()
    data = with_claude_code / "data"
    variables = {"HOME": str(with_claude_code), "PICOMEM_DATA_DIR": str(data), "PICOMEM_CONFIG": ""}
    env = {**variables, "PATH": os.defpath, "PYTHONPATH": str(ROOT / "src")}
    running = subprocess.Popen(
        [programs / "picomem", "install"], cwd=project, env=env, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal
    )
    os.write(person, f"{answer}\n".encode())
    out, _ = running.communicate(timeout=60)
    os.close(terminal)
    asked = _all_of(person)
    os.close(person)
    assert str(with_claude_code / ".claude" / "settings.json") in asked
    assert "Install picomem there? [Y/n]" in asked
    assert (with_claude_code / ".claude.json").exists() == is_installed
    assert ("hooks added" in out.decode()) == is_installed
    assert ("Nothing was installed." in asked) == (not is_installed)
    assert ("Keep redacted copies of those that are about to expire? [y/N]" in asked) == is_installed
    settings = data / "config.toml"
    assert (settings.exists() and load({}, settings).ingest.keep) == (keep or False)


@pytest.fixture
def with_claude(with_claude_code: Path, tmp_path: Path) -> str:
    """A PATH with the program of Claude Code on it."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ncat >/dev/null\necho '{}'\n")
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.defpath}"


def _memory_settings(home: Path) -> dict[str, object]:
    settings = home / "data" / "config.toml"
    return tomllib.loads(settings.read_text()).get("memory", {}) if settings.exists() else {}


@pytest.mark.parametrize(("answer", "distils"), [("y", True), ("", False), ("n", False)])
def test_the_person_is_asked_once_whether_the_host_may_distil_and_told_the_price(
    answer: str, distils: bool, with_claude_code: Path, with_claude: str, project: Path, programs: Path
) -> None:
    """Issue 38, section 4, and issue 39, section 5: past sessions are read at once, and there is something to try."""
    past = with_claude_code / ".claude" / "projects" / "-work" / "a.jsonl"
    past.parent.mkdir(parents=True)
    past.write_text(
        json.dumps({"type": "user", "sessionId": "a", "uuid": "u1", "timestamp": "2026-05-01T10:00:00Z", "cwd": "/work", "message": {"role": "user", "content": "The exporter ships behind a flag."}}) + "\n"
    )  # fmt: skip
    person, terminal = pty.openpty()
    variables = {"HOME": str(with_claude_code), "PICOMEM_DATA_DIR": str(with_claude_code / "data")}
    env = {**variables, "PATH": with_claude, "PYTHONPATH": str(ROOT / "src"), "PICOMEM_RECALL_EMBEDDER": "none"}
    running = subprocess.Popen(
        [programs / "picomem", "install"], cwd=project, env=env, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal
    )
    os.write(person, f"\n\n{answer}\n\n".encode())
    out, _ = running.communicate(timeout=60)
    os.close(terminal)
    asked = " ".join(_all_of(person).split())
    os.close(person)
    assert running.returncode == 0
    assert "about 3,000 tokens a session, at most 200,000 tokens a day, in the background. [y/N]" in asked
    assert "MCP server in" in asked and "hooks in" in asked
    assert "start a new session and ask" in asked
    assert "1 transcript" in out.decode() or "1 file" in out.decode() or "episode" in out.decode()
    memory = _memory_settings(with_claude_code)
    assert memory["consolidate_transcripts"] is distils
    assert ("consolidation_command" in memory) == distils
    loaded = load({}, with_claude_code / "data" / "config.toml")
    assert distils_unasked(loaded) is distils


def test_nobody_distils_who_was_not_asked(with_claude_code: Path, with_claude: str, run_picomem: RunPicomem) -> None:
    env = {"PATH": with_claude, "PICOMEM_DATA_DIR": str(with_claude_code / "data")}
    assert run_picomem("install", "--yes", env=env).code == 0
    assert _memory_settings(with_claude_code) == {}
    done = run_picomem("install", "claude-code", "--distil", env=env)
    assert (done.code, "Claude Code distils finished sessions" in done.out) == (0, True)
    command = str(_memory_settings(with_claude_code)["consolidation_command"])
    assert "--model haiku" in command and "--tools ''" in command and "--no-session-persistence" in command
    assert run_picomem("install", "claude-code", "--no-distil", env=env).code == 0
    assert _memory_settings(with_claude_code)["consolidate_transcripts"] is False
    refused = run_picomem("install", "cursor", "--distil", env=env)
    assert (refused.code, "these can distil: claude-code, codex" in refused.err) == (2, True)


def test_a_second_run_says_that_it_is_installed_already(with_claude_code: Path, run_picomem: RunPicomem) -> None:
    first = run_picomem("install", "claude-code")
    assert (first.code, first.out.count("added")) == (0, 2)
    installed = tree(with_claude_code)
    second = run_picomem("install", "claude-code")
    assert (second.code, second.out.count("already installed")) == (0, 2)
    assert run_picomem("install").code == 0, "there is nothing to ask about"
    assert tree(with_claude_code) == installed


def test_a_hook_that_somebody_extended_is_named(with_claude_code: Path, run_picomem: RunPicomem) -> None:
    settings = with_claude_code / ".claude" / "settings.json"
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "nice picomem-hook 2>/dev/null"}]}]}
    settings.write_text(json.dumps({"hooks": hooks}))
    said = "somebody extended the Stop hook “nice picomem-hook 2>/dev/null”, so it stays in ~/.claude/settings.json"
    assert said in run_picomem("install", "claude-code").out
    assert len(json.loads(settings.read_text())["hooks"]["Stop"]) == 1
    assert said in run_picomem("uninstall", "--yes").out
    again = run_picomem("uninstall", "--yes", "--json")
    (host,) = again.json["hosts"]
    assert host["edited_hooks"][0]["command"] == "nice picomem-hook 2>/dev/null"
    assert json.loads(settings.read_text()) == {"hooks": hooks}


def test_a_flag_keeps_what_expires_and_what_stands_in_the_settings(
    with_claude_code: Path, run_picomem: RunPicomem
) -> None:
    settings = with_claude_code / "config.toml"
    text = "# mine\n[ingest] # of transcripts\nkeep_mb = 7\n\n[recall]\nlimit = 4\n"
    settings.write_text(text)
    env = {"PICOMEM_CONFIG": str(settings)}
    arguments = ("install", "claude-code", "--keep-transcripts")
    assert '\n keep_mb = 7\n+keep = "expiring"\n' in run_picomem(*arguments, "--dry-run", env=env).out
    assert settings.read_text() == text
    assert '~/config.toml: now has keep = "expiring" in [ingest]' in run_picomem(*arguments, env=env).out
    kept = text.replace("7\n", '7\nkeep = "expiring"\n')
    assert settings.read_text() == kept
    assert "~/config.toml: keeps transcripts already" in run_picomem(*arguments, env=env).out
    settings.write_text("ingest = { keep_mb = 7 }\n")
    assert run_picomem(*arguments, env=env).code == 0
    assert settings.read_text() == 'ingest = { keep_mb = 7, keep = "expiring"}\n'
    settings.write_text("ingest = {\n")
    done = run_picomem(*arguments, env=env)
    assert (done.code, settings.read_text()) == (2, "ingest = {\n")
    assert f"The settings file {settings} " in done.err


def test_with_json_there_is_one_document(with_claude_code: Path, run_picomem: RunPicomem) -> None:
    document = run_picomem("--json", "install", "--yes").json
    (host,) = document["hosts"]
    assert (document["dry_run"], host["host"], host["scope"], host["problem"]) == (False, "claude-code", "user", "")
    assert [(file["entries"], file["state"]) for file in host["files"]] == [("MCP server", "added"), ("hooks", "added")]
    assert all(file["diff"].startswith("--- ") for file in host["files"])
    again = run_picomem("install", "claude-code", "--json").json
    assert [file["state"] for file in again["hosts"][0]["files"]] == ["already installed"] * 2
    removed = run_picomem("uninstall", "--yes", "--json").json
    assert [file["state"] for file in removed["hosts"][0]["files"]] == ["removed"] * 2
    assert run_picomem("uninstall", "--json").json == {"dry_run": False, "hosts": []}


def test_the_entries_name_the_programs_and_the_chosen_store(
    with_claude_code: Path, programs: Path, run_picomem: RunPicomem
) -> None:
    home = with_claude_code
    done = run_picomem(
        "install", "claude-code", "--db", "~/my memory.db", "--user", "ann", env={"PICOMEM_DATA_DIR": "~/store"}
    )
    assert done.code == 0
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["picomem"]
    assert server == {
        "type": "stdio",
        "command": str(programs / "picomem"),
        "args": ["mcp", "--db", str(home / "my memory.db"), "--user", "ann"],
        "env": {"PICOMEM_DATA_DIR": str(home / "store")},
    }
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop", "SessionEnd"]
    command = hooks["Stop"][0]["hooks"][0]
    assert {name: command[name] for name in ("type", "timeout", "async")} == {
        "type": "command",
        "timeout": 5,
        "async": True,
    }
    assert "async" not in hooks["SessionStart"][0]["hooks"][0]
    ran = subprocess.run(["sh", "-c", command["command"]], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == [str(home / "store"), "--db", str(home / "my memory.db"), "--user", "ann"]


def test_a_host_that_is_broken_does_not_keep_others_from_being_installed(
    with_claude_code: Path, project: Path, run_picomem: RunPicomem
) -> None:
    settings = with_claude_code / ".claude" / "settings.json"
    settings.write_text('{"theme": "dark",}')
    before = tree(with_claude_code)
    done = run_picomem("install", "claude-code")
    assert done.code == 2
    assert done.err == f"picomem: {settings} is left as it is: line 1 is not valid JSON.\n"
    assert done.out == "Claude Code:\n  ! left as it is\n"
    assert run_picomem("install", "claude-code", "--dry-run").out == "Nothing would change.\n"
    assert run_picomem("install", "claude-code", "--json").json["hosts"][0]["files"] == []
    assert tree(with_claude_code) == before


def test_a_settings_file_that_is_too_large_is_named_with_what_to_do(
    with_claude_code: Path, run_picomem: RunPicomem
) -> None:
    settings = with_claude_code / ".claude" / "settings.json"
    os.truncate(settings, (64 << 20) + 1)
    done = run_picomem("install", "claude-code")
    assert (done.code, done.err) == (
        2, f"picomem: {settings} is left as it is: it is larger than 64 MiB; make it smaller first.\n"
    )  # fmt: skip
    own = with_claude_code / "data" / "picomem" / "config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.touch()
    os.truncate(own, (1 << 20) + 1)
    said = f"picomem: The settings file {own} is larger than 1 MiB; remove from it what is no setting.\n"
    assert run_picomem("status").err == said


def test_a_project_has_its_own_settings(home: Path, project: Path, run_picomem: RunPicomem) -> None:
    before = tree(home)
    done = run_picomem("install", "claude-code", "--scope", "project")
    assert done.code == 0
    assert [name for name, content in tree(project).items() if content is not None] == [
        ".mcp.json", ".claude/settings.local.json",
    ]  # fmt: skip
    assert "leave it out of commits" in done.out
    assert tree(home) == before
    assert run_picomem("uninstall", "--yes").code == 0
    assert tree(project) == {}


def test_a_mistyped_host_is_met_with_the_nearest(run_picomem: RunPicomem) -> None:
    done = run_picomem("install", "claude-cod")
    assert (done.code, done.err) == (2, "picomem: There is no host “claude-cod”; did you mean “claude-code”?\n")
    assert run_picomem("install").code == 3
    assert run_picomem("uninstall").out == "picomem is installed in no host.\n"


def test_an_installation_without_the_hook_program_is_told(programs: Path, run_picomem: RunPicomem) -> None:
    (programs / "picomem-hook").unlink()
    done = run_picomem("install", "claude-code")
    assert done.code == 2
    assert f"There is no program picomem-hook beside {programs / 'picomem'}" in done.err


def test_every_host_of_the_machine_is_noticed_by_its_folder_or_its_program(
    home: Path, programs: Path, run_picomem: RunPicomem
) -> None:
    for folder in (".claude", ".codex", ".openclaw", ".cursor", ".config/Code/User", ".config/opencode"):
        (home / folder).mkdir(parents=True)
    (programs / "gemini").write_text("#!/bin/sh\n")
    (programs / "gemini").chmod(0o755)
    env = {"PATH": f"{programs}:{os.defpath}"}
    document = run_picomem("install", "--yes", "--json", env=env).json
    hosts = {
        host["host"]: [Path(file["path"]).relative_to(home) for file in host["files"]] for host in document["hosts"]
    }
    assert {name: list(map(str, paths)) for name, paths in hosts.items()} == {
        "claude-code": [".claude.json", ".claude/settings.json"],
        "codex": [".codex/config.toml", ".codex/hooks.json"],
        "openclaw": [".openclaw/openclaw.json"],
        "cursor": [".cursor/mcp.json"],
        "vscode": [".config/Code/User/mcp.json"],
        "gemini-cli": [".gemini/settings.json"],
        "opencode": [".config/opencode/opencode.json"],
    }
    assert "type /hooks" in str(document["hosts"][1]["remarks"])
    command = [str(programs / "picomem"), "mcp"]
    plain = {"command": command[0], "args": command[1:]}
    read = {name: (home / paths[0]).read_text() for name, paths in hosts.items()}
    assert tomllib.loads(read["codex"]) == {"mcp_servers": {"picomem": plain}}
    assert json.loads(read["openclaw"]) == {"mcp": {"servers": {"picomem": plain}}}
    assert json.loads(read["cursor"]) == {"mcpServers": {"picomem": {"type": "stdio", **plain}}}
    assert json.loads(read["vscode"]) == {"servers": {"picomem": {"type": "stdio", **plain}}}
    assert json.loads(read["gemini-cli"]) == {"mcpServers": {"picomem": plain}}
    assert json.loads(read["opencode"]) == {"mcp": {"picomem": {"type": "local", "command": command, "enabled": True}}}


def test_openclaw_has_no_settings_of_a_project(project: Path, run_picomem: RunPicomem) -> None:
    done = run_picomem("install", "openclaw", "--scope", "project")
    assert (done.code, done.err) == (2, "picomem: OpenClaw has no settings of a project; leave --scope project out.\n")
    assert tree(project) == {}
