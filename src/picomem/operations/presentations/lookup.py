"""How what is stored is presented: memories, versions, reasons, what was said, the index page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Heading, Presentation, PresentedEntry, Sentence, Text, Verbatim
from picomem.operations.presentations.wording import attributed, day, details, plural, step

if TYPE_CHECKING:
    from picomem.operations.lookup import (
        HistoryResult,
        IndexResult,
        MemoriesResult,
        ShowResult,
        TimelineResult,
        WhyResult,
    )
    from picomem.operations.views import HitView

_MOST_ACTIONS = 3  # of an episode in the timeline


def memories(result: MemoriesResult) -> Presentation:
    blocks: tuple[Block, ...] = tuple(
        PresentedEntry(
            f"{memory.key}  ({memory.kind}, {day(memory.updated_at)[:10]})",
            (Text(attributed(memory.content, memory.origin), 3),),
        )
        for memory in result.memories
    )
    if not blocks and not result.warnings:
        blocks = (Sentence("Nothing is remembered yet; `picomem remember TEXT` stores a statement."),)
    more = f"There are {result.left_out:,} more; -n shows more."
    return Presentation(blocks=blocks, warnings=tuple(result.warnings), next_steps=(more,) if result.left_out else ())


def episode(result: ShowResult) -> Presentation:
    shown = result.episode
    title = shown.citation + (f"  [{shown.project}]" if shown.project else "")
    if result.state != "open":
        body = PresentedEntry(result.explanation, (Text(shown.text, 40),))
        return Presentation(title, (Sentence(shown.transcript), body))
    turns = tuple(
        PresentedEntry(f"{turn.role}, {day(turn.at)}", (Verbatim(turn.text),), turn.number) for turn in result.turns
    )
    return Presentation(title, (Sentence(shown.transcript), *turns))


def reasons(result: WhyResult) -> Presentation:
    blocks: list[Block] = []
    if result.memory:
        state = "archived" if result.memory.archived else result.memory.kind
        body = (Text(result.memory.content), *details(result.memory))
        blocks.append(PresentedEntry(f"{result.memory.key}  ({state})", body))
    for change in result.changes:
        version = f" version {change.after}" if change.after else ""
        body = [Text(f"because {change.reason}")]
        body += [Text(f"offered: {change.candidate}")] if change.candidate else []
        blocks.append(PresentedEntry(f"{day(change.at)}  {step(change)}{version}  by {change.actor}", tuple(body)))
    for source in result.sources:
        if source.kind in ("episode", "message"):
            blocks.append(PresentedEntry(f"from {source.citation}  ({source.id})", (Text(f"“{source.text}”"),)))
    blocks += [Text(line) for line in (result.explanation, result.transcript) if line]
    return Presentation(blocks=tuple(blocks))


def versions(result: HistoryResult) -> Presentation:
    if not result.versions:
        return Presentation(blocks=(Sentence("Nothing was believed of it then."),))
    blocks: list[Block] = []
    life = ""
    for version in result.versions:
        if version.id != life:  # a key that was forgotten and used again had another memory under it
            life = version.id
            blocks.append(Heading(f"{version.key}  {life}"))
        until = f" – {day(version.valid_to)}" if version.valid_to else " on"
        current = "  (current)" if version.current else ""
        known_to = day(version.known_to) if version.known_to else "now"
        believed = Text(f"believed {day(version.known_from)} – {known_to}")
        blocks.append(
            PresentedEntry(
                f"true from {day(version.valid_from)}{until}{current}",
                (believed, Text(version.content), *details(version)),
                version.version,
            )
        )
    return Presentation(blocks=tuple(blocks))


def _actions(hit: HitView) -> list[Text]:
    shown = [Text(f"· {action}", 1) for action in hit.actions[:_MOST_ACTIONS]]
    more = len(hit.actions) - len(shown)
    return [*shown, Text(f"· and {plural(more, 'more action')}", 1)] if more else shown


def timeline(result: TimelineResult) -> Presentation:
    blocks: list[Block] = []
    session = None
    for hit in result.episodes:
        if hit.session != session:
            session = hit.session
            project = f"  [{hit.project}]" if hit.project else ""
            blocks.append(Heading(f"── {hit.citation.split(' turn')[0]}{project}"))
        blocks.append(PresentedEntry(f"{day(hit.at)}  {hit.role}  ({hit.id})", (Text(hit.text, 2), *_actions(hit))))
    if not blocks and not result.warnings:
        blocks.append(Sentence("Nothing was said then; `picomem ingest` reads past sessions."))
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings))


def index_page(result: IndexResult) -> Presentation:
    return Presentation(blocks=(Verbatim(result.page), Sentence(f"({result.tokens:,} of {result.budget:,} tokens)")))
