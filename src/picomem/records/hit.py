"""The results of recall: hits, and the account of how they were found."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.light_dataclass import dataclass, field
from picomem.records.kinds import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result.

    `score` lies in 0–1 and falls along the list (recall/final_scores.py); notes come last, with scores of their own.
    `why` says in words what made it a hit. `text` is the passage that answers where the budget has no room for the
    whole episode. For an episode, and for a memory taken from one, `transcript`, `turns` and `citation` are the pointer
    to what was said; for a note `citation` is, its path with the lines.
    """

    source: str  # "memory", "episode" or "note"
    id: str
    text: str
    score: float
    why: str
    origin: Origin
    tokens: int
    at: Micros | None
    key: str = ""
    kind: str = ""
    context: str = ""
    importance: float = 0.0
    tags: tuple[str, ...] = ()
    role: str = ""
    session: str = ""
    project: str = ""
    branch: str = ""
    transcript: str = ""
    turns: tuple[int, int] | None = None
    citation: str = ""
    actions: tuple[str, ...] = ()  # of what its speaker did, that which fits the question
    outcomes: tuple[str, ...] = ()  # of what came of it, that which fits: lines of tools, whatever `origin` says
    remark: str = ""  # of a memory: that it is perhaps outdated, or was never confirmed
    marks: tuple[tuple[int, int], ...] = ()  # where words of the question stand in `text`, [start, end)
    event: tuple[Micros, Micros] | None = None  # when that happened of which an episode tells, [since, until)
    parts: tuple[tuple[str, float], ...] = ()  # what made it a hit, by part of ranking; together they are the score
    abandoned: bool = False  # its user went back to before it was said, and took another way


@dataclass(frozen=True, slots=True, kw_only=True)
class HitSession:
    """The session of one or more hits, found by its `session` and `transcript`.

    `title` is the host's, or else the first line of the first request; `origin` says where the title came from.
    `files` are those that the agent changed, the latest first, or else those that it read. `folder` is where the
    session ran, if its last part differs from the project: a worktree.
    """

    session: str
    transcript: str
    host: str
    title: str
    origin: Origin
    project: str
    folder: str
    started_at: Micros | None
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """The signals from which the confidence in an answer is computed (recall/confidence.py).

    fit    how much of the question one of the best hits holds by its words, or says in others; words of the turns
           beside it and of its session count in part. Where the question names a speaker, only what that one said
           counts
    lead   how much more of it that speaker said than anybody else did: “what did Ann paint?” is not answered by
           Ben, who paints
    asks   how far the text asks for anything, and is not an order, a remark, code or a log (recall/question_form.py)
    lacks  1 where it calls for a number, a time, a reason, a place or a person, and the memory that fits best has none
    """

    fit: float
    lead: float
    asks: float
    lacks: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a question.

    `legs` names every way of searching with what came of it: a number of hits, "off", or the error that it met.
    `confidence` (0–1) is how likely some of the answer is among the first hits (recall/confidence.py).
    """

    question: str
    hits: tuple[Hit, ...]
    confidence: float
    legs: dict[str, str]
    tokens: int
    token_budget: int | None
    left_out: int = 0  # hits that were good enough and did not fit the budget
    since: Micros | None = None
    until: Micros | None = None
    time_phrase: str = ""
    warnings: tuple[str, ...] = field(default=())
    signs: Signs | None = None  # what the confidence was judged by
    repeats: tuple[Hit, ...] = ()  # left out, because a better hit says the same: whoever has that one has these
