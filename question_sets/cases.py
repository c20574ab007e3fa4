"""Test sets: haystacks of sessions, and questions whose answers lie in some of them.

A set is JSON lines, gzipped or not, one case a line:

    {"id", "sessions": [{"id", "ts", "turns": [{"id", "role", "text", "ts"}]}],
     "questions": [{"id", "type", "text", "date", "gold_sessions": [id], "gold_turns": [id], "abstain": bool,
                    "n_visible": int?}]}

`ts` and `date` are ISO 8601 to the minute, the day or the month, in UTC, or empty. A turn's id may occur again in
another session. `abstain` says that the haystack has no answer. `n_visible` says that only so many sessions, the
first, exist when the question is asked.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from calendar import monthrange
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from picomem.clock import Micros, parse_iso
from picomem.errors import InvalidInput, InvalidTime
from picomem.light_dataclass import dataclass
from picomem.paths import open_regular

TurnKey = tuple[str, str]  # a session's id, and a turn's id within it
_LONGEST_LINE = 64 << 20  # bytes; a case is a megabyte
_MONTH = re.compile(r"(\d{4})-(\d\d)")


@dataclass(frozen=True, slots=True)
class CaseTurn:
    id: str
    role: str
    text: str
    ts: str

    @property
    def labelled_text(self) -> str:
        """The turn as the one text that a system of texts can store: its speaker, its day and its words."""
        day = self.ts.partition("T")[0]
        return f"{self.role}{f' ({day})' if day else ''}: {self.text}"


@dataclass(frozen=True, slots=True)
class CaseSession:
    id: str
    turns: tuple[CaseTurn, ...]


@dataclass(frozen=True, slots=True)
class CaseQuestion:
    """`visible` is how many sessions exist when it is asked, at `date`. A gold turn that the case does not hold has
    the session "". One that the haystack cannot answer has no gold."""

    id: str
    type: str
    text: str
    date: str
    gold_sessions: tuple[str, ...]
    gold_turns: tuple[TurnKey, ...]
    visible: int

    @property
    def answerable(self) -> bool:
        return bool(self.gold_sessions or self.gold_turns)


@dataclass(frozen=True, slots=True)
class Case:
    """`questions` are those that can be scored (they have gold, or are said to have no answer here), in the order in
    which the haystack grows."""

    id: str
    sessions: tuple[CaseSession, ...]
    questions: tuple[CaseQuestion, ...]


def set_name(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a set, one by one. Raises NotFound, or InvalidInput that names the line."""
    try:
        with open_regular(path) as raw, gzip.open(raw) if path.suffix == ".gz" else raw as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 1), b""), 1):
                if len(line) > _LONGEST_LINE:
                    raise InvalidInput(f"Line {number} of {path} is longer than {_LONGEST_LINE >> 20} MiB.")
                if line.strip():
                    yield _case_in(path, number, line)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error


def asked_at(question: CaseQuestion, sessions: tuple[CaseSession, ...]) -> Micros | None:
    """Return when a question is asked (UTC): its date, or else the latest time in what exists by then; None if none
    says.

    A month is its last moment: whoever asks in a month about that month has lived it.
    """
    asked = moment(question.date)
    if asked is not None:
        return asked
    times = [moment(turn.ts) for session in sessions[: question.visible] for turn in session.turns]
    return max((at for at in times if at is not None), default=None)


def moment(text: str) -> Micros | None:
    """An ISO 8601 minute, day or month (its last day) as UTC microseconds; None where it is empty or unreadable."""
    month = _MONTH.fullmatch(text.strip())
    if month and 1 <= int(month[2]) <= 12:
        text = f"{month[0]}-{monthrange(int(month[1]), int(month[2]))[1]}T23:59"
    try:
        return parse_iso(text) if text.strip() else None
    except InvalidTime:
        return None


def _case_in(path: Path, number: int, line: bytes) -> Case:
    try:
        return _case(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"Line {number} of {path} is not a case of a test set: {error!r}.") from error


def _case(record: Mapping[str, Any]) -> Case:
    sessions = tuple(_session(session) for session in record["sessions"])
    questions = [
        _question(question, sessions)
        for question in record["questions"]
        if question.get("abstain") or question.get("gold_sessions") or question.get("gold_turns")
    ]
    return Case(str(record["id"]), sessions, tuple(sorted(questions, key=lambda question: question.visible)))


def _session(record: Mapping[str, Any]) -> CaseSession:
    ts = record.get("ts") or ""
    turns = (
        CaseTurn(str(turn["id"]), turn.get("role") or "user", turn.get("text") or "", turn.get("ts") or ts)
        for turn in record["turns"]
    )
    return CaseSession(str(record["id"]), tuple(turns))


def _question(record: Mapping[str, Any], sessions: tuple[CaseSession, ...]) -> CaseQuestion:
    # What a set names beside a question without an answer is where it comes near to one.
    gold = {} if record.get("abstain") else record
    gold_sessions = tuple(str(session) for session in gold.get("gold_sessions") or ())
    visible = record.get("n_visible")
    return CaseQuestion(
        id=str(record["id"]),
        type=record.get("type") or "",
        text=record["text"],
        date=record.get("date") or "",
        gold_sessions=gold_sessions,
        gold_turns=_resolved(gold.get("gold_turns") or (), gold_sessions, sessions),
        visible=len(sessions) if visible is None else max(0, min(int(visible), len(sessions))),
    )


def _resolved(
    gold: Iterator[object] | list[object] | tuple[object, ...],
    gold_sessions: tuple[str, ...],
    sessions: tuple[CaseSession, ...],
) -> tuple[TurnKey, ...]:
    """Return where the gold turns are: in the gold sessions, if they are there, or else wherever the id occurs."""
    wanted = dict.fromkeys(str(turn) for turn in gold)
    if not wanted:
        return ()
    there: dict[str, list[TurnKey]] = {turn: [] for turn in wanted}
    for session in sessions:
        for turn in session.turns:
            if turn.id in there:
                there[turn.id].append((session.id, turn.id))
    keys: list[TurnKey] = []
    for turn, places in there.items():
        near = [key for key in places if key[0] in gold_sessions]
        keys += near or places or [("", turn)]
    return tuple(keys)
