"""Reads Markdown files of other programs, and their front matter, as entries to import."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import dataclass, field
from picomem.paths import is_folder, is_regular, read_text
from picomem.records.kinds import Kind
from picomem.transfer.foreign_files import check_size, moment_of
from picomem.transfer.importer import ImportedEntry, Importer
from picomem.transfer.markdown_import import is_of_a_program, left_out, markdown_files, read_entries

LARGEST_NOTE = 4 << 20  # bytes
_FIELD = re.compile(r"([A-Za-z_][\w -]{0,40}):[ \t]*(.*)")
_LINK = re.compile(r"\[[^\]\n]{1,200}\]\([^)\s]{1,400}\.md\)")  # to another note: that one says what it says
_MOST_FIELDS = 100
_MOST_VALUES = 100  # of a field


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields at the head of a note, of which a list is a field with several values; and the lines behind them."""

    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    body: str = ""

    def text(self, name: str) -> str:
        """The only value of a field; empty where there is none, or several."""
        values = self.fields.get(name, ())
        return values[0] if len(values) == 1 else ""


def read_note(path: Path) -> str:
    """The text of a note. Raises NotFound and InvalidInput."""
    return read_text(path, most=LARGEST_NOTE).replace("\r\n", "\n")


def front_matter(text: str) -> FrontMatter:
    """Read the front matter of a note, between its `---` lines: names with a value, or a list of values."""
    lines = text.split("\n")
    if lines[0].strip() != "---" or "---" not in (line.strip() for line in lines[1:]):
        return FrontMatter(body=text)
    end = next(number for number, line in enumerate(lines[1:], 1) if line.strip() == "---")
    fields: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in lines[1:end]:
        item = re.fullmatch(r"\s*-\s+(.*)", line)
        if item and name:
            fields[name] = (*fields[name], _value(item.group(1)))[:_MOST_VALUES]
        elif (named := _FIELD.fullmatch(line.strip())) and len(fields) < _MOST_FIELDS:
            name, value = named.group(1).strip().lower(), named.group(2).strip()
            inner = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else [value]
            fields[name] = tuple(said for part in inner[:_MOST_VALUES] if (said := _value(part)))
    # The lines keep their numbers.
    return FrontMatter(fields, "\n" * (end + 1) + "\n".join(lines[end + 1 :]))


def _value(text: str) -> str:
    return text.strip().strip("'\"").strip()


def offer_notes(importer: Importer, files: Sequence[Path], root: Path, *, kinds: dict[str, Kind] | None = None) -> None:
    """Offer the entries of notes. `kinds` says what a `type` in the front matter means. A line that only leads to
    another note is passed over."""
    for file in files:
        try:
            note = front_matter(read_note(file))
        except (InvalidInput, NotFound) as error:
            importer.unreadable(str(file), str(error).rstrip("."))
            continue
        offer_note(importer, file, root, note, note.body, kinds or {})


def offer_note(
    importer: Importer,
    file: Path,
    root: Path,
    note: FrontMatter,
    body: str,
    kinds: dict[str, Kind],
    *,
    context: str = "",
) -> None:
    """Offer the entries of a note's body."""
    kind = kinds.get(note.text("type") or note.text("metadata"))
    at = moment_of(note.text("created") or note.text("date"), importer.zone)
    for entry in read_entries(body, file.name, importer.zone):
        if _LINK.match(entry.content):
            importer.report.passed_over["link to another note"] += 1
            continue
        importer.offer(
            ImportedEntry(
                identity=f"{_place(file, root)}#{entry.tag}",
                place=f"{file}, line {entry.line}",
                content=entry.content,
                context=context,
                kind=kind or entry.kind,
                importance=None if entry.importance == 0.5 else entry.importance,
                tags=(entry.tag, *note.fields.get("tags", ())),
                at=at if entry.at is None else entry.at,
                project=entry.project,
            )
        )


def notes_below(importer: Importer, path: Path) -> tuple[list[Path], Path]:
    """The Markdown files of a folder, or a single one, and the folder. Those that are left out are counted."""
    files = markdown_files([path])
    for problem in left_out([path]):
        importer.unreadable("A note", problem.rstrip("."))
    return files, path if is_folder(path) else path.parent


def _place(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name


# The notes of a host's agent, with the file names that the host uses.


def offer_host_notes(
    importer: Importer, path: Path, patterns: Sequence[str], without: Sequence[str] = (), *, kinds: dict | None = None
) -> None:
    """Offer a single note, or those of a folder whose paths match `patterns` and have no part in `without`.

    Links are not followed. Raises InvalidInput where there are none.
    """
    if is_regular(path):
        check_size(path, LARGEST_NOTE)
    files = [path] if is_regular(path) else host_notes(path, patterns, without)
    if not files:
        raise InvalidInput(f"{path} holds none of the notes {', '.join(patterns)}; name their folder.")
    offer_notes(importer, files, path if is_folder(path) else path.parent, kinds=kinds)


def host_notes(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> list[Path]:
    """The regular files below a folder that match, each once, by name; in a program's folder only those that a pattern
    leads to."""
    if not is_folder(folder):
        return []
    matching = {file for pattern in patterns for file in folder.glob(pattern) if _is_led_to(file, folder, pattern)}
    return [
        file
        for file in sorted(matching)
        if not file.is_symlink() and is_regular(file) and not set(file.relative_to(folder).parts) & set(without)
    ]


def _is_led_to(file: Path, folder: Path, pattern: str) -> bool:
    passed = set(file.relative_to(folder).parts[:-1]) - set(pattern.split("/"))
    return not any(map(is_of_a_program, passed))
