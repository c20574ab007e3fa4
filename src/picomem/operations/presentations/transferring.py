"""The presentation of exports and imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.presentations.wording import counts as counts_of
from picomem.operations.presentations.wording import plural

if TYPE_CHECKING:
    from picomem.operations.transferring import ExportResult, ImportResult


def exported(result: ExportResult) -> Presentation:
    held = [plural(result.memories, "memory", "memories"), plural(result.versions, "version")]
    held += [plural(result.sessions, "conversation"), plural(result.messages, "message")]
    damaged = f"{plural(result.damaged, 'damaged row was', 'damaged rows were')} left out; run `picomem doctor`."
    steps = (f"`picomem import {result.path}` takes it in elsewhere.",) if result.format == "picomem" else ()
    return Presentation(
        blocks=(Sentence(f"{result.path}: {', '.join(held)}; {result.bytes / 1e6:,.1f} MB."),),
        warnings=(damaged,) if result.damaged else (),
        next_steps=steps,
    )


def imported(result: ImportResult) -> Presentation:
    counts = [
        plural(result.new, "new memory", "new memories"),
        f"{result.changed:,} changed",
        f"{result.known:,} known already",
        f"{sum(result.refused.values()):,} refused",
        f"{sum(result.unreadable.values()):,} unreadable",
    ]
    counts += [f"{result.differing:,} different here and left as they are"] if result.differing else []
    counts += [f"{result.purged:,} purged here and kept out"] if result.purged else []
    blocks: list[Block] = [Sentence("Nothing was stored; an import would find:")] if result.dry_run else []
    blocks.append(Sentence(f"{result.path} ({result.format}): {', '.join(counts)}."))
    if result.conversations or result.messages:
        said = f"{plural(result.conversations, 'new conversation')} and {plural(result.messages, 'new message')}"
        stay = " An undo leaves them; `picomem purge --session ID` erases one." if result.run else ""
        blocks.append(Sentence(f"{said}.{stay}"))
    if result.users:
        blocks.append(
            Sentence(f"They belong to {', '.join(result.users)}; `picomem sessions --user ID` lists those of one user.")
        )
    if result.passed_over:
        blocks.append(Sentence(f"Passed over: {counts_of(result.passed_over, number_first=False)}."))
    all_are_named = len(result.problems) >= sum(result.refused.values()) + sum(result.unreadable.values())
    for title, reasons in (("Refused:", result.refused), ("Unreadable:", result.unreadable)):
        if reasons and not all_are_named:
            texts = tuple(Text(f"{count:,}: {reason}") for reason, count in reasons.items())
            blocks.append(PresentedEntry(title, texts))
    if result.problems:
        title = "Not taken in:" if all_are_named else "The first of them:"
        blocks.append(PresentedEntry(title, tuple(map(Text, result.problems))))
    steps = (f"`picomem undo {result.run}` takes the memories back.",) if result.run else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=steps)
