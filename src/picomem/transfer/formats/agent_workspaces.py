"""The memory that agents keep in files: Claude Code, Codex, OpenClaw and nanobot.

Claude Code: CLAUDE.md, and its own notes, `projects/*/memory/*.md`. A note of its own has a `type` in its front matter
(user, feedback, project, reference). MEMORY.md beside the notes is their table of contents; its links are skipped.
`@imports` of other files are not followed.
"""

from __future__ import annotations

import re
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.paths import is_folder, is_regular
from picomem.records.kinds import Kind
from picomem.transfer.foreign_files import bounded_lines, json_of, text_of, time_of
from picomem.transfer.importer import ImportedEntry, Importer
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


# Codex's memory: AGENTS.md, and the files in `~/.codex/memories` except the summary of these.


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


# OpenClaw's workspace: MEMORY.md, USER.md and `memory/**/*.md`.
#
# Left out are its boot files (AGENTS.md, SOUL.md), its dreams, and what it imported from other agents itself.


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


# nanobot's workspace: USER.md, memory/MEMORY.md, and of memory/history.jsonl the items that nanobot marked as lasting.
#
# {"cursor": 7, "timestamp": "2026-05-03 14:30", "content": "- [permanent] Anna lives in Bern\n- [ephemeral] …"}

_ITEM = re.compile(r"\s*(?:[-*]\s+)?\[(permanent|durable|correction|ephemeral|skip)\]\s*(\S.*)")
_LASTING = ("permanent", "durable", "correction")


class NanobotWorkspace:
    """The folder ~/.nanobot/workspace."""

    name = "nanobot"
    example = "~/.nanobot/workspace"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        return is_folder(path) and is_regular(path / "memory" / "MEMORY.md") and not is_regular(path / "MEMORY.md")

    def read(self, path: Path, importer: Importer) -> None:
        offer_host_notes(importer, path, ("USER.md", "memory/MEMORY.md"))
        history = path / "memory" / "history.jsonl"
        if not is_regular(history) or history.is_symlink():
            return
        for number, line in enumerate(bounded_lines(history, reader.LONGEST), 1):
            try:
                _offer_items(importer, f"{history}, line {number}", json_of(line.data or b""))
            except InvalidInput as error:
                importer.unreadable(f"{history}, line {number}", str(error))


def _offer_items(importer: Importer, place: str, record: object) -> None:
    if not isinstance(record, dict):
        raise InvalidInput("it is no record")
    for said in text_of(record, "content").split("\n"):
        item = _ITEM.fullmatch(said)
        if item is None or item.group(1) not in _LASTING:
            importer.report.passed_over["item of the history that is not to last"] += bool(said.strip())
            continue
        importer.offer(
            ImportedEntry(
                identity=item.group(2),
                place=place,
                content=item.group(2),
                at=time_of(record, "timestamp", zone=importer.zone),
            )
        )


FORMATS = (ClaudeCodeMemory(), CodexMemory(), OpenclawWorkspace(), NanobotWorkspace())
