"""Exports a user's knowledge graph in the file format of MCP's server-memory, which skips the first line.

It contains only what agents keep in the graph (memory/graph_mapping.py), in its current state, without history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from picomem.clock import Micros
from picomem.memory.graph_mapping import entity_record, graph_of, relation_record
from picomem.records.scope import Scope
from picomem.store import memories
from picomem.store.connector import Transaction
from picomem.transfer.export_lines import ExportCounts
from picomem.transfer.export_records import Clean

HEAD = '{"type":"export","format":"mcp-memory"'


def graph_lines(tx: Transaction, scope: Scope, clean: Clean, now: Micros, counts: ExportCounts) -> Iterator[str]:
    """The lines of the file."""
    damaged: list[str] = []
    stored = [memory for memory in memories.of_graph(tx, scope, damaged) if not memory.over(now)]
    counts.memories = counts.versions = len(stored)
    counts.damaged = len(damaged)
    graph = graph_of(stored, clean)
    yield f'{HEAD},"by":"picomem"}}\n'
    for entity in graph.entities:
        yield _line({"type": "entity", **entity_record(entity)})
    for relation in graph.relations:
        yield _line({"type": "relation", **relation_record(relation)})


def _line(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
