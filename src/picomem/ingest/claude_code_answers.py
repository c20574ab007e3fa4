"""Answers of a person to the questions that Claude Code asked them by a tool.

- A tool's result that is the person's: what `toolUseResult` has of the form that AskUserQuestion showed (`answers`, the
  notes in `annotations`, and `response`, typed instead of answers), and the plan of ExitPlanMode that they approved.
  Only the result of such a call is read, for a tool can print the same sentences. The sentence of the result changes
  with the program's versions, so it decides nothing. The questions, their headers and their options are the agent's
  words, and so is an option that the person clicked; what they typed instead is theirs. Nobody answered a form with
  `afkTimeoutMs`, or a question that is noted as `unanswered`.
- A plan that they approved may begin a new session: it stands in the user's place, behind words that are always the
  same and, in newer versions, in a field `planContent`. The agent wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from picomem.ingest.format import (
    State,
)
from picomem.ingest.record_fields import Record, inner, objects, short

QUESTION = "AskUserQuestion"
PLAN = "ExitPlanMode"
ONLY_NOTES = "(notes only)"  # in the place of an answer, where the person chose nothing and wrote a note
_ANSWER = re.compile(r'"([^"\n]+)"="(.*?)"(?=, "[^"\n]+"="|[^"]*\Z)', re.DOTALL)
RETURNED_PLAN = "Implement the following plan:\n\n"  # the program's own words, with which it begins a session
_MOST_PENDING = 8  # calls whose result may be the person's
_REMARK = re.compile(r"\s*\([^()]*\)\s*\Z")  # "(Recommended)" behind an option
_MOST_PARTS = 40  # of an answer, between commas


def asked(state: State, content: object) -> Iterator[str]:
    """Return what the agent asks its user in a form; such calls, and plans that wait for approval, are noted."""
    for block in content if isinstance(content, list) else ():
        name = block.get("name") if isinstance(block, dict) and block.get("type") == "tool_use" else None
        if name not in (QUESTION, PLAN):
            continue
        pending = [*pending_calls(state), short(block.get("id"))]
        state.marks["pending"] = " ".join(pending[-_MOST_PENDING:])
        for question in objects(inner(block, "input").get("questions")):
            state.seen.add(question_key(question.get("question")))
            options = [option.get("label") for option in objects(question.get("options"))]
            labels = [label for label in options if isinstance(label, str)]
            for label in labels:
                state.seen.add(option_key(label))
                state.seen.add(option_key(_REMARK.sub("", label)))
            lines = (question.get("question"), *(f"- {label}" for label in labels))
            yield "\n".join(line for line in lines if isinstance(line, str))


def pending_calls(state: State) -> list[str]:
    return state.marks.get("pending", "").split()


def awaited_result(state: State, content: object) -> Record | None:
    """The result in a message, where it is that of a call that only the person can answer."""
    for block in objects(content):
        call = block.get("tool_use_id")
        pending = pending_calls(state)
        if block.get("type") == "tool_result" and isinstance(call, str) and call in pending:
            state.marks["pending"] = " ".join(other for other in pending if other != call)
            return block
    return None


def answers_of(told: Record) -> dict[str, str]:
    """Return what the person answered to a form, by the questions; the question is empty for what answers all."""
    answers, annotations = inner(told, "answers"), inner(told, "annotations")
    questions = [question.get("question") for question in objects(told.get("questions"))]
    if told.get("afkTimeoutMs"):
        return {}
    given: dict[str, str] = {}
    for question in dict.fromkeys((*answers, *annotations)):
        said, noted = answers.get(question), inner(annotations, question)
        chosen = [part for part in (said if isinstance(said, list) else [said]) if part != ONLY_NOTES]
        parts = (", ".join(part for part in chosen if isinstance(part, str)), noted.get("notes"))
        if not noted.get("unanswered"):
            given[question] = "\n".join(part for part in parts if isinstance(part, str) and part.strip())
    if isinstance(response := told.get("response"), str):
        question = questions[0] if len(questions) == 1 and isinstance(questions[0], str) else ""
        given[question] = "\n".join(filter(None, (given.get(question), response)))
    return {question: answer for question, answer in given.items() if answer.strip()}


def answers_in(state: State, said: str) -> dict[str, str]:
    """Return the answers in the sentence of a result: a copy, or an earlier version, has nothing else."""
    return {
        question: answer
        for question, answer in _ANSWER.findall(said)
        if answer.strip() and question_key(question) in state.seen
    }


def possible_options(answer: str) -> Iterator[str]:
    """Return what may be one of several options in an answer: they are joined by commas, and may hold commas."""
    parts = _parts(answer)[:_MOST_PARTS]
    for first in range(len(parts)):
        for end in range(first + 1, len(parts) + 1):
            yield ", ".join(parts[first:end])


def _parts(answer: str) -> list[str]:
    return re.split(r"\n+|, ", answer)


def headers_of(told: Record) -> dict[str, str]:
    """Of each question of a form its header."""
    questions = [(question.get("question"), question.get("header")) for question in objects(told.get("questions"))]
    return {str(question): header for question, header in questions if isinstance(header, str) and header}


def question_key(question: object) -> str:
    return f"question\n{question}"


def option_key(label: str) -> str:
    return f"option\n{' '.join(label.split())}"


def may_be_clicked(state: State, answers: Sequence[str]) -> bool:
    """Return whether an answer has an option that was offered, or too many parts to tell."""
    words = [words for answer in answers for words in (answer, *possible_options(answer))]
    is_clicked = any(option_key(part) in state.seen for part in dict.fromkeys(words))
    return is_clicked or any(len(_parts(answer)) > _MOST_PARTS for answer in answers)
