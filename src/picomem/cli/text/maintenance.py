"""The care of a store, as text."""

from __future__ import annotations

from typing import Any

from picomem.cli.text.lines import plural, wrapped


def ingest(result: Any) -> str:
    lines = []
    if not result.files:
        lines += ["No transcripts were found in:", *(f"   {place}" for place in result.places)]
        lines.append("Name files or folders: picomem ingest PATH…")
        lines += _passed_over(result)
    else:
        found = ", ".join(f"{count:,} of {host}" for host, count in result.hosts.items())
        lines.append(f"{plural(result.files, 'transcript')} ({found}), {result.unchanged:,} unchanged.")
        lines.append(
            f"Read {result.bytes / 1e6:,.1f} MB: {plural(result.turns, 'turn')}, "
            f"{plural(result.episodes, 'new episode')}, {result.updated:,} grown or moved, "
            f"{result.repeated:,} known already."
        )
        if result.requests:
            became = ", ".join(f"{count:,} {decision}" for decision, count in sorted(result.decisions.items()))
            lines.append(f"{plural(result.requests, 'request')} to remember went through the gate: {became}.")
            if set(result.decisions) - {"refuse"}:
                lines.append(
                    f"`picomem changes --run {result.run}` shows them, `picomem undo {result.run}` takes them back."
                )
        if result.redacted:
            lines.append(f"{plural(result.redacted, 'secret was', 'secrets were')} redacted.")
        if result.rewritten:
            lines.append(f"{plural(result.rewritten, 'transcript')} had been rewritten and was read anew.")
        lines += _passed_over(result)
    lines += [f"! {problem}" for problem in result.problems[:20]]
    if len(result.problems) > 20:
        lines.append(f"! and {len(result.problems) - 20:,} more; --json lists them all.")
    return "\n".join(lines)


def _passed_over(result: Any) -> list[str]:
    counts = sorted(result.skipped.items(), key=lambda reason_and_count: -reason_and_count[1])
    passed = ", ".join(f"{reason} {count:,}" for reason, count in counts)
    return [wrapped(f"Passed over: {passed}.", "")] if passed else []


def withhold(result: Any) -> str:
    return f"{plural(result.transcripts, 'transcript')} {'released' if result.released else 'withheld'}."


def migrate(result: Any) -> str:
    lines = []
    for entry in result.entries:
        if entry.decision == "refuse":
            lines.append(f"left      line {entry.line}: {entry.reason}")
        else:
            lines.append(f"{entry.decision:<9} {entry.key}")
    counts = ", ".join(f"{count:,} {decision}" for decision, count in result.decisions.items()) or "no entries"
    problems = [f"! {problem}" for problem in result.left_out]
    return "\n".join([*lines, f"{plural(result.files, 'file')}: {counts}.", *problems])


def scrub(result: Any) -> str:
    found = ", ".join(f"{rule} {count}" for rule, count in sorted(result.findings.items())) or "none"
    verb = "would be" if result.dry_run else "were"
    damaged = (
        f" {plural(result.damaged, 'row is', 'rows are')} damaged; run `picomem doctor`." if result.damaged else ""
    )
    said = f"{plural(result.rows, 'row')} looked at; {result.changed:,} {verb} redacted. Secrets: {found}.{damaged}"
    left = [*result.left, f"Not finished: {result.unfinished}"] if result.unfinished else result.left
    return "\n".join([said, *(wrapped(f"! {each}", "") for each in left)])


def embed(result: Any) -> str:
    lines = [f"{plural(result.made, 'vector')} made with {result.model}."]
    if result.waiting:
        lines.append(f"{plural(result.waiting, 'row')} came in meanwhile; run it again.")
    if result.removed:
        lines.append(f"{plural(result.removed, 'vector')} of other models removed.")
    return "\n".join(lines)


def status(result: Any) -> str:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in result.memories.items()) or "none yet"
    lines = [
        f"{result.database}" + ("  (read-only)" if result.read_only else ""),
        f"user         {result.user}",
        f"memories     {sum(result.memories.values()):,}  ({kinds}); {result.archived:,} archived",
        f"episodes     {result.episodes:,}",
    ]
    for host, counts in result.transcripts.items():
        lines.append(
            f"transcripts  {host}: {counts['files']:,} files, {counts['turns']:,} turns, "
            f"{counts['bytes'] / 1e6:,.1f} MB"
        )
    if result.sessions:
        lines.append(f"sessions     {result.sessions:,}, with {plural(result.messages, 'message')}")
    lines += [f"vectors      {name}: {count:,}" for name, count in result.vectors.items()]
    decisions = ", ".join(f"{name} {count:,}" for name, count in result.decisions.items()) or "none yet"
    lines += [
        f"decisions    {decisions}",
        f"embedder     {result.embedder}",
        *_spending(result),
        f"size         {result.bytes / 1e6:,.2f} MB",
    ]
    if result.embedder_trouble:
        lines.append(f"! {result.embedder_trouble}")
    if result.purge_unfinished:
        lines.append("! A purge was begun and is not finished; `picomem purge` finishes it.")
    return "\n".join(lines)


def _spending(result: Any) -> list[str]:
    lines = [
        f"model        {name}: {plural(spend['calls'], 'call')}, {spend['input_tokens']:,} tokens in, "
        f"{spend['output_tokens']:,} out"
        for name, spend in result.models.items()
    ]
    if not lines:
        return lines
    limit = f"of {result.daily_token_limit:,} tokens" if result.daily_token_limit else "tokens, without a limit"
    return [*lines, f"today        {result.spent_today:,} {limit}"]


_NOT_REPAIRED = ("file", "purge", "reference")  # checks whose findings no repair mends


def doctor(result: Any) -> str:
    named = {"memories": "versions of memories"}
    checked = ", ".join(f"{count:,} {named.get(table, table)}" for table, count in result.checked.items()) or "no rows"
    if not result.findings:
        return f"Healthy: the file, {checked}, full text and vectors."
    lines = [f"Checked the file and {checked}."]
    for finding in result.findings:
        lines.append(f"{'repaired' if finding.repaired else 'problem '}  {finding.check}: {finding.problem}")
    if not result.repair and any(finding.check not in _NOT_REPAIRED for finding in result.findings):
        lines.append("`picomem doctor --repair` rebuilds what is derived.")
    return "\n".join(lines)


def index_status(result: Any) -> str:
    return (
        f"{result.tokens:,} of {result.budget:,} tokens; {plural(result.entries, 'entry', 'entries')} shown, "
        f"{result.left_out:,} left out; {result.episodes:,} episodes behind it"
    )
