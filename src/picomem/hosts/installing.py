"""Installs picomem in hosts and uninstalls it: plans the change of each settings file, and makes it.

If a file cannot be read, its whole host stays unchanged; the other hosts are installed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, PicomemError
from picomem.hosts.host import Host, Reach, SettingsFile
from picomem.hosts.host_entries import EditedHook, is_empty, own_entries, with_entries, without_entries
from picomem.hosts.known_hosts import CLAUDE_CODE
from picomem.hosts.program import Machine, Program
from picomem.hosts.settings_files import (
    backup_of,
    check_writable,
    read_settings,
    remove_backup,
    remove_empty_folder,
    replace_settings,
)
from picomem.hosts.toml_edit import set_key
from picomem.light_dataclass import dataclass, field
from picomem.settings import given, load, settings_file

Edit = Callable[[str | None], str | None]


@dataclass(frozen=True, slots=True)
class FileChange:
    """The old and the new content of a file; None stands for no file."""

    file: SettingsFile
    before: str | None
    after: str | None

    @property
    def is_change(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after

    @property
    def edited_hooks(self) -> tuple[EditedHook, ...]:
        """The hooks that somebody extended; they stay as they are."""
        return own_entries(self.before or "", self.file).edited

    @property
    def kept_copy(self) -> Path | None:
        """The copy from before the first change, where there is one."""
        backup = backup_of(self.file.path)
        return backup if backup.exists() else None


@dataclass(frozen=True, slots=True)
class HostPlan:
    """The changes in the files of a host. `problem` says why there can be none."""

    host: Host
    reach: Reach
    changes: Sequence[FileChange] = field(default_factory=tuple)
    problem: PicomemError | None = None

    @property
    def is_change(self) -> bool:
        """Whether anything changes."""
        return any(change.is_change for change in self.changes)

    @property
    def edited_hooks(self) -> list[tuple[Path, EditedHook]]:
        """The hooks that somebody extended, each with its file."""
        return [(change.file.path, hook) for change in self.changes for hook in change.edited_hooks]


def plan_install(host: Host, machine: Machine, reach: Reach, program: Program) -> HostPlan:
    """Plan the changes of an install. Raises InvalidInput where the host has no settings of such a reach."""
    files = host.files(machine, reach)
    if not files:
        raise InvalidInput(f"{host.title} has no settings of a project; leave --scope project out.")
    return _planned(host, reach, files, lambda file: _install_edit(host, file, program))


def plan_uninstall(host: Host, machine: Machine) -> list[HostPlan]:
    """Plan the changes of an uninstall, in the user's settings and those of the project."""
    return [_planned(host, reach, files, _uninstall_edit) for reach, files in host.reached_files(machine)]


def install(plan: HostPlan, program: Program) -> HostPlan:
    """Change the files of a host as planned, or as it is right by now. The changes that were made."""

    def changed(planned: FileChange) -> FileChange:
        file = planned.file
        edit = _as_planned(planned, _install_edit(plan.host, file, program))
        is_private = plan.reach == "user"
        before, after = replace_settings(file.path, edit, lambda text: _needs_copy(text, file), is_private=is_private)
        return FileChange(file, before, after)

    return _done(plan, changed)


def uninstall(plan: HostPlan, machine: Machine) -> HostPlan:
    """Take the entries of a host's files out, and remove what an install made. The changes that were made."""
    kept_folders = (machine.home, machine.folder)

    def changed(planned: FileChange) -> FileChange:
        file = planned.file
        edit = _as_planned(planned, _uninstall_edit(file))
        before, after = replace_settings(file.path, edit, lambda _: False, is_private=True)
        if before != after:
            backup = _backup(file)
            if after is None and file.path.parent not in kept_folders:
                remove_empty_folder(file.path.parent)
            elif backup == after:
                remove_backup(file.path)
        return FileChange(file, before, after)

    return _done(plan, changed)


