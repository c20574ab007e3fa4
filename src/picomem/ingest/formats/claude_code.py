"""Claude Code: `<config>/projects/<folder>/<session>.jsonl`, one JSON object a line.

No specification exists; the facts come from the files and from what others' parsers do. What the reader
relies on:

- `type` user and assistant carry a `message` of the Messages API. One line holds one block or a few; the
  lines of one assistant message repeat its `message.id`. Tool results are lines of type user.
- Every other type is the program's own record: progress, snapshots, queue, titles. Only titles are read.
- Records form a tree by `parentUuid`; branches that the user went back from stay in the file. They were
  said, so they are turns; `branches` tells which they are.
- What a person typed while the agent worked is a `queue-operation`, and comes again, or does not, as an `attachment` of
  type `queued_command` or as a message.
- A tool's result may be the person's, and so may be the reason of a call that was denied (claude_code_answers.py).
- The result of a command gives its outcome (outcomes.py); `is_error` says that it failed.
- A text beside a tool's result is no prompt: the program joins what it has to say to the result.
- `entrypoint` names what began the session: a terminal, an editor or the desktop program shows a person. "sdk-cli"
  (`claude -p`), "sdk-py", "mcp" and every other value are programs, and no person is known to have written their
  prompts. Conductor is a program in which a person types, and drives "sdk-ts"; each of its sessions runs in a folder
  below `conductor/workspaces`.
- `claude -p` queues its own prompt before it writes any message; such a line does not name an entrypoint.
- A slash command that stands in a file is written as the command, and then as a message with the file's text, in
  blocks, which goes on from it.
- In a team of agents records carry `teamName`, and `agentName` in a teammate's session: what stands there in a user's
  place may be another agent's, so none of it is taken for the user's.
- A sub-agent writes a file of its own in a folder `subagents`, with `isSidechain` and `agentId` in each line and the
  parent's `sessionId`. What it is asked was written by an agent. `agentId` "acompact-…" is the program summarising
  its own conversation.
- The agent retells what a sub-agent reports, and what a command in the background printed (claude_code_answers.py).
  (Old versions wrote the sub-agent's records into the session's own file.)

Most bytes are progress and tool results. A test on the first bytes (scalars up to `"type"`) passes them over without
parsing; it holds for the compact JSON that the program writes, and every other line takes the slow way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.claude_code_answers import (
    RETURNED_PLAN,
    TEAMMATE,
    answers_in,
    answers_of,
    hear_call,
    hear_tasks,
    is_of_form,
    read_questions,
    reason_of_denial,
    result_of_person,
    say_answers,
    say_decided,
    tells_of_task,
)
from picomem.ingest.external_reads import quoted_in_record
from picomem.ingest.format import (
    TOO_LONG,
    CallResult,
    LineFormat,
    State,
    TranscriptFolder,
    moved,
    of_a_program,
    record_in,
)
from picomem.ingest.outcomes import actions_of
from picomem.ingest.reader import Line, records
from picomem.ingest.record_fields import Record, first_records, inner, moment, objects, short, texts
from picomem.ingest.source import SourceState, look_at
from picomem.ingest.speakers import OF_A_RESULT, awaits_person_in, doubted, origin_of_answers
from picomem.paths import read_regular
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Turn

# The types that hold nothing that was said, and what they are counted as.
_QUIET = {
    "progress": "progress",
    "system": "system",
    "file-history-snapshot": "snapshot",
    "last-prompt": "bookkeeping",
    "mode": "bookkeeping",
    "permission-mode": "bookkeeping",
    "agent-name": "bookkeeping",
    "tag": "bookkeeping",
    "pr-link": "bookkeeping",
    "content-replacement": "bookkeeping",
    **dict.fromkeys("started result tools-used atis-latch cost-state".split(), "bookkeeping"),
    **dict.fromkeys("api-request api-request-shape api-request-blob".split(), "bookkeeping"),
}
_TITLES = {"summary": ("1", "summary"), "ai-title": ("2", "aiTitle"), "custom-title": ("3", "customTitle")}
_BLOCKS = {
    "tool_use": "tool",
    "tool_result": "tool",
    "server_tool_use": "tool",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "image": "attachment",
    "document": "attachment",
}
_OF_A_PERSON = re.compile(r"(?i)(?:cli|(?:claude-)?(?:code|desktop|vscode|jetbrains|ide|xcode|zed))?\Z")  # entrypoints
_FOLDERS_OF_CONDUCTOR = re.compile(r"[/\\]conductor[/\\]workspaces[/\\]")
_COMPACTED = "This session is being continued from a previous conversation"
_SELF_SUMMARY = "acompact"
# What stands around the words of a summary.
_BEFORE_SUMMARY = re.compile(r"\AThis session is being continued[^\n]*\n*(?:(?:.*?\n)?Summary:\s*\n)?", re.DOTALL)
_BEHIND_SUMMARY = re.compile(
    r"\n+(?:Please c|C)ontinue the conversation from where (?:we|it) left[^\n]*|\n+If you need specific details[^\n]*"
)
_CLEANUP_DAYS = 30  # where Claude Code's settings name no other period
_LARGEST_SETTINGS = 1 << 20  # bytes
_SLASH_COMMAND = re.compile(r"/[\w:-]+(\s|$)")
_NOTIFICATIONS = ("<task-notification", "[SYSTEM NOTIFICATION")

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TYPE = re.compile(rb'\{(?:(?!"type")"[A-Za-z]+":(?:' + _STRING + rb'|true|false|null|-?[0-9]+),)*+"type":"([a-z-]+)"')
_RESULT = re.compile(
    rb',"message":\{"role":"user","content":\[\{(?:"tool_use_id":"\w+",)?"type":"tool_result",'
    rb'(?:"tool_use_id":"\w+",)?"content":' + _STRING + rb"(?:,\"\w+\":(?:" + _STRING + rb"|true|false))*+\}\]\}"
)


class ClaudeCode(LineFormat):
    name = "claude-code"

    def places(self, home: Path, env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        yield TranscriptFolder(self.name, moved(env, "CLAUDE_CONFIG_DIR", home / ".claude") / "projects")

    def is_place_of(self, path: Path, cwd: str, /) -> bool:
        """Claude Code calls the folder of a project's transcripts by the folder in which the sessions began."""
        name = re.sub(r"[^A-Za-z0-9]", "-", cwd)
        return any(folder.name == name and folder.parent.name == "projects" for folder in path.parents)

    def deletes_after_days(self, home: Path, env: Mapping[str, str], /) -> int:
        """Claude Code deletes, when it starts, what was not changed for `cleanupPeriodDays` of its settings."""
        settings = moved(env, "CLAUDE_CONFIG_DIR", home / ".claude") / "settings.json"
        try:
            period = json.loads(read_regular(settings, most=_LARGEST_SETTINGS)).get("cleanupPeriodDays")
        except (InvalidInput, NotFound, ValueError, AttributeError, RecursionError):
            return _CLEANUP_DAYS
        return period if type(period) is int and period >= 0 else _CLEANUP_DAYS

    def claims(self, _path: Path, head: bytes, /) -> bool:
        records = first_records(head)
        if not records:  # the first line is longer than the head
            return b'"sessionId":"' in head and b'"parentUuid":' in head
        return any(_is_ours(record) for record in records)

    def start(self, path: Path | None = None) -> State:
        state = State(path=path)
        if path is not None and "subagents" in path.parts[:-1]:
            # `<session>/subagents/agent-….jsonl`, or `<session>/subagents/workflows/<id>/agent-….jsonl`
            above = path.parts[: path.parts.index("subagents")]
            state.note(parent_session=above[-1] if above else "")
            state.marks["sub-agent"] = "1"
        return state

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if line.data is not None and b'"tool_result"' in line.data:
            state.hear(quoted_in_record(line.data))
        if line.data is not None and (reason := _passed(state, line.data)):
            state.skipped.add(reason)
            return ()
        if (record := record_in(state, line)) is None:
            return ()
        kind = record.get("type")
        if kind in ("user", "assistant", "attachment"):
            _describe(state, record)
            turns = _said(state, line, record)
            if kind != "assistant":
                hear_tasks(state, record, line.data or b"", _outside_of_file)
            person = bool(turns) and turns[0].role == "user"
            aside = bool(record.get("isSidechain"))
            if aside and not record.get("agentId"):
                state.marks["sidechain"] = "1"
            return state.place(turns, record.get("uuid"), record.get("parentUuid", ""), person=person, aside=aside)
        if kind == "queue-operation":
            turns = _queued(state, line, record)
            hear_tasks(state, record, line.data or b"", _outside_of_file)
            return turns
        if isinstance(kind, str) and kind in _TITLES:
            _entitle(state, record, *_TITLES[kind])
        elif isinstance(kind, str) and kind in _QUIET:
            state.skipped.add(_QUIET[kind])
        else:
            state.unknown(kind)
        return ()


