"""The doctor finds entries in agents' settings that do not work, or not as the person thinks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hosts.conftest import RunPicomem

from picomem.hosts.host import Reach
from picomem.hosts.host_findings import host_findings
from picomem.hosts.installing import install, plan_install
from picomem.hosts.known_hosts import host_named
from picomem.hosts.program import Machine, Program

Findings = Callable[[], list[str]]
InstallIn = Callable[..., None]


@pytest.fixture
def findings(machine: Machine) -> Findings:
    store = machine.home / "picomem.db"
    return lambda: host_findings(machine, store, store, is_named=False)


@pytest.fixture
def install_in(machine: Machine, program: Program) -> InstallIn:
    def _install(name: str, reach: Reach = "user", program: Program = program) -> None:
        assert install(plan_install(host_named(name), machine, reach, program), program).problem is None

    return _install


def test_a_sound_installation_has_no_findings(findings: Findings, install_in: InstallIn) -> None:
    assert findings() == []
    for name in ("claude-code", "openclaw", "cursor", "vscode", "gemini-cli", "opencode"):
        install_in(name)
    assert findings() == []


def test_a_program_that_is_gone_is_told_once_a_file(
    findings: Findings, install_in: InstallIn, program: Program, home: Path
) -> None:
    install_in("claude-code", "project")
    Path(program.path).unlink()
    Path(program.hook_path).unlink()
    server, hooks = findings()
    assert "MCP server “picomem” of Claude Code" in server
    assert f"there is no program {program.path}; `picomem install claude-code --scope project` corrects it" in server
    assert hooks.startswith("the 6 hooks of Claude Code")
    assert f"there is no program {program.hook_path}" in hooks


def test_codex_hooks_are_told_of_until_they_are_trusted_as_they_are(
    findings: Findings, install_in: InstallIn, machine: Machine
) -> None:
    folder = machine.home / ".codex"
    install_in("codex", program=Program("/bin/sh", "/root/hosts-home/bin/picomem-hook"))
    config, hooks = folder / "config.toml", folder / "hooks.json"
    installed = config.read_text()

    def trust(text: str) -> None:
        config.write_text(installed + text.replace("HOOKS", str(hooks)))

    assert any(
        f"Codex skips 6 hooks of picomem in {hooks}" in finding and "/hooks" in finding for finding in findings()
    )
    # Hashes that Codex 0.169.0 wrote for this command, with this time limit.
    hooks.write_text(hooks.read_text().replace('"timeout": 10', '"timeout": 5'))
    trust(
        '[hooks.state."HOOKS:session_start:0:0"]\n'
        'trusted_hash = "sha256:4a3d973c6e0ad94fbeaf87f2172b21f5feb908fdc93ffcd19cc700b5221b952a"\n'
        '[hooks.state."HOOKS:user_prompt_submit:0:0"]\n'
        'trusted_hash = "sha256:641cac245df92e581334b768674012ef190d9434372d8c6664fd7a70c5c35b9e"\n'
        '[hooks.state."HOOKS:stop:0:0"]\n'
        'trusted_hash = "sha256:876f71dfa58c8f886ebf84e30eba6c465e6be4cc6703d09b08e60a013405854e"\n'
    )
    assert any("Codex skips 3 hooks" in finding for finding in findings())
    hooks.write_text(hooks.read_text().replace('"timeout": 5', '"timeout": 4'))
    assert any("Codex skips 6 hooks" in finding for finding in findings())


def _hooks_of(settings: Path) -> dict[str, list[str]]:
    """The commands of each event."""
    groups = json.loads(settings.read_text())["hooks"]
    return {event: [h["command"] for group in several for h in group["hooks"]] for event, several in groups.items()}


@pytest.mark.parametrize("layout", ["in one group", "in two groups"])
@pytest.mark.parametrize("commands", [("/gone/picomem-hook", "/gone/picomem-hook"),
    ("/gone/picomem-hook", "/lost/picomem-hook --db /other.db"), (None, "/gone/picomem-hook --user ann"),
    ("/gone/picomem-hook", None), (None, None)])  # fmt: skip
def test_an_install_corrects_every_hook_that_the_doctor_tells_of(
    commands: tuple[str | None, str | None],
    layout: str,
    findings: Findings,
    install_in: InstallIn,
    program: Program,
    home: Path,
) -> None:
    install_in("claude-code")
    settings = home / ".claude" / "settings.json"
    document = json.loads(settings.read_text())
    theirs = {"type": "command", "command": "say done"}
    ours = [{"type": "command", "command": command or program.hook_command()} for command in commands]
    groups = [{"hooks": [theirs, *ours]}] if layout == "in one group" else [{"hooks": [theirs, h]} for h in ours]
    document["hooks"] |= {"Stop": groups, "SubagentStop": groups}
    settings.write_text(json.dumps(document))
    assert findings() != []
    assert all("`picomem install claude-code` corrects it" in finding for finding in findings())

    install_in("claude-code")

    assert findings() == []
    hooks = _hooks_of(settings)
    mine = program.hook_command()
    assert [sorted(hooks[event]) for event in ("Stop", "SubagentStop")] == [
        sorted([mine, *["say done"] * len(groups)])
    ] * 2


def test_an_install_corrects_hooks_for_different_occasions_and_keeps_each(
    findings: Findings, install_in: InstallIn, program: Program, home: Path
) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    dead = {"type": "command", "command": "/gone/picomem-hook"}
    groups = [{"matcher": occasion, "hooks": [dead]} for occasion in ("startup", "clear", "startup")]
    settings.write_text(json.dumps({"hooks": {"SessionStart": groups}}))

    install_in("claude-code")

    assert findings() == []
    groups = json.loads(settings.read_text())["hooks"]["SessionStart"]
    assert [(group["matcher"], group["hooks"][0]["command"]) for group in groups] == [
        ("startup", program.hook_command()),
        ("clear", program.hook_command()),
    ]


def test_a_server_of_another_name_is_told_of_with_a_remedy_that_holds(
    findings: Findings, install_in: InstallIn, home: Path
) -> None:
    install_in("cursor")
    settings = home / ".cursor" / "mcp.json"
    document = json.loads(settings.read_text())
    for name, command in (("old", "/gone/picomem"), ("older", "/gone/picomem")):
        document["mcpServers"][name] = {"command": command, "args": ["mcp", "--db", f"/{name}.db"]}
    settings.write_text(json.dumps(document))

    told = findings()

    assert len(told) == 4
    for name in ("old", "older"):
        about = [finding for finding in told if finding.startswith(f"the MCP server “{name}” of Cursor")]
        assert [finding.endswith("remove the entry") for finding in about] == [True, True]


def test_two_entries_for_one_store_are_told_of(findings: Findings, install_in: InstallIn, machine: Machine) -> None:
    install_in("claude-code")
    install_in("claude-code", "project")
    same = findings()
    assert len(same) == 6, "the hooks of the project run beside those of the user; its server takes the other's place"
    assert all("are for the same store, so the agent gets the same twice" in finding for finding in same)
    settings = machine.home / ".cursor" / "mcp.json"
    install_in("cursor")
    document = json.loads(settings.read_text())
    document["mcpServers"]["memory"] = document["mcpServers"]["picomem"]
    settings.write_text(json.dumps(document))
    assert (
        f"the MCP server “picomem” of Cursor in {settings} and the MCP server “memory” of Cursor in {settings} are for"
        in findings()[-1]
    )


def test_an_entry_for_another_store_is_told_of(
    findings: Findings, install_in: InstallIn, machine: Machine, program: Program
) -> None:
    other = Program(program.path, program.hook_path, ("--db", "/elsewhere/other.db"))
    install_in("gemini-cli", program=other)
    install_in("claude-code", program=Program(program.path, program.hook_path, (), {"PICOMEM_DATA_DIR": "/data"}))
    assert [finding.partition(" uses another store, ")[2].partition(";")[0] for finding in findings()] == [
        f"/data/picomem.db, and not {machine.home / 'picomem.db'}",
        f"/data/picomem.db, and not {machine.home / 'picomem.db'}",
        f"/elsewhere/other.db, and not {machine.home / 'picomem.db'}",
    ]
    copy = machine.home / "copy.db"
    assert host_findings(machine, copy, copy, is_named=True) == [], "a store that somebody names may be a copy"
    assert len(host_findings(machine, Path("/elsewhere/other.db"), copy, is_named=True)) == 2


def test_a_broken_file_with_an_entry_is_told_of(findings: Findings, machine: Machine) -> None:
    settings = machine.home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"mcpServers": {"picomem": ')
    assert findings() == [
        f"{settings} of Gemini CLI cannot be read: line 1 is not valid JSON with comments; mend the file"
    ]
    settings.write_text("{")
    assert findings() == []
    machine.home.joinpath(".codex").mkdir()
    for odd in ('{"hooks": 5, "picomem": 1}', '{"hooks": {"Stop": [5, {"hooks": "picomem-hook"}]}}'):
        machine.home.joinpath(".codex", "hooks.json").write_text(odd)
        assert findings() == []


def test_a_file_that_is_too_large_is_told_of_with_what_to_do(findings: Findings, machine: Machine) -> None:
    settings = machine.home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.touch()
    os.truncate(settings, (64 << 20) + 1)
    assert findings() == [f"{settings} of Gemini CLI cannot be read: it is larger than 64 MiB; make it smaller first"]


@pytest.mark.parametrize("escape", [r"\ud83d", r"\u0000"])
def test_a_path_that_no_file_can_have_is_told_of(escape: str, findings: Findings, machine: Machine) -> None:
    command = {"type": "command", "command": f"/x{json.loads(chr(34) + escape + chr(34))}/picomem-hook --db '/d/x.db'"}
    server = {"command": "/gone/picomem", "args": ["mcp", "--db", json.loads(f'"/{escape}.db"')]}
    for path, document in (
        (".codex/hooks.json", {"hooks": {"Stop": [{"hooks": [command]}]}}),
        (".cursor/mcp.json", {"mcpServers": {"picomem": server}}),
    ):
        (machine.home / path).parent.mkdir()
        (machine.home / path).write_text(json.dumps(document))
    hooks = machine.home / ".codex" / "hooks.json"
    trusted = f'[hooks.state."{hooks}:stop:0:0"]\ntrusted_hash = "sha256:0"\n'
    hooks.with_name("config.toml").write_text(trusted)
    shown = "\n".join(findings())
    assert "there is no program /x" in shown
    assert "Cursor" in shown


@pytest.mark.sqlite_file("looks for the file")
def test_doctor_reports_them_before_anything_is_stored(run_picomem: RunPicomem, programs: Path, home: Path) -> None:
    assert run_picomem("install", "gemini-cli").code == 0
    done = run_picomem("doctor")
    assert (done.code, done.out) == (3, "")
    assert "Nothing is stored yet" in done.err
    settings = home / ".gemini" / "settings.json"
    settings.write_text(settings.read_text().replace(str(programs), "/gone"))
    done = run_picomem("doctor", "--json")
    assert (done.code, done.json["healthy"], done.json["checked"]) == (1, False, {})
    assert [finding["check"] for finding in done.json["findings"]] == ["host"]
    assert "Nothing is stored yet" in done.json["warnings"][0]
    shown = " ".join(run_picomem("doctor").out.split())
    assert shown.startswith("Checked the settings of agents.")
    assert "there is no program /gone/picomem" in shown
    assert "Nothing is stored yet" in shown
    assert run_picomem("doctor", "--db", str(home / "other.db")).code == 3
    assert not list(home.rglob("*.db"))


def test_doctor_reports_them_at_the_terminal(run_picomem: RunPicomem, programs: Path, home: Path) -> None:
    assert run_picomem("remember", "The lock closes at nine").code == 0
    assert run_picomem("install", "gemini-cli").code == 0
    assert run_picomem("doctor").code == 0
    settings = home / ".gemini" / "settings.json"
    settings.write_text(settings.read_text().replace(str(programs), "/gone"))
    done = run_picomem("doctor", "--json")
    assert (done.code, done.json["healthy"]) == (1, False)
    assert [finding["check"] for finding in done.json["findings"]] == ["host"]
    shown = run_picomem("doctor").out
    assert "there is no program /gone/picomem" in " ".join(shown.split())
    assert "--repair" not in shown, "a repair mends no settings of a host"
