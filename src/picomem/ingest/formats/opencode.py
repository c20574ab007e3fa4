"""OpenCode: the database `~/.local/share/opencode/opencode.db`.

    session(id, parent_id, directory, title, time_created, …)
    message(id, session_id, time_created, data)     {"role": "user" | "assistant", "path": {cwd}, "summary"?, …}
    part(id, message_id, session_id, data)          {"type": "text", text, synthetic?, ignored?}
                                                    {"type": "tool", tool, state: {status, input, output}}
                                                    {"type": "reasoning" | "file" | "compaction" | "step-start" | …}

No specification exists. A record is a message with its parts, and its number counts the messages of the session. Rows
change while the agent works, and messages are deleted when the user goes on from an earlier one; the fingerprint shows
both, and then the session is read again.

What the user wrote is the text of a user's message that is not `synthetic`: OpenCode puts contents of files, results of
background tasks and its own requests there as well. The session of a sub-agent names its parent, and its user is an
agent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from hashlib import blake2b
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.external_reads import outside_of_call, quoted_in_record
from picomem.ingest.format import LineFormat, State, TranscriptFolder, moved, record_in
from picomem.ingest.host_database import HostDatabase
from picomem.ingest.noise import visible
from picomem.ingest.outcomes import actions_of, command_of, outcome_of_call
from picomem.ingest.reader import LONGEST, Line
from picomem.ingest.record_fields import Record, inner, moment, record_of, short
from picomem.ingest.source import MAGIC, RecordSource, SourceState, is_database, look_at
from picomem.ingest.speakers import doubted
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Turn

DATABASE = "opencode.db"
_PAGE = 200  # rows of one statement
_LONGEST_ID = 200  # bytes
_TABLES = {"session": {"id"}, "message": {"id", "session_id", "data"}, "part": {"id", "message_id", "data"}}
_BUILT_IN = frozenset("apply_patch plan_enter plan_exit".split())  # tools with a sign that else parts server and tool
_FROM_OUTSIDE = ("Reading MCP resource:", "Background task", "<task")  # what a text that OpenCode put in begins with
_SILENT = {
    "reasoning": "thinking",
    "file": "attachment",
    **dict.fromkeys("step-start step-finish snapshot patch retry compaction agent subtask".split(), "bookkeeping"),
}
_UNTITLED = ("New session - ", "Child session - ")


class OpenCode(LineFormat):
    name = "opencode"
    file_names = (DATABASE,)

    def places(self, home: Path, env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        data = moved(env, "XDG_DATA_HOME", home / ".local" / "share")
        # Beside the database lie copies of repositories, which hold no transcripts.
        yield TranscriptFolder(self.name, data / "opencode", nested=False)

    def claims(self, path: Path, head: bytes, /) -> bool:
        return head.startswith(MAGIC) and is_database(path) and (path.name == DATABASE or _holds_messages(path))

    def start(self, path: Path | None = None) -> State:  # noqa: ARG002 - the records tell all
        return State()

    def database(self, path: Path) -> AbstractContextManager[Sequence[RecordSource]]:
        return _sessions(path)

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if (record := record_in(state, line)) is None:
            return ()
        session, message = inner(record, "session"), inner(record, "message")
        _describe(state, session, message)
        role = message.get("role")
        if role not in ("user", "assistant"):
            state.unknown(role)
            return ()
        parts = [part for part in _listed(record, "parts") if isinstance(part, dict)]
        return (_asked if role == "user" else _answered)(state, line, record, parts)


FORMAT = OpenCode()


def _describe(state: State, session: Record, message: Record) -> None:
    title = session.get("title")
    state.note(
        session=session.get("id"),
        parent_session=session.get("parent_id"),
        cwd=session.get("directory") or inner(message, "path").get("cwd"),
        started_at=moment(session.get("time_created")),
    )
    if isinstance(title, str) and title and not title.startswith(_UNTITLED):
        state.renote(title=title)


def _asked(state: State, line: Line, record: Record, parts: list[Record]) -> Sequence[Turn]:
    message = inner(record, "message")
    said: list[str] = []
    added: list[str] = []
    for part in parts:
        if part.get("type") == "text" and isinstance(text := part.get("text"), str):
            (added if part.get("synthetic") or part.get("ignored") else said).append(text)
        else:
            _pass_over(state, part)
    doubts = [doubted(message), Origin.AGENT if inner(record, "session").get("parent_id") else None]
    turns: Sequence[Turn] = ()
    if any(text.strip() for text in said):
        turns = state.say(
            line,
            "\n\n".join(said),
            role="user",
            origin=worst([Origin.USER, *(doubt for doubt in doubts if doubt is not None)]),
            at=moment(record.get("at")),
            key=short(record.get("id")),
            ids=(record.get("id"), "", ""),
        )
    for text in added:
        state.skipped.add("system")
        state.hear(Origin.TOOL if text.lstrip().startswith(_FROM_OUTSIDE) else None)
        state.hear(quoted_in_record(text.encode("utf-8", "replace")))
    return turns


def _answered(state: State, line: Line, record: Record, parts: list[Record]) -> Sequence[Turn]:
    cwd = inner(record, "session").get("directory")
    name, at = short(record.get("id")), moment(record.get("at"))
    said: list[str] = []
    actions: list[str] = []
    outcomes: list[str] = []
    for part in parts:
        if part.get("type") == "text" and isinstance(text := part.get("text"), str):
            said += [] if part.get("synthetic") or part.get("ignored") else [text]
        elif part.get("type") == "tool":
            done = inner(part, "state")
            given, told = inner(done, "input"), done.get("told")
            actions += actions_of(short(part.get("tool")), given, cwd if isinstance(cwd, str) else "")
            failed = True if done.get("status") == "error" or done.get("exit") not in (None, 0) else None
            outcomes += outcome_of_call(given, told if isinstance(told, str) else "", failed=failed)
        else:
            _pass_over(state, part)
    text, ids = "\n\n".join(said), (name, "", "")
    turns: Sequence[Turn] = ()
    if inner(record, "message").get("summary") is True:
        turns = state.summarise(line, text, at=at, key=name, ids=ids)
    elif text.strip() or actions:
        turns = state.say(
            line,
            text,
            role="assistant",
            origin=Origin.AGENT,
            at=at,
            key=name,
            ids=ids,
            actions=tuple(dict.fromkeys(actions)),
            outcomes=tuple(dict.fromkeys(outcomes)),
        )
    for part in parts:
        if part.get("type") == "tool":
            _hear(state, part)
    return turns


def _pass_over(state: State, part: Record) -> None:
    kind = part.get("type")
    state.skipped.add(_SILENT[kind]) if isinstance(kind, str) and kind in _SILENT else state.unknown(kind)


def _hear(state: State, part: Record) -> None:
    """Note what a call let the agent read. OpenCode calls the tool of a server SERVER_TOOL."""
    tool, done = short(part.get("tool")), inner(part, "state")
    if "_" in tool and tool not in _BUILT_IN:
        tool = f"mcp__{tool.replace('_', '__', 1)}"
    state.hear(outside_of_call(tool, inner(done, "input")))
    if isinstance(output := done.get("output"), str):
        state.hear(quoted_in_record(output.encode("utf-8", "replace")))


def _listed(record: Record, name: str) -> list[object]:
    value = record.get(name)
    return value if isinstance(value, list) else []


def _holds_messages(path: Path) -> bool:
    """Return whether a database has OpenCode's tables; not one that cannot be read."""
    with closing(HostDatabase(path)) as database:
        try:
            return all(columns <= database.columns(table) for table, columns in _TABLES.items())
        except (InvalidInput, NotFound):
            return False


