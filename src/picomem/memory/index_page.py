"""The index page: the page that is always in an agent's prompt. Pure except for the tokenizer.

    # Memory index
    ## Critical            critical entries of any kind
    ## Projects            what is going on, decisions and constraints
    ## Preferences         preferences and instructions, the pinned first
    ## Domains             each kind with its count, and the call that recalls it

The page is made from current memories alone, in an order that depends on nothing else, so it has the same bytes until
memory changes; dates in it are absolute, never "two days ago". It never exceeds its budget: entries are added in
order of importance within their section until the page is full, and the page says how many were left out. Untrusted
text and candidates are never included. Of two statements that may contradict each other, the newer one comes first,
and the older one is marked as perhaps outdated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from picomem.clock import to_datetime
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.records.kinds import Kind, Origin, Priority
from picomem.records.memory import Memory, doubted_pairs
from picomem.text.inert_text import for_markdown_line, markdown_name
from picomem.text.tokens import count_tokens, cut_to_tokens

BUDGET = 1_500
LEAST_BUDGET, MOST_BUDGET = 200, 20_000
_LONGEST_ENTRY = 60  # tokens of one entry on the page; the rest of it is a recall away
HEAD = "# Memory index"
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


@dataclass(frozen=True, slots=True)
class IndexLine:
    """A line of the page, its tokens with the end of the line, and the memory that it is of, if it is an entry's."""

    text: str
    tokens: int
    memory: Memory | None


@dataclass(frozen=True, slots=True)
class IndexAccount:
    """The page, line by line, and the entries that did not fit, the most important first. The tokens of the lines add
    up to a little more than those of the page, because lines count a little less together than alone."""

    page: IndexPage
    lines: list[IndexLine]
    omitted: list[Memory]


def account(memories: Iterable[Memory], episodes: int, budget: int = BUDGET, *, damaged: int = 0) -> IndexAccount:
    """Explain the page that `build` builds. Raises InvalidInput."""
    listed = list(memories)
    page = build(listed, episodes, budget, damaged=damaged)
    shown = _shown(listed)
    outdated = _outdated(shown)
    by_line: dict[str, list[Memory]] = {}
    for memory in sorted(shown, key=lambda memory: (memory.id in outdated, *_rank(memory))):
        by_line.setdefault(_line(memory, outdated), []).append(memory)
    lines = []
    for text in page.text.splitlines():
        waiting = by_line.get(text)
        lines.append(IndexLine(text, _cost([text]), waiting.pop(0) if waiting else None))
    return IndexAccount(page, lines, [memory for left in by_line.values() for memory in left])


def build(memories: Iterable[Memory], episodes: int, budget: int = BUDGET, *, damaged: int = 0) -> IndexPage:
    """The page for these current memories; `damaged` is how many were left out because they are damaged. Raises
    InvalidInput for a budget that no page fits."""
    if not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise InvalidInput(f"The budget of the index page must be between {LEAST_BUDGET} and {MOST_BUDGET:,} tokens.")
    shown = _shown(memories)
    outdated = _outdated(shown)
    trusted = sorted(shown, key=lambda memory: (memory.id in outdated, *_rank(memory)))
    sections = _sections(trusted)
    domains = _domains(trusted, episodes)
    if damaged:
        domains.append(
            f"({damaged} damaged {'entry is' if damaged == 1 else 'entries are'} left out; run `picomem doctor`.)"
        )
    # The cost of each line is counted once; lines count a little less together than alone, so the page fits when
    # the sum does, and the page as a whole is counted at the end.
    fixed = _cost([HEAD, *domains, _HINT, *(title for title, _ in sections), _left_out_line(len(trusted))])
    kept = _fitting(sections, budget - fixed, outdated)
    while True:
        page = _page(sections, kept, domains, len(trusted), outdated)
        tokens = count_tokens(page)
        if tokens <= budget or not kept:
            return IndexPage(page, tokens, budget, len(kept), len(trusted) - len(kept))
        kept.discard(max(kept, key=lambda memory_id: _order(sections, memory_id)))


def _shown(memories: Iterable[Memory]) -> list[Memory]:
    return [memory for memory in memories if memory.origin.trusted and not memory.is_candidate]


def _outdated(shown: Sequence[Memory]) -> set[str]:
    return {older.id for _, older in doubted_pairs(shown)}


def _rank(memory: Memory) -> tuple[object, ...]:
    # What the user stated stands before what an agent stored.
    # Of two that matter alike the later one comes first: of two decisions it is the one that holds.
    stored_by_agent = memory.origin is not Origin.USER
    return (not memory.pinned, -memory.importance, stored_by_agent, -memory.valid_from, memory.key, memory.id)


def _sections(memories: Sequence[Memory]) -> list[tuple[str, list[Memory]]]:
    critical = [memory for memory in memories if memory.priority is Priority.CRITICAL]
    taken = {memory.id for memory in critical}
    sections = [("## Critical", critical)]
    for title, kinds in _SECTIONS:
        sections.append((title, [m for m in memories if m.kind in kinds and m.id not in taken]))
    return [(title, entries) for title, entries in sections if entries]


def _fitting(sections: list[tuple[str, list[Memory]]], room: int, outdated: Collection[str]) -> set[str]:
    """Select the entries that fit: critical ones first, then one of each section in turn, so that none starves."""
    kept: set[str] = set()
    waiting = [list(entries) for _, entries in sections]
    if waiting and sections[0][0] == "## Critical":
        queue = waiting.pop(0)
    else:
        queue = []
    while any(waiting):
        queue += [entries.pop(0) for entries in waiting if entries]
    for memory in queue:
        cost = _cost([_line(memory, outdated)])
        if cost > room:
            break
        room -= cost
        kept.add(memory.id)
    return kept


def _page(
    sections: list[tuple[str, list[Memory]]], kept: set[str], domains: list[str], total: int, outdated: Collection[str]
) -> str:
    lines = [HEAD]
    for title, entries in sections:
        shown = [_line(memory, outdated) for memory in entries if memory.id in kept]
        if shown:
            lines += ["", title, *shown]
    lines += ["", *domains, _HINT]
    if len(kept) < total:
        lines.append(_left_out_line(total - len(kept)))
    return "\n".join(lines) + "\n"


def _line(memory: Memory, outdated: Collection[str]) -> str:
    text = for_markdown_line(memory.content)
    short = cut_to_tokens(text, _LONGEST_ENTRY)
    if short != text:
        short = short.rstrip() + " …"
    about = [markdown_name(memory.scope.project)] if memory.scope.project else []
    if memory.kind in (Kind.DECISION, Kind.PROJECT):
        about.append(f"{to_datetime(memory.valid_from):%Y-%m-%d}")  # of two decisions the later one holds
    if memory.id in outdated:
        about.append("perhaps outdated")
    note = f" ({', '.join(about)})" if about else ""
    return f"- {memory.key}{note}: {short}"


def _domains(memories: Sequence[Memory], episodes: int) -> list[str]:
    counts = Counter(memory.kind for memory in memories)
    lines = ["## Domains"]
    for kind in Kind:
        if counts[kind]:
            lines.append(f'- {kind} ({counts[kind]}): memory_recall(query=…, category="{kind}")')
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
