"""The presentation of backups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.presentations.wording import counts, plural, row_counts

if TYPE_CHECKING:
    from picomem.operations.backups import BackupResult, RestoreResult

_MOST_PROBLEMS = 20


def backed_up(result: BackupResult) -> Presentation:
    return Presentation(
        blocks=(Sentence(f"The store was copied to {result.path}: {result.bytes / 1e6:,.1f} MB, as of {result.at}."),),
        next_steps=(f"`picomem restore {result.path} --verify` examines it.",),
    )


def restored(result: RestoreResult) -> Presentation:
    rows = row_counts(result.checked) or "it is empty"
    said = {
        "verified": f"{result.backup} is whole: {rows}.",
        "possible": f"{result.backup} would take the place of {result.store}: {rows}.",
        "restored": f"{result.backup} took the place of {result.store}: {rows}.",
    }
    blocks: list[Block] = [Sentence(said.get(result.state, f"{result.backup} is {result.state}."))]
    problems = result.problems[:_MOST_PROBLEMS]
    if len(result.problems) > _MOST_PROBLEMS:
        problems.append(f"and {len(result.problems) - _MOST_PROBLEMS:,} more; --json lists them all.")
    if problems:
        blocks.append(PresentedEntry("Problems:", tuple(map(Text, problems))))
    if result.purges:
        purges = tuple(Text(f"{purge.at} by {purge.actor}, of {purge.user}") for purge in result.purges)
        blocks.append(PresentedEntry("Purged since the backup was made:", purges))
    if result.erased:
        blocks.append(Sentence(f"Erased from the backup again: {counts(result.erased)}."))
    if result.access_taken_back:
        taken = plural(result.access_taken_back, "token, grant or sender", "tokens, grants and senders")
        blocks.append(Sentence(f"{taken} of the backup had been taken back since, and stay so."))
    next_steps = []
    if result.kept:
        next_steps.append(f"The store that stood there is {result.kept}; delete it when nobody needs it any more.")
    if result.state == "restored":
        next_steps.append("Restart the programs that had the store open: they store nothing more until then.")
        next_steps.append("`picomem scrub` redacts secrets that the backup may hold from before the last scrub.")
    if result.state == "possible" and result.purges:
        next_steps.append("Add --purge-again to erase it from the backup first, or --keep-purged to have it back.")
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=tuple(next_steps))
