"""Episodes and the transcripts that they point into."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from picomem.clock import Micros
from picomem.light_dataclass import dataclass
from picomem.records.kinds import Origin

PRIVATE, DENY = "private", "deny"  # send policies: only its own user may see a session; nobody may
BY_PERSON, BY_HOST = "person", "host"  # who decided on a send policy
# How the first line of an outcome begins.
TESTS_PASSED, TESTS_FAILED, COMMAND_FAILED = "tests passed: ", "tests failed: ", "command failed: "
HOST_SUMMARY = "compaction_"  # how the key of a timeline entry begins that a host's own summary is


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A conversation that another program owns, and how far it has been read."""

    id: str
    host: str
    path: str
    session: str
    agent: str = ""
    project: str = ""
    branch: str = ""
    cwd: str = ""
    title: str = ""
    parent_session: str = ""
    send_policy: str = PRIVATE
    policy_by: str | None = None  # who decided on it; None: nobody
    started_at: Micros | None = None
    ended_at: Micros | None = None
    generation: int = 1  # rises when the file was rewritten under us
    size: int = 0
    fingerprint: str = ""  # of the bytes before the cursor, to see a rewrite
    cursor: int = 0  # the byte, or the record of a database, from which to read on
    state: str = "{}"  # the reader's and the packer's own state at the cursor, JSON
    turns: int = 0
    skipped: str = "{}"
    updated_at: Micros = 0
    repository: str = ""  # the identity of its project (`KnownFolder`)
    abandoned: str = "[]"  # ranges of turns (first and last) that its user went back from, JSON

    def took_back(self, turn: int) -> bool:
        """Return whether a turn stands on a branch that the user went back from."""
        return self.abandoned != "[]" and any(first <= turn <= last for first, last in json.loads(self.abandoned))


class KnownFolder(NamedTuple):
    """The folder of a session, the name of the project to which the session belongs, and what identifies the project
    (ingest/projects.py): its repository, or the folder's real path, which is left empty where it is `cwd`."""

    cwd: str
    project: str
    repository: str

    @property
    def identity(self) -> str:
        return self.repository or self.cwd


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A reduced record of a span of a transcript: a bounded preview and the pointer back.

    `turns` are first and last turn (inclusive), `span` the byte range [start, end) of their records in the file (in a
    host's database their numbers).
    A turn that is longer than a preview becomes several episodes, numbered by `part` from 0.
    """

    id: str
    transcript_id: str
    first_turn: int
    last_turn: int
    part: int
    start: int
    end: int
    role: str
    origin: Origin
    preview: str
    started_at: Micros | None
    ended_at: Micros | None
    identity: str
    branch: str = ""
    category: str = "transcript"  # or "timeline": a consolidation's own entry, or a host's summary
    key: str = ""
    summary: str = ""
    importance: float = 0.3
    tokens: int = 0
    doc: int = 0
    created_at: Micros = 0
    actions: str = ""  # what the agent did in it, a line each (ingest/outcomes.py)
    outcomes: str = ""  # what came of it, a line each, of origin tool (ingest/outcomes.py)
    suggested: str = ""  # stretches of the preview: see `suggested_spans` and `form_answers`
    tags: tuple[str, ...] = ()  # of a person; the host's is the branch

    def has_tag(self, tag: str) -> bool:
        """Return whether a person, or the host, gave the episode a tag."""
        return tag in (*self.tags, self.branch)


SUGGESTED = 0.3  # estimate of what is suggested: `python -m training --by-writer` prints what each value gives


class SuggestedSpan(NamedTuple):
    """A stretch of a text, [start, end) in characters, and the estimate (0–1) that it is worth remembering. `question`
    is the one that it answers, if an agent's form asked it."""

    start: int
    end: int
    estimate: float
    question: str = ""


def suggested_spans(stored: str) -> list[SuggestedSpan]:
    """The stretches in a text of `packed_spans` that seem worth remembering at all."""
    return [span for span in _unpacked(stored) if span.estimate]


def form_answers(episode: Episode) -> list[tuple[str, str]]:
    """The questions of a form that an episode answers, each with a part of the answer."""
    spans = sorted(span for span in _unpacked(episode.suggested) if span.question)
    return [(span.question, episode.preview[span.start : span.end]) for span in spans]


def _unpacked(stored: str) -> list[SuggestedSpan]:
    """The stretches that `packed_spans` made a text of."""
    parts = (line.split(" ", 3) for line in stored.split("\n") if line)
    return [
        SuggestedSpan(int(start), int(end), int(thousandths) / 1000, "".join(question))
        for start, end, thousandths, *question in parts
    ]


def packed_spans(spans: Iterable[SuggestedSpan]) -> str:
    """Stretches as an episode keeps them, a line each."""
    return "\n".join(
        f"{span.start} {span.end} {round(span.estimate * 1000)} {' '.join(span.question.split())}".rstrip()
        for span in spans
    )


def begins_outcome(line: str) -> bool:
    """Return whether a line of an episode's outcomes is the first of one."""
    return line.startswith((TESTS_PASSED, TESTS_FAILED, COMMAND_FAILED))


def is_failure(line: str) -> bool:
    """Return whether a line of an episode's outcomes says that something failed."""
    return line.startswith((TESTS_FAILED, COMMAND_FAILED))