FORMAT = ClaudeCode()


def _is_ours(record: Record) -> bool:
    kind = record.get("type")
    if kind == "summary":
        return "leafUuid" in record
    if kind == "file-history-snapshot":
        return True
    return isinstance(kind, str) and "sessionId" in record and "payload" not in record


def _passed(state: State, data: bytes) -> str:
    """Explain why a line can be skipped unparsed; empty if it must be parsed."""
    if not (match := _TYPE.match(data)):
        return ""
    kind = match[1].decode()
    if kind == "user" and state.info.session and _RESULT.match(data, match.end()):
        is_of_person = b'"toolDenialKind"' in data or awaits_person_in(state, data)
        return "" if is_of_person or state.awaits_result_in(data) or tells_of_task(state, data) else "tool"
    return _QUIET.get(kind, "")


def _said(state: State, line: Line, record: Record) -> Sequence[Turn]:
    if record["type"] == "assistant":
        return _assistant(state, line, record)
    if record["type"] == "user":
        state.marks["entrypoint"] = short(record.get("entrypoint"))
        return _user(state, line, record, inner(record, "message").get("content"))
    return _attachment(state, line, record)


def _describe(state: State, record: Record) -> None:
    """Take down what the record says of the session: first come stands, but for the branch."""
    session = record.get("sessionId")
    agent = record.get("agentId")
    if not state.info.session and session:
        if agent and record.get("isSidechain"):
            state.note(session=f"agent-{agent}", parent_session=session, agent=agent)
        else:
            state.note(session=session, agent=record.get("agentName"))
    state.note(cwd=record.get("cwd"))
    if record.get("agentName") or record.get("teamName"):
        state.marks["team"] = "1"
    branch = record.get("gitBranch")
    if branch and branch != state.info.branch:
        state.renote(branch=branch)


