"""The presentation of maintenance: ingest, scrub, status, doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Fields, Presentation, PresentedEntry, Sentence, Table, Text
from picomem.operations.presentations.wording import counts, day, plural, row_counts

if TYPE_CHECKING:
    from picomem.memory.store_status import Status
    from picomem.operations.maintenance import (
        DoctorResult,
        EmbedResult,
        IndexStatusResult,
        IngestResult,
        MigrateResult,
        ScrubResult,
        TagResult,
        WithholdResult,
    )

_MOST_PROBLEMS = 20
_DAYS_TOLD = 7  # of those on which a model cost something
_NOT_REPAIRED = ("copy", "host", "purge", "reference", "schema")  # checks whose findings no repair mends


def ingested(result: IngestResult) -> Presentation:
    blocks: list[Block] = []
    next_steps: list[str] = []
    if not result.files:
        blocks.append(PresentedEntry("No transcripts were found in:", tuple(map(Text, result.places))))
        next_steps.append("Name files or folders: picomem ingest PATH…")
    else:
        blocks += map(Sentence, _read(result))
        if set(result.decisions) - {"refuse"}:
            next_steps.append(
                f"`picomem changes --run {result.run}` shows them, `picomem undo {result.run}` takes them back."
            )
    if result.skipped:
        reasons = sorted(result.skipped.items(), key=lambda reason_and_count: -reason_and_count[1])
        blocks.append(Text(f"Passed over: {counts(reasons, number_first=False)}."))
    warnings = result.problems[:_MOST_PROBLEMS]
    if len(result.problems) > _MOST_PROBLEMS:
        warnings.append(f"and {len(result.problems) - _MOST_PROBLEMS:,} more; --json lists them all.")
    return Presentation(blocks=tuple(blocks), warnings=tuple(warnings), next_steps=tuple(next_steps))


def _read(result: IngestResult) -> list[str]:
    hosts = ", ".join(f"{count:,} of {host}" for host, count in result.hosts.items())
    sentences = [
        f"{plural(result.files, 'transcript')} ({hosts}), {result.unchanged:,} unchanged.",
        f"Read {result.bytes / 1e6:,.1f} MB: {plural(result.turns, 'turn')}, "
        f"{plural(result.episodes, 'new episode')}, {result.updated:,} grown or moved, "
        f"{result.repeated:,} known already.",
    ]
    if result.requests:
        became = counts(sorted(result.decisions.items()))
        sentences.append(f"{plural(result.requests, 'request')} to remember went through the gate: {became}.")
    if result.suggestions and (result.episodes or result.updated):
        sentences.append(f"{plural(result.suggestions, 'sentence')} may be worth remembering: `picomem suggestions`.")
    if result.redacted:
        sentences.append(f"{plural(result.redacted, 'secret was', 'secrets were')} redacted.")
    if result.kept:
        sentences.append(f"{plural(result.kept, 'transcript')} copied, to be kept when the original is deleted.")
    for count, verb in ((result.withheld, "withheld"), (result.released, "released")):
        if count:
            sentences.append(f"{plural(count, 'transcript')} {verb}, as the host's send policy says.")
    if result.rewritten:
        sentences.append(f"{plural(result.rewritten, 'transcript')} had been rewritten and was read anew.")
    return sentences


def withheld(result: WithholdResult) -> Presentation:
    verb = "released" if result.released else "withheld"
    return Presentation(blocks=(Sentence(f"{plural(result.transcripts, 'transcript')} {verb}."),))


def tagged(result: TagResult) -> Presentation:
    tags = " ".join(f"#{tag}" for tag in result.tags) or "no tags"
    return Presentation(blocks=(Sentence(f"Episode {result.episode[:13]}: {tags}."),))


def migrated(result: MigrateResult) -> Presentation:
    rows = tuple(
        ("left", f"line {entry.line}: {entry.reason}") if entry.decision == "refuse" else (entry.decision, entry.key)
        for entry in result.entries
    )
    blocks: list[Block] = [Table(("decision", "entry"), rows)] if rows else []
    blocks.append(Sentence(f"{plural(result.files, 'file')}: {counts(result.decisions) or 'no entries'}."))
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.left_out))


def scrubbed(result: ScrubResult) -> Presentation:
    secrets = counts(sorted(result.findings.items()), number_first=False) or "none"
    verb = "would be" if result.dry_run else "were"
    said = f"{plural(result.rows, 'row')} checked; {result.changed:,} {verb} redacted. Secrets: {secrets}."
    damaged = f"{plural(result.damaged, 'row is', 'rows are')} damaged; run `picomem doctor`."
    warnings = [*([damaged] if result.damaged else []), *result.left]
    warnings += [f"Not finished: {result.unfinished}"] if result.unfinished else []
    return Presentation(blocks=(Sentence(said),), warnings=tuple(warnings))


def embedded(result: EmbedResult) -> Presentation:
    sentences = [f"{plural(result.made, 'vector')} made with {result.model}."]
    if result.waiting:
        sentences.append(f"{plural(result.waiting, 'row')} came in meanwhile; run it again.")
    if result.removed:
        sentences.append(f"{plural(result.removed, 'vector')} of other models removed.")
    return Presentation(blocks=tuple(map(Sentence, sentences)))


def status(result: Status) -> Presentation:
    kinds = counts(result.memories, number_first=False) or "none yet"
    pairs = [
        ("user", result.user),
        ("memories", f"{sum(result.memories.values()):,}  ({kinds}); {result.archived:,} archived"),
        ("suggestions", f"{result.suggestions:,}"),
        ("episodes", f"{result.episodes:,}"),
    ]
    pairs += [
        (
            "transcripts",
            f"{host}: {plural(held['files'], 'file')}, {plural(held['turns'], 'turn')}, {held['bytes'] / 1e6:,.1f} MB"
            + (f", read {day(result.read_at[host])}" if host in result.read_at else ""),
        )
        for host, held in result.transcripts.items()
    ]
    if result.copies:
        count, held, most = (result.copies.get(name, 0) for name in ("files", "bytes", "most_bytes"))
        said = f"{plural(count, 'transcript')}, {held / 1e6:,.1f} of {most / 1e6:,.0f} MB; the oldest go first"
        pairs.append(("copies", said))
    if result.sessions:
        pairs.append(("sessions", f"{result.sessions:,}, with {plural(result.messages, 'message')}"))
    pairs += [("vectors", f"{name}: {count:,}") for name, count in result.vectors.items()]
    pairs += [
        ("decisions", counts(result.decisions, number_first=False) or "none yet"),
        ("embedder", result.embedder),
        *_distilling(result),
        *_spending(result),
        *(("job", f"{name}: {state}") for name, state in result.jobs.items()),
        ("size", f"{result.bytes / 1e6:,.2f} MB"),
    ]
    warnings = [result.embedder_trouble] if result.embedder_trouble else []
    warnings += [f"The job {name} says: {error}" for name, error in result.job_errors.items()]
    warnings += [result.hook_problem] if result.hook_problem else []
    if result.purge_unfinished:
        warnings.append("A purge was begun and is not finished; `picomem purge` finishes it.")
    title = result.database + ("  (read-only)" if result.read_only else "")
    return Presentation(title, (Fields(tuple(pairs)),), tuple(warnings))


def _distilling(result: Status) -> list[tuple[str, str]]:
    if not (result.sessions_distilled or result.sessions_waiting):
        return []
    waiting = plural(result.sessions_waiting, "session waits", "sessions wait")
    return [("distilled", f"{plural(result.sessions_distilled, 'session')}; {waiting} (`picomem consolidate`)")]


def _spending(result: Status) -> list[tuple[str, str]]:
    pairs = [
        (
            "model",
            f"{name}: {plural(spend['calls'], 'call')}, {spend['input_tokens']:,} tokens in, "
            f"{spend['output_tokens']:,} out",
        )
        for name, spend in result.models.items()
    ]
    limit = f"of {result.daily_token_limit:,} tokens" if result.daily_token_limit else "tokens, without a limit"
    days = [("on " + date, f"{tokens:,} tokens") for date, tokens in list(result.spent_by_day.items())[-_DAYS_TOLD:]]
    return [*pairs, *days, ("today", f"{result.spent_today:,} {limit}")] if pairs else []


def checked(result: DoctorResult) -> Presentation:
    rows = row_counts(result.checked) or "no rows"
    if not result.findings:
        healthy = Sentence(f"Healthy: the database, {rows}, full text and vectors.")
        return Presentation(blocks=(healthy,), warnings=tuple(result.warnings))
    findings = tuple(
        ("repaired" if finding.repaired else "problem", f"{finding.check}: {finding.problem}")
        for finding in result.findings
    )
    is_without_store = not result.checked and all(finding.check == "host" for finding in result.findings)
    head = "Checked the settings of agents." if is_without_store else f"Checked the file and {rows}."
    checks = {finding.check for finding in result.findings}
    steps = []
    if not result.repair and not checks <= set(_NOT_REPAIRED):
        steps.append("`picomem doctor --repair` rebuilds what is derived.")
    if result.restore_with:
        steps.append(f"Restore the newest whole copy with `{result.restore_with}`; the store is then kept beside it.")
    elif "schema" in checks:
        steps.append("No repair touches a table; `picomem restore` puts a backup in the place of the store.")
    return Presentation(
        blocks=(Sentence(head), Table(("state", "finding"), findings)),
        warnings=tuple(result.warnings),
        next_steps=tuple(steps),
    )


def index_status(result: IndexStatusResult) -> Presentation:
    said = (
        f"{result.tokens:,} of {result.budget:,} tokens; {plural(result.entries, 'entry', 'entries')} shown, "
        f"{result.left_out:,} left out; {result.episodes:,} episodes behind it"
    )
    return Presentation(blocks=(Sentence(said),), warnings=tuple(result.warnings))
