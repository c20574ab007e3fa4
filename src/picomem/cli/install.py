"""`picomem install` and `picomem uninstall`: configure the hosts of this machine to use picomem, and revert that."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import Any

from picomem.cli.main import main
from picomem.cli.run import json_document, write_result
from picomem.cli.terminal import remark
from picomem.errors import InvalidInput, NotFound
from picomem.hosts.host import HOST_NAMES, Host
from picomem.hosts.host_entries import own_entries
from picomem.hosts.installing import (
    OFFER_KEEPING,
    FileChange,
    HostPlan,
    SettingsChange,
    change_settings,
    distilling_host,
    install,
    offered_distilling,
    offered_keeping,
    plan_distilling,
    plan_install,
    plan_keeping,
    plan_uninstall,
    uninstall,
)
from picomem.hosts.known_hosts import HOSTS, host_named
from picomem.hosts.program import Machine, installed_program, is_short_lived, this_machine
from picomem.ingest.discovery import default_places
from picomem.text.inert_text import for_terminal

_SHORT_LIVED = (
    "{} is in a cache of uv that may be emptied; `uv tool install picomem` puts it where it stays, then install again."
)


def run_install(chosen: argparse.Namespace) -> int:
    """Install picomem in the hosts that are named, or after a question in all that are on this machine."""
    machine = this_machine()
    hosts = _named_hosts(chosen.hosts) or _hosts_here(machine, chosen.scope)
    program = installed_program(machine, sys.argv[0], database=chosen.db, user=chosen.user)
    if is_short_lived(program):
        remark(_SHORT_LIVED.format(program.path))
    plans = [plan_install(host, machine, chosen.scope, program) for host in hosts]
    settings = [plan_keeping()] if chosen.keep_transcripts else []
    if chosen.distil is not None:
        settings.append(plan_distilling(_distilling_host(plans, machine) if chosen.distil else None, machine))
    can_ask, is_new = _can_ask(chosen), any(plan.is_change for plan in plans)
    may_change = _may_change(plans, chosen, "Install picomem there", "Nothing was installed")
    if may_change:
        plans = [plan if plan.problem else install(plan, program) for plan in plans]
        if can_ask and is_new:
            settings += _accepted(plans, chosen, machine)
        settings = [change_settings(change) for change in settings]
    elif not chosen.dry_run:
        return 0
    code = _report(plans, chosen, machine, settings, done="added", idle="already installed", shows_remarks=True)
    if may_change and can_ask and is_new and not code:
        _offer_reading(chosen, machine)
    return code


def _distilling_host(plans: Sequence[HostPlan], machine: Machine) -> Host:
    host = distilling_host(plans, machine)
    if host is None:
        able = ", ".join(host.name for host in HOSTS if host.distilling)
        raise InvalidInput(f"--distil needs a host whose program is on the PATH; these can distil: {able}.")
    return host


def _accepted(plans: Sequence[HostPlan], chosen: argparse.Namespace, machine: Machine) -> list[SettingsChange]:
    """The changes of picomem's settings that the person says yes to. Each is asked about until it is decided."""
    accepted: list[SettingsChange] = []
    keeping = None if chosen.keep_transcripts else offered_keeping(plans)
    if keeping and _says_yes(f"{OFFER_KEEPING} [y/N] "):
        accepted.append(keeping)
    offered = None if chosen.distil is not None else offered_distilling(plans, machine)
    if offered:
        question, distilling = offered
        if _says_yes(f"{question} [y/N] "):
            accepted.append(distilling)
        else:
            accepted.append(plan_distilling(None, machine))
    return accepted


def _offer_reading(chosen: argparse.Namespace, machine: Machine) -> None:
    """Offer to read past sessions, where there are any, and say what to try."""
    places = default_places(machine.home, machine.env)
    has_sessions = any(place.folder.is_dir() for place in places)
    if has_sessions and _says_yes("Read your past sessions into memory now? [Y/n] ", default=True):
        options = ["--db", chosen.db] if chosen.db else []
        main(["ingest", *options, *(["--user", chosen.user] if chosen.user else [])])
    print("Try it: start a new session and ask “What did we work on last time?”", file=sys.stderr)


