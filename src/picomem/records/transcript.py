"""The parts of a transcript, independent of the host's format."""

from __future__ import annotations

from collections.abc import Iterable

from picomem.clock import Micros
from picomem.light_dataclass import dataclass, field
from picomem.records.kinds import Origin

SUMMARY = "summary"  # the role of a turn that summarises others


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said in a transcript, cleaned of the host's markup but not yet redacted.

    `index` counts the transcript's turns from 0 in file order. `start` and `end` are the byte range of the
    record in the (decompressed) file, end exclusive, newline included, or its number in a host's database and the next:
    the pointer that opens it again.
    """

    index: int
    role: str  # "user", "assistant", a speaker's name, or SUMMARY
    text: str
    at: Micros | None
    origin: Origin
    start: int
    end: int
    id: str = ""
    parent: str = ""
    branch: str = ""
    forks: bool = False  # it goes on from another turn than the one before
    summarises: bool = False  # the host wrote it in place of the turns before it
    actions: tuple[str, ...] = ()  # what its speaker did, a line each (ingest/outcomes.py)
    outcomes: tuple[str, ...] = ()  # what came of it: lines of tools, whoever speaks (ingest/outcomes.py)
    answers: tuple[tuple[str, str], ...] = ()  # of a form that the agent showed: its questions and the answers to them

    @property
    def shown(self) -> str:
        """The words and actions, as a person reads them."""
        return "\n".join(filter(None, (self.text, *self.actions)))

    def question_of(self, start: int, end: int) -> str:
        """The question of a form that a stretch of the words answers; empty where it answers none."""
        said = self.text[start:end].strip()
        return next((question for question, answer in self.answers if said in answer), "")


def with_questions(text: str, answers: Iterable[tuple[str, str]]) -> str:
    """Return a text with each question of a form before the line in which its answer begins."""
    first: dict[str, str] = {}
    for question, answer in answers:
        first.setdefault(question, answer)
    for question, answer in reversed(first.items()):
        at = text.find(answer) if answer else -1
        if at >= 0:
            line = text.rfind("\n", 0, at) + 1
            text = f"{text[:line]}{question} {text[line:]}"
    return text


@dataclass(frozen=True, slots=True)
class TranscriptInfo:
    """The metadata of a transcript; missing fields are empty."""

    session: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    agent: str = ""
    parent_session: str = ""
    started_at: Micros | None = None
    user: str = ""  # whose it is, where a host serves several


@dataclass(slots=True)
class Skipped:
    """The records that a reader skipped, counted by reason, for the report."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + count
