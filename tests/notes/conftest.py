"""A workspace with notes in it, and engines that know it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings, RecallSettings

OpenNotes = Callable[..., Engine]


class Workspace:
    """A folder with `MEMORY.md` and `memory/`, as agents keep it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("MEMORY.md", "# Long-term\n\n## Staging\n\nThe staging database listens on port 5433.\n")
        self.write("memory/2026-05-03.md", "# 3 May\n\n- Decided to use the heron queue\n- Ann likes green tea\n")
        self.write("AGENTS.md", "The staging password is on the yellow paper.\n")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def open_notes(db: Path, workspace: Workspace) -> Iterator[OpenNotes]:
    """Open an engine whose settings name the workspace; `extra`: further paths, `user`: whose memory it is."""
    opened: list[Engine] = []

    def _open(
        *extra: Path, path: Path = db, user: str | None = None, paths: tuple[Path, ...] = (workspace.folder,)
    ) -> Engine:
        notes = NotesSettings(tuple(map(str, paths)), tuple(map(str, extra)))
        settings = Settings(recall=RecallSettings(embedder="none", timezone="UTC"), notes=notes)
        opened.append(open_engine(path, user=user, settings=settings, without_store=True))
        return opened[-1]

    yield _open
    for engine in opened:
        engine.close()