def run_uninstall(chosen: argparse.Namespace) -> int:
    """Take picomem out of the hosts that are named, or after a question out of all that have it."""
    machine = this_machine()
    named = _named_hosts(chosen.hosts)
    plans = [plan for host in named or HOSTS for plan in plan_uninstall(host, machine)]
    plans = [plan for plan in plans if plan.is_change or plan.problem or plan.edited_hooks]
    if not plans and not chosen.json:
        print("picomem is not installed there." if named else "picomem is installed in no host.")
        return 0
    if _may_change(plans, chosen, "Take picomem out there", "Nothing was changed"):
        plans = [plan if plan.problem else uninstall(plan, machine) for plan in plans]
    elif not chosen.dry_run:
        return 0
    return _report(plans, chosen, machine, done="removed", idle="not installed", shows_remarks=False)


def _named_hosts(names: Sequence[str]) -> list[Host]:
    return [host_named(name) for name in dict.fromkeys(names)]


def _hosts_here(machine: Machine, reach: Any) -> list[Host]:
    hosts = [host for host in HOSTS if host.is_on(machine) and host.files(machine, reach)]
    if not hosts:
        raise NotFound(f"No host was noticed on this machine; name one: {', '.join(HOST_NAMES)}.")
    return hosts


def _may_change(plans: Sequence[HostPlan], chosen: argparse.Namespace, question: str, declined: str) -> bool:
    """Return whether to change the files: not for a dry run, and hosts that nobody named are asked about first.

    Raises InvalidInput where nobody can be asked.
    """
    if chosen.dry_run:
        return False
    if not _is_asked(plans, chosen):
        return True
    if not _can_ask(chosen):
        raise InvalidInput(f"{declined}: there is no terminal to ask at. Look with --dry-run, then say --yes.")
    for plan in plans:
        files = [f"  {_entries_of(change)} in {change.file.path}" for change in plan.changes if change.is_change]
        print(for_terminal("\n".join([f"{plan.host.title}:", *(files or ["  nothing to change"])])), file=sys.stderr)
    if _says_yes(f"{question}? [Y/n] ", default=True):
        return True
    print(f"{declined}.", file=sys.stderr)
    return False


def _is_asked(plans: Sequence[HostPlan], chosen: argparse.Namespace) -> bool:
    """Return whether the person is asked before anything changes."""
    return not (chosen.yes or chosen.hosts) and any(plan.is_change for plan in plans)


def _can_ask(chosen: argparse.Namespace) -> bool:
    """Return whether there is somebody to ask, who did not say yes to the changes in advance."""
    return not (chosen.yes or chosen.json or chosen.dry_run) and sys.stdin.isatty() and sys.stderr.isatty()


def _says_yes(question: str, *, default: bool = False) -> bool:
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    answer = line.strip().lower()
    return answer in ("y", "yes") or (default and bool(line) and not answer)


def _report(
    plans: Sequence[HostPlan],
    chosen: argparse.Namespace,
    machine: Machine,
    settings: Sequence[SettingsChange] = (),
    *,
    done: str,
    idle: str,
    shows_remarks: bool,
) -> int:
    """Print what was changed, or in a dry run what would be; the exit code."""
    own_diff = "".join(file_diff(change.path, change.before, change.after) for change in settings)
    if chosen.json:
        document = {"dry_run": chosen.dry_run, "hosts": [_view(plan, done, idle, shows_remarks) for plan in plans]}
        if settings:
            document["settings"] = {"path": str(settings[0].path), "diff": own_diff}
        write_result(json_document(document, indent=2))
    elif chosen.dry_run:
        changes = "".join([*(_diff(change) for plan in plans for change in plan.changes), own_diff]).rstrip("\n")
        write_result(for_terminal(changes or "Nothing would change."))
    else:
        lines = _lines(plans, machine, done, idle, shows_remarks)
        lines += [f"{_shown(change.path, machine)}: {change.says}" for change in settings]
        write_result(for_terminal("\n".join(lines)))
    problems = [plan.problem for plan in plans if plan.problem]
    for problem in problems:
        remark(str(problem))
    return problems[0].exit_code if problems else 0


