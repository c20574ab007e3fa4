"""Imports conversations of chat services as transcripts: with ingest, in the run of the import.

They become episodes that point back into the file, and requests of the person become memories. `picomem ingest` reads
the same file. The file must stay in its place, because the pointers lead into it.
"""

from __future__ import annotations

from pathlib import Path

from picomem.errors import InvalidInput
from picomem.ingest import reader
from picomem.ingest.format import NAMELESS, DocumentFormat, format_named
from picomem.ingest.noise import visible
from picomem.ingest.resuming import PURGED
from picomem.paths import is_regular
from picomem.transfer.importer import Importer, conversation_name


class ConversationExport:
    """An export of conversations, of the ingest format of the same name."""

    serves_all_users = False
    is_fallback = False

    def __init__(self, name: str, example: str) -> None:
        self.name, self.example = name, example

    def claims(self, path: Path) -> bool:
        return is_regular(path) and format_named(self.name).claims(path, reader.head(path))

    def read(self, path: Path, importer: Importer) -> None:
        form = format_named(self.name)
        assert isinstance(form, DocumentFormat)
        if not form.claims(path, reader.head(path)):
            raise InvalidInput(f"{path} is no export of conversations of {self.name}; name its conversations.json.")
        if not importer.dry_run:
            importer.read_transcript(path, self.name)
            return
        known, nameless = importer.known_conversations(self.name), 0
        for info, turns, skipped in form.sessions(path):
            nameless += not info.session
            session = visible(info.session) or f"{NAMELESS}{nameless}"
            name = conversation_name(session, path.resolve())
            if name not in known and importer.is_purged_conversation(self.name, session, path.resolve()):
                importer.report.passed_over.update({PURGED: 1})
                continue
            importer.report.sessions += name not in known
            importer.report.messages += max(0, len(turns) - known.get(name, 0))
            importer.report.passed_over.update(skipped.counts)
            known[name] = max(len(turns), known.get(name, 0))


FORMATS = (
    ConversationExport("chatgpt", "~/Downloads/chatgpt.zip"),
    ConversationExport("claude", "~/Downloads/data-2026-11-20.zip"),
)
