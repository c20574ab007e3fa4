"""The forms that an agent shows to its user: which calls wait for the person, and whose words an answer holds.

An answer stands in the result of a call, and a tool can print the same. So the calls that only a person answers are
noted in the parser's state, and only their results are read. A question, its options and an option that was clicked are
the agent's words; what the person typed is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from picomem.ingest.format import State
from picomem.ingest.record_fields import Record, objects
from picomem.records.kinds import Origin, worst

_PENDING = "pending"  # the mark of the calls whose results may be the person's
_MOST_PENDING = 8
_REMARK = re.compile(r"\s*\([^()]*\)\s*\Z")  # "(Recommended)" behind an option
_MOST_PARTS = 40  # of an answer, between commas


def await_person(state: State, call: str) -> None:
    """Note a call that only the person can answer."""
    state.marks[_PENDING] = " ".join([*_pending(state), call][-_MOST_PENDING:])


def awaits_person_in(state: State, data: bytes) -> bool:
    """Return whether a line may hold the result of a call that only the person can answer."""
    return any(f'"{call}"'.encode() in data for call in _pending(state))


def take_awaited(state: State, call: object) -> bool:
    """Return whether only the person can answer a call; what comes later for the same call is no answer."""
    pending = _pending(state)
    state.marks[_PENDING] = " ".join(other for other in pending if other != call)
    return call in pending


def words_of_question(state: State, question: Record) -> str:
    """Return a question of a form and its options, a line each. The options are noted, with and without the remark
    behind them: their words are the agent's."""
    options = [option.get("label") for option in objects(question.get("options"))]
    labels = [label for label in options if isinstance(label, str)]
    for label in labels:
        state.seen.add(_option_key(label))
        state.seen.add(_option_key(_REMARK.sub("", label)))
    lines = (question.get("question"), *(f"- {label}" for label in labels))
    return "\n".join(line for line in lines if isinstance(line, str))


def is_option(state: State, words: str) -> bool:
    """Return whether these are the words of an option that the agent offered."""
    return _option_key(words) in state.seen


def origin_of_answers(state: State, typed: Origin, answers: Sequence[str]) -> Origin:
    """Return the origin of answers; `typed` is that of what the person typed. An option that was clicked is in the
    agent's words, and so in those of what the agent had read."""
    words = [words for answer in answers for words in (answer, *_possible_options(answer))]
    is_clicked = any(is_option(state, part) for part in dict.fromkeys(words))
    is_in_doubt = any(len(_parts(answer)) > _MOST_PARTS for answer in answers)
    return worst((typed, state.agents_origin())) if is_clicked or is_in_doubt else typed


def _pending(state: State) -> list[str]:
    return state.marks.get(_PENDING, "").split()


def _possible_options(answer: str) -> Iterator[str]:
    """Return what may be one of several options in an answer: they are joined by commas, and may hold commas."""
    parts = _parts(answer)[:_MOST_PARTS]
    for first in range(len(parts)):
        for end in range(first + 1, len(parts) + 1):
            yield ", ".join(parts[first:end])


def _parts(answer: str) -> list[str]:
    return re.split(r"\n+|, ", answer)


def _option_key(label: str) -> str:
    return f"option\n{' '.join(label.split())}"
