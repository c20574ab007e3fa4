"""Codex's memory: AGENTS.md, and the files in `~/.codex/memories` except the summary of these."""

from __future__ import annotations

from pathlib import Path

from picomem.paths import is_folder
from picomem.transfer.importer import Importer
from picomem.transfer.note_entries import offer_host_notes


class CodexMemory:
    """An AGENTS.md, the folder of memories, or the folder ~/.codex."""

    name = "codex"
    example = "~/.codex"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        if is_folder(path):
            return path.name == ".codex" or (path.name == "memories" and path.parent.name == ".codex")
        return path.name == "AGENTS.md"

    def read(self, path: Path, importer: Importer) -> None:
        patterns = ("*.md",) if path.name == "memories" else ("AGENTS.md", "memories/*.md")
        offer_host_notes(importer, path, patterns, without=("memory_summary.md",))


FORMAT = CodexMemory()
