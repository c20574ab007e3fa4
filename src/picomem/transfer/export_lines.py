"""Reads a user's memories and conversations for an export, row by row in one snapshot of the store.

It leaves out episodes (they point into transcripts of other programs, which can be ingested again), refused texts,
tombstones (digests under a key that only this store has), vectors and other derived rows, tokens, jobs, and waiting
messages of channels. Damaged rows are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from picomem.light_dataclass import dataclass, replace
from picomem.memory.version_history import IMPORTED
from picomem.records.memory import Change
from picomem.records.scope import Scope
from picomem.records.session import Message
from picomem.sessions.new_messages import safe_message
from picomem.store.connector import Transaction
from picomem.store.tables import audit, memories, memory_lineage, session_rows
from picomem.transfer.export_records import (
    Clean,
    ExportedMemory,
    ExportedSession,
    header,
    line_of,
    memory_record,
    message_record,
    session_record,
)

_PAGE = 500


@dataclass(slots=True)
class ExportCounts:
    """The number of rows in an export, and of damaged rows that were left out."""

    memories: int = 0
    versions: int = 0
    sessions: int = 0
    messages: int = 0
    damaged: int = 0


def export_lines(tx: Transaction, scope: Scope, clean: Clean, counts: ExportCounts) -> Iterator[str]:
    """The lines of an export of all that a user has; `counts` is filled while they are read."""
    yield line_of(header(scope.user))
    for exported in sessions_of(tx, scope, counts):
        yield line_of(session_record(exported, clean))
        for message in messages_of(tx, scope, exported.session.id, counts):
            yield line_of(message_record(safe_message(message, clean)))
    for memory in memories_of(tx, scope, counts):
        yield line_of(memory_record(memory, clean))
    end = {"sessions": counts.sessions, "messages": counts.messages, "memories": counts.memories}
    yield line_of({"type": "end", **end})


def memories_of(tx: Transaction, scope: Scope, counts: ExportCounts) -> Iterator[ExportedMemory]:
    """Every memory of a user with its history, by id."""
    after = ""
    while page := memories.ids_after(tx, scope, after, _PAGE):
        for memory_id in page:
            memory = memory_of(tx, scope, memory_id)
            if memory is None:
                counts.damaged += 1
                continue
            counts.memories += 1
            counts.versions += len(memory.versions)
            yield memory
        after = page[-1]


def memory_of(tx: Transaction, scope: Scope, memory_id: str) -> ExportedMemory | None:
    """A memory with its history; None where there is none, or a row of it is damaged.

    Its arrival with an earlier export is not part of its history, and neither is a change that undid that.
    """
    versions = memories.whole_versions(tx, scope, memory_id)
    if not versions:
        return None
    closers = memories.closers(tx, scope, memory_id)
    damaged: list[str] = []
    changes = {change.id: change for change in audit.of_memory(tx, scope, memory_id, damaged)}
    arrivals = {change.id for change in changes.values() if change.decision == IMPORTED}
    changes = {id_: change for id_, change in changes.items() if id_ not in arrivals}
    for id_ in sorted({version.change_id for version in versions} | set(closers.values())):
        if id_ not in changes and id_ not in damaged:  # a purge takes the memory's id from a change
            change = audit.change(tx, scope, id_)
            changes |= {id_: change} if change else {}
    links = tuple(link for link in memory_lineage.links_of(tx, scope, memory_id, damaged) if link.change_id in changes)
    listed = tuple(_known_only(changes[id_], changes) for id_ in sorted(changes))
    return None if damaged else ExportedMemory(tuple(versions), closers, listed, links)


def _known_only(change: Change, changes: dict[str, Change]) -> Change:
    return change if not change.undoes or change.undoes in changes else replace(change, undoes="")


def sessions_of(tx: Transaction, scope: Scope, counts: ExportCounts) -> Iterator[ExportedSession]:
    """Every conversation of a user, by id."""
    for named in session_rows.stored_sessions(tx, scope):
        session = session_rows.session(tx, scope, named.record.id) if named.is_whole else None
        if session is None:
            counts.damaged += 1
            continue
        counts.sessions += 1
        yield ExportedSession(session, session_rows.summary(tx, scope, session.id))


def messages_of(tx: Transaction, scope: Scope, session_id: str, counts: ExportCounts) -> Iterator[Message]:
    """The messages of a conversation in their order."""
    after = 0
    while True:
        page = session_rows.messages_page(tx, scope, session_id, after, _PAGE)
        counts.damaged += len(page.damaged)
        counts.messages += len(page.messages)
        yield from page.messages
        numbers = [*page.damaged, *(message.seq for message in page.messages)]
        if not numbers:
            return
        after = max(numbers)