def _lines(plans: Sequence[HostPlan], machine: Machine, done: str, idle: str, shows_remarks: bool) -> list[str]:
    lines: list[str] = []
    for plan in plans:
        lines.append(f"{plan.host.title}:")
        for change in plan.changes:
            state = f"{_entries_of(change)} {_state(change, done, idle)}" if change.is_change else idle
            lines.append(f"  {_shown(change.file.path, machine)}: {state}")
        lines += [
            f"  ! somebody extended the {hook.event} hook “{hook.command}”, so it stays in {_shown(path, machine)}"
            for path, hook in plan.edited_hooks
        ]
        if plan.problem:
            lines.append("  ! left as it is")
        elif not shows_remarks:
            copies = [change.kept_copy for change in plan.changes if change.is_change and change.kept_copy]
            lines += [f"  ! changed since the install; the copy from before stays in {copy}" for copy in copies]
        else:
            lines += [f"  ! {text}" for text in plan.host.remarks(plan.reach)]
    if shows_remarks and any(plan.is_change for plan in plans):
        lines.append("New sessions use it. `picomem uninstall` takes it out again.")
        lines.append("The memory is a plain file of yours; `picomem encrypt` seals it (docs/sealing.md).")
    return lines


def _view(plan: HostPlan, done: str, idle: str, shows_remarks: bool) -> dict[str, Any]:
    files = [
        {
            "path": str(change.file.path),
            "entries": _entries_of(change),
            "state": _state(change, done, idle),
            "diff": _diff(change),
        }
        for change in plan.changes
    ]
    return {
        "host": plan.host.name,
        "scope": plan.reach,
        "files": files,
        "edited_hooks": [{"path": str(path), "event": h.event, "command": h.command} for path, h in plan.edited_hooks],
        "remarks": list(plan.host.remarks(plan.reach)) if shows_remarks else [],
        "problem": str(plan.problem or ""),
    }


def _state(change: FileChange, done: str, idle: str) -> str:
    if not change.is_change:
        return idle
    had_entries = own_entries(change.before or "", change.file).installed
    return "updated" if had_entries and done == "added" else done


def _entries_of(change: FileChange) -> str:
    kinds = ["MCP server"] if change.file.servers else []
    return " and ".join([*kinds, "hooks"] if change.file.has_hooks else kinds)


def _diff(change: FileChange) -> str:
    return file_diff(change.file.path, change.before, change.after)


def _shown(path: Path, machine: Machine) -> str:
    return f"~/{path.relative_to(machine.home)}" if path.is_relative_to(machine.home) else str(path)


# The change of a file as a unified diff, in time and size that large files do not blow up.

_CONTEXT = 3  # lines around a change
_MOST_CHARACTERS, _MOST_LINES = 1 << 20, 20_000  # from the first change to the last, before and after
_RANGES = re.compile(r"@@ -(\d+)(.*) \+(\d+)(.*)", re.DOTALL)


def file_diff(path: Path, before: str | None, after: str | None) -> str:
    """The diff that `patch` applies; None stands for no file, which is /dev/null there. Empty where nothing changes.

    Where the changed lines are too long to be read, a sentence says so instead of them.
    """
    if before == after:
        return ""
    old, new = _lines_of(before), _lines_of(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    skipped = max(0, start - _CONTEXT)
    old, new = (lines[skipped : len(lines) - max(0, end - _CONTEXT)] for lines in (old, new))
    old_name = "/dev/null" if before is None else f"a{path}"
    new_name = "/dev/null" if after is None else f"b{path}"
    if len(old) + len(new) > _MOST_LINES or sum(map(len, (*old, *new))) > _MOST_CHARACTERS:
        return f"--- {old_name}\n+++ {new_name}\nThe change spans too many lines, or too long ones, to be shown.\n"
    # The matcher may take the square of its lines, so it only gets those from the first change to the last.
    return "".join(_whole(_moved(line, skipped)) for line in unified_diff(old, new, old_name, new_name, n=_CONTEXT))


def _lines_of(text: str | None) -> list[str]:
    # Not splitlines, which also splits at separators that are no line ends to a patch.
    return StringIO(text or "", newline="\n").readlines()


def _common(old: list[str], new: list[str]) -> int:
    """Return with how many equal lines two texts begin."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(line: str, skipped: int) -> str:
    """A line of the diff, with the numbers of the lines in the whole file."""
    ranges = _RANGES.fullmatch(line)
    if not ranges:
        return line
    old, old_rest, new, new_rest = ranges.groups()
    return f"@@ -{int(old) + skipped}{old_rest} +{int(new) + skipped}{new_rest}"


def _whole(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
