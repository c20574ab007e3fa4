"""Results as text for a person at a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from picomem.cli.text import conversations, keeping, reading, writing


def text_of(name: str, result: Any) -> str:
    """The result of the operation of that name."""
    return _TEXTS[name](result)


_TEXTS: dict[str, Callable[[Any], str]] = {
    "recall": reading.recall,
    "search-notes": reading.search_notes,
    "read-note": reading.read_note,
    "memories": reading.memories,
    "show": reading.show,
    "why": reading.why,
    "history": reading.history,
    "timeline": reading.timeline,
    "consolidate": conversations.consolidate,
    "remember": writing.remember,
    "revise": writing.revise,
    "forget": writing.forget,
    "undo": writing.undo,
    "changes": writing.changes,
    "purge": writing.purge,
    "index": reading.index,
    "ingest": keeping.ingest,
    "withhold": keeping.withhold,
    "migrate": keeping.migrate,
    "scrub": keeping.scrub,
    "embed": keeping.embed,
    "status": keeping.status,
    "doctor": keeping.doctor,
    "audit": writing.audit,
    "index-status": keeping.index_status,
    "sessions": conversations.sessions,
    "messages": conversations.messages,
    "import-sessions": conversations.import_sessions,
}
