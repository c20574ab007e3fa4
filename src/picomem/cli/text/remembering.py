"""What became of a change of memory, and the trail of changes, as text."""

from __future__ import annotations

from typing import Any

from picomem.cli.text.lines import day, details, plural, step, wrapped


def remember(result: Any) -> str:
    memory = result.memory
    owner = f" for {memory.project}" if memory.project else ""
    lines = [f"{memory.key}  ({memory.kind}{owner}, version {memory.version})", wrapped(memory.content)]
    lines += details(memory)
    lines.append(f"   {result.decision}: {result.reason} · {result.token_estimate} tokens · change {result.change_id}")
    return "\n".join(lines)


def revise(result: Any) -> str:
    memory = result.memory
    lines = [f"{memory.key}  (version {memory.version}, true from {day(memory.valid_from)})"]
    lines += [wrapped(memory.content), *details(memory)]
    return "\n".join([*lines, f"   `picomem history {memory.key}` shows what was believed before."])


def forget(result: Any) -> str:
    return f"{result.key} is archived; `picomem history {result.key}` still shows it."


def undo(result: Any) -> str:
    lines = []
    for each in result.undone:
        if not each.key:
            again = each.change.decision == "consolidate"
            lines.append(
                f"The conversation that was due again since {day(each.undone.at)} is consolidated as it was before."
                if again
                else f"The consolidation of {day(each.undone.at)} is undone; the conversation is due again."
            )
            continue
        lines.append(f"{each.key}: {step(each.undone)} of {day(each.undone.at)} is undone.")
        if each.memory is None:
            lines.append(f"   It is archived; `picomem history {each.key}` still shows it.")
        else:
            lines.append(wrapped(each.memory.content))
    lines += [wrapped(warning, "") for warning in result.warnings]
    again = result.run if len(result.undone) > 1 else result.undone[0].change.id
    does = "takes it back again" if result.undone[0].undone.verb == "undo" else "does it again"
    return "\n".join([*lines, f"`picomem undo {again}` {does}."])


def changes(result: Any) -> str:
    lines = []
    for listed in result.changes:
        change = listed.change
        lines.append(f"{change.id}  {day(change.at)}  {step(change)}" + (f"  {change.key}" if change.key else ""))
        lines.append(wrapped(change.reason, "   ", 2))
        about = [f"by {change.actor}", f"run {change.run}"]
        about += [f"undoes {change.undoes}"] if change.undoes else []
        about += [f"undone by {listed.undone_by}"] if listed.undone_by else []
        lines.append(f"   {' · '.join(about)}")
    return "\n".join([*lines, *result.warnings]) or "Nothing has been decided yet."


def audit(result: Any) -> str:
    counts = ", ".join(f"{count:,} {decision}" for decision, count in sorted(result.decisions.items()))
    lines = [f"Decisions in all: {counts}.", ""] if counts else []
    for change in result.changes:
        lines.append(f"{day(change.at)}  {step(change)}  by {change.actor}" + (f"  {change.key}" if change.key else ""))
        lines.append(wrapped(change.reason, "   ", 2))
        lines += [wrapped(f"refused: {change.candidate}", "   ", 2)] if change.candidate else []
    return "\n".join([*lines, *result.warnings]) or "Nothing has been decided yet."


def purge(result: Any) -> str:
    if result.dry_run:
        return _purge_plan(result)
    if not (result.change_id or result.finished):
        return "There is nothing to erase."
    lines = [f"Erased for good: {result.said or 'nothing was there'}."] if result.change_id else []
    if result.scan:
        scan = result.scan
        found = sum(scan.found.values())
        lines.append(
            f"Scanned {plural(scan.files, 'file')}, {scan.bytes / 1e6:,.1f} MB: "
            f"{found:,} of {scan.needles - scan.shared:,} strings found."
        )
        if scan.shared:
            lines.append(f"{scan.shared:,} more stand in what stays as well, so they prove nothing.")
        lines += [f"! {path}: {plural(count, 'string')}" for path, count in scan.found.items()]
        lines += [f"! {scan.postings:,} words are left in full text; run `picomem doctor --repair`."] * bool(
            scan.postings
        )
        lines += [f"! not read: {each}" for each in scan.unread]
    lines += [wrapped(f"! {each}", "") for each in result.left]
    if result.unfinished:
        lines.append(wrapped(f"! Not finished: {result.unfinished}", ""))
    elif not result.change_id:
        lines.append("The purge that was interrupted is finished. What it erased is not known any more, so no scan.")
    return "\n".join(lines)


def _purge_plan(result: Any) -> str:
    if not result.counts:
        return "There is nothing to erase."
    lines = [f"This would go for good: {result.said}."]
    for each in result.sessions[:20]:
        lines.append(f"   {each.session}  {each.title or each.path}".rstrip())
    lines += [f"   and {len(result.sessions) - 20:,} more"] * (len(result.sessions) > 20)
    for each in result.memories[:40]:
        lines.append(f"{each.key}" + ("  (other versions of it stay)" if each.partly else ""))
        lines.append(wrapped(each.content, "   ", 2))
    lines += [f"and {len(result.memories) - 40:,} more memories"] * (len(result.memories) > 40)
    return "\n".join([*lines, result.explanation])
