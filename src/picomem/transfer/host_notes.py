"""The notes of a host's agent, with the file names that the host uses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.paths import is_folder, is_regular
from picomem.transfer.bounded_files import check_size
from picomem.transfer.importer import Importer
from picomem.transfer.markdown_import import is_of_a_program
from picomem.transfer.note_entries import LARGEST_NOTE, offer_notes


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
