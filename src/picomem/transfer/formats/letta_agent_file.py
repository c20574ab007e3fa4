"""Letta's agent file (.af): the blocks of an agent's memory, and its archival passages if the file has any.

    {"agents": [{"name", "block_ids", "messages", …}], "blocks": [{"id", "label", "value", …}], …}
    {"agent_type": …, "core_memory": [{"label", "value", "updated_at", …}], "messages": […]}      (before)

A block holds many lines; each list item and paragraph becomes an entry with the label as its tag. What the agent is to
be (`persona`), its messages and its tools are passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.paths import is_regular
from picomem.transfer.foreign_files import json_document, list_of, names_of, text_of, time_of
from picomem.transfer.importer import ImportedEntry, Importer
from picomem.transfer.markdown_import import read_entries

_PERSONA = "persona"
_BLOCKS = ("blocks", "core_memory")
_PASSAGES = ("passages", "archival_memory")


class LettaAgentFile:
    """One file with one or several agents."""

    name = "letta"
    example = "assistant.af"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        if not is_regular(path):
            return False
        return path.suffix == ".af" or (
            path.suffix == ".json" and b'"core_memory"' in (start := reader.head(path)[:20_000]) and b"agent" in start
        )

    def read(self, path: Path, importer: Importer) -> None:
        document = json_document(path)
        agents = [agent for _, agent in importer.records_of(document, "agents")]
        holders = (document, *agents)
        blocks = [
            block for holder in holders for name in _BLOCKS for _, block in importer.records_of(holder, name, "block")
        ]
        if not agents and not blocks:
            raise InvalidInput(f"{path} is no agent file of Letta: it has neither agents nor blocks of memory.")
        for block in blocks:
            _offer_block(importer, block)
        for holder in holders:
            for name in _PASSAGES:
                for place, passage in importer.records_of(holder, name, "passage"):
                    _offer_passage(importer, place, passage)
            importer.report.passed_over["message"] += len(list_of(holder, "messages"))


def _offer_block(importer: Importer, block: dict[str, Any]) -> None:
    label, value = text_of(block, "label"), text_of(block, "value")
    if label == _PERSONA:
        importer.report.passed_over["persona"] += 1
        return
    if not value:
        importer.report.passed_over["empty block"] += 1
        return
    at = time_of(block, "updated_at", "created_at", zone=importer.zone)
    for entry in read_entries(value, "", importer.zone):
        importer.offer(
            ImportedEntry(
                identity=f"{text_of(block, 'id') or label}\n{entry.content}",
                place=f"block {label}, line {entry.line}",
                content=entry.content,
                kind=entry.kind,
                tags=(label, entry.tag),
                at=at if entry.at is None else entry.at,
            )
        )


def _offer_passage(importer: Importer, place: str, passage: dict[str, Any]) -> None:
    text = text_of(passage, "text", "content")
    if not text:
        importer.unreadable(place, "it has no text")
        return
    importer.offer(
        ImportedEntry(
            identity=text_of(passage, "id"),
            place=place,
            content=text,
            tags=names_of(passage, "tags"),
            at=time_of(passage, "created_at", zone=importer.zone),
        )
    )


FORMATS = (LettaAgentFile(),)
