"""Resolves the name of a memory: its key, its id, or the beginning of an id."""

from __future__ import annotations

from picomem.coded_text import CodedText, Command
from picomem.errors import Conflict, NotFound, nearest
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import memories, memory_rows
from picomem.store.tables.project_names import with_former_projects


def resolve(tx: Transaction, scope: Scope, name: str, *, archived: bool = False) -> Memory:
    """The memory that an id, the beginning of one, or a key means: its newest version, believed unless `archived`.

    Raises NotFound where there is none, and Conflict where several owners hold the key.
    """

    reader = with_former_projects(tx, scope)

    def visible(memory: Memory) -> bool:
        return memory_rows.visible(memory.scope, reader)

    # What holds is asked for first: a memory may have been revised thousands of times.
    versions = list(filter(visible, memories.lasting_of_key(tx, scope, name)))
    if not versions:
        versions = list(filter(visible, memories.of_key(tx, scope, name)))
    if not versions and len(name) >= 8 and all(char in "0123456789abcdef-" for char in name.lower()):
        memory_id = memories.find_id(tx, scope, name)
        versions = memories.believed_since(tx, scope, memory_id) or memories.versions(tx, scope, memory_id)
    believed = [memory for memory in versions if memory.known_to is None and memory.valid_to is None]
    # Of a key that its owner used and forgot several times, the last memory is meant.
    named = believed or versions if archived else believed
    candidates = {memory.scope: memory for memory in sorted(named, key=lambda memory: memory.doc)}
    if not candidates:
        if versions:
            raise NotFound(CodedText("failure.archived_name", name=name, command=Command("history", name)))
        remedy = nearest_key(tx, scope, name) or CodedText("failure.searched_by_words", command=Command("recall"))
        raise NotFound(CodedText("failure.no_memory", name=name[:80], remedy=remedy))
    exact = [memory for memory in candidates.values() if memory.scope == scope]
    if len(candidates) > 1 and len(exact) != 1:
        owners = ", ".join(f"{memory.id} ({memory.scope.project or 'user'})" for memory in candidates.values())
        raise Conflict(CodedText("failure.several_of_name", name=name, owners=owners))
    return exact[0] if exact else next(iter(candidates.values()))


def nearest_key(tx: Transaction, scope: Scope, name: str) -> str:
    """A question for who mistyped a key: the nearest of the newest keys; empty where none is near."""
    near = nearest(name, memories.newest_keys(tx, scope, _LOOKED_AT), 0.7)
    return CodedText("failure.nearest_name", other=near) if near is not None else ""


_LOOKED_AT = 2_000  # keys; comparing as many takes some 50 ms


def lives(tx: Transaction, scope: Scope, name: str) -> list[Memory]:
    """Every version of a memory, oldest first. A key that was forgotten and used again means all that its owner has
    had under it; an id means that one memory. Raises NotFound, Conflict or Corrupt."""
    resolved = resolve(tx, scope, name, archived=True)
    named = {resolved.id}
    if name == resolved.key:
        named |= {memory.id for memory in memories.of_key(tx, scope, name) if memory.scope == resolved.scope}
    versions = [version for memory_id in named for version in memories.versions(tx, scope, memory_id)]
    return sorted(versions, key=lambda version: version.doc)  # not by time: clocks are set back
