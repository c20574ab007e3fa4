"""Stores the content of picomem's own export: memories with their versions, changes and lineage, and conversations.

Ids, times and origins are kept; texts are redacted by the rules of this store, and the gate judges them. A memory is
stored whole or not at all, in one transaction, with one change that records the import (`IMPORTED`). A memory that the
store already has stays unchanged, and one that was purged stays purged; but one whose import was undone becomes current
again.
"""

from __future__ import annotations

from picomem.coded_text import CodedText
from picomem.emulation.agent_files import check_text, checked_path
from picomem.emulation.graph_mapping import is_graph_path
from picomem.errors import Conflict, InvalidInput, NotFound, Refused
from picomem.history.undo import note_conversation, undo
from picomem.light_dataclass import replace
from picomem.memory.remember import Writer
from picomem.memory.version_history import IMPORTED, statement_of
from picomem.policy.gate import judge, judge_names
from picomem.policy.redact import check_ids
from picomem.records.kinds import Decision
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.records.session import Message, NewMessage
from picomem.sessions.pairs import safe_said, stored_message
from picomem.store.connector import Transaction
from picomem.store.tables import audit, memories, memory_lineage, session_rows
from picomem.store.tables.tombstones import Tombstones
from picomem.transfer.export_file import memory_of
from picomem.transfer.export_records import ExportedMemory, ExportedSession
from picomem.transfer.importer import Importer

_EXCERPT = 200  # characters of a refused text that its change keeps