def _entitle(state: State, record: Record, rank: str, name: str) -> None:
    """A title that a person gave stands before one that a model gave, and that before a summary."""
    title = record.get(name)
    if isinstance(title, str) and title and rank >= state.marks.get("title", ""):
        state.marks["title"] = rank
        state.renote(title=title)
    state.skipped.add("title")


def _assistant(state: State, line: Line, record: Record) -> Sequence[Turn]:
    message = inner(record, "message")
    if record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
        state.skipped.add("error")
        return ()
    if state.info.agent.startswith(_SELF_SUMMARY):
        state.skipped.add("summary")
        return ()
    text = _visible(state, message.get("content"))
    text = "\n\n".join(filter(None, (text, *read_questions(state, message.get("content")))))
    actions = _actions(state, message.get("content"))
    message_id = short(message.get("id"))
    turns: Sequence[Turn] = ()
    if text or actions:
        turns = state.say(
            line,
            text,
            role="assistant",
            origin=Origin.AGENT,
            at=moment(record.get("timestamp")),
            key="\n".join((message_id, text, *actions)) if message_id else _identity(record),
            ids=(_identity(record), record.get("parentUuid"), record.get("gitBranch")),
            actions=actions,
        )
    for call in _calls(message.get("content")):
        hear_call(state, call, line.data or b"", _outside_of_file)
        state.await_result(call.get("id"), inner(call, "input"), line)
    return turns


def _actions(state: State, content: object) -> tuple[str, ...]:
    return tuple(
        action
        for call in _calls(content)
        for action in actions_of(short(call.get("name")), inner(call, "input"), state.info.cwd)
    )


def _calls(content: object) -> list[Record]:
    return [block for block in objects(content) if block.get("type") in ("tool_use", "server_tool_use")]


def _outside_of_file(path: Path) -> Origin:
    return _outside_of_look(path, look_at(path))


