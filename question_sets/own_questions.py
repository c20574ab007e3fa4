"""A user's own questions over their own store: reads a file of them, and checks whether a result is the wanted one.

JSON lines, one question a line:

    {"question": "which port does staging use?", "words": "port 6432"}
    {"question": "what did we decide about retries?", "words": ["retry", "three times"], "asked_at": "2026-05-03"}
    {"question": "where did we look for the leak?", "session": "8463c716"}

`session` is a session's id, or its beginning; `words` is a phrase, or several that must all occur. With both, a result
has to match both. Upper and lower case, and the blanks between words, do not matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Any

from picomem.clock import Micros, parse_iso
from picomem.errors import InvalidInput, InvalidTime
from picomem.light_dataclass import dataclass
from picomem.paths import read_text

_LARGEST = 64 << 20  # bytes
_KEYS = ("question", "session", "words", "asked_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuestion:
    """One question of line `line`. `session` is empty, or `words` are, where nothing is asked of it."""

    line: int
    text: str
    session: str
    words: tuple[str, ...]
    asked_at: Micros | None

    @property
    def wanted(self) -> str:
        """In words, for a person."""
        said = " and ".join(f"“{word}”" for word in self.words)
        return " and ".join([*([f"session {self.session}"] if self.session else []), *([said] if said else [])])

    def is_met(self, sessions: Collection[str], text: str, opened: Callable[[], str]) -> bool:
        """Return whether a result is what was wanted: it is of these sessions and has this text; `opened` gives the
        messages behind it, which are asked for only if the text does not say it."""
        if self.session and not any(session.startswith(self.session) for session in sessions):
            return False
        return _holds(text, self.words) or _holds(opened(), self.words)


def read_questions(path: Path, zone: tzinfo) -> list[OwnQuestion]:
    """The questions of a file; a time without an offset is in `zone`. Raises NotFound, or InvalidInput that names the
    line."""
    try:
        lines = read_text(path, most=_LARGEST, errors="strict").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error
    questions = [_question(path, number, line, zone) for number, line in enumerate(lines, 1) if line.strip()]
    if not questions:
        raise InvalidInput(f'{path} holds no question; write one a line, as {{"question": "…", "words": "…"}}.')
    return questions


def _question(path: Path, number: int, line: str, zone: tzinfo) -> OwnQuestion:
    problem = f"Line {number} of {path}"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{problem} is not JSON: {error}.") from error
    if not isinstance(record, dict):
        raise InvalidInput(f'{problem} is not an object; write it as {{"question": "…", "words": "…"}}.')
    for wrong in _problems(record):
        raise InvalidInput(f"{problem} {wrong}")
    words = record.get("words") or ()
    try:
        asked_at = parse_iso(record["asked_at"], zone) if record.get("asked_at") else None
    except InvalidTime as error:
        raise InvalidInput(f"{problem} has a wrong asked_at: {error}") from error
    return OwnQuestion(
        line=number,
        text=record["question"].strip(),
        session=(record.get("session") or "").strip(),
        words=(words,) if isinstance(words, str) else tuple(words),
        asked_at=asked_at,
    )


def _problems(record: dict[str, Any]) -> Iterator[str]:
    """Describe the problems of a question, as the rest of a sentence."""
    for key in record:
        if key not in _KEYS:
            yield f"has “{str(key)[:40]}”, which is not known; there are {', '.join(_KEYS)}."
    for key in ("question", "session", "asked_at"):
        if not isinstance(record.get(key, ""), str):
            yield f"has a {key} that is no text."
    if not str(record.get("question") or "").strip():
        yield "has no question."
    words = record.get("words", [])
    several = [words] if isinstance(words, str) else words
    if not isinstance(several, list) or not all(isinstance(word, str) and word.strip() for word in several):
        yield "has words that are neither a text nor a list of texts."
    elif not several and not str(record.get("session") or "").strip():
        yield "says neither which session nor which words it should find."


def _holds(text: str, words: Collection[str]) -> bool:
    flat = _flat(text)
    return all(_flat(word) in flat for word in words)


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
