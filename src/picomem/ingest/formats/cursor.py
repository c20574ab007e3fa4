"""Cursor's agent: `~/.cursor/projects/<project>/agent-transcripts/<id>/<id>.jsonl`, sub-agents in `<id>/subagents/`.

No specification exists. Lines are appended: {"role": "user" | "assistant", "message": {"content": a text or [{"type":
"text", text} | {"type": "tool_use", name, input}, …]}}, and {"type": "turn_ended", status}. They have no ids and no
times, and what tools gave is not recorded.

What was typed stands in `<user_query>`, the minute before it in `<timestamp>`; around it Cursor puts files, rules and
states of the editor. A message without a query is not known to be the user's. Thoughts are written as `[REDACTED]`.

The folder of a project is named after its path, all signs replaced by `-`; the path itself is known once a tool was
used in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from picomem.clock import Micros, to_micros
from picomem.ingest.external_reads import outside_of_call
from picomem.ingest.format import LineFormat, State, TranscriptFolder, record_in
from picomem.ingest.outcomes import actions_of
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, first_records, inner, short, texts
from picomem.ingest.speakers import doubted
from picomem.records.ids import content_hash
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Turn

_FOLDER = "agent-transcripts"
_SPEAKER = "speaker"  # the mark of whose words stand in a user's place
_PROJECT = "project"  # the mark of the name of the project's folder
_NAME = "name"
_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TIMESTAMP = re.compile(
    r"<timestamp>\s*(?:[A-Za-z]{3,9},\s*)?([A-Z][a-z]{2})[a-z]*\s+(\d{1,2}),\s*(\d{4}),\s*(\d{1,2}):(\d{2})\s*([AP]M)"
    r"(?:\s*\(UTC(?:([+-])(\d{1,2})(?::(\d{2}))?)?\))?\s*</timestamp>"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_REDACTED = re.compile(r"\s*\[REDACTED\]\s*\Z")
_PATHS = ("working_directory", "path", "file_path", "target_file", "target_directory")
_DEEPEST = 40


class Cursor(LineFormat):
    name = "cursor"

    def places(self, home: Path, _env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        yield TranscriptFolder(self.name, home / ".cursor" / "projects")

    def claims(self, path: Path, head: bytes, /) -> bool:
        said = [record for record in first_records(head) if _is_said(record)]
        return bool(said) and (_FOLDER in path.parts or any(_has_query(record) for record in said))

    def start(self, path: Path | None = None) -> State:
        state = State()
        if path is None:
            return state
        state.marks[_NAME] = path.name.partition(".jsonl")[0][:200]
        if "subagents" in path.parts:
            state.marks[_SPEAKER] = Origin.AGENT.value
            state.note(parent_session=path.parent.parent.name)
        if _FOLDER in path.parts[1:]:
            state.marks[_PROJECT] = path.parts[path.parts.index(_FOLDER) - 1]
        return state

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if (record := record_in(state, line)) is None:
            return ()
        if _ends_turn(record):
            state.skipped.add("bookkeeping")
            return ()
        if not _is_said(record):
            state.unknown(record.get("type") or record.get("role"))
            return ()
        state.note(session=state.marks.get(_NAME))
        content = inner(record, "message").get("content")
        if record["role"] == "user":
            return _asked(state, line, inner(record, "message"), content)
        return _answered(state, line, content)


FORMAT = Cursor()


def _is_said(record: Record) -> bool:
    content = inner(record, "message").get("content")
    return (
        set(record) == {"role", "message"}
        and record["role"] in ("user", "assistant")
        and isinstance(content, str | list)
    )


def _has_query(record: Record) -> bool:
    return _query(texts(inner(record, "message").get("content"))[0]) is not None


def _ends_turn(record: Record) -> bool:
    return record.get("type") == "turn_ended"


def _asked(state: State, line: Line, message: Record, content: object) -> Sequence[Turn]:
    text, others = texts(content)
    if others:
        state.skipped.add("attachment", len(others))
    query = _query(text)
    if query is None and text.lstrip().startswith("<"):
        state.skipped.add("system")  # Cursor's own: rules, tools, what became of a task in the background
        return ()
    doubts = [doubted(message), Origin.AGENT if query is None else None]
    known = Origin(state.marks.get(_SPEAKER, Origin.USER))
    said = text if query is None else query
    stamp = _TIMESTAMP.search(text[: text.find(_QUERY)] if query is not None else "")
    name = f"{state.marks.get(_NAME, '')} {stamp[0]} {content_hash(said)}" if stamp else ""
    return state.say(
        line,
        said,
        role="user",
        origin=worst([known, *(doubt for doubt in doubts if doubt is not None)]),
        at=_moment(stamp) if stamp else None,
        ids=(name, "", ""),
    )


def _query(text: str) -> str | None:
    """Return the typed text: the last query of a message, because files may be quoted before it."""
    end = text.rfind(_QUERY_END)
    start = text.rfind(_QUERY, 0, end) if end >= 0 else -1
    return text[start + len(_QUERY) : end] if start >= 0 else None


def _moment(stamp: re.Match[str]) -> Micros | None:
    """The minute that Cursor wrote, in this machine's zone where it names none."""
    month, day, year, hour, minute, half, sign, hours, minutes = stamp.groups()
    try:
        at = datetime(int(year), _MONTHS.index(month) + 1, int(day), int(hour) % 12 + 12 * (half == "PM"), int(minute))
        if sign:
            ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return to_micros(at.replace(tzinfo=timezone(ahead if sign == "+" else -ahead)))
        return to_micros(at.replace(tzinfo=UTC) if "(UTC)" in stamp[0] else at.astimezone())
    except (ValueError, OverflowError):
        return None


def _answered(state: State, line: Line, content: object) -> Sequence[Turn]:
    text, _ = texts(content)
    calls = [
        (short(block.get("name")), inner(block, "input"))
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, dict) and block.get("type") == "tool_use"
    ]
    for _, given in calls:
        _find_project(state, given)
    turns: Sequence[Turn] = ()
    actions = tuple(action for tool, given in calls for action in actions_of(tool, given))
    text = _REDACTED.sub("", text)
    if text.strip() or actions:
        turns = state.say(line, text, role="assistant", origin=Origin.AGENT, actions=actions)
    elif not calls:
        state.skipped.add("thinking")
    for tool, given in calls:
        if tool == "CallMcpTool":
            tool = f"mcp__{short(given.get('server'))}__{short(given.get('toolName'))}"
        state.hear(outside_of_call(tool, given))
    return turns


def _find_project(state: State, given: Record) -> None:
    """Note the folder of the project if a call names it, or a place in it."""
    project = state.marks.get(_PROJECT, "")
    if state.info.cwd or not project:
        return
    for named in (given.get(name) for name in _PATHS):
        if isinstance(named, str) and 0 < len(named) < 4096:
            path: PurePath = PureWindowsPath(named) if "\\" in named else PurePosixPath(named)
            for folder in (path, *path.parents)[:_DEEPEST]:
                if _slug(str(folder)) == _slug(project):
                    state.note(cwd=str(folder))
                    return


def _slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-").lower()
