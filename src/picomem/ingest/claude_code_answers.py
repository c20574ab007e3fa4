"""What a person says to Claude Code by a tool: their answers to a form, and why they denied a call.

- A tool's result that is the person's: what `toolUseResult` has of the form that AskUserQuestion showed (`answers`, the
  notes in `annotations`, and `response`, typed instead of answers), and the plan of ExitPlanMode that they approved.
  Only the result of such a call is read, for a tool can print the same sentences. The sentence of the result changes
  with the program's versions, so it decides nothing. The questions, their headers and their options are the agent's
  words, and so is an option that the person clicked; what they typed instead is theirs. Nobody answered a form with
  `afkTimeoutMs`, or a question that is noted as `unanswered`.
- A call that a person denied has `toolDenialKind` "user-rejected" beside its result; the other kinds are rules and
  programs. Why they denied it is theirs: `userFeedback`, or in some versions only the end of the result. A form that
  they put off ("chat about this") is denied too, and there the feedback is the program's, with the answers so far.
- A plan that they approved may begin a new session: it stands in the user's place, behind words that are always the
  same and, in newer versions, in a field `planContent`. The agent wrote it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from picomem.ingest.external_reads import outside_of_call
from picomem.ingest.format import State
from picomem.ingest.outcomes import command_of
from picomem.ingest.reader import Line
from picomem.ingest.record_fields import Record, inner, moment, objects, short, texts
from picomem.ingest.source import current_file
from picomem.ingest.speakers import await_person, take_awaited, words_of_question
from picomem.light_dataclass import replace
from picomem.records.kinds import Origin, worst
from picomem.records.transcript import Turn

RETURNED_PLAN = "Implement the following plan:\n\n"  # the program's own words, with which it begins a session
_QUESTION = "AskUserQuestion"
_PLAN = "ExitPlanMode"
_ONLY_NOTES = "(notes only)"  # in the place of an answer, where the person chose nothing and wrote a note
_ANSWER = re.compile(r'"([^"\n]+)"="(.*?)"(?=, "[^"\n]+"="|[^"]*\Z)', re.DOTALL)
_PUT_OFF = re.compile(
    r'^- "(.*)"\n  Answer: (.*(?:\n(?!- "|\n*Note: ).*)*)', re.MULTILINE
)  # of a form: question, answer
_NOTES = "\n  User notes: "
_DENIED = "user-rejected"
_REASON = re.compile(r"\bthe user said:\n(.*?)(?:\n\nNote: [^\n]*)?\Z", re.DOTALL)


def read_questions(state: State, content: object) -> Iterator[str]:
    """Return what the agent asks its user in a form; such calls, and plans that wait for approval, are noted."""
    for block in content if isinstance(content, list) else ():
        name = block.get("name") if isinstance(block, dict) and block.get("type") == "tool_use" else None
        if name not in (_QUESTION, _PLAN):
            continue
        await_person(state, short(block.get("id")))
        if name == _QUESTION:
            state.seen.add(_form_key(block.get("id")))
        for question in objects(inner(block, "input").get("questions")):
            state.seen.add(_question_key(question.get("question")))
            yield words_of_question(state, question)


def result_of_person(state: State, record: Record, content: object) -> Record | None:
    """The result in a message that may hold the person's words: of a call that only they can answer, or that they
    denied with a reason."""
    for block in objects(content):
        if block.get("type") == "tool_result" and (
            take_awaited(state, block.get("tool_use_id")) or reason_of_denial(record, block)
        ):
            return block
    return None


def is_of_form(state: State, result: Record) -> bool:
    """Return whether a result is that of a form."""
    return _form_key(result.get("tool_use_id")) in state.seen


def answers_of(told: Record) -> dict[str, str]:
    """Return what the person answered to a form, by the questions; the question is empty for what answers all."""
    answers, annotations = inner(told, "answers"), inner(told, "annotations")
    questions = [question.get("question") for question in objects(told.get("questions"))]
    if told.get("afkTimeoutMs"):
        return {}
    given: dict[str, str] = {}
    for question in dict.fromkeys((*answers, *annotations)):
        said, noted = answers.get(question), inner(annotations, question)
        chosen = [part for part in (said if isinstance(said, list) else [said]) if part != _ONLY_NOTES]
        parts = (", ".join(part for part in chosen if isinstance(part, str)), noted.get("notes"))
        if not noted.get("unanswered"):
            given[question] = "\n".join(part for part in parts if isinstance(part, str) and part.strip())
    if isinstance(response := told.get("response"), str):
        question = questions[0] if len(questions) == 1 and isinstance(questions[0], str) else ""
        given[question] = "\n".join(filter(None, (given.get(question), response)))
    return {question: answer for question, answer in given.items() if answer.strip()}


def answers_in(state: State, said: str) -> dict[str, str]:
    """Return the answers in the sentence of a result: a copy, an earlier version, or a form that was put off, has
    nothing else."""
    pairs = _ANSWER.findall(said) or [(asked, answer.replace(_NOTES, "\n")) for asked, answer in _PUT_OFF.findall(said)]
    return {question: answer for question, answer in pairs if answer.strip() and _question_key(question) in state.seen}


def reason_of_denial(record: Record, result: Record) -> str:
    """Return in the person's words why they denied a call; empty where they did not, or gave no reason."""
    if record.get("toolDenialKind") != _DENIED:
        return ""
    if isinstance(feedback := record.get("userFeedback"), str):
        return feedback.strip()
    said = _REASON.search(texts(result.get("content"))[0])
    return said[1].strip() if said else ""


def say_answers(
    state: State, line: Line, record: Record, given: Mapping[str, str], origin: Origin, name: str
) -> list[Turn]:
    """Return the turn of answers, by their questions; `name` is its identity."""
    told = inner(record, "toolUseResult")
    asked = {} if origin is Origin.USER else headers_of(told)  # the agent's words do not stand among the user's
    words = (f"{asked[question]}: {answer}" if question in asked else answer for question, answer in given.items())
    turns = say_decided(state, line, record, "\n".join(words), "user", origin, name)
    # A question may be in the words of what the agent had read.
    answers = tuple((question, answer) for question, answer in given.items() if question)
    return [replace(turn, answers=answers if state.agents_origin().trusted else ()) for turn in turns]


def say_decided(
    state: State, line: Line, record: Record, text: str, role: str, origin: Origin, name: str
) -> Sequence[Turn]:
    """Return the turn of a decision of the person's: it begins no run, because the agent goes on where it was."""
    return state.say(
        line,
        text,
        role=role,
        origin=origin,
        at=moment(record.get("timestamp")),
        key=name,
        ids=(name, record.get("parentUuid"), record.get("gitBranch")),
        begins_run=False,
    )


def headers_of(told: Record) -> dict[str, str]:
    """Of each question of a form its header."""
    questions = [(question.get("question"), question.get("header")) for question in objects(told.get("questions"))]
    return {str(question): header for question, header in questions if isinstance(header, str) and header}


def _question_key(question: object) -> str:
    return f"question\n{question}"


def _form_key(call: object) -> str:
    return f"form\n{call}"


# What reports to an agent of Claude Code: sub-agents, and commands that run in the background.
#
# The agent retells the report, so its words then have the origin of what the sub-agent or the command had read.
# Records name it by `agentId`, `backgroundTaskId`, a task's id, or its file. Of a command the call tells, and of a
# sub-agent its own file, whose reader the format passes as `outside_of_file`. In doubt, as without that file or with
# one that is not whole, the report is a tool's.

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
