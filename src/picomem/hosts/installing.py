"""Installs picomem in hosts and uninstalls it: plans the change of each settings file, and makes it.

If a file cannot be read, its whole host stays unchanged; the other hosts are installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from picomem.errors import InvalidInput, PicomemError
from picomem.hosts.host import Host, Reach, SettingsFile
from picomem.hosts.host_entries import EditedHook, is_empty, own_entries, with_entries, without_entries
from picomem.hosts.machine import Machine
from picomem.hosts.program import Program
from picomem.hosts.settings_files import (
    backup_of,
    check_writable,
    read_settings,
    remove_backup,
    remove_empty_folder,
    replace_settings,
)
from picomem.light_dataclass import dataclass, field

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
