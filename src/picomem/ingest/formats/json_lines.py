"""Generic logs: JSON lines with a role and a text.

    {"role": "user", "content": "…", "timestamp": "2026-05-03T14:30:00Z"}

`content` (a string, or blocks of type text) or `text`; `timestamp` is optional, ISO 8601 or a number. `message` may
hold the content; a first line `{"_type": "metadata", "key": …}` names the session. The roles system and tool are
skipped; an unknown role is the name of a speaker.

A field of a record can tell that a program wrote it, although its role is a user's (`speakers`): a tool call's id, a
name, a flag. A key can name a chat (`cli:direct`, `telegram:-100…`, `cron:…`), and only a direct chat is the user's. If
the first line cannot be read, nothing tells what the log is, and its words have the origin `agent`.

The user is `user` or `human`. In a log in which a user or an agent spoke before, a speaker with a name is another
person, and their words have the origin `other`: kept, returned on request, never an instruction. In a log with names
only (people talking, recorded by one of them) nobody can tell which of them is the user. These are people's words,
and none of them counts as a request of the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from picomem.ingest.format import NO_HEADER, LineFormat, State, record_in
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, first_records, inner, moment, short, texts
from picomem.ingest.speakers import doubted, of_chat
from picomem.records.kinds import Origin, worst
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
_SPEAKER = "speaker"  # the mark of whose words stand in a user's place, where something tells it


class Plain(LineFormat):
    name = "plain"
    takes_any_log = True

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
            if line.offset == 0:
                state.marks[_SPEAKER] = Origin.AGENT.value
                state.skipped.add(NO_HEADER)
            return ()
        if "_type" in record:
            if record["_type"] == "metadata":
                speaker = of_chat(short(record.get("key")))
                if speaker is not None:
                    known = (Origin(state.marks.get(_SPEAKER, speaker)),) if line.offset else ()
                    state.marks[_SPEAKER] = worst((speaker, *known)).value
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
        origin=Origin.AGENT if role in _AGENTS else _of_person(state, record, is_named=named),
        at=at,
        key=f"{record_id}\n{at}\n{role}\n{text}" if record_id or at is not None else "",
        ids=(record_id, "", ""),
    )


def _of_person(state: State, record: Record, *, is_named: bool) -> Origin:
    """Return the origin of a record that is not the agent's, by its fields and by the chat it stands in."""
    origin = Origin.OTHER if is_named and "roles" in state.marks else Origin.USER
    told = (Origin(state.marks.get(_SPEAKER, origin)), doubted(record, inner(record, "message"), in_a_log=True))
    return worst((origin, *(doubt for doubt in told if doubt is not None)))
