"""why-not: why recall did not hand out a memory or an episode for a question.

Recall decides anew, and with its limits and filters taken off in turn: the one without which the entry comes is the
reason. So no rule of recall stands here a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from picomem.clock import iso
from picomem.engine.engine import Engine
from picomem.errors import Conflict, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.operations.operation import Operation, given_filters, option
from picomem.operations.presentation import Presentation, Sentence, plural
from picomem.operations.recalling import CATEGORIES, RecallRequest, asked_of_engine
from picomem.recall.final_scores import count_above_cutoff
from picomem.recall.rank import CANDIDATES
from picomem.records.hit import Answer, Hit
from picomem.records.kinds import Priority
from picomem.store.tables.episodes import text_of
from picomem.text.terms import terms

if TYPE_CHECKING:
    from picomem.history.explain import Explanation

_FILTERS = ("kind", "priority", "tag", "file", "failed", "since", "until", "project", "session", "include_untrusted")
_SHARED = (*_FILTERS, "limit", "token_budget", "min_confidence", "all_projects")
_WITHOUT: dict[str, object] = {  # the value of each filter with which it leaves nothing out
    "kind": (), "priority": None, "tag": "", "file": "", "failed": False, "since": None, "until": None, "project": "",
    "session": "", "include_untrusted": True,
}  # fmt: skip
_UNLIMITED = 1_000_000  # hits, and tokens; more than recall looks at


@dataclass(frozen=True, slots=True)
class WhyNotRequest:
    query: str = option("the question that was asked", positional=True)
    id: str = option("the memory's key or id, or the episode's id", positional=True)
    kind: tuple[str, ...] = option(
        "asked with this kind; repeatable", choices=CATEGORIES, short="-t", tool="category", many=True
    )
    priority: str | None = option("asked with this least priority", None, choices=tuple(Priority))
    tag: str = option("asked with this tag", "")
    file: str = option("asked for episodes in which an agent touched this file", "")
    failed: bool = option("asked for episodes in which something failed", False)
    since: int | str | None = option("asked for what held or was said not before", None)
    until: int | str | None = option("asked for what held or was said not after", None)
    project: str = option("asked in this project", "")
    session: str = option("asked for this session", "")
    all_projects: bool = option("at a terminal: asked all projects, not first that of the folder", False, tool=None)
    include_untrusted: bool = option("asked with text from tools, the web or other people", False)
    limit: int | None = option("asked for as many hits", None, short="-n", least=1, rows=True)
    token_budget: int | None = option("asked with this token budget", None, least=1)
    min_confidence: float | None = option("asked with this least confidence", None, least=0, most=1)


class _Reason(NamedTuple):
    cause: str
    text: str


@dataclass(frozen=True, slots=True)
class WhyNotResult:
    """`causes` says in one word each why the entry was not handed out, and `reasons` in sentences, in the same order:
    handed_out, withheld, refused, archived, ended, expired, not_begun, not_found, outranked, repeated, other_project,
    untrusted, filtered, unsure, budget, limit. `is_answered` says whether the question has any answer."""

    id: str
    what: str
    is_handed_out: bool
    causes: list[str]
    reasons: list[str]
    is_answered: bool
    warnings: list[str]


def why_not(engine: Engine, request: WhyNotRequest) -> WhyNotResult:
    """Say why recall did not hand out a memory or an episode for a question, or where it stands among the hits.

    Give the options with which the question was asked; recall decides again.
    """
    asked = RecallRequest(request.query, **{name: getattr(request, name) for name in _SHARED})
    answer = _answer(engine, asked)
    try:
        entry = _entry(engine, request)
    except Refused as error:
        return _result(request.id, "episode", answer, [_Reason("withheld", error.message)])
    reasons = _handed_out(entry, asked, answer) or _recorded(entry, engine.now())
    return _result(entry.id, entry.what, answer, reasons or [_left_out(engine, entry, asked, answer)])


def _entry(engine: Engine, request: WhyNotRequest) -> Explanation:
    try:
        return engine.why(request.id)
    except Conflict:  # several projects use the key
        if not request.project:
            raise
        return engine.why(request.id, scope=engine.scope.narrowed(project=request.project))


def _result(id_: str, what: str, answer: Answer, reasons: Iterable[_Reason]) -> WhyNotResult:
    causes, texts = zip(*reasons, strict=True)
    is_answered = bool(answer.hits or answer.left_out)
    return WhyNotResult(id_, what, "handed_out" in causes, list(causes), list(texts), is_answered, [])


def _answer(engine: Engine, asked: RecallRequest) -> Answer:
    return engine.recall(asked.query, **asked_of_engine(engine, asked))


def _place(answer: Answer, id_: str) -> tuple[int, Hit] | None:
    """The number of a hit from 1, and the hit."""
    return next(((number, hit) for number, hit in enumerate(answer.hits, 1) if hit.id == id_), None)


def _handed_out(entry: Explanation, asked: RecallRequest, answer: Answer) -> list[_Reason]:
    place = _place(answer, entry.id)
    if place is None:
        return []
    number, hit = place
    text = f"It is handed out: number {number} of {plural(len(answer.hits), 'hit')}, with a score of {hit.score:.2f}."
    scores = [one.score for one in answer.hits if one.source != "note"]
    if asked.limit is None and hit.score < scores[count_above_cutoff(scores) - 1]:
        text += (
            f" A terminal shows it with -n only, for it scores less than half of the best hit's {scores[0]:.2f}; "
            f"{scores[0] / 2 - hit.score:.2f} more would do."
        )
    return [_Reason("handed_out", text)]


def _recorded(entry: Explanation, now: int) -> list[_Reason]:
    """The reasons that are on record, whatever is asked."""
    memory = entry.memory
    if entry.what == "change":
        return [_Reason("refused", f"It was refused, so nothing was stored: {entry.changes[0].reason}")]
    if memory is None or memory.current(now):
        return []
    see = f"`why {memory.key or memory.id}` says by whom and why."
    if memory.known_to is not None:
        return [_Reason("archived", f"It is archived since {iso(memory.known_to)} and believed no longer; {see}")]
    if memory.expires_at is not None and memory.expired(now):
        return [_Reason("expired", f"It expired at {iso(memory.expires_at)}; {see}")]
    if memory.valid_to is not None and memory.over(now):
        return [_Reason("ended", f"It held until {iso(memory.valid_to)} and is not true any more; {see}")]
    return [_Reason("not_begun", f"It holds only from {iso(memory.valid_from)}; recall as of then asks about it.")]


def _left_out(engine: Engine, entry: Explanation, asked: RecallRequest, answer: Answer) -> _Reason:
    """Take the limits off, then the filters, until the entry comes."""
    if any(hit.id == entry.id for hit in answer.repeats):
        return _Reason("repeated", "It says what a better hit says that is handed out: one was taken from the other.")
    unlimited = replace(asked, limit=_UNLIMITED, token_budget=_UNLIMITED, min_confidence=0.0, include_notes=False)
    place = _place(_answer(engine, unlimited), entry.id)
    if place is not None:
        return _limited(engine, place, asked, answer)
    bare = _answer(engine, replace(unlimited, **_WITHOUT))
    if _place(bare, entry.id) is None and all(hit.id != entry.id for hit in bare.repeats):
        return _unfound(entry, asked.query, bare)
    return _filtered(engine, entry, unlimited)


def _limited(engine: Engine, place: tuple[int, Hit], asked: RecallRequest, answer: Answer) -> _Reason:
    number, hit = place
    stands = f"It is number {number} of what fits the question, with a score of {hit.score:.2f}"
    if not answer.hits and not answer.left_out:
        least = engine.settings.recall.min_confidence if asked.min_confidence is None else asked.min_confidence
        text = f"{stands}, but the answer is {answer.confidence:.0%} sure, and less than {least:.0%} counts as nothing."
        return _Reason("unsure", text)
    limit = asked.limit or engine.settings.recall.limit
    if number <= limit:
        budget = f"the hits handed out take {answer.tokens:,} of {answer.token_budget:,}; a larger one has room"
        return _Reason("budget", f"{stands}, but its {hit.tokens:,} tokens did not fit the budget: {budget}.")
    last = f", the last of which scores {answer.hits[-1].score:.2f}" if answer.hits else ""
    more = f" ({answer.hits[-1].score - hit.score:.2f} more)" if answer.hits else ""
    return _Reason("limit", f"{stands}; the limit is {plural(limit, 'hit')}{last}{more}. A limit of {number} shows it.")


def _unfound(entry: Explanation, question: str, bare: Answer) -> _Reason:
    held = _words_held(question, _text_of(entry))
    silent = [f"{leg}: {state}" for leg, state in bare.legs.items() if not state.isdigit()]
    failed = f" ({'; '.join(silent)})" if silent else ""
    if not held:
        text = f"It was not found: it holds no word of the question, and it is not near in meaning{failed}."
        return _Reason("not_found", text)
    quoted = ", ".join(f"“{word}”" for word in held)
    others = f"others fit better; recall looks at the {CANDIDATES} that the words fit best and the nearest in meaning"
    return _Reason("outranked", f"It holds {quoted} of the question, but {others}{failed}.")


def _words_held(question: str, text: str) -> list[str]:
    held = set(terms(text))
    return list(dict.fromkeys(word for word in question.split() if not held.isdisjoint(terms(word))))


def _text_of(entry: Explanation) -> str:
    if entry.memory is not None:
        return f"{entry.memory.content}\n{entry.memory.key}"
    return text_of(entry.episode) if entry.episode is not None else ""


def _filtered(engine: Engine, entry: Explanation, unlimited: RecallRequest) -> _Reason:
    alone = [name for name in _given(unlimited) if _comes(engine, entry, unlimited, name)]
    if "project" in alone:
        project = entry.memory.scope.project if entry.memory else entry.transcript.project if entry.transcript else ""
        text = f"It belongs to another project: “{project}”, and “{unlimited.project}” was asked; ask all of them."
        return _Reason("other_project", text)
    if "include_untrusted" in alone:
        origin = entry.memory.origin if entry.memory else entry.episode.origin if entry.episode else "other"
        text = f"It is not trusted: it came from “{origin}”, which recall hands out only on request."
        return _Reason("untrusted", text)
    filters = given_filters(unlimited, [name for name in alone or _given(unlimited) if name != "include_untrusted"])
    together = "" if alone else " (each of them, or text that is not trusted)"
    return _Reason("filtered", f"It fits the question, but not the filter {' or '.join(filters)}{together}.")


def _given(asked: RecallRequest) -> Iterator[str]:
    return (name for name, value in _WITHOUT.items() if getattr(asked, name) != value)


def _comes(engine: Engine, entry: Explanation, asked: RecallRequest, name: str) -> bool:
    without = _answer(engine, replace(asked, **{name: _WITHOUT[name]}))
    return any(hit.id == entry.id for hit in (*without.hits, *without.repeats))


OPERATIONS = (
    Operation(
        name="why-not",
        group="look",
        run=why_not,
        present=lambda result: Presentation(
            blocks=tuple(map(Sentence, result.reasons)), warnings=tuple(result.warnings)
        ),
        reply=lambda result: "\n".join(result.reasons),
        permission="memory:read:user",
        example='picomem why-not "which port does staging use?" staging_db_port',
        tool="memory_why_not",
        read_only=True,
        idempotent=True,
        has_answer=lambda result: result.is_answered,
    ),
)