class Restoring:
    """Stores the records of one export."""

    def __init__(self, importer: Importer) -> None:
        self._importer = importer
        self._scope = Scope(importer.scope.user)
        self._barred: set[str] = set()  # sessions that were purged here, or differ from those that are here
        self._undoing: dict[str, str] | None = None

    # Memories

    def memory(self, tx: Transaction, writer: Writer, place: str, memory: ExportedMemory) -> None:
        """Store a memory, and count what became of it."""
        report, first = self._importer.report, memory.versions[0]
        here = memory_of(tx, self._scope, first.id)
        if here is not None or memories.unchecked_versions(tx, self._scope, first.id):
            if here is None or not _continues(here, memory):
                report.differing += 1
                report.tell(f"{place}: “{first.key}” is here with another history and was left as it is.")
            else:
                self._bring_back(tx, writer, place, first)
            return
        if Tombstones(tx, self._scope).bars_memory(first.id):
            report.purged += 1
            return
        reason = self._reason_against(tx, memory)
        if reason:
            self._refuse(tx, writer, place, memory, reason)
            return
        self._store(tx, writer, memory)
        report.new += 1

    def _bring_back(self, tx: Transaction, writer: Writer, place: str, memory: Memory) -> None:
        """Believe a memory that is here again, if what took it away is that its arrival was undone; count it."""
        taken_back_by = self._undo_of_arrival(tx, memory.id)
        if not taken_back_by:
            self._importer.report.known += 1
            return
        try:
            (done,) = undo(tx, writer, self._scope, taken_back_by, CodedText("reason.imported_again"))
        except InvalidInput:  # nothing of it was believed when it came, or a purge took what there was
            self._importer.report.known += 1
            return
        except Conflict as error:
            self._importer.report.differing += 1
            self._importer.report.tell(f"{place}: “{memory.key}” was not brought back. {error}")
            return
        self._undone_by(tx)[taken_back_by] = done.change.id
        self._importer.report.new += 1

    def _undo_of_arrival(self, tx: Transaction, memory_id: str) -> str:
        """The change that took a memory's arrival with an export back; empty where it is in force."""
        changes = audit.of_memory(tx, self._scope, memory_id, [])
        arrivals = [change.id for change in changes if change.decision == IMPORTED and not audit.is_blank(change)]
        if not arrivals:
            return ""
        last, is_taken_back = arrivals[-1], False
        while last in self._undone_by(tx):
            last, is_taken_back = self._undone_by(tx)[last], not is_taken_back
        return last if is_taken_back else ""

    def _undone_by(self, tx: Transaction) -> dict[str, str]:
        """Return which change was undone by which."""
        if self._undoing is None:
            self._undoing = {undone: change for change, undone in audit.undoing(tx, self._scope, []).items()}
        return self._undoing

    def _reason_against(self, tx: Transaction, memory: ExportedMemory) -> str:
        for version in memory.versions:
            names = judge_names(
                (version.scope.project, version.scope.agent, version.scope.session, *version.tags, *version.related),
                version.origin,
            )
            reason = "" if names.keep else names.recorded_reason
            try:
                check_ids(version.scope)
                is_file = bool(version.path) and not is_graph_path(version.path)
                if is_file:
                    checked_path(version.path, self._importer.cleaner)
                    check_text(version.content)
                elif self._importer.clean(version.path) != version.path:
                    raise InvalidInput(CodedText("reason.refused_export_secret"))
            except (InvalidInput, Refused) as error:
                return error.message
            for text in () if is_file else filter(None, (version.content, version.context)):
                verdict = judge(text, kind=version.kind, origin=version.origin, explicit=True)
                reason = reason or ("" if verdict.keep else verdict.recorded_reason)
            if not version.content and not is_file:
                reason = CodedText("reason.refused_export_empty")
            if reason:
                return reason
            if version.path and version.known_to is None and memories.by_path(tx, version.scope, version.path):
                return CodedText(f"reason.refused_export_{'file' if is_file else 'graph'}", path=version.path)
        return self._reason_against_changes(tx, memory)

    def _reason_against_changes(self, tx: Transaction, memory: ExportedMemory) -> str:
        """A change has one meaning: an export must not put its own under the id of one that is here."""
        for change in memory.changes:
            here = audit.change(tx, self._scope, change.id)
            if here is not None and here.memory_id not in (change.memory_id, ""):
                return CodedText("reason.refused_export_change", change=change.id)
        return ""

    def _refuse(self, tx: Transaction, writer: Writer, place: str, memory: ExportedMemory, reason: str) -> None:
        excerpt = memory.versions[-1].content[:_EXCERPT]
        if not audit.was_refused(tx, self._scope, reason, excerpt):
            writer.record(tx, self._scope, Decision.REFUSE, reason, candidate=excerpt)
        self._importer.refuse(place, reason)

    def _store(self, tx: Transaction, writer: Writer, memory: ExportedMemory) -> None:
        changes = {change.id: change for change in memory.changes}
        for change in memory.changes:
            if audit.change(tx, self._scope, change.id) is None:
                audit.record(tx, self._scope, change)
        for version in memory.versions:
            opened = writer.open_version(tx, self._keyed(tx, replace(version, known_to=None)), [])
            if version.known_to is not None:
                memories.close(tx, opened, version.known_to, changes[memory.closers[version.version]].id)
        for link in memory.links:
            memory_lineage.add_lineage(
                tx, self._scope, "memory", memory.versions[0].id, link.version, [link.parent], link.change_id
            )
        last = memory.versions[-1]
        reason = CodedText("reason.imported")
        writer.record(tx, self._scope, IMPORTED, reason, memory_id=last.id, after=last.version)

    def _keyed(self, tx: Transaction, version: Memory) -> Memory:
        """A version under a key that is free here while it is believed without an end."""
        if version.valid_to is None:
            return replace(version, key=memories.free_key(tx, version.scope, version.key))
        return version

    # Conversations

    def session(self, tx: Transaction, writer: Writer, place: str, exported: ExportedSession) -> None:
        """Store a conversation, without its messages."""
        session, report = exported.session, self._importer.report
        try:
            check_ids(Scope(self._scope.user, session.scope.agent, session.scope.project, session.id))
        except InvalidInput as error:
            self._importer.unreadable(place, str(error).rstrip("."))
            self._barred.add(session.id)
            return
        if Tombstones(tx, self._scope).touches("picobot", session.id, ""):
            report.purged += 1
            self._barred.add(session.id)
            return
        here = session_rows.session(tx, self._scope, session.id)
        if here is not None:
            same_beginning = here.created_at == session.created_at and here.channel is session.channel
            if not same_beginning:
                report.differing += 1
                self._barred.add(session.id)
            elif session.last_active_at > here.last_active_at:
                session_rows.put(tx, replace(here, last_active_at=session.last_active_at))
            return
        session_rows.put(tx, session)
        if exported.summary is not None:
            session_rows.put_summary(tx, self._scope, exported.summary)
        note_conversation(tx, writer, self._scope, self._importer.place)
        report.sessions += 1

    def message(self, tx: Transaction, _writer: Writer, place: str, message: Message) -> None:
        """Store a message of a conversation that is here."""
        if message.session_id in self._barred:
            return
        try:
            stored = self._safe(message)
            session = session_rows.session(tx, self._scope, message.session_id)
            if session is None:
                raise NotFound("the conversation that it belongs to stands before it in no line")
        except (InvalidInput, NotFound) as error:
            self._importer.unreadable(place, str(error).rstrip("."))
            return
        here = session_rows.messages_between(tx, self._scope, session.id, message.seq - 1, message.seq + 1, 1)
        if not here.messages and not here.damaged and not self._is_elsewhere(tx, message):
            session_rows.insert_message(tx, self._scope, stored)
            self._importer.report.messages += 1
            return
        if not here.messages or here.messages[0].id != message.id:
            self._importer.report.differing += 1
            self._importer.report.tell(f"{place}: another message has its number or its id here.")

    def _is_elsewhere(self, tx: Transaction, message: Message) -> bool:
        return session_rows.message_by_id(tx, self._scope, message.id) is not None

    def _safe(self, message: Message) -> Message:
        said = NewMessage(
            role=message.role,
            content=message.content,
            tool_calls=message.tool_calls,
            tool_call_id=message.tool_call_id,
            origin=message.origin,
        )
        safe = safe_said(said, self._importer.clean)
        stored = stored_message(message.session_id, message.seq, safe, message.created_at)
        return replace(stored, id=message.id)


def _continues(here: ExportedMemory, exported: ExportedMemory) -> bool:
    """Return whether a memory is what an export holds, perhaps with later versions. A key that was taken here is
    another."""
    versions = {version.version: version for version in here.versions}
    return all(
        version.version in versions
        and statement_of(replace(version, key="")) == statement_of(replace(versions[version.version], key=""))
        and (version.change_id, version.known_from)
        == (versions[version.version].change_id, versions[version.version].known_from)
        and exported.closers.get(version.version) in (None, here.closers.get(version.version))
        for version in exported.versions
    )