@lru_cache(64)
def _outside_of_look(path: Path, _look: SourceState) -> Origin:
    """The least trusted origin of what a sub-agent read; that of a tool where its file is not whole, which ends with
    what the sub-agent said. What its own sub-agents report is in doubt, so a loop of files ends here."""
    reading = FORMAT.start(path)
    reading.path = None
    last: Sequence[Turn] = ()
    heard = Origin.AGENT
    try:
        for line in records(path):
            last = FORMAT.feed(reading, line) or last
            heard = worst((heard, reading.agents_origin()))
    except (InvalidInput, NotFound):
        return worst((heard, Origin.TOOL))
    is_cut = bool({"invalid line", TOO_LONG} & reading.skipped.counts.keys())
    is_whole = bool(last) and last[-1].role == "assistant" and bool(last[-1].text)
    return heard if is_whole and not is_cut else worst((heard, Origin.TOOL))


def _user(state: State, line: Line, record: Record, content: object, *, begins_run: bool = True) -> Sequence[Turn]:
    if state.info.agent.startswith(_SELF_SUMMARY):
        state.skipped.add("summary")
        return ()
    if record.get("isCompactSummary"):
        return _summary(state, line, record, _visible(state, content))
    if record.get("isMeta"):
        state.skipped.add("meta")
        return ()
    if (result := result_of_person(state, record, content)) is not None:
        return _decided(state, line, record, result)
    text = _visible(state, content)
    if not text:
        ids = (_identity(record), record.get("parentUuid"), record.get("gitBranch"))
        return state.say_outcome(line, _results(content), at=moment(record.get("timestamp")), ids=ids)
    if state.seen.take(_queue_key(text)):
        state.skipped.add("repeated")
        return ()
    if text.startswith(_COMPACTED):
        return _summary(state, line, record, text)
    if text.lstrip().startswith(_NOTIFICATIONS):
        state.skipped.add("notification")
        return ()
    origin = _origin(state, record, text)
    if _is_of_a_command(state, record, content) and origin.trusted:
        origin = Origin.OTHER
    return state.say(
        line,
        text,
        role="user",
        origin=origin,
        at=moment(record.get("timestamp")),
        key=_identity(record),
        ids=(_identity(record), record.get("parentUuid"), record.get("gitBranch")),
        begins_run=begins_run and origin is Origin.USER,
    )


def _summary(state: State, line: Line, record: Record, text: str) -> Sequence[Turn]:
    """Read the summary with which the program replaced a conversation that had become too long."""
    return state.summarise(
        line,
        _BEHIND_SUMMARY.sub("", _BEFORE_SUMMARY.sub("", text)),
        at=moment(record.get("timestamp")),
        key=_identity(record),
        ids=(_identity(record), record.get("parentUuid"), record.get("gitBranch")),
    )


def _attachment(state: State, line: Line, record: Record) -> Sequence[Turn]:
    attached = inner(record, "attachment")
    if attached.get("type") != "queued_command" or attached.get("commandMode") != "prompt":
        state.skipped.add("attachment")
        return ()
    said_of_it = {name: value for name, value in attached.items() if name not in ("type", "prompt")}
    return _user(state, line, {**record, **said_of_it}, attached.get("prompt"), begins_run=False)


def _queued(state: State, line: Line, record: Record) -> Sequence[Turn]:
    """A message that was typed while the agent worked; its words identify the repeat as a message.

    The line does not say what began the session, so the messages before it do. Where there is none, it is the first
    prompt (`claude -p` queues its own), which follows as a message.
    """
    text, entrypoint = record.get("content"), state.marks.get("entrypoint")
    if record.get("operation") != "enqueue" or not isinstance(text, str) or entrypoint is None:
        state.skipped.add("queue")
        return ()
    if _SLASH_COMMAND.match(text):
        state.skipped.add("queue")
        return ()
    if text.lstrip().startswith(_NOTIFICATIONS):
        state.skipped.add("notification")
        return ()
    at = record.get("timestamp")
    turns = state.say(
        line,
        text,
        role="user",
        origin=Origin.AGENT if "team" in state.marks else _origin(state, {**record, "entrypoint": entrypoint}, text),
        at=moment(at),
        key=f"{at}\n{text}",
        ids=("", "", state.info.branch),
        begins_run=False,
    )
    for turn in turns:
        state.seen.add(_queue_key(text))
        state.branches.queued(turn.index)
    return turns


