"""The presentation of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Presentation, PresentedEntry, Sentence, Text, Verbatim

if TYPE_CHECKING:
    from picomem.operations.notes import NoteView, ReadNoteResult, SearchNotesResult


def found_notes(result: SearchNotesResult) -> Presentation:
    entries = tuple(_entry(number, note) for number, note in enumerate(result.results, 1))
    return Presentation(
        blocks=entries or (Sentence("Nothing was found."),), warnings=(result.warning,) if result.warning else ()
    )


def _entry(number: int, note: NoteView) -> PresentedEntry:
    heading = f"{note.path}  line {note.startLine}" + (f"  ({note.heading})" if note.heading else "")
    return PresentedEntry(heading, (Text(note.snippet), Text(f"{note.score:.2f}")), number)


def note_lines(result: ReadNoteResult) -> Presentation:
    if result.status != "ok":
        return Presentation(blocks=(Sentence(result.message),))
    more = f"(--first-line {result.nextFrom} goes on)"
    return Presentation(blocks=(Verbatim(result.text),), next_steps=(more,) if result.nextFrom else ())
