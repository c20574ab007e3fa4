"""Functions on an engine about memories, changes and vectors, for the operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from picomem.coded_text import code_of
from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.memory import vectors, version_history
from picomem.records.kinds import Origin
from picomem.records.memory import Change, Memory
from picomem.store import row_counts
from picomem.store.tables import audit, memories, memory_lists
from picomem.store.tables.memory_lists import ListedPage, ListQuery
from picomem.store.tables.project_names import with_former_projects

_MOST_OLDER = 3  # statements that an answer names beside a new one


def memories_page(engine: Engine, query: ListQuery, damaged: list[str]) -> ListedPage:
    """A page of memories, the most important first; `damaged` gets the ids of its damaged rows."""
    context = engine._context
    with context.connector.read() as tx:
        reader = with_former_projects(tx, engine.scope.narrowed(project=query.filter.project))
        scope = replace(engine.scope, former_projects=reader.former_projects)
        return memory_lists.listed(tx, scope, context.clock(), query, damaged)


def holds_memories(engine: Engine) -> bool:
    """Return whether the user has memories, archived or not."""
    with engine._context.connector.read() as tx:
        return row_counts.memories(tx, engine.scope).there.versions > 0


def shown(engine: Engine, memory: Memory) -> Memory:
    """Return a memory redacted by the current rules, which may be newer than the stored text."""
    return engine._context.cleaner().shown(memory)


def keys_of(engine: Engine, ids: Iterable[str]) -> dict[str, str]:
    """The keys of memories by their ids, of those that are there and whole."""
    with engine._context.connector.read() as tx:
        keys = {id_: memories.key_of(tx, engine.scope, id_, []) for id_ in ids}
    return {id_: key for id_, key in keys.items() if key}


def older_beside(engine: Engine, memory: Memory) -> list[Memory]:
    """The latest of the older memories that a memory seems to put out of date, as they may be shown."""
    context = engine._context
    with context.connector.read() as tx:
        linked = memories.believed(tx, engine.scope, context.clock(), set(memory.contradicts)).values()
    older = [other for other in linked if other.valid_from <= memory.valid_from]
    latest = sorted(older, key=lambda other: -other.valid_from)[:_MOST_OLDER]
    return [context.cleaner().shown(other) for other in latest]


def version_numbers(engine: Engine, versions: Sequence[Memory]) -> dict[int, int]:
    """The versions of one memory, oldest first, as people count them, by their stored numbers."""
    with engine._context.connector.read() as tx:
        return version_history.version_numbers(tx, engine.scope, versions[0].id, versions)


def texts_of_changes(engine: Engine, changes: Sequence[Change], damaged: list[str]) -> dict[tuple[str, int], str]:
    """What memories said before and after the changes, by their ids and the numbers of the versions. Damaged versions
    are left out, and their ids put on `damaged`."""
    numbers: dict[str, set[int]] = {}
    for change in changes:
        numbers.setdefault(change.memory_id, set()).update(filter(None, (change.before, change.after)))
    clean = engine._context.cleaner()
    with engine._context.connector.read() as tx:
        return {
            (memory.id, memory.version): clean.shown(memory).content
            for memory_id, wanted in numbers.items()
            if memory_id and wanted
            for memory in memories.versions_of_numbers(tx, engine.scope, memory_id, wanted, damaged)
        }


def reason_origins(engine: Engine, changes: Iterable[Change]) -> dict[str, Origin]:
    """The origins of the reasons that callers gave for changes, by the ids of these changes: those of what they
    changed. A reason that picomem found itself has none."""
    reasoned = [change for change in changes if change.memory_id and change.reason and not code_of(change.reason)]
    numbers: dict[str, set[int]] = {}
    for change in reasoned:
        numbers.setdefault(change.memory_id, set()).add(change.after or change.before or 0)
    with engine._context.connector.read() as tx:
        origins = {
            (version.id, version.version): version.origin
            for memory_id, named in numbers.items()
            for version in memories.unchecked_versions_of_numbers(tx, engine.scope, memory_id, named)
        }
    return {
        change.id: origins.get((change.memory_id, change.after or change.before or 0), Origin.OTHER)
        for change in reasoned
    }


def undone_changes(engine: Engine, damaged: list[str] | None = None) -> dict[str, str]:
    """Every change that was undone and is so still, with the change that undid it.

    Damaged rows are left out, and their ids are put on `damaged`; without such a list they raise Corrupt.
    """
    with engine._context.connector.read() as tx:
        undoes = audit.undoing(tx, engine.scope, damaged)
    return version_history.undone_by(undoes)


def reach(engine: Engine) -> object:
    """A value that differs once a row was stored, or a vector rewritten or taken out, by whatever process."""
    with engine._context.connector.read() as tx:
        return vectors.reach(tx, engine.scope, engine.embedder_name)


def store_size(engine: Engine) -> int:
    """Bytes on disk. Raises StoreError."""
    return engine._context.connector.maintenance.size()
