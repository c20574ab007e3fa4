"""Sets `ingest.keep` when picomem is installed, because Claude Code deletes transcripts unchanged for 30 days."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.hosts.claude_code_host import CLAUDE_CODE
from picomem.hosts.installing import HostPlan
from picomem.hosts.settings_files import check_writable, read_settings, replace_settings
from picomem.hosts.toml_edit import set_key
from picomem.light_dataclass import dataclass
from picomem.settings import given, load, settings_file

OFFER = "Claude Code deletes transcripts after 30 days. Keep redacted copies of those that are about to expire?"
_TABLE, _KEY, _EXPIRING, _NONE = ("ingest",), "keep", "expiring", "none"


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """The old and the new content of picomem's settings file; None stands for no file."""

    path: Path
    before: str | None
    after: str | None


def offered_keeping(plans: Sequence[HostPlan]) -> SettingsChange | None:
    """Return the change of settings that an install in these hosts offers; None where transcripts do not expire, where
    somebody has decided already, and where the settings cannot be changed."""
    try:
        is_open = f"{_TABLE[0]}.{_KEY}" not in given()
        expires = any(plan.host is CLAUDE_CODE and not plan.problem for plan in plans)
        return plan_keeping() if is_open and expires else None
    except InvalidInput:
        return None


def plan_keeping() -> SettingsChange:
    """The change that keeps what expires. Raises InvalidInput where the settings cannot be changed."""
    path = settings_file()
    try:
        before = read_settings(path)
        after = _keeping(before)
        if after != before:
            check_writable(path)
    except InvalidInput as error:
        raise InvalidInput(f"The settings file {path} is left as it is: {str(error).rstrip('.')}.") from error
    return SettingsChange(path, before, after)


def keep_expiring(planned: SettingsChange) -> SettingsChange:
    """Change the file as planned, or as it is right by now. Raises InvalidInput or Conflict."""
    before, after = replace_settings(planned.path, _keeping, lambda _: False, is_private=True)
    return SettingsChange(planned.path, before, after)


def _keeping(text: str | None) -> str | None:
    """The text of the settings that keeps what expires; the same text where it keeps all or some already."""
    return text if load().ingest.keep != _NONE else set_key(text or "", _TABLE, _KEY, _EXPIRING)
