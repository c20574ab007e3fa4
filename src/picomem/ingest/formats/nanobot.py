"""nanobot: `~/.nanobot/sessions/<workspace>/<key>.jsonl`, and the journal `memory/history.jsonl` of a workspace.

No specification exists. A session begins with {"_type": "metadata", key, created_at, updated_at, metadata, …}; a line
{"_type": "provider_state", …} may follow; the other lines are messages {role, content, timestamp, tool_calls?,
tool_call_id?, name?, …}. nanobot writes the whole file again after each turn. A message has no id, so its time, role
and text identify it.

`timestamp` is the local time of the machine without a zone. The identity is made from the time as it was written, so
that a message stays the same when the zone of the machine changes.

Whose words stand in a user's place: `key` names the chat (`cli:direct`, `telegram:-100…`, `cron:…`), and only a direct
chat is the user's. A message that nanobot itself wrote is marked: a scheduled turn, the result of a sub-agent, the
message of another session. nanobot appends context of its own to a user's message and records which
(`_runtime_context`); it is cut off.

The journal holds nanobot's summaries of past conversations, {cursor, timestamp, content, session_key?}. Nothing tells
what the agent had read when it wrote one, so these have the origin `other`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from picomem.ingest.external_reads import outside_of_call, quoted_in_record
from picomem.ingest.format import NO_HEADER, CallResult, LineFormat, State, TranscriptFolder, record_in
from picomem.ingest.outcomes import actions_of
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, first_records, inner, moment, short, texts
from picomem.ingest.speakers import doubted, of_chat
from picomem.records.ids import content_hash
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Turn

_FOLDER = ".nanobot"
_JOURNAL = "history"
_SPEAKER = "speaker"  # the mark of whose words stand in a user's place
_OF_METADATA = ("updated_at", "metadata", "last_archived", "last_consolidated")
_OF_SUB_AGENT = "injected_event"  # the mark of a result that a sub-agent gave, whatever it had read
# Marks of a message in a user's place that is not the user's, and whose words it holds.
_WRITTEN_BY_OTHERS = {
    _OF_SUB_AGENT: Origin.TOOL,
    "_automation_turn": Origin.OTHER,
    "_cron_turn": Origin.OTHER,
    "_session_message": Origin.OTHER,
}
_SILENT = {"system": "system", "developer": "system", "tool": "tool", "function": "tool"}


class Nanobot(LineFormat):
    name = "nanobot"

    def places(self, home: Path, _env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        yield TranscriptFolder(self.name, home / _FOLDER / "sessions")
        yield TranscriptFolder(self.name, home / _FOLDER / "workspace" / "sessions")  # of older versions
        yield TranscriptFolder(self.name, home / _FOLDER / "workspace" / "memory")

    def claims(self, path: Path, head: bytes, /) -> bool:
        records = first_records(head)
        if any(_is_metadata(record) or _is_journal(record) for record in records):
            return True
        return _FOLDER in path.parts and any(_is_message(record) for record in records)

    def start(self, path: Path | None = None) -> State:
        state = State()
        if path is not None and _FOLDER in path.parts:
            state.marks[_SPEAKER] = Origin.AGENT.value  # until the first line tells
        if path is not None:
            state.marks["name"] = path.name.removesuffix(".zst").removesuffix(".gz").removesuffix(".jsonl")[:200]
        return state

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if (record := record_in(state, line)) is None:
            if line.offset == 0:
                state.marks[_SPEAKER] = Origin.AGENT.value
                state.skipped.add(NO_HEADER)
            return ()
        if _is_journal(record):
            return _journal_entry(state, line, record)
        if "_type" in record:
            if record["_type"] == "metadata":
                _describe(state, line, record)
            state.skipped.add("bookkeeping")
            return ()
        if not _is_message(record):
            state.unknown(record.get("type"))
            return ()
        state.note(session=state.marks.get("name"))
        return _message(state, line, record)


FORMAT = Nanobot()


def _is_metadata(record: Record) -> bool:
    return record.get("_type") == "metadata" and "key" in record and any(name in record for name in _OF_METADATA)


def _is_journal(record: Record) -> bool:
    return "role" not in record and type(record.get("cursor")) is int and isinstance(record.get("content"), str)


def _is_message(record: Record) -> bool:
    return isinstance(record.get("role"), str) and ("content" in record or "tool_calls" in record)


def _describe(state: State, line: Line, record: Record) -> None:
    key = short(record.get("key"))
    speaker = of_chat(key) or Origin.AGENT
    known = (Origin(state.marks.get(_SPEAKER, speaker)),) if line.offset else ()
    state.marks[_SPEAKER] = worst((speaker, *known)).value
    metadata = inner(record, "metadata")
    state.note(session=key, started_at=moment(record.get("created_at"), zone=None))
    state.note(title=metadata.get("title"), cwd=inner(metadata, "workspace_scope").get("project_path"))


def _message(state: State, line: Line, record: Record) -> Sequence[Turn]:
    role = record["role"].strip().lower()
    if role in _SILENT:
        if role in ("tool", "function"):
            state.hear(quoted_in_record(line.data or b""))
        state.skipped.add(_SILENT[role])
        return _outcome(state, line, record)
    if role not in ("user", "assistant"):
        state.unknown(role)
        return ()
    if _is_of_program(record, role):
        state.skipped.add("system")
        return ()
    text, others = texts(_without_context(record))
    if others:
        state.skipped.add("attachment", len(others))
    calls = list(_calls(record)) if role == "assistant" else []
    if not text.strip() and not calls:
        if not others:
            state.skipped.add("noise")
        return ()
    if _OF_SUB_AGENT in record:
        state.hear(Origin.TOOL)
    turns = state.say(
        line,
        text,
        role=role,
        origin=_of_person(state, record) if role == "user" else Origin.AGENT,
        at=moment(record.get("timestamp"), zone=None),
        key=(said := _identity(record, role, text)),
        ids=(said, "", ""),
        actions=tuple(action for _, name, given in calls for action in actions_of(name, given)),
    )
    for call, name, given in calls:
        state.hear(outside_of_call(name, given))
        state.await_result(call, given, line)
    return turns


def _outcome(state: State, line: Line, record: Record) -> Sequence[Turn]:
    """What came of a command; nanobot writes an exit code behind the output, or that it could not run it before it."""
    output = texts(record.get("content"))[0]
    result = CallResult(record.get("tool_call_id"), output, True if output.startswith("Error") else None)
    said = _identity(record, "tool", output)
    return state.say_outcome(line, [result], at=moment(record.get("timestamp"), zone=None), ids=(said, "", ""))


def _is_of_program(record: Record, role: str) -> bool:
    """Return whether nanobot wrote a message for itself: where a summary ends, an answer to a command, an
    interruption."""
    if role == "user":
        return bool(record.get("_hidden_history")) and _OF_SUB_AGENT not in record
    return bool(record.get("_recovery_interrupted") or record.get("_command"))


def _identity(record: Record, role: str, text: str) -> str:
    """An id from the time as nanobot wrote it; empty where there is none."""
    at = record.get("timestamp")
    if not isinstance(at, str) or not at:
        return ""
    calls = record.get("tool_calls")
    return f"{at[:64]} {content_hash(role, text, json.dumps(calls)[:2000] if calls else '')}"


def _of_person(state: State, record: Record) -> Origin:
    """Return whose words a message in a user's place holds."""
    doubts = [origin for name, origin in _WRITTEN_BY_OTHERS.items() if record.get(name)]
    told = (Origin(state.marks.get(_SPEAKER, Origin.AGENT)), doubted(record, in_a_log=True), *doubts)
    return worst([origin for origin in told if origin is not None])


def _without_context(record: Record) -> object:
    """The content of a message without what nanobot appended to it."""
    content, marker = record.get("content"), inner(record, "_runtime_context")
    suffix, blocks = marker.get("suffix"), marker.get("blocks")
    if isinstance(content, str) and isinstance(suffix, str) and suffix:
        return content.removesuffix(suffix)
    if isinstance(content, list) and isinstance(blocks, list) and blocks and content[-len(blocks) :] == blocks:
        return content[: -len(blocks)]
    return content


def _calls(record: Record) -> Iterable[tuple[object, str, Record]]:
    """The calls in a message: the id of each, the tool and its arguments."""
    calls = record.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            function = inner(call, "function")
            yield call.get("id"), short(function.get("name")), _arguments(function.get("arguments"))


def _arguments(given: object) -> Record:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, dict) else {}


def _journal_entry(state: State, line: Line, record: Record) -> Sequence[Turn]:
    state.outside = Origin.OTHER
    state.note(session=_JOURNAL)
    text, at = record["content"], record.get("timestamp")
    name = f"{short(at)} {content_hash(short(record.get('session_key')), text)}"
    return state.summarise(line, text, at=moment(at, zone=None), key=name, ids=(name, "", ""))
