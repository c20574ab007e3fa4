"""The presentation of stored entries: memories, versions, reasons, messages, the index page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from picomem.coded_text import value_of
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Table,
    Text,
    Verbatim,
)
from picomem.operations.presentations.wording import attributed, day, details, nothing_matches, plural, step

if TYPE_CHECKING:
    from picomem.operations.lookup import (
        HistoryResult,
        IndexResult,
        MemoriesResult,
        ShowResult,
        TimelineResult,
        TurnView,
        WhyResult,
    )
    from picomem.operations.memory_views import MemoryView
    from picomem.operations.recall_views import HitView

_MOST_HANDOUTS = 5
_MOST_ACTIONS = 3  # of an episode in the timeline
_MOST_OUTCOMES = 2


def memories(result: MemoriesResult) -> Presentation:
    blocks: tuple[Block, ...] = tuple(
        PresentedEntry(
            f"{memory.key}  ({_standing(memory)}, {day(memory.said_at)[:10]}{_end(memory)})"
            + (f"  [{memory.project}]" if memory.project else ""),
            (Text(attributed(memory.content, memory.origin), 3),),
        )
        for memory in result.memories
    )
    if result.filters:
        blocks = (Sentence(nothing_matches("memory", result.filters)),)
    elif not blocks and not result.warnings:
        blocks = (Sentence("Nothing is remembered yet; `picomem remember TEXT` stores a statement."),)
    more = f"There are {result.left_out:,} more: --cursor {result.cursor}, or -n."
    return Presentation(blocks=blocks, warnings=tuple(result.warnings), next_steps=(more,) if result.left_out else ())


def _standing(memory: MemoryView) -> str:
    """The kind of a memory, and whether it waits to be confirmed."""
    return memory.kind


def _end(memory: MemoryView) -> str:
    """Describe how a memory of the past ended."""
    if not memory.archived:
        return ""
    ends = {"archived": memory.known_to, "ended": memory.valid_to, "expired": memory.expires_at}
    return next((f", {how} {day(at)[:10]}" for how, at in ends.items() if at), "")


def episode(result: ShowResult) -> Presentation:
    shown = result.episode
    title = shown.citation + (f"  [{shown.project}]" if shown.project else "")
    if result.state != "open":
        body = PresentedEntry(result.explanation, (Text(shown.text, 40),))
        return Presentation(title, (Sentence(shown.transcript), body))
    told_of = (Sentence(f"It tells of {result.happened}."),) if result.happened else ()
    turns = _turns(result.turns) if result.is_whole else _turns_at(result.turns, result.match)
    if before := [turn for episode in result.before for turn in episode.turns]:
        turns = (Heading("Before it"), *_turns(before), Heading("The episode"), *turns)
    if after := [turn for episode in result.after for turn in episode.turns]:
        turns = (*turns, Heading("After it"), *_turns(after))
    warnings = (result.explanation,) if result.explanation else ()
    return Presentation(title, (Sentence(shown.transcript), *told_of, *turns), warnings)


def _turns(turns: Sequence[TurnView]) -> tuple[Block, ...]:
    return tuple(PresentedEntry(_speaker(turn), _said(turn), turn.number) for turn in turns)


def _speaker(turn: TurnView) -> str:
    return f"{turn.role}, {day(turn.at)}"


def _turns_at(turns: Sequence[TurnView], match: int) -> tuple[Block, ...]:
    """The turn that matches, between a line of the turn before it and one of the turn after it; all where none does."""
    at = next((place for place, turn in enumerate(turns) if turn.number == match), None)
    if at is None or len(turns) == 1:
        return _turns(turns)
    blocks: list[Block] = []
    if at:
        blocks += [Text(f"({plural(at - 1, 'earlier turn')}: --all)")] if at > 1 else []
        blocks.append(_line_of(turns[at - 1], is_last=True))
    blocks.append(PresentedEntry(f"{_speaker(turns[at])}  ◂ matches", _said(turns[at]), turns[at].number))
    if later := len(turns) - at - 1:
        blocks.append(_line_of(turns[at + 1], is_last=False))
        blocks += [Text(f"({plural(later - 1, 'later turn')}: --all)")] if later > 1 else []
    return tuple(blocks)


def _line_of(turn: TurnView, *, is_last: bool) -> PresentedEntry:
    """A turn by its last line or its first."""
    lines = [line for line in turn.text.splitlines() if line.strip()]
    outcomes = [f"→ {attributed(outcome, 'tool')}" for outcome in turn.outcomes]
    shown = ([*lines, *outcomes] if is_last or not lines else lines)[-1 if is_last else 0 :][:1]
    cut = "… " if is_last and len(lines) + len(outcomes) > 1 else ""
    return PresentedEntry(_speaker(turn), tuple(Text(f"{cut}{line}", 1) for line in shown), turn.number)


def _said(turn: TurnView) -> tuple[Verbatim | Text, ...]:
    """A message, or the part of a long one that was opened, between how much there is before and after it."""
    said = Verbatim(turn.text, tuple((start, end) for start, end in turn.marks))
    earlier, later = (
        (Text(f"({plural(count, f'{where} line')}: --all)"),) if count else ()
        for where, count in (("earlier", turn.earlier_lines), ("later", turn.later_lines))
    )
    outcomes = (Text(f"→ {attributed(outcome, 'tool')}") for outcome in turn.outcomes)
    return (*earlier, *((said,) if turn.text else ()), *later, *outcomes)


def reasons(result: WhyResult) -> Presentation:
    blocks: list[Block] = []
    if result.memory:
        state = "archived" if result.memory.archived else _standing(result.memory)
        body = (Text(result.memory.content), *details(result.memory, result.contradicted))
        blocks.append(PresentedEntry(f"{result.memory.key}  ({state})", body))
    for change in result.changes:
        version = f" version {result.version_numbers.get(change.after, change.after)}" if change.after else ""
        body = [Text(f"because {change.reason}")]
        body += [Text(f"offered: {change.candidate}")] if change.candidate else []
        blocks.append(PresentedEntry(f"{day(change.at)}  {step(change)}{version}  by {change.actor}", tuple(body)))
    for source in result.sources:
        if source.kind in ("episode", "message"):
            blocks.append(PresentedEntry(f"from {source.citation}  ({source.id})", (Text(f"“{source.text}”"),)))
    more = (f"There are {plural(result.left_out, 'earlier change')}: -n.",) if result.left_out else ()
    blocks += [Text(line) for line in (result.explanation, result.transcript) if line]
    if result.handed_out:
        latest = result.handed_out[:_MOST_HANDOUTS]
        said = [Text(f"{day(given.at)}  session {given.session}") for given in latest]
        times = plural(len(result.handed_out), "session")
        blocks.append(PresentedEntry(f"put beside a prompt in {times}", tuple(said)))
    return Presentation(blocks=tuple(blocks), next_steps=more)


def versions(result: HistoryResult) -> Presentation:
    if not result.versions:
        return Presentation(blocks=(Sentence("Nothing was believed of it then."),))
    blocks: list[Block] = []
    life = ""
    first_known: dict[tuple[str, int], str] = {}
    latest: dict[tuple[str, int, str], MemoryView] = {}  # of the rows of a version with the same beginning
    for version, number in zip(result.versions, result.version_numbers):
        first_known.setdefault((version.id, number), version.known_from)
        latest[version.id, number, version.valid_from] = version
    for (_, number, _), version in latest.items():
        if version.id != life:  # a key that was forgotten and used again had another memory under it
            life = version.id
            archived = f"  (archived {day(result.archived[life])})" if life in result.archived else ""
            blocks.append(Heading(f"{version.key}  {life}{archived}"))
        until = f" – {day(version.valid_to)}" if version.valid_to else " on"
        current = "  (current)" if version.current else ""
        known_to = day(version.known_to) if version.known_to else "now"
        believed = Text(f"believed {day(first_known[version.id, number])} – {known_to}")
        blocks.append(
            PresentedEntry(
                f"true from {day(version.valid_from)}{until}{current}",
                (believed, Text(version.content), *details(version, result.contradicted)),
                number,
            )
        )
    more = (f"There are {plural(result.left_out, 'earlier version')}: -n.",) if result.left_out else ()
    return Presentation(blocks=tuple(blocks), next_steps=more)


def _actions(hit: HitView) -> list[Text]:
    shown = [Text(f"· {action}", 1) for action in hit.actions[:_MOST_ACTIONS]]
    more = len(hit.actions) - len(shown)
    shown += [Text(f"· and {plural(more, 'more action')}", 1)] if more else []
    return [*shown, *(Text(f"→ {attributed(outcome, 'tool')}", 1) for outcome in hit.outcomes[:_MOST_OUTCOMES])]


def timeline(result: TimelineResult) -> Presentation:
    blocks: list[Block] = []
    session = None
    for hit in result.episodes:
        if hit.session != session:
            session = hit.session
            project = f"  [{hit.project}]" if hit.project else ""
            blocks.append(Heading(f"── {value_of(hit.citation, 'where') or hit.citation}{project}"))
        blocks.append(PresentedEntry(f"{day(hit.at)}  {hit.role}  ({hit.id})", (Text(hit.text, 2), *_actions(hit))))
    if result.filters:
        blocks.append(Sentence(nothing_matches("episode", result.filters)))
    elif not blocks and not result.warnings:
        blocks.append(Sentence("Nothing was said then; `picomem ingest` reads past sessions."))
    more = (f"There are more: --cursor {result.cursor}, or -n.",) if result.cursor else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=more)


def index_page(result: IndexResult) -> Presentation:
    total = Sentence(f"({result.tokens:,} of {result.budget:,} tokens)")
    if not result.lines:
        return Presentation(blocks=(Verbatim(result.page), total), warnings=tuple(result.warnings))
    blocks: list[Block] = [
        Table(("tokens", "line"), tuple((f"{line.tokens:,}", line.text) for line in result.lines)),
        total,
    ]
    if result.omitted:
        blocks.append(Heading("Did not fit"))
        blocks += [PresentedEntry(memory.key, (Text(memory.content, 2),)) for memory in result.omitted]
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings))
