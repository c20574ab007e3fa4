"""The presentation of a result: a description that the terminal, the web page and the TUI render. Pure values.

Each operation describes its results once (`Operation.presentation`). The description marks headings, fields and
warnings; each renderer chooses width, colour and marks. The texts are inert already (inert_results.py), and a renderer
escapes the markup of its own medium.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from types import MappingProxyType
from typing import TYPE_CHECKING

from picomem.clock import EARLIEST, LATEST, Micros, parse_iso
from picomem.errors import InvalidTime
from picomem.light_dataclass import dataclass
from picomem.records.memory import contradicted_ids, without_contradictions
from picomem.text.temporal.parsing import ParsedWindow, parse_window

if TYPE_CHECKING:
    from picomem.operations.memory_views import ChangeView, MemoryView


@dataclass(frozen=True, slots=True)
class Text:
    """Text that may be wrapped; `most_lines` is how much of it is worth a list's space."""

    text: str
    most_lines: int = 6
    marks: tuple[tuple[int, int], ...] = ()  # what of it is set off, [start, end)


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text whose lines are its own: a message, a note, a page."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()  # what of it is set off, [start, end)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence about the whole result."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading over the blocks that follow, with a line of `details`."""

    text: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class PresentedEntry:
    """One of the things that the result holds: a heading, and what is said of it. `number` counts from 1; 0: none."""

    heading: str
    body: tuple[Text | Verbatim, ...] = ()
    number: int = 0


@dataclass(frozen=True, slots=True)
class Fields:
    """Named values. A name may come again."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, as many as there are columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Sentence | Heading | PresentedEntry | Fields | Table | Text | Verbatim


@dataclass(frozen=True, slots=True)
class Presentation:
    """A result as people see it: what it is about, its parts in their order, what is wrong, and what to do next."""

    title: str = ""
    blocks: tuple[Block, ...] = ()
    warnings: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()


# Phrases that the presentations of several results share.

NOTHING_DECIDED = Sentence("Nothing has been decided yet.")


def day(at: str | None) -> str:
    return at[:16].replace("T", " ") if at else "no date"


def step(change: ChangeView) -> str:
    """The verb and the decision of a change: `remember → merge`, `revise`."""
    return change.verb if change.verb == change.decision else f"{change.verb} → {change.decision}"


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def row_counts(values: Mapping[str, int]) -> str:
    """Numbers of rows by table, in a row: `1 session, 2 messages`. Of memories each version is a row."""
    named = {"memories": ("version of a memory", "versions of memories")}
    return ", ".join(plural(count, *named.get(table, (_one(table), table))) for table, count in values.items())


def _one(table: str) -> str:
    return f"{table[:-3]}y" if table.endswith("ies") else table.removesuffix("s")


def counts(values: Mapping[str, int] | Iterable[tuple[str, int]], *, number_first: bool = True) -> str:
    """Named numbers in a row: `3 add, 1 refuse`, or `add 3, refuse 1`."""
    pairs = values.items() if isinstance(values, Mapping) else values
    return ", ".join(f"{count:,} {name}" if number_first else f"{name} {count:,}" for name, count in pairs)


def attributed(text: str, origin: str) -> str:
    """A text, with where it came from if that is not the user or an agent."""
    return text if origin in ("user", "agent") else f"(from {origin}) {text}"


_NAMED = 13  # characters of an id that stands for a memory without a key here


def details(memory: MemoryView, contradicted: Mapping[str, str] = MappingProxyType({})) -> tuple[Text, ...]:
    """The properties of a memory besides its text, if it has any; `contradicted` are keys by ids."""
    doubts = contradicted_ids(memory.related_to)
    related = without_contradictions(memory.related_to)
    about = [f"#{tag}" for tag in memory.tags]
    about += [memory.priority] if memory.priority != "medium" else []
    about += ["pinned"] if memory.pinned else []
    about += [f"expires {day(memory.expires_at)}"] if memory.expires_at else []
    about += [f"related to {', '.join(related)}"] if related else []
    about += [f"may contradict {', '.join(contradicted.get(id_, id_[:_NAMED]) for id_ in doubts)}"] if doubts else []
    context = (Text(f"why it matters: {memory.context}"),) if memory.context else ()
    return (*context, Text(" · ".join(about))) if about else context


def nothing_matches(what: str, filters: Sequence[str]) -> str:
    """Say that filters leave nothing: `No memory matches --archived; there are others without it.`"""
    return (
        f"No {what} matches --{' --'.join(filters)}; there are others without {'it' if len(filters) == 1 else 'them'}."
    )


# Times as callers give them: Unix milliseconds (the designs' `since` and `until`), a date, or words like "30d".

_LONGEST_MOMENT = 16  # characters of a moment in milliseconds


def moment(given: int | str | None, now: Micros, zone: tzinfo, *, end: bool = False) -> Micros | None:
    """A time in UTC microseconds. Words and bare dates stand for a span: its beginning, or with `end` its end."""
    if given is None or given == "":
        return None
    if isinstance(given, int) or re.fullmatch(r"-?[0-9]{9,}", given):
        digits = len(given) if isinstance(given, str) else 0  # what int() takes long for lies far outside
        at = int(given) * 1000 if digits <= _LONGEST_MOMENT else LATEST + 1
        if not EARLIEST <= at <= LATEST:
            raise InvalidTime("That moment lies outside the years 1 to 9999; write it as 2026-05-03.")
        return at
    if re.match(r"\d{4}-\d\d-\d\d[T ]\d", given):
        return parse_iso(given, zone)
    span = parse_window(given, now, zone)
    return span.until if end else span.since


def between(
    since: int | str | None, until: int | str | None, now: Micros, zone: tzinfo
) -> tuple[Micros | None, Micros | None]:
    """A span of time, [since, until). Raises InvalidTime where it ends before it begins."""
    begin, end = moment(since, now, zone), moment(until, now, zone, end=True)
    if begin is not None and end is not None and end < begin:
        raise InvalidTime(f"“since” ({since}) is after “until” ({until}); exchange them.")
    return begin, end


def instant(given: int | str | None, now: Micros, zone: tzinfo) -> Micros | None:
    """The last moment of a time, for "what was so then": a version that begins where a day ends is of the next day."""
    last_moment = moment(given, now, zone, end=True)
    return last_moment if last_moment is None or last_moment == moment(given, now, zone) else last_moment - 1


def window(given: str | None, now: Micros, zone: tzinfo) -> ParsedWindow | None:
    """A span of time in words: "30d", "last week", "2026-05"; None for nothing."""
    return parse_window(given, now, zone) if given else None
