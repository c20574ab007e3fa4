"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, of a sub-agent `chats/<parent>/<id>.jsonl`.

No specification exists. Records are appended: the first names the session {sessionId, projectHash, startTime, kind},
the others are

    {"id", "timestamp", "type": "user" | "gemini" | "info" | "warning" | "error", "content", "displayContent"?,
     "toolCalls"?: [{id, name, args, result}], …}      a message; written again when it gets calls, with the same id
    {"$set": {"messages"?: […], "summary"?, …}}        the history as it is from now on, or facts about the session
    {"$rewindTo": ID}                                  that message and all after it are taken back

`content` is a text or parts {text, thought?} | {functionResponse} | {inlineData}. The program writes in a user's place
as well: the context of a session, hooks and the editor, contents of files, output of commands, and the summary when a
history is compressed. `displayContent` is what was typed, where more than that was sent. A message that only a
rewritten history holds was perhaps never typed, so its words are not the user's.

The folder of a project is named in `.project_root`, two folders up; it counts if its hash is the session's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.external_reads import outside_of_call, quoted_in_record
from picomem.ingest.format import NO_HEADER, LineFormat, State, TranscriptFolder, moved, record_in
from picomem.ingest.outcomes import actions_of, outcome_of_call
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, first_records, inner, moment, short
from picomem.ingest.speakers import doubted
from picomem.paths import read_regular
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Turn

_SPEAKER = "speaker"  # the mark of whose words stand in a user's place
_ROOT = "root"  # the mark of the folder that the project is said to lie in
_REWOUND = "rewound"  # the mark of the message up to which the next one goes back
_ROOT_FILE = ".project_root"
_LONGEST_ROOT = 4096
_SPEAKERS = ("user", "gemini")
_SILENT = ("info", "warning", "error")
_BY_THE_PROGRAM = re.compile(
    r"\s*(?:<session_context>|Here is (?:the|a summary of changes in the) user's editor context\b|"
    r"I ran the following shell command:|Please continue\.\s*\Z)"
)
_ADDED = re.compile(
    r"(?s)\n?--- Content from referenced files ---(?:.*--- End of content ---|.*)|"
    r"<hook_context>(?:.*</hook_context>|.*)"
)
_SNAPSHOT = re.compile(r"(?s)<state_snapshot>.*</state_snapshot>\s*\Z")
_THANKS = "Got it. Thanks for the additional context!"  # the answer that stands behind a summary


