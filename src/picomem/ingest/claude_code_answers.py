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

import re
from collections.abc import Iterator

from picomem.ingest.format import State
from picomem.ingest.forms import await_person, take_awaited, words_of_question
from picomem.ingest.record_fields import Record, inner, objects, short, texts

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


def headers_of(told: Record) -> dict[str, str]:
    """Of each question of a form its header."""
    questions = [(question.get("question"), question.get("header")) for question in objects(told.get("questions"))]
    return {str(question): header for question, header in questions if isinstance(header, str) and header}


def _question_key(question: object) -> str:
    return f"question\n{question}"


def _form_key(call: object) -> str:
    return f"form\n{call}"
