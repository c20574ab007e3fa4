"""Codex CLI rollouts: `<home>/sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`, or `.jsonl.zst`.

No specification exists. A line is {timestamp, type, payload}. What was said stands twice: as
`response_item` (what went to the model) and as `event_msg` (what was shown). The first is used; an event is
used only as long as no message item was seen, and an item that repeats such an event is then dropped. So
nothing is told late, and a file that holds events alone is read too. `compacted` repeats the history, and has the
summary that stands for it in `message`; only that is read. The oldest files are items without the envelope.

Items of role user also carry what the program tells the model: those parts are dropped by how they begin, and with them
the parts up to the one that closes their tag.

Whose words stand in a user's place is told by the file's own `session_meta`, its first line: a person typed them where
`source` is a terminal or an editor, `originator` is one of the program's own front ends, and nothing names another
thread or agent. The oldest headers have no `source`, and none of the later fields. Where this line is missing, cannot
be read or is that of another session (a fork carries its parent's after its own), the words have the origin `agent`.

`request_user_input` shows the person a form. Its result is JSON, {answers: {id of a question: {answers: [...]}}}: the
labels of the options that were clicked, and behind `user_note: ` what was typed. Answers that are `isSecret` are not
read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from picomem.ingest.external_reads import outside_of_call, quoted_in_record
from picomem.ingest.format import (
    COPIED_SESSION,
    NO_HEADER,
    CallResult,
    LineFormat,
    State,
    TranscriptFolder,
    TurnDetails,
    moved,
    of_a_program,
    record_in,
)
from picomem.ingest.outcomes import actions_of
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, first_records, inner, moment, objects, record_of, short, texts
from picomem.ingest.speakers import await_person, awaits_person_in, doubted, is_option, take_awaited, words_of_question
from picomem.light_dataclass import replace
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Turn

_QUIET = dict.fromkeys(
    """turn_context token_usage_record world_state retained_context security_risk_score realtime_item""".split(),
    "bookkeeping",
) | {"inter_agent_communication": "inter-agent", "inter_agent_communication_metadata": "inter-agent"}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_ITEMS = {
    "reasoning": "thinking",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
    "local_shell_call_output": "tool",
    "web_search_call": "tool",
    "image_generation_call": "tool",
    "tool_search_call": "tool",
    "tool_search_output": "tool",
    "compaction": "summary",
    "compaction_summary": "summary",
    "ghost_snapshot": "snapshot",
}
_EVENTS = {"user_message": "user", "agent_message": "assistant"}
_CALL_EVENTS = ("web_search_begin", "mcp_tool_call_begin", "exec_command_begin", "exec_command_end")
_PARTS = ("input_text", "output_text", "text")
_REPORT = "<subagent_notification>"  # of a sub-agent; it may tell of anything that it read
# How the parts of a user item begin that the program wrote, not the user.
_TOLD = (
    "<environment_context>",
    "<turn_aborted>",
    "# AGENTS.md instructions for",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    _REPORT,
    "<user_shell_command>",
    "<skill>",
    "<model_switch>",
)
_CONTEXT = re.compile(r"\s*# (?:Context from my IDE setup|Files mentioned by the user)\s*:")
_REQUEST = "## My request for Codex:"
_OPENED = re.compile(r"<([A-Za-z][\w-]{0,60})(?: [^<>\n]{0,60})?>")
_FORM = "request_user_input"
_TYPED = "user_note: "  # before what a person typed in a form
_NO_OPTION = "None of the above"  # the host's own words
_MOST_FORMS = 8  # whose questions are kept
_LONGEST_QUESTION = 1000
_SOURCES = ("cli", "vscode")  # of a person
_ORIGINATOR = re.compile(r"(?i)codex(?!.*(?:exec|sdk|mcp|agent|bot|action|automation|review|cron))[\w ./-]{0,60}\Z")
_OLDEST = frozenset("type id timestamp cwd originator cli_version instructions git".split())
_PLAIN_EVENT = ("", "plain")
_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-fA-F-]{36})\.jsonl")
_ENVELOPE = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":[0-9]+,)?"type":"([a-z_]+)","payload":\{(?:"type":"([a-z_]+)")?'
)


class Codex(LineFormat):
    name = "codex"
    unique_prefix = "rollout-"

    def places(self, home: Path, env: Mapping[str, str], /) -> Iterable[TranscriptFolder]:
        folder = moved(env, "CODEX_HOME", home / ".codex")
        yield TranscriptFolder(self.name, folder / "sessions")
        yield TranscriptFolder(self.name, folder / "archived_sessions")

    def claims(self, _path: Path, head: bytes, /) -> bool:
        if (match := _ENVELOPE.match(head)) and match[1] in (b"session_meta", b"response_item", b"event_msg"):
            return True
        return any(_is_ours(record) for record in first_records(head, 3))

    def start(self, path: Path | None = None) -> State:
        state = State()
        if path is not None and (match := _NAME.match(path.name)):
            state.marks["session"] = match[1]
        return state

    def feed(self, state: State, line: Line) -> Sequence[Turn]:
        if line.data is not None and (reason := _passed(state, line.data)):
            state.skipped.add(reason)
            return ()
        if (record := record_in(state, line)) is None:
            if line.offset == 0:
                state.skipped.add(NO_HEADER)
            return ()
        kind, payload = record.get("type"), record.get("payload")
        if not isinstance(payload, dict):
            return _bare(state, line, record)
        at = moment(record.get("timestamp"))
        if kind == "session_meta":
            _describe(state, line, payload, at)
        elif kind == "response_item":
            return _item(state, line, payload, at)
        elif kind == "event_msg":
            return _event(state, line, payload, at)
        elif kind == "compacted":
            return _summary(state, line, payload, at)
        elif isinstance(kind, str) and kind in _QUIET:
            state.note(cwd=payload.get("cwd"))
            state.skipped.add(_QUIET[kind])
        else:
            state.unknown(kind)
        return ()


FORMAT = Codex()


def _is_ours(record: Record) -> bool:
    if isinstance(record.get("payload"), dict):
        return record.get("type") in ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
    if record.get("record_type") == "state":
        return True
    content = record.get("content")
    first = content[0] if isinstance(content, list) and content else None
    return record.get("type") == "message" and isinstance(first, dict) and first.get("type") in _PARTS[:2]


def _passed(state: State, data: bytes) -> str:
    """Explain why a line can be skipped unparsed; empty if it must be parsed."""
    if not (match := _ENVELOPE.match(data)):
        return ""
    kind = match[1].decode()
    inner_kind = match[2].decode() if match[2] else ""
    if kind == "response_item":
        is_heard = inner_kind == "web_search_call" or b"untrusted-text" in data
        is_read = is_heard or state.awaits_result_in(data) or awaits_person_in(state, data)
        return "" if is_read else _ITEMS.get(inner_kind, "")
    if kind == "event_msg":
        if inner_kind in _EVENTS or inner_kind in _CALL_EVENTS:
            return "event" if "items" in state.marks else ""
        return "event" if inner_kind and inner_kind != "thread_name_updated" else ""
    return "" if kind == "turn_context" and not state.info.cwd else _QUIET.get(kind, "")


def _describe(state: State, line: Line, meta: Record, at: int | None) -> None:
    """Take down the session's own record; a fork carries its parent's after it, which changes nothing."""
    if "described" in state.marks:
        state.skipped.add("bookkeeping")
        return
    state.marks["described"] = "1"
    state.marks["speaker"] = _speaker(state, line, meta)
    if source_session := short(meta.get("forked_from_id")):
        state.marks[COPIED_SESSION] = source_session
    source = inner(meta, "source")
    spawned = inner(inner(source, "subagent") or inner(source, "subAgent"), "thread_spawn")
    state.note(
        parent_session=spawned.get("parent_thread_id") or meta.get("parent_thread_id"),
        session=meta.get("id") or meta.get("session_id"),
        cwd=meta.get("cwd"),
        branch=inner(meta, "git").get("branch"),
        agent=meta.get("agent_nickname") or meta.get("agent_role"),
        started_at=moment(meta.get("timestamp")) or at,
    )
    state.skipped.add("bookkeeping")


def _speaker(state: State, line: Line, meta: Record) -> str:
    """Return who types the prompts of a session: a person ("user"), a program, or an agent."""
    session, named = meta.get("id") or meta.get("session_id"), state.marks.get("session")
    is_of_this_file = line.offset == 0 and (named is None or session == named)
    told = {name: value for name, value in meta.items() if name != "source"}
    if not is_of_this_file or doubted(told):
        return "agent"
    source, originator = meta.get("source"), meta.get("originator") or "codex"
    if source == "exec" or not (isinstance(originator, str) and _ORIGINATOR.match(originator)):
        return "program"
    is_oldest = "source" not in meta and meta.keys() <= _OLDEST
    return "user" if is_oldest or source in _SOURCES else "agent"


def _bare(state: State, line: Line, record: Record) -> Sequence[Turn]:
    """A line of the oldest rollouts: the item itself, or the header without a type."""
    if "type" in record:
        return _item(state, line, record, moment(record.get("timestamp")))
    if "id" in record:
        _describe(state, line, record, None)
    else:
        state.skipped.add("bookkeeping") if "record_type" in record else state.unknown("")
    return ()


def _item(state: State, line: Line, item: Record, at: int | None) -> Sequence[Turn]:
    kind, role = item.get("type"), item.get("role")
    if kind in _CALLS:
        return _call(state, line, item, at)
    if kind != "message":
        return _no_message(state, line, item, at)
    if role not in ("user", "assistant"):
        state.skipped.add("system")
        return ()
    state.marks["items"] = "1"
    content = item.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    if role == "user" and any(_words(part).lstrip().startswith(_REPORT) for part in parts):
        state.hear(Origin.TOOL)
    kept = parts if role == "assistant" else _typed_parts(parts)
    text, others = texts(kept, _PARTS)
    if others:
        state.skipped.add("attachment", len(others))
    if not text.strip():
        if not others:
            state.skipped.add("system" if parts else "noise")
        return ()
    text = _typed(text) if role == "user" else text
    if "events" in state.marks and state.seen.take(_shown(role, text)):
        state.skipped.add("event")
        return ()
    key = f"{short(item.get('id'))}\n{at}\n{role}\n{text}" if at is not None or item.get("id") else ""
    ids = (item.get("id"), "", state.info.branch)
    doubt = doubted(item) if role == "user" else None
    return _say(state, line, role, text, at, key=key, ids=ids, doubt=doubt)


def _no_message(state: State, line: Line, item: Record, at: int | None) -> Sequence[Turn]:
    """Note what the agent hears in an item that is neither a message nor a call, and read its outcome."""
    kind = item.get("type")
    if kind == "web_search_call":
        state.hear(Origin.WEB)
    elif isinstance(kind, str) and kind.endswith("_output"):
        state.hear(quoted_in_record(line.data or b""))
    state.skipped.add(_ITEMS[kind]) if isinstance(kind, str) and kind in _ITEMS else state.unknown(kind)
    if take_awaited(state, item.get("call_id")):
        return _answered(state, line, item, at)
    return _outcome(state, line, _result(item), at) if "output" in item else ()


def _summary(state: State, line: Line, compacted: Record, at: int | None) -> Sequence[Turn]:
    """Read the summary with which the program replaced the conversation; empty if only the provider can read it."""
    text = compacted.get("message")
    text = text if isinstance(text, str) else ""
    return state.summarise(line, text, at=at, key=f"{at}\n{text}", ids=("", "", state.info.branch))


def _call(state: State, line: Line, item: Record, at: int | None) -> Sequence[Turn]:
    """Read the action of a tool call. Its arguments are JSON in a string, an object, or the bare input."""
    state.skipped.add("tool")
    given = item.get("arguments", item.get("action", item.get("input")))
    if isinstance(given, str):
        given = record_of(given.encode("utf-8", "replace")) or {"input": given}
    given = given if isinstance(given, dict) else {}
    tool = short(item.get("name")) or "shell"
    actions = actions_of(tool, given, state.info.cwd)
    call = short(item.get("call_id")) or short(item.get("id"))
    asked = _ask(state, call, given) if tool == _FORM else ""
    key = "\n".join((call, str(at), *actions)) if call or at is not None else ""
    ids = (call, "", state.info.branch)
    is_said = bool(actions or asked)
    turns = _say(state, line, "assistant", asked, at, key=key, ids=ids, actions=actions) if is_said else ()
    state.hear(outside_of_call(_full_name(short(item.get("namespace")), tool), given))
    state.await_result(call, given, line)
    return turns


def _ask(state: State, call: str, form: Record) -> str:
    """Return what the agent asks the person in a form, whose result is awaited."""
    questions = objects(form.get("questions"))
    await_person(state, call)
    texts_of = {
        short(question.get("id")): question["question"][:_LONGEST_QUESTION]
        for question in questions
        if isinstance(question.get("question"), str) and not question.get("isSecret")
    }
    forms = {**_forms(state), call: texts_of}
    state.marks["forms"] = json.dumps(dict([*forms.items()][-_MOST_FORMS:]))
    return "\n\n".join(words_of_question(state, question) for question in questions)


def _forms(state: State) -> dict[str, dict[str, str]]:
    """The questions of the latest forms, by the calls and by their ids."""
    return json.loads(state.marks.get("forms", "{}"))


def _answered(state: State, line: Line, item: Record, at: int | None) -> Sequence[Turn]:
    """Return what the person typed in a form, as a turn of theirs, and what they only clicked, which is in the agent's
    words. An option beside which they typed something stands with the question."""
    call = short(item.get("call_id"))
    questions = _forms(state).get(call, {})
    told = record_of(_result(item).output.encode("utf-8", "replace")) or {}
    typed: list[tuple[str, str]] = []
    clicked: list[tuple[str, str]] = []
    for name, answer in inner(told, "answers").items():
        said = answer.get("answers") if isinstance(answer, dict) else None
        parts = [part for part in said if isinstance(part, str) and part.strip()] if isinstance(said, list) else []
        labels = [part for part in parts if is_option(state, part)]
        words = [part.removeprefix(_TYPED) for part in parts if part != _NO_OPTION and not is_option(state, part)]
        if name in questions and words:
            typed.append((" ".join((questions[name], *labels)), "\n".join(words)))
        elif name in questions and labels:
            clicked.append((questions[name], ", ".join(labels)))
    turns = _say_answers(state, line, typed, at, f"{call} typed", Origin.USER)
    return [*turns, *_say_answers(state, line, clicked, at, f"{call} clicked", state.agents_origin())]


def _say_answers(
    state: State, line: Line, answers: Sequence[tuple[str, str]], at: int | None, key: str, words_of: Origin
) -> Sequence[Turn]:
    if not answers:
        return ()
    text = "\n".join(answer for _, answer in answers)
    origin = worst((_origin(state, "user", text), words_of))
    ids = (key, "", state.info.branch)
    turns = state.say(line, text, role="user", origin=origin, at=at, key=key, ids=ids, begins_run=False)
    # A question may be in the words of what the agent had read.
    return [replace(turn, answers=tuple(answers) if state.agents_origin().trusted else ()) for turn in turns]


def _result(item: Record) -> CallResult:
    """The result in an item: a text, which may be JSON with the exit code beside it, or an object, or parts."""
    output, failed = item.get("output"), None
    told = record_of(output.encode("utf-8", "replace")) if isinstance(output, str) and output[:1] == "{" else None
    if told is not None and "output" in told:
        code, output = inner(told, "metadata").get("exit_code"), told["output"]
        failed = code != 0 if type(code) is int else None
    elif isinstance(output, dict):
        failed, output = (True if output.get("success") is False else None), output.get("content")
    return CallResult(item.get("call_id"), texts(output, _PARTS)[0], failed)


def _result_in_event(event: Record) -> CallResult:
    parts = (event.get("aggregated_output"), event.get("stdout"), event.get("stderr"))
    said = [part for part in parts if isinstance(part, str) and part]
    code = event.get("exit_code")
    failed = code != 0 if type(code) is int else None
    return CallResult(event.get("call_id"), said[0] if parts[0] and said else "\n".join(said), failed)


def _outcome(state: State, line: Line, result: CallResult, at: int | None) -> Sequence[Turn]:
    ids = (f"{short(result.call)} outcome", "", state.info.branch)
    return state.say_outcome(line, [result], at=at, ids=ids)


def _full_name(server: str, tool: str) -> str:
    return f"{server.removesuffix('__')}__{tool}" if server else tool


def _hear_event(state: State, line: Line, kind: object, event: Record) -> None:
    """The call in an event; used only if no items report calls."""
    if kind == "web_search_begin":
        state.hear(Origin.WEB)
    elif kind == "exec_command_begin":
        state.hear(outside_of_call("shell", event))
        state.await_result(event.get("call_id"), event, line)
    elif kind == "mcp_tool_call_begin":
        call = inner(event, "invocation")
        state.hear(outside_of_call(_full_name(short(call.get("server")), short(call.get("tool"))), {}))


def _event(state: State, line: Line, event: Record, at: int | None) -> Sequence[Turn]:
    kind = event.get("type")
    if kind == "thread_name_updated":
        state.renote(title=event.get("thread_name") or event.get("name") or state.info.title)
    if "items" not in state.marks:
        _hear_event(state, line, kind, event)
        if kind == "exec_command_end":
            state.skipped.add("event")
            return _outcome(state, line, _result_in_event(event), at)
    role = _EVENTS.get(kind) if isinstance(kind, str) else None
    text = event.get("message")
    is_told = role == "user" and (_is_told({"text": text}) or event.get("kind", "") not in _PLAIN_EVENT)
    if role is None or not isinstance(text, str) or "items" in state.marks or is_told:
        state.skipped.add("event")
        return ()
    text = _typed(text) if role == "user" else text
    doubt = doubted(event) if role == "user" else None
    key = f"{at}\n{role}\n{text}" if at is not None else ""
    turns = _say(state, line, role, text, at, key=key, ids=("", "", state.info.branch), doubt=doubt)
    if turns:
        state.marks["events"] = "1"
        state.seen.add(_shown(role, text))
    return turns


def _say(
    state: State,
    line: Line,
    role: str,
    text: str,
    at: int | None,
    *,
    doubt: Origin | None = None,
    **more: Unpack[TurnDetails],
) -> Sequence[Turn]:
    state.note(session=state.marks.get("session"))
    origin = _origin(state, role, text)
    is_persons = role != "assistant" and state.marks.get("speaker") == "user"
    return state.say(
        line,
        text,
        role=role,
        origin=worst((origin, doubt or origin)),
        at=at,
        begins_run=is_persons and doubt is None,
        **more,
    )


def _origin(state: State, role: str, text: str) -> Origin:
    """Return whose words a text in a role is, by what the session's own record says."""
    speaker = "agent" if role == "assistant" else state.marks.get("speaker", "agent")
    return {"user": Origin.USER, "program": of_a_program(text)}.get(speaker, Origin.AGENT)


def _typed_parts(parts: Sequence[object]) -> list[object]:
    """The parts that the program did not write. One that opens a tag goes on to the last part that closes the tag."""
    kept: list[object] = []
    free = 0
    for at, part in enumerate(parts):
        if _is_told(part):
            opened = _OPENED.search(_words(part))
            closing = f"</{opened[1]}>" if opened else ""
            if opened and closing not in _words(part):
                ends = (end for end in range(len(parts) - 1, at, -1) if closing in _words(parts[end]))
                free = max(free, next(ends, len(parts) - 1) + 1)
        elif at >= free:
            kept.append(part)
    return kept


def _words(part: object) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def _is_told(part: object) -> bool:
    text = _words(part)
    return text.lstrip().startswith(_TOLD) or (bool(_CONTEXT.match(text)) and _REQUEST not in text)


def _typed(text: str) -> str:
    """The user's text, without the state that an editor put before it."""
    if _CONTEXT.match(text):
        return text.rpartition(_REQUEST)[2]
    return text


def _shown(role: str, text: str) -> str:
    return f"shown {role}\n{' '.join(text.split())}"
