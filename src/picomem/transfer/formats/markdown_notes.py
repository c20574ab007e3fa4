"""Markdown that a person or an agent keeps: a file, or a folder of them. Links to other places are not followed."""

from __future__ import annotations

from pathlib import Path

from picomem.paths import is_folder, is_regular
from picomem.transfer.importer import Importer
from picomem.transfer.note_entries import notes_below, offer_notes


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


FORMAT = MarkdownNotes()
