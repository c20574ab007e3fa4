"""The index page: the page that an agent's session begins with. Pure except for the tokenizer.

    # Memory index
    ## How to work here    preferences and instructions: the pinned first, the project's own, then the user's
    ## What holds          decisions, facts and the rest, the newest first
    ## Last time           the latest sessions of the project: what was asked, and what came of it
    ## Heard in passing    what seems to be worth knowing of past sessions and is no memory
    ## Where more is       one line with counts

The page is made from current memories and past sessions alone, in an order that depends on nothing else, so it has the
same bytes until these change; dates in it are absolute, never "two days ago". It never exceeds its budget: the latest
sessions get at most a quarter of it, entries are added in order of importance until the page is full, and the page says
how many were left out; what was heard in passing gets the room that they leave. Untrusted text is never included. Of
two statements that may contradict each other one line says both, the newer one first; a third one is marked as perhaps
outdated and stands last, since the link may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from picomem.clock import Micros, to_datetime
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.records.kinds import CRITICAL_FROM, Kind, Origin
from picomem.records.memory import Memory, newer_by_older
from picomem.text.inert_text import for_markdown_line, markdown_name
from picomem.text.tokens import count_tokens, cut_to_tokens

BUDGET = 1_500
LEAST_BUDGET, MOST_BUDGET = 200, 20_000
HEAD = "# Memory index"
HEARD_TITLE = "## Heard in passing, unconfirmed"
LAST_TITLE = "## Last time"
_MORE_TITLE = "## Where more is"
NOTHING_YET = (
    "Nothing is remembered of this project yet: memory_store keeps a decision or a preference, and `picomem ingest` "
    "reads past sessions."
)
_LONGEST_ENTRY = 60  # tokens of one entry on the page; the rest of it is a recall away
_LAST_SHARE = 0.25  # of the budget, for the latest sessions


class IndexSection(NamedTuple):
    """A section of the page, and the kinds of memories that stand in it."""

    title: str
    kinds: tuple[Kind, ...]


_HOW = IndexSection("## How to work here", (Kind.PREFERENCE, Kind.INSTRUCTION))
_WHAT = IndexSection("## What holds", (Kind.DECISION, Kind.FACT, Kind.PROJECT, Kind.INSIGHT))
SECTIONS = (_HOW, _WHAT)


@dataclass(frozen=True, slots=True)
class IndexPage:
    """The page, its exact count of tokens, how many entries stand in it, and how many did not fit."""

    text: str
    tokens: int
    budget: int
    entries: int
    left_out: int


@dataclass(frozen=True, slots=True)
class IndexLine:
    """A line of the page, its tokens with the end of the line, and the memory that it is of, if it is an entry's."""

    text: str
    tokens: int
    memory: Memory | None


@dataclass(frozen=True, slots=True)
class IndexAccount:
    """The page, line by line, and entries that did not fit, the most important first; not all, where not all memories
    were given. The tokens of the lines add up to a little more than those of the page, because lines count a little
    less together than alone."""

    page: IndexPage
    lines: list[IndexLine]
    omitted: list[Memory]


class Heard(NamedTuple):
    """A sentence that may be worth knowing, when it was said, and what was said of the same subject before, if
    anything was."""

    text: str
    at: Micros | None
    before: str = ""


class LastSession(NamedTuple):
    """A past session: the beginning of its id, when it ended, what was asked in it, and what came of it."""

    name: str
    at: Micros
    asked: str
    outcome: str


class PastSessions(NamedTuple):
    """What a page says of the past sessions of its scope: how many there are in all, the latest ones, what was heard in
    passing, the newest first, and the ids of memories that some of it may replace."""

    total: int = 0
    last: Sequence[LastSession] = ()
    heard: Sequence[Heard] = ()
    outdated: frozenset[str] = frozenset()


def _unchanged(memory: Memory) -> Memory:
    return memory


class IndexEntries(NamedTuple):
    """What the page of a project is made from: current memories and past sessions.

    With `total`, the number of all memories, and `replaced`, the ids of those that a newer one may contradict with the
    id of that one, `memories` may be the first of each section only, if they are more than the entries of the page or
    as many as `entry_limit`. `damaged` is how many were left out because they are damaged; `shown` makes of a memory
    what may be shown of it.
    """

    memories: Iterable[Memory]
    sessions: PastSessions = PastSessions()
    project: str = ""
    damaged: int = 0
    total: int | None = None
    shown: Callable[[Memory], Memory] = _unchanged
    replaced: Mapping[str, str] | None = None


