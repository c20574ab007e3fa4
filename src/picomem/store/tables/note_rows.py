"""Notes in the store: rows in, records out. Every call takes a scope.

All of it is derived from the files, so doubtful rows are deleted and read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.note import NoteFile, PlacedSection, Section
from picomem.records.scope import Scope
from picomem.store import row_hash, search
from picomem.store.connector import Row, Transaction
from picomem.store.search import Document
from picomem.store.sql_access import sql
from picomem.store.unchecked_rows import Stored, stored


class SectionPath(NamedTuple):
    """The number of a section, and the path of its file."""

    doc: int
    path: str


def files(tx: Transaction, scope: Scope) -> list[NoteFile]:
    """Every file that was read."""
    return [
        NoteFile(root=root, path=path, stamp=stamp, modified_at=modified, content_hash=digest)
        for root, path, stamp, modified, digest, *_ in _files(tx, scope)
    ]


def count_damaged_files(tx: Transaction, scope: Scope) -> int:
    """Return how many records of files do not match their hash."""
    return sum(not row_hash.is_whole("note_files", row) for row in _files(tx, scope))


def stored_sections(tx: Transaction, scope: Scope) -> Iterator[Stored[PlacedSection]]:
    """Every section of the user, by number."""
    return stored("note_sections", unchecked, sql(tx).all("all_note_sections", user=scope.user))


def _files(tx: Transaction, scope: Scope) -> list[Row]:
    return sql(tx).all("note_files", user=scope.user)


def put(tx: Transaction, scope: Scope, file: NoteFile, sections: Sequence[tuple[Section, int]]) -> None:
    """Let a file's sections, each with its tokens, take the place of those that it had."""
    delete(tx, scope, file.root, file.path)
    sql(tx).run(
        "put_note_file",
        user=scope.user,
        root=file.root,
        path=file.path,
        stamp=file.stamp,
        modified_at=file.modified_at,
        content_hash=file.content_hash,
    )
    first = sql(tx).next_docs(scope, len(sections)) if sections else 0
    for part, (section, tokens) in enumerate(sections):
        doc = first + part
        sql(tx).run(
            "insert_note_section",
            user=scope.user,
            doc=doc,
            root=file.root,
            path=file.path,
            part=part,
            heading=section.heading,
            first_line=section.first_line,
            last_line=section.last_line,
            content=section.text,
            tokens=tokens,
        )
        search.of(tx).add(scope, "note", [document(doc, file.path, section)])


def restamp(tx: Transaction, scope: Scope, file: NoteFile) -> None:
    """A file was touched, and says what it said."""
    sql(tx).run(
        "restamp_note_file",
        user=scope.user,
        root=file.root,
        path=file.path,
        stamp=file.stamp,
        modified_at=file.modified_at,
    )


def delete(tx: Transaction, scope: Scope, root: str, path: str) -> None:
    """Remove a file with its sections, if it is there."""
    for row in sql(tx).all("note_sections_of", user=scope.user, root=root, path=path):
        placed = unchecked(row)
        search.of(tx).remove(scope, "note", [document(placed.doc, path, placed.section)])
    sql(tx).run("delete_note_file", user=scope.user, root=root, path=path)


def clear(tx: Transaction, users: Iterable[Scope]) -> None:
    """Remove every note of these users, who are all there are: they are read again when they are asked for."""
    search.of(tx).clear("note")
    for scope in users:
        sql(tx).run("delete_notes", user=scope.user)


def count(tx: Transaction, scope: Scope) -> int:
    """Return how many sections there are."""
    return int((sql(tx).one("count_note_sections", user=scope.user) or (0,))[0])


def by_docs(tx: Transaction, scope: Scope, docs: Iterable[int]) -> dict[int, PlacedSection]:
    """Sections by their number. Raises Corrupt where one does not match its hash."""
    rows = sql(tx).all("note_sections_by_doc", user=scope.user, docs=json.dumps(list(docs)))
    if any(not row_hash.is_whole("note_sections", row) for row in rows):
        raise Corrupt(CodedText("failure.damaged_notes", command=Command("doctor", repair=True)))
    return {placed.doc: placed for placed in map(unchecked, rows)}


def paths(tx: Transaction, scope: Scope) -> list[SectionPath]:
    """Every section's number, with its file's path."""
    return list(map(SectionPath._make, sql(tx).all("note_paths", user=scope.user)))


def containing(tx: Transaction, scope: Scope, text: str, limit: int) -> list[int]:
    """Sections with that very string in them."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return [doc for (doc,) in sql(tx).all("like_notes", user=scope.user, pattern=f"%{escaped}%", limit=limit)]


def document(doc: int, path: str, section: Section) -> Document:
    """A section as full text indexes it."""
    return Document(doc, section.text, named(path, section))


def named(path: str, section: Section) -> str:
    """The name of a section: its file and its headings, which have more weight than its text."""
    return f"{path.removesuffix('.md')} {section.heading}"


def unchecked(row: Row) -> PlacedSection:
    """A row as a record, whatever its hash says."""
    doc, root, path, heading, first, last, text, tokens = row[:8]
    return PlacedSection(root=root, path=path, section=Section(heading, first, last, text), tokens=tokens, doc=doc)
