"""Splits Markdown into sections: the text under one heading, with the headings above it and its lines. Pure.

A section begins at a heading (`# …` to `###### …`, outside fenced code) and ends before the next one. A section that
is too long for a hit is split between paragraphs if possible, else between lines, else anywhere. A heading directly
followed by a deeper heading is not a section: it is part of the names of those below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import dataclass
from picomem.notes.safe_opening import DEEPEST, Parts, parts_of
from picomem.paths import decoded, is_folder, named_path
from picomem.records.note import Section
from picomem.text.storable import plain

LONGEST = 1_500  # characters of a section; as long as an episode may be
HEADING_MOST = 200  # characters of the line of headings

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def text_of(data: bytes) -> str | None:
    """The text of a file, its lines kept; None where it is none."""
    try:
        text = decoded(data, Path())
    except InvalidInput:
        return None
    return None if "\0" in text else plain(text.replace("\r\n", "\n").replace("\r", "\n"))


def sections(text: str) -> list[Section]:
    """The sections of a Markdown text, in order."""
    return [piece for heading, first, lines in _under_headings(text) for piece in _pieces(heading, first, lines)]


def _under_headings(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """(heading path, number of the first line, lines)."""
    path: dict[int, str] = {}
    first, held = 1, list[str]()
    fence = ""
    headed = 0  # the level of the heading that `held` begins with; 0 for none
    for number, line in enumerate(text.split("\n"), 1):
        fence = _fence_after(line, fence)
        heading = None if fence else _HEADING.fullmatch(line)
        if heading is not None:
            level = len(heading.group(1))
            if _says_something(held, headed, level):
                yield _joined(path), first, held
            path = {depth: title for depth, title in path.items() if depth < level}
            path[level] = " ".join(heading.group(2).split())
            first, held, headed = number, [], level
        held.append(line)
    if _says_something(held, headed, 0):
        yield _joined(path), first, held


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after this line; empty for none."""
    match = _FENCE.fullmatch(line)
    if match is None:
        return fence
    marks, rest = match.groups()
    if not fence:
        return "" if "`" in rest and marks[0] == "`" else marks
    return "" if marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip() else fence


def _says_something(lines: list[str], headed: int, next_level: int) -> bool:
    body = lines[1:] if headed else lines
    return any(line.strip() for line in body) or bool(headed and next_level <= headed)


def _joined(path: dict[int, str]) -> str:
    joined = " › ".join(title for title in path.values() if title)
    return joined if len(joined) <= HEADING_MOST else joined[:HEADING_MOST] + "…"


def _pieces(heading: str, first: int, lines: list[str]) -> Iterator[Section]:
    """One section, or several where it is too long: (start, end) indices into its lines, end exclusive."""
    begin = 0
    while begin < len(lines):
        if not lines[begin].strip():
            begin += 1
            continue
        if len(lines[begin]) > LONGEST:
            for at in range(0, len(lines[begin]), LONGEST):
                yield Section(heading, first + begin, first + begin, lines[begin][at : at + LONGEST].strip())
            begin += 1
            continue
        end = _end_of_piece(lines, begin)
        text = "\n".join(lines[begin:end]).rstrip()
        yield Section(heading, first + begin, first + begin + text.count("\n"), text)
        begin = end


def _end_of_piece(lines: list[str], begin: int) -> int:
    """The end of the piece that begins there: before the line that does not fit, or before its paragraph."""
    size, end = 0, begin
    while end < len(lines) and (size := size + len(lines[end]) + 1) <= LONGEST + 1:
        end += 1
    if end == len(lines):
        return end
    return next((at for at in range(end, begin + 1, -1) if not lines[at - 1].strip()), end)


# The folders of notes, and the names of the notes in them. Pure, except for a check whether an extra path is a folder.
#
# `notes.paths` names workspaces: in each, `MEMORY.md` and the Markdown files under `memory/` are notes.
# `notes.extra_paths` adds single Markdown files, and all Markdown files under further folders. Nothing else is ever
# opened.
#
# A note's name is its path in the workspace (`memory/2026-05-03.md`). Only names in the first workspace have no
# prefix: those of another workspace or extra folder begin with the name of that folder, followed by a number if the
# name is taken.

MEMORY_FILE = "MEMORY.md"
MEMORY_FOLDER = "memory"
INDEX_FILE = "MEMORY-INDEX.md"  # an export of ours: what stands in it is in the store already


@dataclass(frozen=True, slots=True)
class NotesFolder:
    """A folder with notes in it. `label` is what their names begin with, if anything.

    `only` names the files of an extra path that is a file; `workspace` tells which rule says what a note is.
    """

    folder: Path
    label: str
    workspace: bool
    only: frozenset[str] = frozenset()

    def holds(self, parts: Parts) -> bool:
        """Return whether a file there is a note."""
        if not parts[-1].lower().endswith(".md") or parts[-1] == INDEX_FILE:
            return False
        if self.only:
            return len(parts) == 1 and parts[0] in self.only
        return not self.workspace or parts == (MEMORY_FILE,) or (len(parts) > 1 and parts[0] == MEMORY_FOLDER)

    def enters(self, parts: Parts) -> bool:
        """Return whether notes may lie under a folder there."""
        return len(parts) < DEEPEST and not self.only and (not self.workspace or parts[0] == MEMORY_FOLDER)

    def name(self, parts: Parts) -> str:
        return "/".join((self.label, *parts) if self.label else parts)


def places(workspaces: Sequence[str], extra: Sequence[str]) -> list[NotesFolder]:
    """The folders that the settings name."""
    folders: list[NotesFolder] = []
    taken = {MEMORY_FILE, MEMORY_FOLDER}
    for number, given in enumerate(workspaces):
        folder = named_path(given)
        folders.append(NotesFolder(folder, "" if number == 0 else _label(folder, taken), workspace=True))
    files: dict[Path, set[str]] = {}
    for given in extra:
        path = named_path(given)
        if path.suffix.lower() == ".md" and not is_folder(path):
            # The person named the file, so a link in its place is theirs; what it leads to is opened as any other.
            real = path.resolve()
            files.setdefault(real.parent, set()).add(real.name)
        else:
            folders.append(NotesFolder(path, _label(path, taken), workspace=False))
    for folder, names in files.items():
        folders.append(NotesFolder(folder, _label(folder, taken), workspace=False, only=frozenset(names)))
    return folders


def place_of(name: str, known: Sequence[NotesFolder]) -> tuple[NotesFolder, Parts]:
    """The place and the parts of a note's name. Raises InvalidInput for what is no name, NotFound for no note's."""
    head, _, rest = name.partition("/")
    for place in known:
        if place.label and place.label == head:
            parts = parts_of(rest)
        elif not place.label:
            parts = parts_of(name)
        else:
            continue
        if place.holds(parts):
            return place, parts
    parts_of(name)
    raise NotFound(f"There is no note “{name[:80]}”; memory_search returns the names.")


def _label(folder: Path, taken: set[str]) -> str:
    base = folder.name.lstrip(".").replace("\\", "_") if folder.name.isprintable() else ""
    base = base or "notes"
    label, number = base, 1
    while label in taken:
        number += 1
        label = f"{base}-{number}"
    taken.add(label)
    return label
