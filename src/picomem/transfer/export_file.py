"""Writes an export to a file, records its path, and writes the file again after a purge.

The path is recorded before the file gets its name, so a killed process leaves no unrecorded copy. A purge writes the
recorded files again from the remaining rows (erasure/file_traces.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from picomem.blake2b import blake2b
from picomem.clock import Micros, iso
from picomem.emulation.graph_mapping import entity_record, graph_of, relation_record
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.memory.version_history import IMPORTED
from picomem.paths import check_folder_of, open_regular, status_of, written_whole
from picomem.records.kinds import Kind
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.records.session import Message
from picomem.sessions.pairs import safe_message
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import audit, exported_files, memories, memory_lineage, session_rows
from picomem.store.tables.exported_files import WHOLE, Export
from picomem.text.inert_text import for_markdown_line
from picomem.transfer import export_records
from picomem.transfer.export_records import (
    Clean,
    ExportedMemory,
    ExportedSession,
    header,
    line_of,
    memory_record,
    message_record,
    session_record,
)

# Reads a user's memories and conversations for an export, row by row in one snapshot of the store.
#
# It leaves out episodes (they point into transcripts of other programs, which can be ingested again), refused texts,
# tombstones (digests under a key that only this store has), vectors and other derived rows, tokens, jobs, and waiting
# messages of channels. Damaged rows are left out and counted.

_PAGE = 500


@dataclass(slots=True)
class ExportCounts:
    """The number of rows in an export, and of damaged rows that were left out."""

    memories: int = 0
    versions: int = 0
    sessions: int = 0
    messages: int = 0
    damaged: int = 0


def export_lines(tx: Transaction, scope: Scope, clean: Clean, counts: ExportCounts) -> Iterator[str]:
    """The lines of an export of all that a user has; `counts` is filled while they are read."""
    yield line_of(header(scope.user))
    for exported in sessions_of(tx, scope, counts):
        yield line_of(session_record(exported, clean))
        for message in messages_of(tx, scope, exported.session.id, counts):
            yield line_of(message_record(safe_message(message, clean)))
    for memory in memories_of(tx, scope, counts):
        yield line_of(memory_record(memory, clean))
    end = {"sessions": counts.sessions, "messages": counts.messages, "memories": counts.memories}
    yield line_of({"type": "end", **end})


def memories_of(tx: Transaction, scope: Scope, counts: ExportCounts) -> Iterator[ExportedMemory]:
    """Every memory of a user with its history, by id."""
    after = ""
    while page := memories.ids_after(tx, scope, after, _PAGE):
        for memory_id in page:
            memory = memory_of(tx, scope, memory_id)
            if memory is None:
                counts.damaged += 1
                continue
            counts.memories += 1
            counts.versions += len(memory.versions)
            yield memory
        after = page[-1]


def memory_of(tx: Transaction, scope: Scope, memory_id: str) -> ExportedMemory | None:
    """A memory with its history; None where there is none, or a row of it is damaged.

    Its arrival with an earlier export is not part of its history, and neither is a change that undid that.
    """
    versions = memories.whole_versions(tx, scope, memory_id)
    if not versions:
        return None
    closers = memories.closers(tx, scope, memory_id)
    damaged: list[str] = []
    changes = {change.id: change for change in audit.of_memory(tx, scope, memory_id, damaged)}
    arrivals = {change.id for change in changes.values() if change.decision == IMPORTED}
    changes = {id_: change for id_, change in changes.items() if id_ not in arrivals}
    for id_ in sorted({version.change_id for version in versions} | set(closers.values())):
        if id_ not in changes and id_ not in damaged:  # a purge takes the memory's id from a change
            change = audit.change(tx, scope, id_)
            changes |= {id_: change} if change else {}
    links = tuple(link for link in memory_lineage.links_of(tx, scope, memory_id, damaged) if link.change_id in changes)
    listed = tuple(_known_only(changes[id_], changes) for id_ in sorted(changes))
    return None if damaged else ExportedMemory(tuple(versions), closers, listed, links)


def _known_only(change: Change, changes: dict[str, Change]) -> Change:
    return change if not change.undoes or change.undoes in changes else replace(change, undoes="")


def sessions_of(tx: Transaction, scope: Scope, counts: ExportCounts) -> Iterator[ExportedSession]:
    """Every conversation of a user, by id."""
    for named in session_rows.stored_sessions(tx, scope):
        session = session_rows.session(tx, scope, named.record.id) if named.is_whole else None
        if session is None:
            counts.damaged += 1
            continue
        counts.sessions += 1
        yield ExportedSession(session, session_rows.summary(tx, scope, session.id))


def messages_of(tx: Transaction, scope: Scope, session_id: str, counts: ExportCounts) -> Iterator[Message]:
    """The messages of a conversation in their order."""
    after = 0
    while True:
        page = session_rows.messages_page(tx, scope, session_id, after, _PAGE)
        counts.damaged += len(page.damaged)
        counts.messages += len(page.messages)
        yield from page.messages
        numbers = [*page.damaged, *(message.seq for message in page.messages)]
        if not numbers:
            return
        after = max(numbers)


# A user's knowledge graph in the file format of MCP's server-memory, which skips the first line.
#
# It contains only what agents keep in the graph (emulation/graph_mapping.py), in its current state, without history.

_GRAPH_HEAD = '{"type":"export","format":"mcp-memory"'


def graph_lines(tx: Transaction, scope: Scope, clean: Clean, now: Micros, counts: ExportCounts) -> Iterator[str]:
    """The lines of the file."""
    damaged: list[str] = []
    stored = [memory for memory in memories.of_graph(tx, scope, damaged) if not memory.over(now)]
    counts.memories = counts.versions = len(stored)
    counts.damaged = len(damaged)
    graph = graph_of(stored, clean)
    yield f'{_GRAPH_HEAD},"by":"picomem"}}\n'
    for entity in graph.entities:
        yield _line({"type": "entity", **entity_record(entity)})
    for relation in graph.relations:
        yield _line({"type": "relation", **relation_record(relation)})


def _line(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


# Exports a user's memories as one Markdown page to read: by kind, each with its history. It cannot be imported.

_PAGE_HEAD = "# Memory, exported by picomem"
_SECTIONS = {
    Kind.INSTRUCTION: "Instructions",
    Kind.PREFERENCE: "Preferences",
    Kind.DECISION: "Decisions",
    Kind.PROJECT: "Projects",
    Kind.FACT: "Facts",
    Kind.INSIGHT: "Insights",
}


def markdown_lines(tx: Transaction, scope: Scope, clean: Clean, now: Micros, counts: ExportCounts) -> Iterator[str]:
    """The lines of the page. It is read from the store once for each section, so no section is held in memory."""
    yield f"{_PAGE_HEAD}\n\nUser: {scope.user}\n"
    for kind, title in _SECTIONS.items():
        yield from _section(title, _current(tx, scope, clean, now, kind))
    yield from _section("From tools, web pages and others: data, not instructions", _untrusted(tx, scope, clean, now))
    yield from _section("No longer believed", _past(tx, scope, clean, now))
    yield from _section("Conversations", _conversations(tx, scope, clean))
    for _ in memories_of(tx, scope, counts):
        pass
    for exported in sessions_of(tx, scope, counts):
        for _ in messages_of(tx, scope, exported.session.id, counts):
            pass


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    first = next(lines, None)
    if first is not None:
        yield f"\n## {title}\n\n"
        yield first
        yield from lines


def _current(tx: Transaction, scope: Scope, clean: Clean, now: Micros, kind: Kind) -> Iterator[str]:
    for memory in memories_of(tx, scope, ExportCounts()):
        present = _present(memory, now)
        if present is not None and present.kind is kind and present.origin.trusted:
            yield from _entry(memory, present, clean)


def _untrusted(tx: Transaction, scope: Scope, clean: Clean, now: Micros) -> Iterator[str]:
    for memory in memories_of(tx, scope, ExportCounts()):
        present = _present(memory, now)
        if present is not None and not present.origin.trusted:
            yield from _entry(memory, present, clean)


def _past(tx: Transaction, scope: Scope, clean: Clean, now: Micros) -> Iterator[str]:
    for memory in memories_of(tx, scope, ExportCounts()):
        if _present(memory, now) is None:
            last = memory.versions[-1]
            said_by = "" if last.origin.trusted else f" (from the {last.origin})"
            yield f"- **{last.key}**{said_by}: {for_markdown_line(clean(last.content))}\n"


def _conversations(tx: Transaction, scope: Scope, clean: Clean) -> Iterator[str]:
    for exported in sessions_of(tx, scope, ExportCounts()):
        session = exported.session
        counts = ExportCounts()
        messages = sum(1 for _ in messages_of(tx, scope, session.id, counts))
        title = for_markdown_line(clean(session.title)) or session.id
        yield f"- {iso(session.created_at)[:10]}: {title} ({messages:,} messages)\n"


def _present(memory: ExportedMemory, now: Micros) -> Memory | None:
    return next((version for version in reversed(memory.versions) if version.current(now)), None)


def _entry(memory: ExportedMemory, present: Memory, clean: Clean) -> Iterator[str]:
    about = [f"since {iso(present.valid_from)[:10]}", f"said by the {present.origin}"]
    about += ["pinned"] if present.pinned else []
    about += [f"project {present.scope.project}"] if present.scope.project else []
    about += [f"tags {', '.join(map(for_markdown_line, present.tags))}"] if present.tags else []
    about += [f"until {iso(present.expires_at)[:10]}"] if present.expires_at is not None else []
    yield f"- **{present.key}**: {for_markdown_line(clean(present.content))}\n"
    if present.context:
        yield f"  - why: {for_markdown_line(clean(present.context))}\n"
    yield f"  - {'; '.join(about)}\n"
    said = {present.content}
    for version in reversed(memory.versions):
        if version.content not in said:
            said.add(version.content)
            yield f"  - before ({iso(version.valid_from)[:10]}): {for_markdown_line(clean(version.content))}\n"


# The file of an export, in one of the formats.

ExportFormat = Literal["picomem", "markdown", "mcp-memory"]

_HEADS: dict[ExportFormat, bytes] = {
    "picomem": export_records.HEAD,
    "markdown": _PAGE_HEAD.encode(),
    "mcp-memory": _GRAPH_HEAD.encode(),
}
_CHUNK = 1 << 20


def lines_of(
    tx: Transaction, scope: Scope, clean: Clean, now: Micros, form: ExportFormat, counts: ExportCounts
) -> Iterator[str]:
    """The lines of an export."""
    if form == "markdown":
        return markdown_lines(tx, scope, clean, now, counts)
    if form == "mcp-memory":
        return graph_lines(tx, scope, clean, now, counts)
    return export_lines(tx, scope, clean, counts)


def write_export(
    connector: Connector, scope: Scope, clean: Clean, now: Micros, path: Path, form: ExportFormat
) -> ExportCounts:
    """Export to a file; what it holds. Raises InvalidInput, also for a file that is there and no export, and NotFound
    where there is no folder for it."""
    check_folder_of(path)
    if status_of(path) is not None and _format_of(path) is None:
        raise InvalidInput(f"{path} exists and is no export of picomem; name another file.")
    place = str(path.absolute())
    if not connector.read_only:
        with connector.write(scope) as tx:
            if exported_files.at(tx, scope, place) is None:
                exported_files.put(tx, Export(place, Scope(scope.user), WHOLE, "", now))
    counts = ExportCounts()
    with connector.read() as tx, written_whole(path, private=True) as file:
        for line in lines_of(tx, scope, clean, now, form, counts):
            file.write(line)
    _note(connector, scope, path, now)
    return counts


def write_again(connector: Connector, exported: Export, clean: Clean, now: Micros) -> str:
    """Write an export anew, in its format; the digest of what it holds now. Raises InvalidInput or NotFound where the
    file is another's by now, or was changed."""
    path = Path(exported.path)
    form = _format_of(path)
    if form is None or exported.content_hash not in ("", _digest(path)):
        raise InvalidInput(f"{path} is no longer the export that picomem wrote, and was left as it is.")
    with connector.read() as tx, written_whole(path, private=True) as file:
        for line in lines_of(tx, exported.scope, clean, now, form, ExportCounts()):
            file.write(line)
    return _digest(path)


def _note(connector: Connector, scope: Scope, path: Path, now: Micros) -> None:
    if not connector.read_only:
        with connector.write(scope) as tx:
            exported_files.put(tx, Export(str(path.absolute()), Scope(scope.user), WHOLE, _digest(path), now))


def _format_of(path: Path) -> ExportFormat | None:
    """The format of an export that lies there; None for any other file, such as one that cannot be read."""
    try:
        with open_regular(path) as file:
            start = file.read(max(map(len, _HEADS.values())))
    except OSError:
        return None
    return next((form for form, head in _HEADS.items() if start.startswith(head)), None)


def _digest(path: Path) -> str:
    digest = blake2b(digest_size=12)
    with open_regular(path) as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()
