"""nanobot's workspace: USER.md, memory/MEMORY.md, and of memory/history.jsonl the items that nanobot marked as lasting.

{"cursor": 7, "timestamp": "2026-05-03 14:30", "content": "- [permanent] Anna lives in Bern\\n- [ephemeral] …"}
"""

from __future__ import annotations

import re
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.paths import is_folder, is_regular
from picomem.transfer.foreign_files import bounded_lines, json_of, text_of, time_of
from picomem.transfer.importer import ImportedEntry, Importer
from picomem.transfer.note_entries import offer_host_notes

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


FORMAT = NanobotWorkspace()