_OPTIONS = "+options"  # behind the identity of a record: its turn of options that were clicked


def _queue_key(text: str) -> str:
    return f"queued\n{text.strip()}"


def _results(content: object) -> Iterator[CallResult]:
    for block in objects(content):
        if block.get("type") == "tool_result":
            yield CallResult(block.get("tool_use_id"), texts(block.get("content"))[0], block.get("is_error") is True)


def _decided(state: State, line: Line, record: Record, result: Record) -> Sequence[Turn]:
    """Return what the person answered to a question, or why they denied a call, in their place; or the plan of the
    agent's that they approved."""
    state.skipped.add("tool")
    told, plan = inner(record, "toolUseResult"), inner(record, "toolUseResult").get("plan")
    given: dict[str, str] = {}
    if told:
        given = answers_of(told)
    elif is_of_form(state, result):
        given = answers_in(state, texts(result.get("content"))[0])
    elif reason := reason_of_denial(record, result):
        given = {"": reason}
    if given:
        typed = _origin(state, record, "\n".join(given.values()), except_for=OF_A_RESULT)
        if not is_of_form(state, result):
            return say_answers(state, line, record, given, typed, _identity(record))
        name = _identity(record)
        # What was clicked is in the agent's words, and leaves what the person typed beside it theirs.
        written = {name: answer for name, answer in given.items() if origin_of_answers(state, typed, [answer]) is typed}
        clicked = {name: answer for name, answer in given.items() if name not in written}
        turns = say_answers(state, line, record, written, typed, name) if written else []
        if clicked:
            origin = origin_of_answers(state, typed, list(clicked.values()))
            turns += say_answers(state, line, record, clicked, origin, name + _OPTIONS if written else name)
        return turns
    if isinstance(plan, str) and result.get("is_error") is not True and told.get("awaitingLeaderApproval") is not True:
        return say_decided(state, line, record, plan, "assistant", Origin.AGENT, _identity(record))
    return ()


def _is_of_a_command(state: State, record: Record, content: object) -> bool:
    """Return whether a message is the text of a command's file; a slash command in this message is noted for the next
    one."""
    before = state.marks.pop("command", "")
    first = texts(content)[0].lstrip()
    if first.startswith(("<command-name>", "<command-message>")):
        state.marks["command"] = short(record.get("uuid"))
        return False
    return bool(before) and short(record.get("parentUuid")) == before and isinstance(content, list)


def _visible(state: State, content: object) -> str:
    """A message's text; its other blocks are counted."""
    text, others = texts(content)
    for kind in others:
        state.skipped.add(_BLOCKS[kind]) if kind in _BLOCKS else state.unknown(kind)
    if not text.strip() and not others:
        state.skipped.add("noise")
    return text if text.strip() else ""


def _identity(record: Record) -> str:
    """The identity that a record shares with its copy: a forked session names the original."""
    return short(inner(record, "forkedFrom").get("messageUuid")) or short(record.get("uuid"))


def _origin(state: State, record: Record, text: str, *, except_for: Collection[str] = frozenset()) -> Origin:
    """Return who wrote what stands in a user's place: a person, another agent, or the program."""
    message = inner(record, "message")
    doubt = doubted(record, message, except_for=except_for)
    if "sub-agent" in state.marks:
        return worst((Origin.AGENT, doubt or Origin.AGENT))
    if text.lstrip().startswith(TEAMMATE):
        return worst((Origin.TOOL, doubt or Origin.TOOL))  # a report as well
    if doubt is not None:
        return doubt
    if text.startswith(RETURNED_PLAN):
        return Origin.AGENT
    if record.get("type") == "user" and message.get("role", "user") != "user":
        return Origin.AGENT if message["role"] == "assistant" else Origin.OTHER
    if not except_for and any(block.get("type") == "tool_result" for block in objects(message.get("content"))):
        return Origin.TOOL
    return Origin.USER if _is_typed(state, record) else of_a_program(text)


def _is_typed(state: State, record: Record) -> bool:
    """Return whether a person types the prompts of the session."""
    entrypoint = str(record.get("entrypoint") or "")
    if entrypoint == "sdk-ts":
        return _FOLDERS_OF_CONDUCTOR.search(state.info.cwd) is not None
    return _OF_A_PERSON.match(entrypoint) is not None
