"""What reports to an agent of Claude Code: sub-agents, and commands that run in the background.

The agent retells the report, so its words then have the origin of what the sub-agent or the command had read. Records
name it by `agentId`, `backgroundTaskId`, a task's id, or its file. Of a command the call tells, and of a sub-agent its
own file, whose reader the format passes as `outside_of_file`. In doubt, as without that file or with one that is not
whole, the report is a tool's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from picomem.ingest.actions import command_of
from picomem.ingest.external_reads import outside_of_call
from picomem.ingest.format import State
from picomem.ingest.record_fields import Record, inner, objects, short
from picomem.ingest.source import current_file
from picomem.records.kinds import Origin, worst

OutsideOfFile = Callable[[Path], Origin]  # the least trusted origin of what the sub-agent read whose file it is

TEAMMATE = "<teammate-message"
_SUB_AGENT_TOOLS = ("Task", "Agent")  # their result is a sub-agent's report
_TASK_TOOLS = ("TaskOutput", "BashOutput")  # they read what a command in the background printed
_REJECTED = "User rejected tool use"
_MOST_NOTED = 32  # calls that wait for a report, and tasks in the background
_ID = r"[\w-]{1,80}"
_NOTIFIED_TASK = re.compile(rb"<task-id>(?:\s|\\n)*([\w-]{1,80})")
_FILE_OF_TASK = re.compile(rf"\btasks/({_ID})\.output\b|\bagent-({_ID})\.jsonl\b")


def hear_call(state: State, call: Record, data: bytes, outside_of_file: OutsideOfFile) -> None:
    """Hear what a call reads from outside. What a call of a sub-agent was made from, and what a command reads, is noted
    too: they may go on in the background."""
    name, given, id_ = short(call.get("name")), inner(call, "input"), short(call.get("id"))
    if name in _SUB_AGENT_TOOLS:
        state.marks.pop("sidechain", None)
        if len(_noted(state, "reports")) >= _MOST_NOTED:
            state.hear(Origin.TOOL)
        _note(state, "reports", id_, state.agents_origin())
        return
    origin = outside_of_call(name, given)
    state.hear(origin)
    if command_of(given) and origin is not None:
        _note(state, "tasks", id_, origin)
    if name in _TASK_TOOLS:  # the result says whether it is a sub-agent's
        state.hear(_noted(state, "tasks").get(short(given.get("bash_id") or given.get("task_id"))))
    if b".output" in data or b"agent-" in data:  # a call may hold the text of a whole file
        for match in _FILE_OF_TASK.finditer(json.dumps(given)):
            state.hear(_outside_of_task(state, match[1] or match[2], outside_of_file))


def tells_of_task(state: State, data: bytes) -> bool:
    """Return whether the line of a tool's result may hold a report, or tell of what works in the background."""
    if b'"backgroundTaskId"' in data or b'"task_type"' in data:
        return True
    if b'"agentId"' in data and "sub-agent" not in state.marks:
        return True
    return any(f'"{call}"'.encode() in data for call in _noted(state, "reports"))


def hear_tasks(state: State, record: Record, data: bytes, outside_of_file: OutsideOfFile) -> None:
    """Hear what those had read who report in a record of the program's, or in a tool's result."""
    told, content = inner(record, "toolUseResult"), inner(record, "message").get("content")
    calls = [short(block.get("tool_use_id")) for block in objects(content) if block.get("type") == "tool_result"]
    waiting, tasks = _noted(state, "reports"), _noted(state, "tasks")
    made_from = worst([Origin.AGENT, *(waiting.get(call, tasks.get(call, Origin.AGENT)) for call in calls)])
    _note(state, "tasks", short(told.get("backgroundTaskId")), made_from)
    agent, task = short(told.get("agentId")), inner(told, "task")
    reports = [call for call in calls if call in waiting]
    if told.get("isAsync") is True or told.get("status") == "async_launched":
        _note(state, "tasks", agent, made_from)
    elif agent or (reports and record.get("toolUseResult") != _REJECTED):
        state.hear(worst((made_from, _outside_of_task(state, agent, outside_of_file))))
        state.hear(Origin.TOOL if len(calls) > 1 else None)
    if reports:
        left = {call: origin for call, origin in waiting.items() if call not in reports}
        state.marks["reports"] = " ".join(f"{call}={origin.value}" for call, origin in left.items())
    if task:
        is_command = task.get("task_type") == "local_bash"
        name = short(task.get("task_id"))
        state.hear(tasks.get(name) if is_command else _outside_of_task(state, name, outside_of_file))
    for match in _NOTIFIED_TASK.finditer(data):
        state.hear(_outside_of_task(state, match[1].decode(), outside_of_file))
    if TEAMMATE.encode() in data or b'"teammate_mailbox"' in data:
        state.hear(Origin.TOOL)


def _note(state: State, mark: str, name: str, origin: Origin) -> None:
    if re.fullmatch(r"[^\s=]+", name):
        noted = {**_noted(state, mark), name: origin}
        state.marks[mark] = " ".join(f"{name}={value.value}" for name, value in list(noted.items())[-_MOST_NOTED:])


def _noted(state: State, mark: str) -> dict[str, Origin]:
    """The origins that were noted: of `reports`, by the calls that wait for one, that of the call; of `tasks`, by calls
    of commands and by what works in the background, that of what it read or was made from."""
    entries = (entry.split("=") for entry in state.marks.get(mark, "").split())
    return {name: Origin(origin) for name, origin in entries}


def _outside_of_task(state: State, task: str, outside_of_file: OutsideOfFile) -> Origin:
    """The least trusted origin of what a sub-agent, or a command in the background, read or was made from."""
    noted = _noted(state, "tasks").get(task)
    path = _file_of_sub_agent(state, task)
    if path is not None:
        return worst((outside_of_file(path), noted or Origin.AGENT))
    if noted is not None:
        return noted
    return Origin.AGENT if not task and "sidechain" in state.marks else Origin.TOOL


def _file_of_sub_agent(state: State, agent: str) -> Path | None:
    """The file of a sub-agent, in the folder of the session, or of the one from which the session was forked."""
    if state.path is None or not re.fullmatch(_ID, agent):
        return None
    name, folder = f"agent-{agent}.jsonl", state.path.parent
    session = state.path.name.partition(".jsonl")[0]
    for path in (folder / session / "subagents" / name, folder / name):
        if (path := current_file(path)).is_file():
            return path
    return next(folder.glob(f"*/subagents/**/{name}*"), None)
