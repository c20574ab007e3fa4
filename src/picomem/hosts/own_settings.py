"""Changes of picomem's own settings that an install offers: to keep transcripts, and to have a host's model distil.

- `ingest.keep`, because Claude Code deletes transcripts unchanged for 30 days.
- `memory.consolidation_command` and `memory.consolidate_transcripts`, because who uses an agent pays for a model
  already. The host is called without its tools, hooks and instructions, and keeps no transcript of the call.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput
from picomem.hosts.claude_code_host import CLAUDE_CODE
from picomem.hosts.host import Host
from picomem.hosts.installing import HostPlan
from picomem.hosts.machine import Machine
from picomem.hosts.settings_files import check_writable, read_settings, replace_settings
from picomem.hosts.toml_edit import set_key
from picomem.light_dataclass import dataclass
from picomem.settings import given, load, settings_file

OFFER_KEEPING = "Claude Code deletes transcripts after 30 days. Keep redacted copies of those that are about to expire?"
TOKENS_A_DAY = 200_000
_WINDOW = 24_000  # tokens: a call for each part of a session, and models of hosts take much more
_DECIDING = ("consolidation_command", "consolidation_model", "consolidate_transcripts")
_EXPIRING, _NONE = "expiring", "none"

Edit = Callable[[str | None], str | None]


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """The old and the new content of picomem's settings file; None stands for no file. `edit` makes the one from the
    other, and `says` tells a person what it does."""

    path: Path
    before: str | None
    after: str | None
    edit: Edit
    says: str


def plan_keeping() -> SettingsChange:
    """The change that keeps what expires. Raises InvalidInput where the settings cannot be changed."""

    def edit(text: str | None) -> str | None:
        keeps = load().ingest.keep != _NONE
        return text if keeps else set_key(text or "", ("ingest",), "keep", _EXPIRING)

    change = _planned(edit, 'now has keep = "expiring" in [ingest]')
    return change if change.before != change.after else _planned(edit, "keeps transcripts already")


def plan_distilling(host: Host | None, machine: Machine) -> SettingsChange:
    """The change that has a host distil sessions, or with None nobody. Raises InvalidInput where the settings cannot be
    changed."""
    values: dict[str, Any] = {"consolidate_transcripts": host is not None}
    if host is not None:
        program = machine.program(host.programs[0])
        command = shlex.join([str(program or host.programs[0]), *host.distilling])
        values |= {"consolidation_command": command, "consolidation_window": _WINDOW, "daily_token_limit": TOKENS_A_DAY}

    def edit(text: str | None) -> str | None:
        for key, value in values.items():
            text = set_key(text or "", ("memory",), key, value)
        return text

    says = f"{host.title} distils finished sessions, within {TOKENS_A_DAY:,} tokens a day" if host else "nobody distils"
    return _planned(edit, says)


def distilling_host(plans: Sequence[HostPlan], machine: Machine) -> Host | None:
    """The first of these hosts that can distil sessions with a model of its own."""
    hosts = (plan.host for plan in plans if not plan.problem)
    return next((host for host in hosts if host.distilling and machine.has_program(host.programs[0])), None)


def offered_keeping(plans: Sequence[HostPlan]) -> SettingsChange | None:
    """Return the change that an install in these hosts offers; None where transcripts do not expire, where somebody has
    decided already, and where the settings cannot be changed."""
    try:
        expires = any(plan.host is CLAUDE_CODE and not plan.problem for plan in plans)
        return plan_keeping() if expires and "ingest.keep" not in given() else None
    except InvalidInput:
        return None


def offered_distilling(plans: Sequence[HostPlan], machine: Machine) -> tuple[str, SettingsChange] | None:
    """The question whether a host may distil, and the change; None where no host can, where somebody has decided
    already, and where the settings cannot be changed."""
    try:
        host = distilling_host(plans, machine)
        if host is None or not given().isdisjoint(f"memory.{name}" for name in _DECIDING):
            return None
        question = (
            f"Let {host.title} distil finished sessions into memory? It uses your subscription: "
            f"{host.distilling_price}, at most {TOKENS_A_DAY:,} tokens a day, in the background."
        )
        return question, plan_distilling(host, machine)
    except InvalidInput:
        return None


def change_settings(planned: SettingsChange) -> SettingsChange:
    """Change the file as planned, or as it is right by now. Raises InvalidInput or Conflict."""
    before, after = replace_settings(planned.path, planned.edit, lambda _: False, is_private=True)
    return SettingsChange(planned.path, before, after, planned.edit, planned.says)


def _planned(edit: Edit, says: str) -> SettingsChange:
    path = settings_file()
    try:
        before = read_settings(path)
        after = edit(before)
        if after != before:
            check_writable(path)
    except InvalidInput as error:
        raise InvalidInput(f"The settings file {path} is left as it is: {str(error).rstrip('.')}.") from error
    return SettingsChange(path, before, after, edit, says)
