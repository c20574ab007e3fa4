"""Records the conversations of an import. An undo of the import keeps them, because only a purge deletes them.

Changes of the import's run record them; these changes concern no memory. Each conversation with PicoBot has its own
change, written together with it. Transcripts have one change for the imported file, by which they are found again.
"""

from __future__ import annotations

from collections.abc import Iterable

from picomem.memory.remember import Writer
from picomem.memory.version_history import IMPORTED
from picomem.records.memory import Change
from picomem.records.scope import Scope
from picomem.store import audit, episodes
from picomem.store.connector import Transaction

_TOOK_IN, _READ = "took in a conversation from ", "read conversations from "  # reasons of changes
_SHOWN = 5  # ids that a sentence names


def note_conversation(tx: Transaction, writer: Writer, scope: Scope, path: str) -> None:
    """Put on record that a run took in a conversation with PicoBot."""
    writer.record(tx, scope, IMPORTED, f"{_TOOK_IN}{path}")


def note_transcripts(tx: Transaction, writer: Writer, scope: Scope, path: str) -> None:
    """Put on record that a run read conversations in a file."""
    writer.record(tx, scope, IMPORTED, f"{_READ}{path}")


def conversations_left(tx: Transaction, scope: Scope, run: str) -> str:
    """Describe in a sentence which conversations an undo of a run leaves; empty if none."""
    return left_by(tx, scope, audit.of_run(tx, scope, run))


def left_by(tx: Transaction, scope: Scope, changes: Iterable[Change]) -> str:
    """The same for a run whose changes are known."""
    reasons = [change.reason for change in changes if change.decision == IMPORTED and not change.memory_id]
    taken_in = sum(reason.startswith(_TOOK_IN) for reason in reasons)
    if taken_in:
        what = "conversation with PicoBot stays" if taken_in == 1 else "conversations with PicoBot stay"
        return f"{taken_in:,} {what}; `picomem sessions` lists them, and `picomem purge --session ID` erases one."
    path = next((reason.removeprefix(_READ) for reason in reasons if reason.startswith(_READ)), "")
    sessions = [transcript.session for transcript in episodes.transcripts_at(tx, scope, path)] if path else []
    if not sessions:
        return ""
    more = f" and {len(sessions) - _SHOWN} more" if len(sessions) > _SHOWN else ""
    return (
        f"The conversations that it read from {path} stay, with their episodes: {', '.join(sessions[:_SHOWN])}{more}; "
        "`picomem purge --session ID` erases one."
    )
