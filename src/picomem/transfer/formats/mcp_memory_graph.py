"""The knowledge graph of MCP's server-memory: its file of JSON lines, the same as one JSON list, or what its tool
`read_graph` answers.

    {"type": "entity", "name", "entityType", "observations": […]}
    {"type": "relation", "from", "to", "relationType"}

Each entity, each observation and each relation becomes a memory, as if an agent had stored it with the same tools of
ours (emulation/graph_mapping.py), so `read_graph` gives the graph back. There are no times in it. Models write the
graph, so it is an agent's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from picomem.emulation.graph_mapping import GraphMemory, entity_memory, observation_memory, relation_memory
from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.paths import is_regular
from picomem.transfer.foreign_files import bounded_lines, check_size, json_document, json_of, text_of
from picomem.transfer.importer import ImportedEntry, Importer


class McpMemoryGraph:
    """A graph of entities, relations and observations."""

    name = "mcp-memory"
    example = "memory.jsonl"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        start = reader.head(path)[:20_000] if is_regular(path) else b""
        return bool(re.search(rb'"type"\s*:\s*"(entity|relation)"|"entities"\s*:\s*\[', start)) and (
            b'"observations"' in start or b'"relationType"' in start
        )

    def read(self, path: Path, importer: Importer) -> None:
        for place, record in _records(path, importer):
            kind = record.get("type")
            if kind == "relation" or (kind is None and "relationType" in record):
                _offer_relation(importer, place, record)
            elif kind == "entity" or (kind is None and "observations" in record):
                _offer_entity(importer, place, record)
            elif kind != "export":  # the first line of an export of ours
                importer.unreadable(place, "it is neither an entity nor a relation")


def _records(path: Path, importer: Importer) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records, each with its place; lines that are none are counted."""
    start = reader.head(path)[:20_000]
    if start.startswith(b"[") or re.search(rb'"entities"\s*:\s*\[', start):
        document = json_document(path)
        if isinstance(document, list):
            document = {"record": document}
        for name in ("record", "entities", "relations"):
            yield from importer.records_of(document, name)
        return
    size = check_size(path)
    for number, line in enumerate(bounded_lines(path, reader.LONGEST), 1):
        try:
            record = json_of(line.data) if line.data is not None else None
        except InvalidInput as error:
            importer.unreadable(f"line {number}", str(error))
            continue
        if isinstance(record, dict):
            yield f"line {number}", record
            importer.done(min(line.end, size), size, str(path))
        else:
            importer.unreadable(f"line {number}", "it is no record, or too long")


def _offer_entity(importer: Importer, place: str, record: dict[str, Any]) -> None:
    name = text_of(record, "name")
    if not name:
        importer.unreadable(place, "it has no name")
        return
    listed = record.get("observations") or []
    if not isinstance(listed, list):
        importer.unreadable(place, "its observations are no list")
        listed = []
    observations = [entry if isinstance(entry, str) else text_of(entry, "content", "text") for entry in listed]
    type_ = text_of(record, "entityType")
    _offer(importer, place, name, lambda: entity_memory(name, type_, importer.clean))
    for observation in observations:
        if not observation.strip():
            importer.unreadable(place, "an observation of it is no text")
            continue
        _offer(
            importer,
            place,
            f"{name}\n{observation}",
            lambda observation=observation: observation_memory(name, type_, observation, importer.clean),
        )


def _offer_relation(importer: Importer, place: str, record: dict[str, Any]) -> None:
    names = [text_of(record, name) for name in ("from", "relationType", "to")]
    if not all(names):
        importer.unreadable(place, "it lacks one of from, relationType and to")
        return
    _offer(importer, place, "\n".join(names), lambda: relation_memory(names[0], names[1], names[2], importer.clean))


def _offer(importer: Importer, place: str, identity: str, mapped: Callable[[], GraphMemory]) -> None:
    try:
        part = mapped()
    except InvalidInput as error:
        importer.unreadable(place, str(error).rstrip("."))
        return
    importer.offer(
        ImportedEntry(
            identity=identity,
            place=place,
            content=part.content,
            tags=part.tags,
            importance=part.importance,
            path=part.path,
        )
    )


FORMATS = (McpMemoryGraph(),)
