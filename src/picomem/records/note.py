"""Notes: Markdown files that a person or another agent keeps, split by headings."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """`heading` is the path of headings (`Staging › Ports`); lines are numbered from 1, both inclusive."""

    heading: str
    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFile:
    """A file as it was read. `root` is the folder that the settings name, `path` where the file lies in it; `stamp`
    differs once the file was changed."""

    root: str
    path: str
    stamp: str
    modified_at: Micros
    content_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSection:
    """A section in its file."""

    root: str
    path: str
    section: Section
    tokens: int = 0
    doc: int = 0
