"""basic-memory: Markdown notes with front matter, observations and relations.

    ---
    title: Coffee
    permalink: coffee
    tags: [brewing]
    ---
    - [preference] Light roasts suit Ethiopian beans #taste (from a tasting)
    - relates_to [[Grinding]]

An observation and a relation become an entry each, with the title as its context; other text is read like any note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from picomem.errors import InvalidInput, NotFound
from picomem.paths import is_folder, is_regular
from picomem.records.kinds import Kind
from picomem.transfer.foreign_files import moment_of
from picomem.transfer.importer import ImportedEntry, Importer
from picomem.transfer.markdown_import import markdown_below
from picomem.transfer.note_entries import FrontMatter, front_matter, notes_below, offer_note, offer_notes, read_note

_OBSERVATION = re.compile(r"\s*[-*]\s+\[([^\[\]\n]{1,60})\]\s+(\S.*)")
_RELATION = re.compile(r"\s*[-*]\s+([\w-][\w -]{0,80}?)\s+\[\[([^\[\]\n]{1,200})\]\]\s*(?:\(([^()\n]*)\))?\s*")
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,60})")
_TASK = ("", " ", "x", "X", "-")  # a task's box is no category
_KINDS = {
    "decision": Kind.DECISION,
    "preference": Kind.PREFERENCE,
    "rule": Kind.INSTRUCTION,
    "requirement": Kind.INSTRUCTION,
    "insight": Kind.INSIGHT,
    "lesson": Kind.INSIGHT,
    "status": Kind.PROJECT,
    "fact": Kind.FACT,
}
_LOOKED_AT = 20  # files of a folder, to tell whether they are basic-memory's


class BasicMemoryNotes:
    """A note, or a folder of notes, of basic-memory."""

    name = "basic-memory"
    example = "~/basic-memory"
    serves_all_users = False
    is_fallback = False

    def claims(self, path: Path) -> bool:
        files = islice(markdown_below(path), _LOOKED_AT) if is_folder(path) else [path]
        return any(file.suffix == ".md" and is_regular(file) and _has_permalink(file) for file in files)

    def read(self, path: Path, importer: Importer) -> None:
        files, root = notes_below(importer, path)
        for file in files:
            try:
                note = front_matter(read_note(file))
            except (InvalidInput, NotFound) as error:
                importer.unreadable(str(file), str(error).rstrip("."))
                continue
            title = note.text("title") or file.stem
            permalink = note.text("permalink") or file.relative_to(root).as_posix()
            rest = "\n".join(_offer_facts(importer, file, note, title, permalink))
            offer_note(importer, file, root, note, rest, {}, context=title)


def _has_permalink(file: Path) -> bool:
    try:
        return "permalink" in front_matter(read_note(file)).fields
    except (InvalidInput, NotFound):
        return False


def _offer_facts(importer: Importer, file: Path, note: FrontMatter, title: str, permalink: str) -> Iterator[str]:
    """Offer the observations and relations of a note; the lines that are neither, and an empty one for each that is."""
    at = moment_of(note.text("created") or note.text("date"), importer.zone)
    for number, line in enumerate(note.body.split("\n"), 1):
        observation, relation = _OBSERVATION.fullmatch(line), _RELATION.fullmatch(line)
        if relation:
            kind, target, about = relation.groups()
            content = f"{title} {kind.replace('_', ' ')} {target}" + (f" ({about})" if about else "")
            tags: tuple[str, ...] = ("relation",)
            category = ""
        elif observation and observation.group(1) not in _TASK:
            category, content = observation.groups()
            tags = (category, *_TAG.findall(content))
            content = " ".join(_TAG.sub("", content).split())
        else:
            yield line
            continue
        yield ""
        importer.offer(
            ImportedEntry(
                identity=f"{permalink}\n{line.strip()}",
                place=f"{file}, line {number}",
                content=content,
                context=title,
                kind=_KINDS.get(category.lower()),
                tags=(*tags, *note.fields.get("tags", ())),
                at=at,
            )
        )


# Markdown that a person or an agent keeps: a file, or a folder of them. Links to other places are not followed.


class MarkdownNotes:
    """Headings, list items and paragraphs; what `migrate` takes over as well."""

    name = "markdown"
    example = "~/notes"
    serves_all_users = False
    is_fallback = True

    def claims(self, path: Path) -> bool:
        return path.suffix == ".md" if is_regular(path) else is_folder(path) and any(path.glob("*.md"))

    def read(self, path: Path, importer: Importer) -> None:
        files, root = notes_below(importer, path)
        offer_notes(importer, files, root)


FORMATS = (BasicMemoryNotes(), MarkdownNotes())
