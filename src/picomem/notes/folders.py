"""The folders of notes, and the names of the notes in them. Pure, except for a check whether an extra path is a folder.

`notes.paths` names workspaces: in each, `MEMORY.md` and the Markdown files under `memory/` are notes.
`notes.extra_paths` adds single Markdown files, and all Markdown files under further folders. Nothing else is ever
opened.

A note's name is its path in the workspace (`memory/2026-05-03.md`). Only names in the first workspace have no prefix:
those of another workspace or extra folder begin with the name of that folder, followed by a number if the name is
taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from picomem.errors import NotFound
from picomem.light_dataclass import dataclass
from picomem.notes.safe_opening import DEEPEST, Parts, parts_of
from picomem.paths import is_folder, named_path

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
