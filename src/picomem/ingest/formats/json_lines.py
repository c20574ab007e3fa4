"""Generic logs: JSON lines with a role and a text.

    {"role": "user", "content": "…", "timestamp": "2026-05-03T14:30:00Z"}

`content` (a string, or blocks of type text) or `text`; `timestamp` is optional, ISO 8601 or a number. `message` may
hold the content, as Cursor writes it; a first line `{"_type": "metadata", "key": …}` names the session, as nanobot
writes it. The roles system and tool are skipped; an unknown role is the name of a speaker.

The user is `user` or `human`. In a log in which a user or an agent spoke before, a speaker with a name is another
person, and their words have the origin `other`: kept, returned on request, never an instruction. In a log with names
only (people talking, recorded by one of them) nobody can tell which of them is the user. These are people's words,
and none of them counts as a request of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from picomem.ingest.format import (
    LineFormat,
    Record,
    State,
    TranscriptFolder,
    first_records,
    inner,
    moment,
    record_in,
    short,
    texts,
)
from picomem.ingest.reader import Line
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn

_SILENT = {
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "toolresult": "tool",
    "tool_result": "tool",
    "tool_response": "tool",
    "function_call_output": "tool",
    "observation": "tool",
}
_PEOPLE = ("user", "human")
_AGENTS = ("assistant", "ai", "agent", "bot", "model")


class Plain(LineFormat):
    name = "plain"
    takes_any_log = True

    def places(self, home: Path, _env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        yield TranscriptFolder("nanobot", home / ".nanobot" / "workspace" / "sessions")

    def claims(self, _path: Path, head: bytes, /) -> bool:
        records = first_records(head)
        return any(_is_said(record) for record in records)

    def start(self, path: Path | None = None) -> State:
        state = State()
        if path is not None:
            state.marks["name"] = path.name.removesuffix(".zst").removesuffix(".gz").removesuffix(".jsonl")[:200]
        return state

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if (record := record_in(state, line)) is None:
            return ()
        if "_type" in record:
            if record["_type"] == "metadata":
                state.note(session=record.get("key"), started_at=moment(record.get("created_at")))
            state.skipped.add("bookkeeping")
            return ()
        if not _is_said(record):
            state.unknown(record.get("type"))
            return ()
        return _say(state, line, record)


FORMAT = Plain()


def _content(record: Record) -> object:
    for content in (record.get("content"), record.get("text"), inner(record, "message").get("content")):
        if content is not None:
            return content
    return None


def _is_said(record: Record) -> bool:
    role = record.get("role")
    return isinstance(role, str) and bool(role.strip()) and isinstance(_content(record), str | list)


def _say(state: State, line: Line, record: Record) -> Sequence[Turn]:
    name = record["role"].strip()[:100]
    role = name.lower()
    if role in _SILENT:
        state.skipped.add(_SILENT[role])
        return ()
    text, others = texts(_content(record))
    if others:
        state.skipped.add("attachment", len(others))
    if not text.strip() and others:
        return ()
    state.note(session=state.marks.get("name"))
    named = role not in _PEOPLE and role not in _AGENTS
    if not named:
        state.marks["roles"] = "1"
    at, record_id = moment(record.get("timestamp")), short(record.get("id"))
    return state.say(
        line,
        text,
        role="user" if role in _PEOPLE else "assistant" if role in _AGENTS else name,
        origin=Origin.AGENT if role in _AGENTS else Origin.OTHER if named and "roles" in state.marks else Origin.USER,
        at=at,
        key=f"{record_id}\n{at}\n{role}\n{text}" if record_id or at is not None else "",
        ids=(record_id, "", ""),
    )