class _Line(NamedTuple):
    text: str
    memory: Memory | None = None


class _LaidOut(NamedTuple):
    page: IndexPage
    lines: list[_Line]
    omitted: list[Memory]


def entry_limit(budget: int) -> int:
    """Return how many entries of a section a page can hold: each has at least five tokens."""
    return budget // 5


def account(given: IndexEntries, budget: int = BUDGET) -> IndexAccount:
    """What `build` builds, explained. Raises InvalidInput."""
    made = _lay_out(given, budget)
    lines = [IndexLine(line.text, _cost([line.text]), line.memory) for line in made.lines]
    return IndexAccount(made.page, lines, made.omitted)


def build(given: IndexEntries, budget: int = BUDGET) -> IndexPage:
    """The page for these entries. Raises InvalidInput for a budget that no page fits."""
    return _lay_out(given, budget).page


def _lay_out(given: IndexEntries, budget: int) -> _LaidOut:
    if not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise InvalidInput(f"The budget of the index page must be between {LEAST_BUDGET} and {MOST_BUDGET:,} tokens.")
    eligible = [memory for memory in given.memories if memory.origin.trusted]
    total = len(eligible) if given.total is None else given.total
    newer = newer_by_older(eligible) if given.replaced is None else given.replaced
    replaced = _replaced(eligible, newer)
    joined = {older.id for older in replaced.values()}
    older = newer.keys() | given.sessions.outdated
    outdated = older - joined
    entries = sorted(eligible, key=lambda memory: (memory.id in older, *_rank(memory)))
    heads = [memory for memory in entries if memory.id not in joined]
    sections = {section: [memory for memory in heads if memory.kind in section.kinds] for section in SECTIONS}
    more = _more_lines(total, given)
    # The cost of each line is counted once; lines count a little less together than alone, so the page fits when
    # the sum does, and the page as a whole is counted at the end.
    titles = [section.title for section, of_section in sections.items() if of_section]
    room = budget - _cost([HEAD, _MORE_TITLE, *more, *titles, *("" for _ in titles), "", _left_out_line(total)])
    last = _fitting((_last_line(session) for session in given.sessions.last), LAST_TITLE, int(budget * _LAST_SHARE))
    room -= _cost(["", LAST_TITLE, *last]) if last else 0

    def line_of(memory: Memory) -> str:
        before = given.shown(replaced[memory.id]).content if memory.id in replaced else ""
        return _line(given.shown(memory), given.project, memory.id in outdated, before)

    kept, room = _kept(list(sections.values()), room, line_of)
    heard = _fitting(map(_heard_line, given.sessions.heard), HEARD_TITLE, room)
    while True:
        shown = kept.keys() | {replaced[id_].id for id_ in kept if id_ in replaced}
        left_out = total - len(shown)
        lines = [_Line(HEAD), *_memory_lines(sections, kept, outdated)]
        lines += [*_under(LAST_TITLE, map(_Line, last)), *_under(HEARD_TITLE, map(_Line, heard))]
        lines += _under(_MORE_TITLE, map(_Line, [*more, *([_left_out_line(left_out)] if left_out else [])]))
        if len(lines) == 1:
            lines.append(_Line(NOTHING_YET))
        text = "\n".join(line.text for line in lines) + "\n"
        tokens = count_tokens(text)
        if tokens <= budget or not (kept or heard or last):
            break
        if heard or last:
            (heard or last).pop()
        else:
            kept.popitem()
    omitted = [memory for memory in entries if memory.id not in shown]
    return _LaidOut(IndexPage(text, tokens, budget, len(shown), left_out), lines, omitted)


def _memory_lines(
    sections: Mapping[IndexSection, Sequence[Memory]], kept: Mapping[str, str], outdated: Collection[str]
) -> list[_Line]:
    lines: list[_Line] = []
    for section, memories in sections.items():
        in_order = sorted(memories, key=partial(_place, section, outdated))
        lines += _under(section.title, (_Line(kept[memory.id], memory) for memory in in_order if memory.id in kept))
    return lines


def _replaced(memories: Iterable[Memory], newer: Mapping[str, str]) -> dict[str, Memory]:
    """Return, by the ids of memories that nothing newer may replace, the newest memory that each may replace."""
    replaced: dict[str, Memory] = {}
    by_id = {memory.id: memory for memory in memories}
    for memory in sorted(by_id.values(), key=lambda one: (one.valid_from, one.id)):
        head = newer.get(memory.id)
        if head in by_id and head not in newer:
            replaced[head] = memory
    return replaced


