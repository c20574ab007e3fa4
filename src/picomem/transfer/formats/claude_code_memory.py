"""Claude Code's memory: CLAUDE.md, and its own notes, `projects/*/memory/*.md`.

A note of its own has a `type` in its front matter (user, feedback, project, reference). MEMORY.md beside the notes is
their table of contents; its links are skipped. `@imports` of other files are not followed.
"""

from __future__ import annotations

from pathlib import Path

from picomem.paths import is_folder
from picomem.records.kinds import Kind
from picomem.transfer.importer import Importer
from picomem.transfer.note_entries import offer_host_notes

_NAMES = ("CLAUDE.md", "CLAUDE.local.md")
_OF_A_FOLDER = (*_NAMES, ".claude/CLAUDE.md", "projects/*/memory/*.md", "memory/*.md")
_KINDS = {"feedback": Kind.INSTRUCTION, "project": Kind.PROJECT}


class ClaudeCodeMemory:
    """A CLAUDE.md, a project's memory folder, or the folder ~/.claude."""

    name = "claude-code"
    example = "~/.claude"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        if is_folder(path):
            return path.name == ".claude" or _is_memory_folder(path)
        return path.name in _NAMES

    def read(self, path: Path, importer: Importer) -> None:
        patterns = ("*.md",) if _is_memory_folder(path) else _OF_A_FOLDER
        offer_host_notes(importer, path, patterns, kinds=_KINDS)


def _is_memory_folder(path: Path) -> bool:
    return path.name == "memory" and path.parent.parent.name == "projects"


FORMAT = ClaudeCodeMemory()