def _planned(
    host: Host, reach: Reach, files: Sequence[SettingsFile], edit_of: Callable[[SettingsFile], Edit]
) -> HostPlan:
    def planned(file: SettingsFile) -> FileChange:
        before = read_settings(file.path)
        planned = FileChange(file, before, edit_of(file)(before))
        if planned.is_change:
            check_writable(file.path)
        return planned

    plan = _changes(HostPlan(host, reach), [(file.path, partial(planned, file)) for file in files])
    return HostPlan(host, reach, problem=plan.problem) if plan.problem else plan


def _done(plan: HostPlan, change: Callable[[FileChange], FileChange]) -> HostPlan:
    return _changes(plan, [(planned.file.path, partial(change, planned)) for planned in plan.changes])


def _changes(plan: HostPlan, steps: Sequence[tuple[Path, Callable[[], FileChange]]]) -> HostPlan:
    """The plan with the changes of its steps, each of a file, up to the first that fails."""
    changes: list[FileChange] = []
    for path, change in steps:
        try:
            changes.append(change())
        except PicomemError as error:
            problem = type(error)(_sentence(path, str(error)))
            return HostPlan(plan.host, plan.reach, tuple(changes), problem)
    return HostPlan(plan.host, plan.reach, tuple(changes))


def _as_planned(planned: FileChange, edit: Edit) -> Edit:
    """The edit that was planned, which is not made again where the file is still the same."""
    return lambda text: planned.after if text == planned.before else edit(text)


def _sentence(path: Path, reason: str) -> str:
    """A sentence about a file, from its second half; a reason that is a sentence already stays."""
    return reason if reason.endswith(".") else f"{path} is left as it is: {reason}."


def _install_edit(host: Host, file: SettingsFile, program: Program) -> Edit:
    return lambda text: with_entries(text or "", file, host, program)


def _uninstall_edit(file: SettingsFile) -> Edit:
    def edit(text: str | None) -> str | None:
        if text is None:
            return None
        original = _backup(file)
        after = without_entries(text, file, original)
        if after == text or not is_empty(after, file):
            return after
        return original if original is not None and is_empty(original, file) else None

    return edit


def _backup(file: SettingsFile) -> str | None:
    """The text before picomem was installed, where it was kept."""
    try:
        text = read_settings(backup_of(file.path))
        return None if text is None or own_entries(text, file).installed else text
    except InvalidInput:
        return None


def _needs_copy(text: str, file: SettingsFile) -> bool:
    return not backup_of(file.path).exists() or not own_entries(text, file).installed


# Changes of picomem's own settings that an install offers: to keep transcripts, and to have a host's model distil.
#
# - `ingest.keep`, because Claude Code deletes transcripts unchanged for 30 days.
# - `memory.consolidation_command` and `memory.consolidate_transcripts`, because who uses an agent pays for a model
#   already. The host is called without its tools, hooks and instructions, and keeps no transcript of the call.

OFFER_KEEPING = "Claude Code deletes transcripts after 30 days. Keep redacted copies of those that are about to expire?"
TOKENS_A_DAY = 200_000
_WINDOW = 24_000  # tokens: a call for each part of a session, and models of hosts take much more
_DECIDING = ("consolidation_command", "consolidation_model", "consolidate_transcripts")
_EXPIRING, _NONE = "expiring", "none"


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

    change = _planned_settings(edit, 'now has keep = "expiring" in [ingest]')
    return change if change.before != change.after else _planned_settings(edit, "keeps transcripts already")


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
    return _planned_settings(edit, says)


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


def _planned_settings(edit: Edit, says: str) -> SettingsChange:
    path = settings_file()
    try:
        before = read_settings(path)
        after = edit(before)
        if after != before:
            check_writable(path)
    except InvalidInput as error:
        raise InvalidInput(f"The settings file {path} is left as it is: {str(error).rstrip('.')}.") from error
    return SettingsChange(path, before, after, edit, says)
