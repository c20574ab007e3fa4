"""The index page: the page that is always in an agent's prompt. Pure except for the tokenizer.

    # Memory index
    ## Critical            critical entries of any kind
    ## Projects            what is going on, decisions and constraints
    ## Preferences         preferences and instructions, the pinned first
    ## Heard in passing    what seems to be worth knowing of past sessions and is no memory
    ## Domains             each kind with its count, and the call that recalls it

The page is made from current memories and suggestions alone, in an order that depends on nothing else, so it has the
same bytes until these change; dates in it are absolute, never "two days ago". It never exceeds its budget: entries are
added in order of importance within their section until the page is full, and the page says how many were left out; what
was heard in passing gets the room that they leave. Untrusted text is never included. Of two statements that may
contradict each other, the newer one comes first, and the older one is marked as perhaps outdated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from picomem.clock import Micros, to_datetime
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.records.kinds import CRITICAL_FROM, Kind, Origin
from picomem.records.memory import Memory, doubted_pairs
from picomem.text.inert_text import for_markdown_line, markdown_name
from picomem.text.tokens import count_tokens, cut_to_tokens

BUDGET = 1_500
LEAST_BUDGET, MOST_BUDGET = 200, 20_000
_LONGEST_ENTRY = 60  # tokens of one entry on the page; the rest of it is a recall away
HEAD = "# Memory index"
HEARD_TITLE = "## Heard in passing, unconfirmed"
_HINT = "More: memory_recall(query=…) searches all memories and past sessions."

_SECTIONS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    ("## Projects and decisions", (Kind.PROJECT, Kind.DECISION)),
    ("## Preferences and instructions", (Kind.PREFERENCE, Kind.INSTRUCTION)),
    ("## Facts and insights", (Kind.FACT, Kind.INSIGHT)),
)


@dataclass(frozen=True, slots=True)
class IndexPage:
    """The page, its exact count of tokens, and how many entries did not fit."""

    text: str
    tokens: int
    budget: int
    entries: int
    left_out: int

    @property
    def has_heard(self) -> bool:
        """Whether it says what was heard in passing."""
        return f"\n{HEARD_TITLE}\n" in self.text


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


class HeardInPassing(NamedTuple):
    """What was heard in a project, the newest first, and the ids of memories that some of it may replace."""

    lines: Sequence[Heard] = ()
    outdated: frozenset[str] = frozenset()


def _unchanged(memory: Memory) -> Memory:
    return memory


class IndexEntries(NamedTuple):
    """What a page is made from: current memories and the number of episodes.

    With `counts`, how many memories there are of each kind, and `outdated`, the ids of those that a newer one may
    contradict, `memories` may be the first of each section only, if they are more than the entries of the page or as
    many as `entry_limit`. `damaged` is how many were left out because they are damaged; `shown` makes of a memory what
    may be shown of it.
    """

    memories: Iterable[Memory]
    episodes: int
    damaged: int = 0
    counts: Mapping[str, int] | None = None
    shown: Callable[[Memory], Memory] = _unchanged
    outdated: Collection[str] | None = None
    heard: Sequence[Heard] = ()


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
    eligible = _eligible(given.memories)
    doubted = {older.id for _, older in doubted_pairs(eligible)} if given.outdated is None else given.outdated
    entries = sorted(eligible, key=lambda memory: (memory.id in doubted, *_rank(memory)))
    sections = _sections(entries)
    kinds = Counter(memory.kind.value for memory in entries) if given.counts is None else given.counts
    total = sum(kinds.values())
    domains = _domains(kinds, given.episodes)
    if given.damaged:
        said = "1 damaged entry is" if given.damaged == 1 else f"{given.damaged} damaged entries are"
        domains.append(f"({said} left out; run `picomem doctor`.)")
    # The cost of each line is counted once; lines count a little less together than alone, so the page fits when
    # the sum does, and the page as a whole is counted at the end.
    fixed = _cost([HEAD, *domains, _HINT, *(title for title, _ in sections), _left_out_line(total)])
    kept, room = _fitting(sections, budget - fixed, lambda memory: _line(given.shown(memory), doubted))
    heard = _heard_lines(given.heard, room)
    while True:
        lines = _page_lines(sections, kept, heard, domains, total)
        text = "\n".join(line.text for line in lines) + "\n"
        tokens = count_tokens(text)
        if tokens <= budget or not (kept or heard):
            break
        if heard:
            heard.pop()
        else:
            del kept[max(kept, key=lambda memory_id: _order(sections, memory_id))]
    omitted = [memory for memory in entries if memory.id not in kept]
    return _LaidOut(IndexPage(text, tokens, budget, len(kept), total - len(kept)), lines, omitted)


def _eligible(memories: Iterable[Memory]) -> list[Memory]:
    return [memory for memory in memories if memory.origin.trusted]


def _rank(memory: Memory) -> tuple[object, ...]:
    # What the user stated stands before what an agent stored.
    # Of two that matter alike the later one comes first: of two decisions it is the one that holds.
    stored_by_agent = memory.origin is not Origin.USER
    return (not memory.pinned, -memory.importance, stored_by_agent, -memory.valid_from, memory.key, memory.id)


class SectionRule(NamedTuple):
    """Which memories stand in a section: of some kinds, and of an importance in [least, below)."""

    title: str
    kinds: tuple[Kind, ...]
    least: float
    below: float

    def takes(self, memory: Memory) -> bool:
        """Return whether a memory stands in it."""
        return self.least <= memory.importance < self.below and memory.kind in self.kinds


_ALL = 2.0  # above every importance
_CRITICAL = SectionRule("## Critical", tuple(Kind), CRITICAL_FROM, _ALL)
SECTIONS = (_CRITICAL, *(SectionRule(title, kinds, -_ALL, CRITICAL_FROM) for title, kinds in _SECTIONS))


def _sections(memories: Sequence[Memory]) -> list[tuple[str, list[Memory]]]:
    sections = [(rule.title, [memory for memory in memories if rule.takes(memory)]) for rule in SECTIONS]
    return [(title, entries) for title, entries in sections if entries]


def _fitting(
    sections: list[tuple[str, list[Memory]]], room: int, line_of: Callable[[Memory], str]
) -> tuple[dict[str, str], int]:
    """The lines of the entries that fit, by their ids, and the room that is left: critical ones first, then round by
    round one of each section, so that none starves."""
    kept: dict[str, str] = {}
    waiting = [list(entries) for _, entries in sections]
    if waiting and sections[0][0] == _CRITICAL.title:
        queue = waiting.pop(0)
    else:
        queue = []
    while any(waiting):
        queue += [entries.pop(0) for entries in waiting if entries]
    for memory in queue:
        line = line_of(memory)
        cost = _cost([line])
        if cost > room:
            break
        room -= cost
        kept[memory.id] = line
    return kept, room


def _heard_lines(heard: Iterable[Heard], room: int) -> list[str]:
    lines: list[str] = []
    room -= _cost(["", HEARD_TITLE])
    for one in heard:
        day = f"{to_datetime(one.at):%Y-%m-%d}: " if one.at is not None else ""
        before = f"; before: {_short(one.before)}" if one.before else ""
        line = f"- {day}{_short(one.text)}{before}"
        room -= _cost([line])
        if room < 0:
            break
        lines.append(line)
    return lines


def _page_lines(
    sections: list[tuple[str, list[Memory]]],
    kept: Mapping[str, str],
    heard: Sequence[str],
    domains: list[str],
    total: int,
) -> list[_Line]:
    lines = [_Line(HEAD)]
    for title, entries in sections:
        shown = [_Line(kept[memory.id], memory) for memory in entries if memory.id in kept]
        if shown:
            lines += [_Line(""), _Line(title), *shown]
    if heard:
        lines += [_Line(""), _Line(HEARD_TITLE), *map(_Line, heard)]
    lines += [_Line(""), *map(_Line, domains), _Line(_HINT)]
    if len(kept) < total:
        lines.append(_Line(_left_out_line(total - len(kept))))
    return lines


def _line(memory: Memory, doubted: Collection[str]) -> str:
    about = [markdown_name(memory.scope.project)] if memory.scope.project else []
    if memory.kind in (Kind.DECISION, Kind.PROJECT):
        about.append(f"{to_datetime(memory.valid_from):%Y-%m-%d}")  # of two decisions the later one holds
    if memory.id in doubted:
        about.append("perhaps outdated")
    note = f" ({', '.join(about)})" if about else ""
    return f"- {memory.key}{note}: {_short(memory.content)}"


def _short(content: str) -> str:
    text = for_markdown_line(content)
    short = cut_to_tokens(text, _LONGEST_ENTRY)
    return text if short == text else short.rstrip() + " …"


def _domains(counts: Mapping[str, int], episodes: int) -> list[str]:
    lines = ["## Domains"]
    for kind in Kind:
        if counts.get(kind.value):
            lines.append(f'- {kind} ({counts[kind.value]}): memory_recall(query=…, category="{kind}")')
    if episodes:
        lines.append(f"- past sessions ({episodes} episodes): memory_recall(query=…, include_transcripts=true)")
    if len(lines) == 1:
        lines.append("- nothing is remembered yet")
    return lines


def _left_out_line(count: int) -> str:
    return f"({count} more {'entry is' if count == 1 else 'entries are'} not shown here for want of room.)"


def _cost(lines: Iterable[str]) -> int:
    return sum(count_tokens(line) + 1 for line in lines)


def _order(sections: list[tuple[str, list[Memory]]], memory_id: str) -> tuple[float, str]:
    for _, entries in sections:
        for memory in entries:
            if memory.id == memory_id:
                return (-memory.importance, memory.key)
    return (0.0, "")