class GeminiCli(LineFormat):
    name = "gemini-cli"

    def places(self, home: Path, env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        yield TranscriptFolder(self.name, moved(env, "GEMINI_CLI_HOME", home) / ".gemini" / "tmp")

    def claims(self, _path: Path, head: bytes, /) -> bool:
        return any(_is_header(record) or _is_message(record) for record in first_records(head))

    def start(self, path: Path | None = None) -> State:
        state = State()
        if path is None:
            return state
        chats = path.parent
        if chats.parent.name == "chats":
            state.marks[_SPEAKER] = Origin.AGENT.value
            state.note(parent_session=chats.name)
            chats = chats.parent
        if root := _root_beside(chats):
            state.marks[_ROOT] = root
        return state

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if (record := record_in(state, line)) is None:
            if line.offset == 0:
                state.marks[_SPEAKER] = Origin.AGENT.value
                state.skipped.add(NO_HEADER)
            return ()
        if "$rewindTo" in record:
            state.marks[_REWOUND] = short(record["$rewindTo"])
            state.skipped.add("bookkeeping")
            return ()
        if _is_message(record):
            return _message(state, line, record)
        update = inner(record, "$set") if "$set" in record else record
        if "$set" not in record and not _is_header(record):
            state.unknown(record.get("type"))
            return ()
        _describe(state, update)
        state.skipped.add("bookkeeping")
        messages = update.get("messages")
        return [
            turn
            for message in (messages if isinstance(messages, list) else ())
            if isinstance(message, dict) and _is_message(message)
            for turn in _message(state, line, message, listed=True)
        ]


FORMAT = GeminiCli()


def _is_header(record: Record) -> bool:
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def _is_message(record: Record) -> bool:
    kind = record.get("type")
    named = isinstance(record.get("id"), str) and "content" in record and "role" not in record
    return named and isinstance(kind, str) and kind in (*_SPEAKERS, *_SILENT)


def _root_beside(chats: Path) -> str:
    """The folder that the program wrote down for the project of these chats."""
    try:
        return read_regular(chats.parent / _ROOT_FILE, most=_LONGEST_ROOT).decode("utf-8", "replace").strip()
    except (InvalidInput, NotFound):
        return ""


def _describe(state: State, told: Record) -> None:
    if told.get("kind") not in (None, "main"):
        state.marks[_SPEAKER] = Origin.AGENT.value
    root = state.marks.get(_ROOT, "")
    state.note(
        session=told.get("sessionId"),
        started_at=moment(told.get("startTime")),
        cwd=root if hashlib.sha256(root.encode()).hexdigest() == told.get("projectHash") else "",
    )
    state.renote(title=told.get("summary") or state.info.title)


def _message(state: State, line: Line, record: Record, *, listed: bool = False) -> Sequence[Turn]:
    kind = record["type"]
    if kind in _SILENT:
        state.skipped.add("system")
        return ()
    if kind == "gemini":
        return _answered(state, line, record)
    return _asked(state, line, record, listed=listed)


def _asked(state: State, line: Line, record: Record, *, listed: bool) -> Sequence[Turn]:
    name, at = short(record["id"]), moment(record.get("timestamp"))
    text, others = _words(record.get("content"))
    if "functionResponse" in others:
        state.hear(quoted_in_record(line.data or b""))
        state.skipped.add("tool")
        return ()
    if _SNAPSHOT.search(text):
        return state.summarise(line, text, at=at, key=name, ids=(name, "", ""))
    if _BY_THE_PROGRAM.match(text):
        state.skipped.add("system")
        return ()
    if typed := record.get("displayContent"):
        text, _ = _words(typed)
    if others:
        state.skipped.add("attachment", len(others))
    known = Origin(state.marks.get(_SPEAKER, Origin.USER))
    doubts = (known, doubted(record), Origin.AGENT if listed else None)
    turns = state.say(
        line,
        _ADDED.sub("", text),
        role="user",
        origin=worst([origin for origin in doubts if origin is not None]),
        at=at,
        key=name,
        ids=(name, "", ""),
    )
    before = f"before {name}"
    if turns and (rewound := state.marks.pop(_REWOUND, "")):
        state.branches.passed(before, f"before {rewound}")
    return state.place(turns, name, before, person=True) if turns else ()


def _answered(state: State, line: Line, record: Record) -> Sequence[Turn]:
    """The words of an answer, and what it did, as turns of their own: it is written again when it gets calls.

    Paths are told from the folder that `start` knows, so that a pointer into the middle of the file tells the same.
    """
    name, at = short(record["id"]), moment(record.get("timestamp"))
    text, _ = _words(record.get("content"))
    calls = record.get("toolCalls")
    calls = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    turns: list[Turn] = []
    if text == _THANKS:
        state.skipped.add("system")
    elif text.strip():
        said = state.say(line, text, role="assistant", origin=Origin.AGENT, at=at, key=name, ids=(name, "", ""))
        turns += state.place(said, name, "", person=False)
    for call in calls:
        given, tool, call_id = inner(call, "args"), short(call.get("name")), short(call.get("id"))
        if actions := actions_of(tool, given, state.marks.get(_ROOT, "")):
            key = f"{name} {call_id}"
            done = state.say(
                line,
                "",
                role="assistant",
                origin=Origin.AGENT,
                at=at,
                key=key,
                ids=(key, "", ""),
                actions=actions,
                outcomes=outcome_of_call(given, _output(call), failed=True if call.get("status") == "error" else None),
            )
            turns += state.place(done, key, "", person=False)
        state.hear(outside_of_call(tool, given))
    if calls:
        state.hear(quoted_in_record(line.data or b""))
    elif not text.strip():
        state.skipped.add("noise")
    return turns


def _output(call: Record) -> str:
    """What a call answered to the model."""
    result = call.get("result")
    answered = (
        [part.get("functionResponse") for part in result if isinstance(part, dict)] if isinstance(result, list) else []
    )
    outputs = [inner(answer, "response").get("output") for answer in answered if isinstance(answer, dict)]
    return "\n".join(output for output in outputs if isinstance(output, str))


def _words(content: object) -> tuple[str, list[str]]:
    """The text of a message without what the model thought, and the kinds of its other parts."""
    if isinstance(content, str):
        return content, []
    words: list[str] = []
    others: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                words += [] if part.get("thought") else [text]
            else:
                others += [kind for kind in part if kind in ("functionResponse", "functionCall")] or [""]
    return "\n".join(words), others
