"""The presentation of a change of memory, and of the list of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text, Verbatim
from picomem.operations.presentations.wording import counts, day, details, nothing_matches, plural, step

if TYPE_CHECKING:
    from picomem.operations.maintenance import AuditResult
    from picomem.operations.remembering import BulkEditResult, ForgetResult, RememberResult, ReviseResult
    from picomem.operations.undoing import ChangesResult, UndoneView, UndoResult

_NOTHING_DECIDED = Sentence("Nothing has been decided yet.")


def remembered(result: RememberResult) -> Presentation:
    memory = result.memory
    owner = f" for {memory.project}" if memory.project else ""
    account = f"{result.decision}: {result.reason} · {result.token_estimate} tokens · change {result.change_id}"
    entry = PresentedEntry(
        f"{memory.key}  ({memory.kind}{owner}, version {result.version_number})",
        (Text(memory.content), *details(memory), Verbatim(account)),
    )
    older = tuple(PresentedEntry(f"older: {view.key}", (Text(view.content),)) for view in result.older)
    steps = tuple(
        f"`picomem review {memory.key} supersede --other {view.key}` says that it replaces that."
        for view in result.older
    )
    return Presentation(blocks=(entry, *older), next_steps=steps)


def revised(result: ReviseResult) -> Presentation:
    memory = result.memory
    heading = f"{memory.key}  (version {result.version_number}, true from {day(memory.valid_from)})"
    return Presentation(
        blocks=(PresentedEntry(heading, (Text(memory.content), *details(memory))),),
        next_steps=(
            f"`picomem history {memory.key}` shows what was believed before; `picomem undo {result.change_id}` takes "
            "it back.",
        ),
    )


def forgotten(result: ForgetResult) -> Presentation:
    return Presentation(
        blocks=(Sentence(f"{result.key} is archived; `picomem history {result.key}` still shows it."),),
        next_steps=(f"`picomem undo {result.change.id}` takes it back.",),
    )


def edited_together(result: BulkEditResult) -> Presentation:
    changed = plural(len(result.changed), "memory", "memories")
    so_already = f"; {plural(len(result.unchanged), 'was', 'were')} so already" if result.unchanged else ""
    return Presentation(
        blocks=(Sentence(f"{changed} changed: {', '.join(result.changed)}{so_already}."),),
        next_steps=(f"`picomem undo {result.run}` takes it back.",),
    )


def undone(result: UndoResult) -> Presentation:
    again = result.run if len(result.undone) > 1 else result.undone[0].change.id
    does = "takes it back again" if result.undone[0].undone.verb == "undo" else "does it again"
    return Presentation(
        blocks=tuple(_undone(step) for step in result.undone),
        warnings=tuple(result.warnings),
        next_steps=(f"`picomem undo {again}` {does}.",),
    )


def _undone(view: UndoneView) -> Block:
    at = day(view.undone.at)
    if not view.key:
        return Sentence(
            f"The conversation that was due again since {at} is consolidated as it was before."
            if view.change.decision == "consolidate"
            else f"The consolidation of {at} is undone; the conversation is due again."
        )
    now = view.memory.content if view.memory else f"It is archived; `picomem history {view.key}` still shows it."
    return PresentedEntry(f"{view.key}: {step(view.undone)} of {at} is undone.", (Text(now),))


def changes(result: ChangesResult) -> Presentation:
    blocks: list[Block] = []
    for listed in result.changes:
        change = listed.change
        about = [f"by {change.actor}", f"run {change.run}"]
        about += [f"undoes {change.undoes}"] if change.undoes else []
        about += [f"undone by {listed.undone_by}"] if listed.undone_by else []
        heading = f"{change.id}  {day(change.at)}  {step(change)}" + (f"  {change.key}" if change.key else "")
        blocks.append(PresentedEntry(heading, (Text(change.reason, 2), Text(" · ".join(about)))))
    if result.filters:
        blocks.append(Sentence(nothing_matches("change", result.filters)))
    elif not blocks and not result.warnings:
        blocks.append(_NOTHING_DECIDED)
    more = (f"There are more: --cursor {result.cursor}",) if result.cursor else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=more)


def audit(result: AuditResult) -> Presentation:
    blocks: list[Block] = []
    if result.decisions:
        blocks.append(Sentence(f"Decisions in all: {counts(sorted(result.decisions.items()))}."))
    for change in result.changes:
        refused = (Text(f"refused: {change.candidate}", 2),) if change.candidate else ()
        heading = f"{day(change.at)}  {step(change)}  by {change.actor}" + (f"  {change.key}" if change.key else "")
        blocks.append(PresentedEntry(heading, (Text(change.reason, 2), *refused)))
    if not blocks and not result.warnings:
        blocks.append(_NOTHING_DECIDED)
    more = (f"There are more: --cursor {result.cursor}, or -n.",) if result.cursor else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=more)
