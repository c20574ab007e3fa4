"""OpenClaw (and Pi): `~/.openclaw/agents/<agent>/sessions/<session>.jsonl`, versions 1 to 3.

No specification exists. The first line is {"type": "session", version, id, timestamp, cwd}; the others form
a tree by `parentId` (version 1 has no ids). `message` is what was said; compactions, branch summaries,
custom entries and tool results are the program's own. Branches that were left stay in the file: they were
said, and `branches` tells which they are.

A user message may come from another session or from the program: `provenance` says so. A session may be a group's, a
hook's or a scheduled job's, and a message may stand in an envelope: see `senders.py`. What the agent says to
somebody who is not its owner may be their words again, so it has their origin. The program also
asks its own agent things ("flush your memory"), and an agent with nothing to say answers with a token;
neither is a turn.

Since 2026 the same records lie in a database for each agent; `database.py` reads them from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from picomem.ingest.external_reads import outside_of_call, quoted_in_record
from picomem.ingest.format import (
    COPIED_SESSION,
    CallResult,
    LineFormat,
    SendPolicies,
    State,
    TranscriptFolder,
    moved,
    record_in,
)
from picomem.ingest.formats.openclaw.database import holds_events, sessions
from picomem.ingest.formats.openclaw.send_policy import SETTINGS, policies
from picomem.ingest.formats.openclaw.senders import PEER, SPEAKER, of_file, of_message
from picomem.ingest.outcomes import actions_of
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, first_records, inner, moment, short, texts
from picomem.ingest.source import MAGIC, RecordSource, is_database
from picomem.ingest.speakers import doubted
from picomem.records.kinds import Origin
from picomem.records.transcript import Turn

_QUIET = {
    "thinking_level_change": "bookkeeping",
    "model_change": "bookkeeping",
    "label": "bookkeeping",
    "leaf": "bookkeeping",
    "branch_summary": "summary",
    "reset": "bookkeeping",
    "custom": "custom",
    "custom_message": "custom",
}
_ROLES = {
    "toolResult": "tool",
    "bashExecution": "tool",
    "hookMessage": "custom",
    "custom": "custom",
    "branchSummary": "summary",
    "compactionSummary": "summary",
    "system": "system",
}
_BLOCKS = {"toolCall": "tool", "thinking": "thinking", "image": "attachment"}
_SILENCE = ("NO_REPLY", "HEARTBEAT_OK")
_ASKED_ITSELF = ("Pre-compaction memory flush.", "Read HEARTBEAT.md if it exists")
_NOT_TRANSCRIPTS = re.compile(r"\.trajectory\.jsonl|\.checkpoint\..*\.jsonl")
_ARCHIVE = "session-sqlite-import-archive"

DATABASE = "openclaw-agent.sqlite"  # of one agent


class OpenClaw(LineFormat):
    name = "openclaw"
    file_names = (DATABASE,)

    def places(self, home: Path, env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        folder = moved(env, "OPENCLAW_STATE_DIR", home / ".openclaw") / "agents"
        try:
            agents = sorted(folder.iterdir())
        except OSError:  # missing or closed: ingest passes over the one and reports the other
            yield TranscriptFolder(self.name, folder)
            return
        for agent in agents:
            yield TranscriptFolder(self.name, agent / "sessions")
            yield TranscriptFolder(self.name, agent / "agent")

    def send_policies(self, path: Path, home: Path, env: Mapping[str, str], /) -> SendPolicies:
        return policies(path, home, env)

    def policy_files(self, path: Path, home: Path, env: Mapping[str, str], /) -> Iterable[Path]:
        above = [folder / SETTINGS for folder in (path, *path.parents[:3])]
        return [moved(env, "OPENCLAW_CONFIG_PATH", home / ".openclaw" / SETTINGS), *above]

    def claims(self, path: Path, head: bytes, /) -> bool:
        if _NOT_TRANSCRIPTS.search(path.name) or _ARCHIVE in path.parts:
            return False
        if head.startswith(MAGIC):
            return is_database(path) and (path.name == DATABASE or holds_events(path))
        return any(_is_ours(record) for record in first_records(head, 5))

    def start(self, path: Path | None = None) -> State:
        state = State()
        if (
            path is not None
            and path.parent.name in ("sessions", "agent")
            and path.parent.parent.parent.name == "agents"
        ):
            state.note(agent=path.parent.parent.name)
        speaker, peer = of_file(path) if path is not None else (None, "")
        if speaker is not None:
            state.marks |= {SPEAKER: speaker.value, PEER: peer}
        return state

    def database(self, path: Path) -> AbstractContextManager[Sequence[RecordSource]]:
        return sessions(path)

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if (record := record_in(state, line)) is None:
            return ()
        kind = record.get("type")
        if kind == "message":
            turns = _message(state, line, record)
            _listen(state, line, inner(record, "message"))
            person = bool(turns) and turns[0].role == "user"
            return state.place(turns, record.get("id"), record.get("parentId", ""), person=person)
        if kind == "session":
            _describe(state, record)
            return ()
        told = _summary(state, line, record) if kind == "compaction" else ()
        told = state.place(told, record.get("id"), record.get("parentId", ""), person=False)
        if kind == "session_info":
            state.renote(title=record.get("name") or state.info.title)
            state.skipped.add("title")
        elif isinstance(kind, str) and kind in _QUIET:
            state.skipped.add(_QUIET[kind])
        elif kind != "compaction":
            state.unknown(kind)
        return told


FORMAT = OpenClaw()


def _is_ours(record: Record) -> bool:
    if record.get("type") == "session":
        return "id" in record and ("cwd" in record or "version" in record)
    return record.get("type") == "message" and "parentId" in record and "role" in inner(record, "message")


def _describe(state: State, header: Record) -> None:
    parent = short(header.get("parentSession"))  # a session's id, or the path of its file
    parent = parent.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
    if parent:
        state.marks[COPIED_SESSION] = parent
    state.note(
        session=header.get("id"),
        cwd=header.get("cwd"),
        parent_session=parent,
        started_at=moment(header.get("timestamp")),
    )
    state.skipped.add("bookkeeping")


def _message(state: State, line: Line, record: Record) -> Sequence[Turn]:
    message = inner(record, "message")
    role = message.get("role")
    if role not in ("user", "assistant"):
        state.skipped.add(_ROLES[role]) if isinstance(role, str) and role in _ROLES else state.unknown(role)
        return _outcome(state, line, record, message) if role == "toolResult" else ()
    text, others = texts(message.get("content"))
    for kind in others:
        state.skipped.add(_BLOCKS[kind]) if kind in _BLOCKS else state.unknown(kind)
    actions = _actions(state, message) if role == "assistant" else ()
    if not text.strip() and not actions:
        if not others:
            state.skipped.add("noise")
        return ()
    if text.strip() in _SILENCE or (role == "user" and text.lstrip().startswith(_ASKED_ITSELF)):
        state.skipped.add("system")
        return ()
    if role == "user":
        text, origin = _asked(state, record, message, text)
    else:
        origin = Origin.AGENT
    at = moment(record.get("timestamp")) or moment(message.get("timestamp"))
    record_id = short(record.get("id"))
    return state.say(
        line,
        text,
        role=role,
        origin=origin,
        at=at,
        key=record_id or ("\n".join((str(at), role, text, *actions)) if at is not None else ""),
        ids=(record_id, record.get("parentId"), ""),
        actions=actions,
    )


def _summary(state: State, line: Line, record: Record) -> Sequence[Turn]:
    """Read the summary that replaced a conversation that had become too long."""
    text, record_id = record.get("summary"), short(record.get("id"))
    text = text if isinstance(text, str) else ""
    at = moment(record.get("timestamp"))
    ids = (record_id, record.get("parentId"), "")
    return state.summarise(line, text, at=at, key=record_id or f"{at}\n{text}", ids=ids)


def _listen(state: State, line: Line, message: Record) -> None:
    """Note what a message lets the agent read."""
    if message.get("role") == "toolResult":
        state.hear(quoted_in_record(line.data or b""))
    elif message.get("role") == "assistant":
        for call in _calls(message):
            state.hear(outside_of_call(short(call.get("name")), inner(call, "arguments")))
            state.await_result(call.get("id"), inner(call, "arguments"), line)


def _outcome(state: State, line: Line, record: Record, message: Record) -> Sequence[Turn]:
    code = inner(message, "details").get("exitCode")
    failed = message.get("isError") is True or code not in (None, 0)
    result = CallResult(message.get("toolCallId"), texts(message.get("content"))[0], failed)
    at = moment(record.get("timestamp")) or moment(message.get("timestamp"))
    return state.say_outcome(line, [result], at=at, ids=(record.get("id"), record.get("parentId"), ""))


def _actions(state: State, message: Record) -> tuple[str, ...]:
    return tuple(
        action
        for call in _calls(message)
        for action in actions_of(short(call.get("name")), inner(call, "arguments"), state.info.cwd)
    )


def _calls(message: Record) -> list[Record]:
    content = message.get("content")
    blocks = (block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()
    return [block for block in blocks if block.get("type") == "toolCall"]


def _asked(state: State, record: Record, message: Record, text: str) -> tuple[str, Origin]:
    """A user's message without its envelope, and whose words it is: the least trusted of what says so."""
    known = state.marks.get(SPEAKER)
    text, origin = of_message(text, Origin(known) if known else None, state.marks.get(PEER, ""))
    doubt = doubted(record, message)
    return text, doubt if doubt is not None and origin.trusted else origin
