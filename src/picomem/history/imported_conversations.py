"""Records the conversations of an import. An undo of the import keeps them, because only a purge deletes them.

Changes of the import's run record them; these changes concern no memory. Each conversation with PicoBot has its own
change, written together with it. Transcripts have one change for the imported file, by which they are found again.
"""

from __future__ import annotations

from collections.abc import Iterable

from picomem.coded_text import CodedText, Command, code_of, value_of
from picomem.memory.remember import Writer
from picomem.memory.version_history import IMPORTED
from picomem.records.memory import Change
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, transcript_rows

_TOOK_IN, _READ = "reason.taken_in", "reason.read"
_PURGE = Command("purge", session="ID")
_SHOWN = 5  # ids that a sentence names


def note_conversation(tx: Transaction, writer: Writer, scope: Scope, path: str) -> None:
    """Put on record that a run took in a conversation with PicoBot."""
    writer.record(tx, scope, IMPORTED, CodedText(_TOOK_IN, path=path))


def note_transcripts(tx: Transaction, writer: Writer, scope: Scope, path: str) -> None:
    """Put on record that a run read conversations in a file."""
    writer.record(tx, scope, IMPORTED, CodedText(_READ, path=path))


def conversations_left(tx: Transaction, scope: Scope, run: str) -> str:
    """Describe in a sentence which conversations an undo of a run leaves; empty if none."""
    return left_by(tx, scope, audit.of_run(tx, scope, run))


def left_by(tx: Transaction, scope: Scope, changes: Iterable[Change]) -> str:
    """The same for a run whose changes are known."""
    reasons = [change.reason for change in changes if change.decision == IMPORTED and not change.memory_id]
    taken_in = sum(code_of(reason) == _TOOK_IN for reason in reasons)
    if taken_in:
        commands = {"command": Command("sessions"), "further_command": _PURGE}
        return CodedText("warning.conversations_stay", count=taken_in, **commands)
    path = next((value_of(reason, "path") for reason in reasons if code_of(reason) == _READ), "")
    sessions = [transcript.session for transcript in transcript_rows.transcripts_at(tx, scope, path)] if path else []
    if not sessions:
        return ""
    listed = (*sessions[:_SHOWN], *(["…"] if len(sessions) > _SHOWN else []))
    return CodedText("warning.read_conversations_stay", path=path, sessions=listed, command=_PURGE)
