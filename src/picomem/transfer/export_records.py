"""The lines of picomem's own export: a user's memories and conversations as JSON objects, and back. Pure.

    {"type": "export", "format": "picomem", "version": 1, "user": …}
    {"type": "session", …}, then its messages {"type": "message", …}
    {"type": "memory", "id": …, "versions": […], "changes": […], "lineage": […]}
    {"type": "end", "sessions": …, "messages": …, "memories": …}

A line depends only on the stored rows, so the same store gives the same bytes. Times are RFC 3339 in UTC, to the
microsecond if they are not whole seconds; null means "still". A reader ignores a line that breaks a rule, because the
author of the file is unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from picomem.clock import DAY, Micros, iso, parse_iso
from picomem.coded_text import data_of, rewritten, text_of
from picomem.emulation.graph_mapping import LONGEST_PATH
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.records.ids import new_id
from picomem.records.kinds import CHANGE_DECISIONS, CHANGE_VERBS, Kind, Origin, Source
from picomem.records.memory import Change, Memory, Parent
from picomem.records.scope import Scope
from picomem.records.session import Channel, Message, Role, Session, Summary, ToolCall
from picomem.store.tables.memory_lineage import VersionLink
from picomem.text.inert_text import escaped_json
from picomem.text.memory_keys import check_key
from picomem.text.tokens import count_tokens

FORMAT, VERSION = "picomem", 1
HEAD = b'{"type":"export","format":"picomem"'  # an export begins so
Clean = Callable[[str], str]  # takes secrets out of a text
JsonObject = dict[str, Any]

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_WORD = re.compile(r"[a-z][a-z_-]{0,39}")
_ACTOR = re.compile(r"[\w.@+-]{1,64}(:[\w.@+/-]{1,64})?")  # “user:anna”, “agent:mcp”, “hook”
_OTHER = "other"
_MOST_NAMES = 1_000
_LONGEST_NAME = 400
_MOST_VERSIONS = 100_000
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class ExportedMemory:
    """A memory with its history: every version, oldest first; by which change each closed one was closed; the changes
    and the lineage of these versions."""

    versions: tuple[Memory, ...]
    closers: Mapping[int, str]
    changes: tuple[Change, ...]
    links: tuple[VersionLink, ...]


@dataclass(frozen=True, slots=True)
class ExportedSession:
    """A conversation with PicoBot, without its messages."""

    session: Session
    summary: Summary | None


def line_of(record: Mapping[str, Any]) -> str:
    """A record as a line of the file; a terminal that prints it obeys nothing in it."""
    return escaped_json(json.dumps(record, ensure_ascii=False, separators=(",", ":"))) + "\n"


def header(user: str) -> JsonObject:
    """The first line."""
    return {"type": "export", "format": FORMAT, "version": VERSION, "user": user}


def memory_record(memory: ExportedMemory, clean: Clean) -> JsonObject:
    """A memory as a JSON object, its texts redacted by the rules of today."""
    return {
        "type": "memory",
        "id": memory.versions[0].id,
        "created_at": iso(memory.versions[0].created_at),
        "versions": [_version_record(version, memory.closers, clean) for version in memory.versions],
        "changes": [_change_record(change, clean) for change in memory.changes],
        "lineage": [
            {
                "version": link.version,
                "kind": link.parent.kind,
                "id": link.parent.id,
                "of_version": link.parent.version,
                "role": link.parent.role,
                "change": link.change_id,
            }
            for link in memory.links
        ],
    }


def _version_record(version: Memory, closers: Mapping[int, str], clean: Clean) -> JsonObject:
    return {
        "version": version.version,
        "key": version.key,
        "kind": version.kind.value,
        "content": clean(version.content),
        "context": clean(version.context),
        "importance": version.importance,
        "pinned": version.pinned,
        "tags": list(version.tags),
        "related": list(version.related),
        "origin": version.origin.value,
        "source": version.source.value,
        "agent": version.scope.agent,
        "project": version.scope.project,
        "session": version.scope.session,
        "valid_from": iso(version.valid_from),
        "valid_to": _time(version.valid_to),
        "known_from": iso(version.known_from),
        "known_to": _time(version.known_to),
        "expires_at": _time(version.expires_at),
        "path": version.path,
        "opened_by": version.change_id,
        "closed_by": closers.get(version.version, ""),
    }


def _change_record(change: Change, clean: Clean) -> JsonObject:
    return {
        "id": change.id,
        "run": change.run,
        "at": iso(change.at),
        "actor": change.actor,
        "verb": change.verb,
        "decision": change.decision,
        "reason": data_of(rewritten(change.reason, clean)),
        "before": change.before,
        "after": change.after,
        "undoes": change.undoes,
        "idempotency_key": change.idempotency_key,
        "request_hash": change.request_hash,
    }


def session_record(exported: ExportedSession, clean: Clean) -> JsonObject:
    """A conversation as a JSON object."""
    session, summary = exported.session, exported.summary
    return {
        "type": "session",
        "id": session.id,
        "agent": session.scope.agent,
        "project": session.scope.project,
        "channel": session.channel.value,
        "channel_id": session.channel_id,
        "title": clean(session.title),
        "state": session.state,
        "permissions": session.permissions,
        "forked_from": session.forked_from,
        "created_at": iso(session.created_at),
        "last_active_at": iso(session.last_active_at),
        "archived_at": _time(session.archived_at),
        "last_consolidated_number": session.last_consolidated_seq,
        "last_consolidated_at": _time(session.last_consolidated_at),
        "consolidation_failures": session.consolidation_failures,
        "summary": summary
        and {
            "text": clean(summary.text),
            "origin": summary.origin.value,
            "messages": summary.message_count,
            "up_to_number": summary.covered_seq,
            "created_at": iso(summary.created_at),
            "updated_at": iso(summary.updated_at),
        },
    }


def message_record(message: Message) -> JsonObject:
    """A message as a JSON object; it is redacted already."""
    return {
        "type": "message",
        "session": message.session_id,
        "number": message.seq,
        "id": message.id,
        "role": message.role.value,
        "content": message.content,
        "tool_calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls],
        "tool_call_id": message.tool_call_id,
        "origin": message.origin.value,
        "at": iso(message.created_at),
    }


def check_header(record: JsonObject) -> None:
    """Raises InvalidInput where a first line is of another format, or of a newer version of this one."""
    if record.get("type") != "export" or record.get("format") != FORMAT:
        raise InvalidInput("its first line is not that of an export of picomem")
    version = record.get("version")
    if version != VERSION:
        raise InvalidInput(f"it has version {str(version)[:20]} of the format, and this picomem reads {VERSION}")


def read_memory(record: JsonObject, user: str, now: Micros, clean: Clean) -> ExportedMemory:
    """A memory from its line, for a user, with its texts redacted. Raises InvalidInput, without the end of a sentence,
    for what no memory can be."""
    fields = _Fields(record, "", now)
    id_, created_at = fields.id("id"), fields.time("created_at")
    changes = tuple(_read_change(_Fields(entry, "a change: ", now), id_, clean) for entry in fields.records("changes"))
    read = [
        _read_version(_Fields(entry, "a version: ", now), id_, user, created_at, clean)
        for entry in fields.records("versions")
    ]
    versions = tuple(version for version, _ in read)
    closers = {version.version: closer for version, closer in read if closer}
    links = tuple(_read_link(_Fields(entry, "its lineage: ", now), clean) for entry in fields.records("lineage"))
    _check_history(versions, closers, changes)
    known = {change.id for change in changes}
    numbers = {version.version for version in versions}
    if any(link.version not in numbers or link.change_id not in known for link in links):
        raise InvalidInput("its lineage names a version or a change that it does not have")
    return ExportedMemory(versions, closers, changes, links)


def _read_version(fields: _Fields, id_: str, user: str, created_at: Micros, clean: Clean) -> tuple[Memory, str]:
    content = clean(fields.text("content"))
    importance = fields.value("importance", int | float)
    if isinstance(importance, bool) or not 0 <= importance <= 1:
        raise InvalidInput(f"{fields.where}importance is no number between 0 and 1")
    memory = Memory(
        id=id_,
        version=fields.number("version", least=1),
        scope=Scope(user, fields.name("agent"), fields.name("project"), fields.name("session")),
        key=check_key(fields.text("key")),
        kind=fields.choice("kind", Kind),
        content=content,
        context=clean(fields.text("context")),
        importance=float(importance),
        pinned=fields.value("pinned", bool),
        tags=fields.names("tags", clean),
        related=fields.names("related", clean),
        origin=fields.choice("origin", Origin),
        source=fields.choice("source", Source),
        valid_from=fields.time("valid_from"),
        valid_to=fields.time_or_none("valid_to"),
        known_from=fields.past("known_from"),
        known_to=fields.time_or_none("known_to"),
        expires_at=fields.time_or_none("expires_at"),
        created_at=created_at,
        tokens=count_tokens(content),
        change_id=fields.id("opened_by"),
        path=fields.name("path", most=LONGEST_PATH),
    )
    closed_by = fields.id("closed_by") if fields.text("closed_by") else ""
    if (memory.valid_to is not None and memory.valid_to < memory.valid_from) or (
        memory.known_to is not None and memory.known_to < memory.known_from
    ):
        raise InvalidInput(f"{fields.where}version {memory.version} ends before it begins")
    if (memory.known_to is None) == bool(closed_by):
        raise InvalidInput(f"{fields.where}version {memory.version} is closed without a change, or by one and open")
    return memory, closed_by


def _check_history(versions: Sequence[Memory], closers: Mapping[int, str], changes: Sequence[Change]) -> None:
    if not versions or len(versions) > _MOST_VERSIONS:
        raise InvalidInput("it has no versions, or too many")
    numbers = [version.version for version in versions]
    if numbers != sorted(set(numbers)):
        raise InvalidInput("its versions are not numbered in their order")
    if sum(version.known_to is None and version.valid_to is None for version in versions) > 1:
        raise InvalidInput("two versions of it are believed without an end")
    known = {change.id for change in changes}
    if len(known) < len(changes):
        raise InvalidInput("two of its changes have the same id")
    if not {version.change_id for version in versions} | set(closers.values()) <= known:
        raise InvalidInput("it names a change that it does not have")
    if any(change.undoes and change.undoes not in known for change in changes):
        raise InvalidInput("a change of it undoes one that it does not have")


def _read_change(fields: _Fields, memory_id: str, clean: Clean) -> Change:
    """A change. A purge leaves who made it, its verb and its decision, so no text of any other kind may stand there."""
    actor, verb, decision = clean(fields.name("actor")), fields.word("verb"), fields.word("decision")
    return Change(
        id=fields.id("id"),
        run=fields.id("run"),
        at=fields.past("at"),
        actor=actor if _ACTOR.fullmatch(actor) else "import",
        verb=verb if verb in CHANGE_VERBS else _OTHER,
        decision=decision if decision in CHANGE_DECISIONS else _OTHER,
        reason=rewritten(fields.coded_text("reason"), clean),
        memory_id=memory_id,
        before=fields.number_or_none("before"),
        after=fields.number_or_none("after"),
        undoes=fields.id("undoes") if fields.text("undoes") else "",
        idempotency_key=clean(fields.name("idempotency_key")),
        request_hash=clean(fields.name("request_hash")),
    )


def _read_link(fields: _Fields, clean: Clean) -> VersionLink:
    parent = Parent(
        kind=fields.word("kind"),
        id=clean(fields.name("id")),
        role=fields.word("role"),
        version=fields.number("of_version"),
    )
    return VersionLink(fields.number("version", least=1), parent, fields.id("change"))


def read_session(record: JsonObject, user: str, now: Micros, clean: Clean) -> ExportedSession:
    """A conversation from its line. Raises InvalidInput as `read_memory` does."""
    fields = _Fields(record, "", now)
    permissions = clean(fields.text("permissions"))
    try:
        json.loads(permissions)
    except (ValueError, RecursionError):
        raise InvalidInput("permissions is no JSON") from None
    id_ = fields.name("id")
    if not id_:
        raise InvalidInput("id is empty")
    scope = Scope(user, fields.name("agent"), fields.name("project"))
    session = Session(
        id=id_,
        scope=replace(scope, session=""),
        channel=fields.choice("channel", Channel),
        channel_id=clean(fields.name("channel_id")),
        title=clean(fields.name("title")),
        state=clean(fields.name("state")),
        permissions=permissions,
        forked_from=clean(fields.name("forked_from")),
        created_at=fields.past("created_at"),
        last_active_at=fields.past("last_active_at"),
        archived_at=fields.time_or_none("archived_at"),
        last_consolidated_seq=fields.number("last_consolidated_number"),
        last_consolidated_at=fields.time_or_none("last_consolidated_at"),
        consolidation_failures=fields.number("consolidation_failures"),
    )
    if record.get("summary") is None:
        return ExportedSession(session, None)
    inner = _Fields(fields.value("summary", dict), "summary: ", now)
    summary = Summary(
        session_id=id_,
        text=clean(inner.text("text")),
        origin=inner.choice("origin", Origin),
        message_count=inner.number("messages"),
        covered_seq=inner.number("up_to_number"),
        created_at=inner.past("created_at"),
        updated_at=inner.past("updated_at"),
    )
    return ExportedSession(session, summary)


def read_message(record: JsonObject, now: Micros) -> Message:
    """A message from its line; it is not redacted yet. Raises InvalidInput as `read_memory` does."""
    fields = _Fields(record, "", now)
    calls = [_Fields(entry, "a tool call: ", now) for entry in fields.records("tool_calls")]
    return Message(
        session_id=fields.name("session"),
        seq=fields.number("number", least=1),
        id=fields.id("id"),
        role=fields.choice("role", Role),
        content=fields.text("content"),
        tool_calls=tuple(ToolCall(call.name("id"), call.name("name"), call.text("arguments")) for call in calls),
        tool_call_id=fields.name("tool_call_id"),
        origin=fields.choice("origin", Origin),
        tokens=0,
        created_at=fields.past("at"),
    )


class _Fields:
    """The fields of a JSON object, each of the type that it must have. `where` begins the message of an error."""

    def __init__(self, record: object, where: str, now: Micros) -> None:
        if not isinstance(record, dict):
            raise InvalidInput(f"{where}it is no JSON object")
        self.where = where
        self._record = record
        self._now = now

    def value(self, name: str, kind: Any) -> Any:
        value = self._record.get(name)
        if not isinstance(value, kind):
            raise InvalidInput(f"{self.where}{name} is missing or of a wrong type")
        return value

    def text(self, name: str) -> str:
        return self.value(name, str)

    def coded_text(self, name: str) -> str:
        try:
            return text_of(self.value(name, (str, list)))
        except ValueError as error:
            raise InvalidInput(f"{self.where}{name}: {error}") from None

    def name(self, name: str, most: int = _LONGEST_NAME) -> str:
        """A short line of text."""
        text = self.text(name)
        if len(text) > most or (text and not text.isprintable()):
            raise InvalidInput(f"{self.where}{name} is no short line of text")
        return text

    def word(self, name: str) -> str:
        text = self.text(name)
        if not _WORD.fullmatch(text):
            raise InvalidInput(f"{self.where}{name} is no word")
        return text

    def id(self, name: str) -> str:
        """An id that this program could have made by now: a later one would push all new ids into the future."""
        text = self.text(name)
        if not _ID.fullmatch(text) or int(text[:8] + text[9:13], 16) * 1000 > max(self._now, _machine_time()) + DAY:
            raise InvalidInput(f"{self.where}{name} is no id of picomem's")
        return text

    def choice(self, name: str, choices: type[_Choice]) -> _Choice:
        try:
            return choices(self.text(name))
        except ValueError:
            raise InvalidInput(f"{self.where}{name} is none of {', '.join(choices)}") from None

    def number(self, name: str, least: int = 0) -> int:
        value = self.value(name, int)
        if isinstance(value, bool) or not least <= value < 1 << 40:
            raise InvalidInput(f"{self.where}{name} is no count")
        return value

    def number_or_none(self, name: str) -> int | None:
        return None if self._record.get(name) is None else self.number(name)

    def time(self, name: str) -> Micros:
        return parse_iso(self.name(name))

    def time_or_none(self, name: str) -> Micros | None:
        return None if self._record.get(name) is None else self.time(name)

    def past(self, name: str) -> Micros:
        """A time at which something was done; clocks differ by less than a day."""
        at = self.time(name)
        if at > max(self._now, _machine_time()) + DAY:
            raise InvalidInput(f"{self.where}{name} lies in the future")
        return at

    def names(self, name: str, clean: Clean) -> tuple[str, ...]:
        values = self.value(name, list)
        if len(values) > _MOST_NAMES or not all(isinstance(value, str) for value in values):
            raise InvalidInput(f"{self.where}{name} is no list of names")
        cleaned = tuple(clean(value) for value in values)
        if any(len(value) > _LONGEST_NAME for value in cleaned):
            raise InvalidInput(f"{self.where}{name} has a name that is too long")
        return cleaned

    def records(self, name: str) -> Iterable[object]:
        values = self.value(name, list)
        if len(values) > _MOST_VERSIONS:
            raise InvalidInput(f"{self.where}{name} has too many entries")
        return values


def _machine_time() -> Micros:
    """Return when an id that is made now says that it was made: ids are made by the machine's clock."""
    fresh = new_id()
    return int(fresh[:8] + fresh[9:13], 16) * 1000


def _time(at: Micros | None) -> str | None:
    return None if at is None else iso(at)
