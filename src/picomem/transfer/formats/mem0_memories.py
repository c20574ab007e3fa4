"""mem0: what `Memory.get_all()`, or the platform's list of memories, answers, saved as JSON.

    {"results": [{"id", "memory", "metadata", "categories", "created_at", "updated_at", "user_id", …}], "relations": …}

Older versions, and the platform, answer with the bare list. mem0's model words the memories, so they are an agent's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.paths import is_regular
from picomem.transfer.foreign_files import json_document, names_of, text_of, time_of
from picomem.transfer.importer import ImportedEntry, Importer

_MOST_NAMED = 5


class Mem0Memories:
    """A list of memories of mem0."""

    name = "mem0"
    example = "mem0.json"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        if not is_regular(path):
            return False
        start = reader.head(path)[:20_000].lstrip()
        return start[:1] in (b"{", b"[") and re.search(rb'"memory"\s*:\s*"', start) is not None

    def read(self, path: Path, importer: Importer) -> None:
        document = json_document(path)
        records = document if isinstance(document, list) else _results(document)
        if records is None:
            raise InvalidInput(f"{path} holds no list of mem0's memories; save what get_all() answers as JSON.")
        users: set[str] = set()
        for number, record in enumerate(records, 1):
            place = f"memory {number}"
            content = text_of(record, "memory", "text", "data")
            if not content:
                importer.unreadable(place, "it has no text")
                continue
            metadata = record.get("metadata")
            users.add(text_of(record, "user_id"))
            importer.offer(
                ImportedEntry(
                    identity=text_of(record, "id"),
                    place=place,
                    content=content,
                    tags=(*names_of(record, "categories"), *names_of(metadata, "category")),
                    at=time_of(record, "updated_at", "created_at", zone=importer.zone),
                )
            )
            importer.done_with(number, len(records), path)
        relations = document.get("relations") if isinstance(document, dict) else None
        importer.report.passed_over["relation"] += len(relations) if isinstance(relations, list) else 0
        if len(users - {""}) > 1:
            named = ", ".join(sorted(users - {""})[:_MOST_NAMED])
            importer.report.warnings.append(
                f"The memories are of several users of mem0 ({named}), and all were imported for one."
            )


def _results(document: Any) -> list[Any] | None:
    if isinstance(document, dict):
        for name in ("results", "memories"):
            if isinstance(document.get(name), list):
                return document[name]
    return None


FORMATS = (Mem0Memories(),)
