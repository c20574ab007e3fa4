"""Finds the former names of a project. A session names its project by its repository, or by its folder if
that was in no repository yet.

Nothing is stored for this and no memory moves: two sessions of one folder that belong to different projects tell it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from picomem.light_dataclass import replace
from picomem.paths import real_path
from picomem.records.episode import KnownFolder
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables.transcript_rows import known_folders


def with_former_projects(tx: Transaction, scope: Scope) -> Scope:
    """The scope of a read that also finds what was stored under former names of its project."""
    if not scope.project or scope.session:
        return scope
    return replace(scope, former_projects=former_names(scope.project, known_folders(tx, scope, latest_last=True)))


def former_names(project: str, known: Iterable[KnownFolder]) -> tuple[str, ...]:
    """The names that the folders of a project had before. `known` are the folders of sessions, the latest one last.

    A name is left out if a folder of another project had it as well, because nobody knows to which of them a memory
    belongs; and if it was that of another place, such as a repository that lay in the folder before, or the folder in
    place of which there is a link. Reads links, and is pure otherwise.
    """
    folders: dict[str, list[KnownFolder]] = {}
    current: dict[str, str] = {}
    for folder in known:
        folders.setdefault(folder.project, []).append(folder)
        current[folder.cwd] = folder.project
    return tuple(
        name
        for name, named in folders.items()
        if name != project and all(current[folder.cwd] == project and _is_its_own(folder) for folder in named)
    )


def _is_its_own(folder: KnownFolder) -> bool:
    """Return whether what identifies a project is no more than the path of the folder, which is no link by now."""
    identity, cwd = (unicodedata.normalize("NFC", path) for path in (folder.identity, folder.cwd))
    return identity.removesuffix("/.git") == cwd and real_path(folder.cwd) == folder.cwd
