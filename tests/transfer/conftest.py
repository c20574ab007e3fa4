"""Export and import by the engine's own functions, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.engine.transfers import export_lines, import_from
from picomem.transfer.import_format import guessed_format, import_format_named
from picomem.transfer.importer import ImportReport

TakeIn = Callable[..., ImportReport]


def exported(engine: Engine) -> list[str]:
    """The lines of an export."""
    return list(export_lines(engine, "picomem"))


def take_in(engine: Engine, path: Path, form: str = "", *, dry_run: bool = False) -> tuple[str, ImportReport]:
    """Import a file, of a format that is named or guessed; the run, and what became of the entries."""
    chosen = import_format_named(form) if form else guessed_format(path)
    return import_from(engine, path, chosen, dry_run=dry_run)


def contents(engine: Engine) -> dict[str, str]:
    """What is believed, by key."""
    return {memory.key: memory.content for memory in engine.memories()}


@pytest.fixture
def export_file(tmp_path: Path) -> Callable[[Engine | list[str]], Path]:
    """Write an export, or these lines, to a file."""

    def write(source: Engine | list[str]) -> Path:
        path = tmp_path / "export.jsonl"
        path.write_text("".join(source if isinstance(source, list) else exported(source)), "utf-8", newline="")
        return path

    return write