def _rank(memory: Memory) -> tuple[object, ...]:
    # What the user stated stands before what an agent stored.
    # Of two that matter alike the later one comes first: of two decisions it is the one that holds.
    stored_by_agent = memory.origin is not Origin.USER
    return (not memory.pinned, -memory.importance, stored_by_agent, -memory.valid_from, memory.key, memory.id)


def _goes_first(memory: Memory) -> bool:
    return memory.pinned or memory.importance >= CRITICAL_FROM


def _place(section: IndexSection, outdated: Collection[str], memory: Memory) -> tuple[object, ...]:
    """The place of a memory within its section."""
    if section is _WHAT:
        return (memory.id in outdated, not _goes_first(memory), -memory.valid_from, *_rank(memory))
    return (memory.id in outdated, not _goes_first(memory), not memory.scope.project, *_rank(memory))


def _kept(
    sections: Iterable[Sequence[Memory]], room: int, line_of: Callable[[Memory], str]
) -> tuple[dict[str, str], int]:
    """The lines of the entries that fit, by their ids, and the room that is left: first those that go first, then
    round by round one of each section, so that none starves."""
    waiting = [list(entries) for entries in sections]
    queue = sorted((memory for entries in waiting for memory in entries if _goes_first(memory)), key=_rank)
    waiting = [[memory for memory in entries if not _goes_first(memory)] for entries in waiting]
    while any(waiting):
        queue += [entries.pop(0) for entries in waiting if entries]
    kept: dict[str, str] = {}
    for memory in queue:
        line = line_of(memory)
        cost = _cost([line])
        if cost > room:
            break
        room -= cost
        kept[memory.id] = line
    return kept, room


def _fitting(lines: Iterable[str], title: str, room: int) -> list[str]:
    """The first lines that have room under a title."""
    room -= _cost(["", title])
    fitting: list[str] = []
    for line in lines:
        room -= _cost([line])
        if room < 0:
            break
        fitting.append(line)
    return fitting


def _under(title: str, lines: Iterable[_Line]) -> list[_Line]:
    listed = list(lines)
    return [_Line(""), _Line(title), *listed] if listed else []


def _line(memory: Memory, project: str, is_outdated: bool, before: str) -> str:
    about = [markdown_name(memory.scope.project)] if memory.scope.project not in ("", project) else []
    if is_outdated:
        about.append("perhaps outdated")
    note = f"({', '.join(about)})" if about else ""
    said = _with_before(memory.content, before)
    if memory.kind in _HOW.kinds:
        return " ".join(filter(None, ["-", note, said]))
    return " ".join(filter(None, ["-", f"{to_datetime(memory.valid_from):%Y-%m-%d}", note])) + f": {said}"


def _heard_line(heard: Heard) -> str:
    day = f"{to_datetime(heard.at):%Y-%m-%d}: " if heard.at is not None else ""
    return f"- {day}{_with_before(heard.text, heard.before)}"


def _last_line(session: LastSession) -> str:
    came = f": {_short(session.outcome)}" if session.outcome else ""
    return f"- {to_datetime(session.at):%Y-%m-%d} “{_short(session.asked)}”{came} (session {session.name})"


def _with_before(text: str, before: str) -> str:
    return f"{_short(text)}; before: {_short(before)}" if before else _short(text)


def _short(content: str) -> str:
    text = for_markdown_line(content)
    short = cut_to_tokens(text, _LONGEST_ENTRY)
    return text if short == text else short.rstrip() + " …"


def _more_lines(total: int, given: IndexEntries) -> list[str]:
    there = [_counted(total, "memory", "memories")] if total else []
    there += [_counted(given.sessions.total, "past session", "past sessions")] if given.sessions.total else []
    lines = [f"{' and '.join(there)}: memory_recall(query=…) searches them."] if there else []
    if given.damaged:
        said = "1 damaged entry is" if given.damaged == 1 else f"{given.damaged} damaged entries are"
        lines.append(f"({said} left out; run `picomem doctor`.)")
    return lines


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _left_out_line(count: int) -> str:
    return f"({count} more {'entry is' if count == 1 else 'entries are'} not shown here for want of room.)"


def _cost(lines: Iterable[str]) -> int:
    return sum(count_tokens(line) + 1 for line in lines)
