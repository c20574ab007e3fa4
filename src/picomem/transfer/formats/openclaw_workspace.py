"""OpenClaw's workspace: MEMORY.md, USER.md and `memory/**/*.md`.

Left out are its boot files (AGENTS.md, SOUL.md), its dreams, and what it imported from other agents itself.
"""

from __future__ import annotations

from pathlib import Path

from picomem.paths import is_folder, is_regular
from picomem.transfer.importer import Importer
from picomem.transfer.note_entries import offer_host_notes


class OpenclawWorkspace:
    """The folder ~/.openclaw/workspace."""

    name = "openclaw"
    example = "~/.openclaw/workspace"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        has_boot_files = is_regular(path / "SOUL.md") or is_regular(path / "AGENTS.md")
        return is_folder(path) and is_regular(path / "MEMORY.md") and has_boot_files

    def read(self, path: Path, importer: Importer) -> None:
        patterns = ("MEMORY.md", "USER.md", "memory/**/*.md")
        offer_host_notes(importer, path, patterns, without=("dreaming", "imports"))


FORMAT = OpenclawWorkspace()
