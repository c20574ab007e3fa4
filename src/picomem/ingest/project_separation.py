"""Separates the projects of a store that named them by their folders alone.

A transcript that lies under a name which another project owns gets the name of its own (projects.py). So does each
memory that was made from such transcripts alone: the newest version that was made from episodes tells it.
"""

from __future__ import annotations

from contextlib import suppress

from picomem.clock import Micros
from picomem.errors import Corrupt
from picomem.ingest.projects import misnamed_folders
from picomem.light_dataclass import replace
from picomem.records.episode import KnownFolder
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import episodes, memories
from picomem.store.connector import Connector, Transaction


def separate_projects(connector: Connector, scope: Scope, now: Micros) -> None:
    """Give what lies under the name of another project the name of its own, in one transaction. A second time there is
    nothing left to separate."""
    with connector.read() as tx:
        if not misnamed_folders(episodes.known_folders(tx, scope)):
            return
    with connector.write(scope) as tx:
        projects = _rename_transcripts(tx, scope, now)
        for memory, parents in memories.made_from_episodes(tx, scope, list(projects)):
            if (project := _project_of(tx, memory, projects)) and memory.scope.project == projects[parents[0]][0]:
                with suppress(Corrupt):  # doctor tells of it
                    for version in memories.versions(tx, scope, memory.id):
                        memories.move(tx, version, project)


def _rename_transcripts(tx: Transaction, scope: Scope, now: Micros) -> dict[str, tuple[str, str]]:
    """Rename the projects of transcripts; by the id of each of their episodes the name before and the name now."""
    names = misnamed_folders(episodes.known_folders(tx, scope))
    projects: dict[str, tuple[str, str]] = {}
    for stored in list(episodes.stored_transcripts(tx, scope)):
        old = stored.record
        project = names.get(KnownFolder(old.cwd, old.project, old.repository))
        if project and stored.is_whole:
            # Whoever reads the file at this moment sees by the time that the record is another one.
            episodes.put_transcript(tx, scope, replace(old, project=project, updated_at=max(now, old.updated_at + 1)))
            for episode in episodes.of_transcript(tx, scope, old.id, []):
                projects[episode.id] = old.project, project
    return projects


def _project_of(tx: Transaction, memory: Memory, projects: dict[str, tuple[str, str]]) -> str:
    """The project to which a memory goes; empty where it was made from other episodes as well."""
    links = [link for link in memories.links_of(tx, memory.scope, memory.id, []) if link.parent.kind == "episode"]
    newest = max(link.version for link in links)
    targets = {projects.get(link.parent.id, ("", ""))[1] for link in links if link.version == newest}
    return targets.pop() if len(targets) == 1 else ""
