"""The presentation of a result: a description that the terminal, the web page and the TUI render. Pure values.

Each operation describes its results once (`Operation.presentation`). The description marks headings, fields and
warnings; each renderer chooses width, colour and marks. The texts are inert already (inert_results.py), and a renderer
escapes the markup of its own medium.
"""

from __future__ import annotations

from picomem.light_dataclass import dataclass


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