@contextmanager
def _sessions(path: Path) -> Iterator[Sequence[OpenCodeSession]]:
    """The sessions of the database. Raises InvalidInput or NotFound."""
    with closing(HostDatabase(path)) as database:
        if not all(columns <= database.columns(table) for table, columns in _TABLES.items()):
            raise InvalidInput(f"{path} has no tables message and part of a known form; picomem cannot read it.")
        names = database.select(
            "SELECT DISTINCT CAST(session_id AS BLOB) FROM message "
            f"WHERE octet_length(session_id) BETWEEN 1 AND {_LONGEST_ID} ORDER BY session_id"
        )
        session_ids = [name.decode("utf-8", "replace") for (name,) in names]
        yield [OpenCodeSession(path, database, name) for name in session_ids if name == visible(name)]


class OpenCodeSession:
    """One session: its messages, in order."""

    def __init__(self, path: Path, database: HostDatabase, session: str) -> None:
        self.path = path
        self.session = session
        self.read = 0
        self._database = database

    def look(self) -> SourceState:
        """The number of messages, without a last one that is still being written."""
        (count,) = self._database.select("SELECT count(*) FROM message WHERE session_id = ?", self.session)[0]
        last = self._messages(count - 1, 1) if count else []
        being_written = any(not _is_complete(data) or not any(self._parts(name)) for name, _, data in last)
        return SourceState(look_at(self.path).file, count - being_written, 0)

    def lines(self, offset: int) -> Iterator[Line]:
        session = self._description()
        end = self.look().size
        while offset < end and (page := self._messages(offset, min(_PAGE, end - offset))):
            for message_id, at, data in page:
                parts = [_without_output(record_of(part) or {}) for part in self._parts(message_id)]
                message = record_of(data or b"") or {}
                record = {"id": message_id, "at": at, "session": session, "message": message, "parts": parts}
                line = json.dumps(record).encode()
                self.read += len(line)
                yield Line(offset, offset + 1, None if data is None or len(line) > LONGEST else line)
                offset += 1

    def fingerprint(self, upto: int) -> str:
        """A digest of the first and the last message before `upto`, and of what their parts are by now."""
        first, last = self._messages(0, 1), self._messages(upto - 1, 1)
        if not first or not last:
            return ""
        order = self._order()
        updated = "total(time_updated)" if "time_updated" in self._database.columns("part") else "0"
        parts = self._database.select(
            f"SELECT count(*), {updated}, total(octet_length(data)) FROM part WHERE message_id IN "
            f"(SELECT id FROM message WHERE session_id = ? ORDER BY {order} LIMIT ?)",
            self.session,
            upto,
        )
        told = f"{first[0][0]} {last[0][0]} {parts}"
        return blake2b(told.encode("utf-8", "replace"), digest_size=12).hexdigest()

    def marks(self) -> dict[str, str]:
        return {}

    def _order(self) -> str:
        return "time_created, id" if "time_created" in self._database.columns("message") else "id"

    def _messages(self, offset: int, most: int) -> list[tuple[str, int | None, bytes | None]]:
        """Some messages from number `offset` on: the id, the time and the data, None where it is too long."""
        order = self._order()
        at = "time_created" if order != "id" else "NULL"
        rows = self._database.select(
            f"SELECT CAST(substr(id, 1, {_LONGEST_ID}) AS BLOB), {at}, "
            f"CASE WHEN octet_length(data) <= {LONGEST} THEN CAST(data AS BLOB) END "
            f"FROM message WHERE session_id = ? ORDER BY {order} LIMIT ? OFFSET ?",
            self.session,
            most,
            offset,
        )
        return [
            ((name or b"").decode("utf-8", "replace"), at if isinstance(at, int) else None, data)
            for name, at, data in rows
        ]

    def _parts(self, message_id: str) -> Iterator[bytes]:
        """The parts of a message in order; not one that is too long."""
        offset = 0
        while rows := self._database.select(
            f"SELECT CASE WHEN octet_length(data) <= {LONGEST} THEN CAST(data AS BLOB) END "
            "FROM part WHERE message_id = ? ORDER BY id LIMIT ? OFFSET ?",
            message_id,
            _PAGE,
            offset,
        ):
            yield from (data for (data,) in rows if data is not None)
            offset += len(rows)

    def _description(self) -> Record:
        wanted = ("id", "parent_id", "directory", "title", "time_created")
        names = [name for name in wanted if name in self._database.columns("session")]
        chosen = ", ".join(f"substr({name}, 1, 1000)" if name != "time_created" else name for name in names)
        rows = self._database.select(f"SELECT {chosen} FROM session WHERE id = ?", self.session)
        values = dict(zip(names, rows[0], strict=True)) if rows else {"id": self.session}
        return {name: value for name, value in values.items() if isinstance(value, str | int)}


def _is_complete(data: bytes | None) -> bool:
    """Return whether nothing is written to a message any more: an answer that ended, or a question."""
    message = record_of(data or b"") or {}
    return message.get("role") != "assistant" or bool(inner(message, "time").get("completed") or message.get("error"))


def _without_output(part: Record) -> Record:
    """A part without what is not read of it: files, and the output of tools unless memory is quoted there."""
    if part.get("type") == "tool":
        done = inner(part, "state")
        output, given = done.get("output"), inner(done, "input")
        kept = {"input": given, "status": done.get("status"), "exit": inner(done, "metadata").get("exit")}
        if command_of(given):
            kept["told"] = done.get("error") or output
        if isinstance(output, str) and "untrusted-text" in output:
            kept["output"] = output
        return {"type": "tool", "tool": part.get("tool"), "state": kept}
    wanted = ("type", "text", "synthetic", "ignored") if part.get("type") == "text" else ("type",)
    return {name: part[name] for name in wanted if name in part}
