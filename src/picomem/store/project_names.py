"""Finds the former names of a project. A session names its project by its repository; an older picomem, or a folder
that was in no repository yet, named it by the folder.

Nothing is stored for this and no memory moves: two sessions of one folder that belong to different projects tell it.
"""

from __future__ import annotations

from collections.abc import Iterable

from picomem.light_dataclass import replace
from picomem.records.episode import KnownFolder
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.episodes import known_folders


def with_former_projects(tx: Transaction, scope: Scope) -> Scope:
    """The scope of a read that also finds what was stored under former names of its project."""
    if not scope.project or scope.session:
        return scope
    return replace(scope, former_projects=former_names(scope.project, known_folders(tx, scope)))


def former_names(project: str, known: Iterable[KnownFolder]) -> tuple[str, ...]:
    """The names that the folders of a project had before. `known` are the folders of sessions, the first read first.

    A name that a folder of another project had as well is left out: nobody knows to which of them a memory belongs.
    Pure.
    """
    folders: dict[str, set[str]] = {}
    current: dict[str, str] = {}
    for folder in known:
        folders.setdefault(folder.project, set()).add(folder.cwd)
        current[folder.cwd] = folder.project
    return tuple(
        name for name, cwds in folders.items() if name != project and all(current[cwd] == project for cwd in cwds)
    )
