"""Exports a user's memories as one Markdown page to read: by kind, each with its history. It cannot be imported."""

from __future__ import annotations

from collections.abc import Iterator

from picomem.clock import Micros, iso
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.text.inert_text import for_markdown_line
from picomem.transfer.export_lines import ExportCounts, memories_of, messages_of, sessions_of
from picomem.transfer.export_records import Clean, ExportedMemory

HEAD = "# Memory, exported by picomem"
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
    yield f"{HEAD}\n\nUser: {scope.user}\n"
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
