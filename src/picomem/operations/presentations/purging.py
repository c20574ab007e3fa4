"""The presentation of a purge, or of its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.presentations.wording import plural

if TYPE_CHECKING:
    from picomem.operations.purging import PurgeResult, ScanView

_NOTHING = Presentation(blocks=(Sentence("There is nothing to erase."),))
_MOST_SESSIONS, _MOST_MEMORIES = 20, 40


def purge(result: PurgeResult) -> Presentation:
    if result.dry_run:
        return _plan(result)
    if not (result.change_id or result.finished):
        return Presentation(blocks=_NOTHING.blocks, warnings=tuple(result.left))
    blocks: list[Block] = []
    warnings: list[str] = []
    if result.change_id:
        blocks.append(Sentence(f"Erased for good: {result.said or 'nothing was there'}."))
    if result.scan:
        blocks += _scan(result.scan)
        warnings += _found(result.scan)
    warnings += [*result.left, *_copies(result)]
    if result.unfinished:
        warnings.append(f"Not finished: {result.unfinished}")
    elif not result.change_id:
        blocks.append(
            Sentence("The purge that was interrupted is finished. What it erased is not known any more, so no scan.")
        )
    return Presentation(blocks=tuple(blocks), warnings=tuple(warnings))


def _scan(scan: ScanView) -> list[Block]:
    said = (
        f"Scanned {plural(scan.files, 'file')}, {scan.bytes / 1e6:,.1f} MB: "
        f"{sum(scan.found.values()):,} of {scan.patterns - scan.shared:,} strings found."
    )
    shared = f"{scan.shared:,} more stand in what stays as well, so they prove nothing."
    return [Sentence(said), *([Sentence(shared)] if scan.shared else [])]


def _found(scan: ScanView) -> list[str]:
    warnings = [f"{path}: {plural(count, 'string')}" for path, count in scan.found.items()]
    if scan.postings:
        warnings.append(f"{scan.postings:,} words are left in full text; run `picomem doctor --repair`.")
    return [*warnings, *(f"not read: {path}" for path in scan.unread)]


def _plan(result: PurgeResult) -> Presentation:
    if not result.counts:
        return Presentation(blocks=_NOTHING.blocks, warnings=tuple(result.left))
    sessions = [f"{going.session}  {going.title or going.path}".rstrip() for going in result.sessions[:_MOST_SESSIONS]]
    if len(result.sessions) > _MOST_SESSIONS:
        sessions.append(f"and {len(result.sessions) - _MOST_SESSIONS:,} more")
    blocks: list[Block] = [PresentedEntry(f"This would go for good: {result.said}.", tuple(map(Text, sessions)))]
    for memory in result.memories[:_MOST_MEMORIES]:
        heading = memory.key + ("  (other versions of it stay)" if memory.partly else "")
        blocks.append(PresentedEntry(heading, (Text(memory.content, 2),)))
    if len(result.memories) > _MOST_MEMORIES:
        blocks.append(Sentence(f"and {len(result.memories) - _MOST_MEMORIES:,} more memories"))
    return Presentation(blocks=(*blocks, Sentence(result.explanation)), warnings=(*result.left, *_copies(result)))


def _copies(result: PurgeResult) -> list[str]:
    """Name the sessions that stay and hold the same words, with how to purge one."""
    if not result.copies:
        return []
    count = plural(sum(result.copies.values()), "episode")
    sessions = list(result.copies)
    more = f" and {len(sessions) - _MOST_SESSIONS:,} more" if len(sessions) > _MOST_SESSIONS else ""
    holds = "holds" if sum(result.copies.values()) == 1 else "hold"
    return [
        f"{count} of other sessions {holds} the same words: {', '.join(sessions[:_MOST_SESSIONS])}{more}. "
        f"`picomem purge --session {sessions[0]}` erases such a session too."
    ]
