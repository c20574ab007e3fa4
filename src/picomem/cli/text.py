"""Results as text for a person at a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unicodedata import east_asian_width

from picomem.cli.width import width


def text_of(name: str, result: Any) -> str:
    """The result of the operation of that name."""
    return _TEXTS[name](result)


def _wrapped(text: str, indent: str = "   ", most: int = 6) -> str:
    """A text in lines of the terminal, at most so many of them."""
    room = width() - len(indent)
    lines: list[str] = []
    for line in text.strip().splitlines():
        lines += _broken(line, room) or [""]
    if len(lines) > most:
        last = next(iter(_broken(lines[most - 1], room - 2)), "")
        lines = [*lines[: most - 1], last + " …"]
    return "\n".join(indent + line for line in lines)


def _broken(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns, broken at blanks, and where there are none (Chinese) within."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and _columns(line) + 1 + _columns(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while _columns(line) > columns:
            cut = _fitting(line, columns)
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line] if line else lines


def _fitting(text: str, columns: int) -> int:
    """How many characters fit in so many columns."""
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return index
    return len(text)


def _columns(text: str) -> int:
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _day(at: str | None) -> str:
    return at[:16].replace("T", " ") if at else "no date"


def _step(change: Any) -> str:
    """What was done and what came of it: `remember → merge`, `revise`."""
    return change.verb if change.verb == change.decision else f"{change.verb} → {change.decision}"


def _details(memory: Any) -> list[str]:
    """What a memory has besides its text, where it has it."""
    about = [f"#{tag}" for tag in memory.tags]
    about += [memory.priority] if memory.priority != "medium" else []
    about += ["pinned"] if memory.pinned else []
    about += [f"expires {_day(memory.expires_at)}"] if memory.expires_at else []
    about += [f"related to {', '.join(memory.related_to)}"] if memory.related_to else []
    lines = [_wrapped(f"why it matters: {memory.context}")] if memory.context else []
    return [*lines, _wrapped(" · ".join(about))] if about else lines


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _recall(answer: Any) -> str:
    lines = []
    for number, hit in enumerate(answer.hits, 1):
        if hit.source == "memory":
            title = f"{hit.key}  ({hit.kind}, {_day(hit.at)[:10]})" + (f"  {hit.citation}" if hit.citation else "")
            title += "".join(f"  #{tag}" for tag in hit.tags)
        elif hit.source == "note":
            title = f"note {hit.id}"
        else:
            speaker = "" if hit.role in ("user", "assistant") else f"{hit.role}: "
            title = f"{speaker}{hit.citation or 'said ' + _day(hit.at)[:10]}"
            title += f"  [{hit.project}]" if hit.project else ""
        lines.append(f"{number}. {title}")
        lines.append(_wrapped(hit.text if hit.origin in ("user", "agent") else f"(from {hit.origin}) {hit.text}"))
        if hit.context:
            lines.append(_wrapped(f"why it matters: {hit.context}"))
        name = {"memory": hit.key, "note": _day(hit.at)}.get(hit.source, hit.id)
        lines.append(_wrapped(f"{hit.score:.2f} · {hit.why} · {name}"))
        lines.append("")
    if not answer.hits and not answer.left_out:
        lines += ["Nothing was found.", ""]
    lines += [_wrapped(note, "") for note in answer.notes]
    if answer.time_phrase:
        lines.append(f"Looked at “{answer.time_phrase}”: {_day(answer.since)} to {_day(answer.until)} UTC.")
    legs = ", ".join(f"{leg} {found}" for leg, found in answer.legs.items())
    budget = f" of {answer.token_budget:,}" if answer.token_budget else ""
    lines.append(_wrapped(f"confidence {answer.confidence:.2f} · {answer.tokens:,}{budget} tokens · {legs}", ""))
    if answer.left_out > 0:
        lines.append(f"{_plural(answer.left_out, 'more hit')} did not fit the budget; --token-budget raises it.")
    return "\n".join(lines)


def _search_notes(result: Any) -> str:
    lines = []
    for number, each in enumerate(result.results, 1):
        lines.append(f"{number}. {each.path}  line {each.startLine}" + (f"  ({each.heading})" if each.heading else ""))
        lines += [_wrapped(each.snippet), f"   {each.score:.2f}", ""]
    if not result.results:
        lines.append("Nothing was found.")
    return "\n".join([*lines, *([_wrapped(result.warning, "")] if result.warning else [])]).rstrip("\n")


def _read_note(result: Any) -> str:
    if result.status != "ok":
        return result.message
    more = f"\n(--first-line {result.nextFrom} goes on)" if result.truncated else ""
    return result.text + more


def _show(result: Any) -> str:
    import textwrap

    lines = [result.episode.citation + (f"  [{result.episode.project}]" if result.episode.project else "")]
    lines.append(result.episode.transcript)
    if result.state != "open":
        return "\n".join([*lines, "", result.note, "", _wrapped(result.episode.text, "   ", 40)])
    for turn in result.turns:
        lines += ["", f"{turn.number}. {turn.role}, {_day(turn.at)}", textwrap.indent(turn.text, "   ")]
    return "\n".join(lines)


def _memories(result: Any) -> str:
    lines = []
    for memory in result.memories:
        lines.append(f"{memory.key}  ({memory.kind}, {_day(memory.updated_at)[:10]})")
        said = memory.content if memory.origin in ("user", "agent") else f"(from {memory.origin}) {memory.content}"
        lines.append(_wrapped(said, "   ", 3))
    if not result.memories:
        lines.append("Nothing is remembered yet; `picomem remember TEXT` stores a statement.")
    if result.left_out:
        lines.append(f"There are {result.left_out:,} more; -n shows more.")
    return "\n".join(lines)


def _why(result: Any) -> str:
    lines = []
    if result.memory:
        state = "archived" if result.memory.archived else f"{result.memory.kind}, {result.memory.priority}"
        lines += [f"{result.memory.key}  ({state})", _wrapped(result.memory.content), *_details(result.memory), ""]
    for change in result.changes:
        step = f" version {change.after}" if change.after else ""
        lines.append(f"{_day(change.at)}  {_step(change)}{step}  by {change.actor}")
        lines.append(_wrapped(f"because {change.reason}"))
        if change.candidate:
            lines.append(_wrapped(f"offered: {change.candidate}"))
    for source in result.sources:
        if source.kind in ("episode", "message"):
            lines += [f"from {source.citation}  ({source.id})", _wrapped(f"“{source.text}”")]
    if result.note:
        lines.append(_wrapped(result.note, ""))
    return "\n".join(lines)


def _history(result: Any) -> str:
    if not result.versions:
        return "Nothing was believed of it then."
    lines: list[str] = []
    life = ""
    for version in result.versions:
        if version.id != life:  # a key that was forgotten and used again had another memory under it
            life = version.id
            lines += ["", f"{version.key}  {life}"]
        until = f" – {_day(version.valid_to)}" if version.valid_to else " on"
        current = "  (current)" if version.current else ""
        lines.append(f"{version.version}. true from {_day(version.valid_from)}{until}{current}")
        known_to = _day(version.known_to) if version.known_to else "now"
        lines.append(f"   believed {_day(version.known_from)} – {known_to}")
        lines += [_wrapped(version.content), *_details(version)]
    return "\n".join(lines[1:])


def _timeline(result: Any) -> str:
    if not result.episodes:
        return "\n".join(result.notes) or "Nothing was said then; `picomem ingest` reads past sessions."
    lines: list[str] = []
    session = None
    for hit in result.episodes:
        if hit.session != session:
            session = hit.session
            lines += ["", f"── {hit.citation.split(' turn')[0]}" + (f"  [{hit.project}]" if hit.project else "")]
        lines.append(f"{_day(hit.at)}  {hit.role}  ({hit.id})")
        lines.append(_wrapped(hit.text, "   ", 2))
    return "\n".join([*lines[1:], *(["", *result.notes] if result.notes else [])])


def _remember(result: Any) -> str:
    memory = result.memory
    owner = f" for {memory.project}" if memory.project else ""
    lines = [f"{memory.key}  ({memory.kind}{owner}, version {memory.version})", _wrapped(memory.content)]
    lines += _details(memory)
    lines.append(f"   {result.decision}: {result.reason} · {result.token_estimate} tokens · change {result.change_id}")
    return "\n".join(lines)


def _revise(result: Any) -> str:
    memory = result.memory
    lines = [f"{memory.key}  (version {memory.version}, true from {_day(memory.valid_from)})"]
    lines += [_wrapped(memory.content), *_details(memory)]
    return "\n".join([*lines, f"   `picomem history {memory.key}` shows what was believed before."])


def _forget(result: Any) -> str:
    return f"{result.key} is archived; `picomem history {result.key}` still shows it."


def _undo(result: Any) -> str:
    lines = []
    for each in result.undone:
        if not each.key:
            again = each.change.decision == "consolidate"
            lines.append(
                f"The conversation that was due again since {_day(each.undone.at)} is consolidated as it was before."
                if again
                else f"The consolidation of {_day(each.undone.at)} is undone; the conversation is due again."
            )
            continue
        lines.append(f"{each.key}: {_step(each.undone)} of {_day(each.undone.at)} is undone.")
        if each.memory is None:
            lines.append(f"   It is archived; `picomem history {each.key}` still shows it.")
        else:
            lines.append(_wrapped(each.memory.content))
    lines += [_wrapped(note, "") for note in result.notes]
    again = result.run if len(result.undone) > 1 else result.undone[0].change.id
    does = "takes it back again" if result.undone[0].undone.verb == "undo" else "does it again"
    return "\n".join([*lines, f"`picomem undo {again}` {does}."])


def _changes(result: Any) -> str:
    lines = []
    for listed in result.changes:
        change = listed.change
        lines.append(f"{change.id}  {_day(change.at)}  {_step(change)}" + (f"  {change.key}" if change.key else ""))
        lines.append(_wrapped(change.reason, "   ", 2))
        about = [f"by {change.actor}", f"run {change.run}"]
        about += [f"undoes {change.undoes}"] if change.undoes else []
        about += [f"undone by {listed.undone_by}"] if listed.undone_by else []
        lines.append(f"   {' · '.join(about)}")
    return "\n".join(lines) or "Nothing has been decided yet."


def _purge(result: Any) -> str:
    if result.dry_run:
        return _purge_plan(result)
    if not (result.change_id or result.finished):
        return "There is nothing to erase."
    lines = [f"Erased for good: {result.said or 'nothing was there'}."] if result.change_id else []
    if result.scan:
        scan = result.scan
        found = sum(scan.found.values())
        lines.append(
            f"Scanned {_plural(scan.files, 'file')}, {scan.bytes / 1e6:,.1f} MB: "
            f"{found:,} of {scan.needles - scan.shared:,} strings found."
        )
        if scan.shared:
            lines.append(f"{scan.shared:,} more stand in what stays as well, so they prove nothing.")
        lines += [f"! {path}: {_plural(count, 'string')}" for path, count in scan.found.items()]
        lines += [f"! {scan.postings:,} words are left in full text; run `picomem doctor --repair`."] * bool(
            scan.postings
        )
        lines += [f"! not read: {each}" for each in scan.unread]
    lines += [_wrapped(f"! {each}", "") for each in result.left]
    if result.unfinished:
        lines.append(_wrapped(f"! Not finished: {result.unfinished}", ""))
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
        lines.append(_wrapped(each.content, "   ", 2))
    lines += [f"and {len(result.memories) - 40:,} more memories"] * (len(result.memories) > 40)
    return "\n".join([*lines, result.note])


def _index(result: Any) -> str:
    return f"{result.page}\n({result.tokens:,} of {result.budget:,} tokens)"


def _ingest(result: Any) -> str:
    lines = []
    if not result.files:
        lines += ["No transcripts were found in:", *(f"   {place}" for place in result.places)]
        lines.append("Name files or folders: picomem ingest PATH…")
    else:
        found = ", ".join(f"{count:,} of {host}" for host, count in result.hosts.items())
        lines.append(f"{_plural(result.files, 'transcript')} ({found}), {result.unchanged:,} unchanged.")
        lines.append(
            f"Read {result.bytes / 1e6:,.1f} MB: {_plural(result.turns, 'turn')}, "
            f"{_plural(result.episodes, 'new episode')}, {result.updated:,} grown or moved, "
            f"{result.repeated:,} known already."
        )
        if result.requests:
            became = ", ".join(f"{count:,} {decision}" for decision, count in sorted(result.decisions.items()))
            lines.append(f"{_plural(result.requests, 'request')} to remember went through the gate: {became}.")
            if set(result.decisions) - {"refuse"}:
                lines.append(
                    f"`picomem changes --run {result.run}` shows them, `picomem undo {result.run}` takes them back."
                )
        if result.redacted:
            lines.append(f"{_plural(result.redacted, 'secret was', 'secrets were')} redacted.")
        if result.rewritten:
            lines.append(f"{_plural(result.rewritten, 'transcript')} had been rewritten and was read anew.")
        if result.skipped:
            passed = ", ".join(
                f"{reason} {count:,}" for reason, count in sorted(result.skipped.items(), key=lambda x: -x[1])
            )
            lines.append(_wrapped(f"Passed over: {passed}.", ""))
    lines += [f"! {problem}" for problem in result.problems[:20]]
    if len(result.problems) > 20:
        lines.append(f"! and {len(result.problems) - 20:,} more; --json lists them all.")
    return "\n".join(lines)


def _withhold(result: Any) -> str:
    return f"{_plural(result.transcripts, 'transcript')} {'released' if result.released else 'withheld'}."


def _migrate(result: Any) -> str:
    lines = []
    for entry in result.entries:
        if entry.decision == "refuse":
            lines.append(f"left      line {entry.line}: {entry.reason}")
        else:
            lines.append(f"{entry.decision:<9} {entry.key}")
    counts = ", ".join(f"{count:,} {decision}" for decision, count in result.decisions.items()) or "no entries"
    return "\n".join([*lines, f"{_plural(result.files, 'file')}: {counts}."])


def _scrub(result: Any) -> str:
    found = ", ".join(f"{rule} {count}" for rule, count in sorted(result.findings.items())) or "none"
    verb = "would be" if result.dry_run else "were"
    damaged = (
        f" {_plural(result.damaged, 'row is', 'rows are')} damaged; run `picomem doctor`." if result.damaged else ""
    )
    said = f"{_plural(result.rows, 'row')} looked at; {result.changed:,} {verb} redacted. Secrets: {found}.{damaged}"
    left = [*result.left, f"Not finished: {result.unfinished}"] if result.unfinished else result.left
    return "\n".join([said, *(_wrapped(f"! {each}", "") for each in left)])


def _embed(result: Any) -> str:
    lines = [f"{_plural(result.made, 'vector')} made with {result.model}."]
    if result.waiting:
        lines.append(f"{_plural(result.waiting, 'row')} came in meanwhile; run it again.")
    if result.removed:
        lines.append(f"{_plural(result.removed, 'vector')} of other models removed.")
    return "\n".join(lines)


def _status(result: Any) -> str:
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
        lines.append(f"sessions     {result.sessions:,}, with {_plural(result.messages, 'message')}")
    lines += [f"vectors      {name}: {count:,}" for name, count in result.vectors.items()]
    decisions = ", ".join(f"{name} {count:,}" for name, count in result.decisions.items()) or "none yet"
    lines += [
        f"decisions    {decisions}",
        f"embedder     {result.embedder}",
        *_spending(result),
        f"size         {result.bytes / 1e6:,.2f} MB",
    ]
    if result.purge_unfinished:
        lines.append("! A purge was begun and is not finished; `picomem purge` finishes it.")
    return "\n".join(lines)


def _spending(result: Any) -> list[str]:
    lines = [
        f"model        {name}: {_plural(spend['calls'], 'call')}, {spend['input_tokens']:,} tokens in, "
        f"{spend['output_tokens']:,} out"
        for name, spend in result.models.items()
    ]
    if not lines:
        return lines
    limit = f"of {result.daily_token_limit:,} tokens" if result.daily_token_limit else "tokens, without a limit"
    return [*lines, f"today        {result.spent_today:,} {limit}"]


def _doctor(result: Any) -> str:
    named = {"memories": "versions of memories"}
    checked = ", ".join(f"{count:,} {named.get(table, table)}" for table, count in result.checked.items()) or "no rows"
    if not result.findings:
        return f"Healthy: the file, {checked}, full text and vectors."
    lines = [f"Checked the file and {checked}."]
    for finding in result.findings:
        lines.append(f"{'repaired' if finding.repaired else 'problem '}  {finding.check}: {finding.problem}")
    if not result.healthy and not result.repair:
        lines.append("`picomem doctor --repair` rebuilds what is derived.")
    return "\n".join(lines)


def _audit(result: Any) -> str:
    counts = ", ".join(f"{count:,} {decision}" for decision, count in sorted(result.decisions.items()))
    lines = [f"Decisions in all: {counts}.", ""] if counts else []
    for change in result.changes:
        lines.append(
            f"{_day(change.at)}  {_step(change)}  by {change.actor}" + (f"  {change.key}" if change.key else "")
        )
        lines.append(_wrapped(change.reason, "   ", 2))
        lines += [_wrapped(f"refused: {change.candidate}", "   ", 2)] if change.candidate else []
    return "\n".join(lines) or "Nothing has been decided yet."


def _index_status(result: Any) -> str:
    return (
        f"{result.tokens:,} of {result.budget:,} tokens; {_plural(result.entries, 'entry', 'entries')} shown, "
        f"{result.left_out:,} left out; {result.episodes:,} episodes behind it"
    )


def _sessions(result: Any) -> str:
    lines = []
    for listed in result.sessions:
        session = listed.session
        about = [session.channel, _plural(listed.messages, "message"), _day(session.last_active_at), session.id]
        lines += [session.title or "(nothing was said yet)", f"   {' · '.join(about)}"]
    if not result.sessions:
        lines.append("There are no such conversations; --user names another user.")
    if result.damaged:
        lines.append(f"! {_plural(len(result.damaged), 'damaged row')} skipped; see `picomem doctor`.")
    if result.cursor:
        lines.append(f"There are more: --cursor {result.cursor}")
    return "\n".join(lines)


_NOT_DONE = {
    "not due": "nothing is new",
    "overtaken": "another process was faster",
    "busy": "another process is consolidating; try again when it is done",
    "failed": "no answer that can be used; the conversation waits as it is",
}


def _consolidate(result: Any) -> str:
    lines = []
    for each in result.sessions:
        for run in each.runs:
            verb = "would keep" if result.dry_run else "kept"
            lines.append(f"{each.session}  messages {run.first}–{run.last}, {verb} by {run.generator}")
            lines.append(_wrapped(run.timeline))
            for fact in run.facts:
                lines.append(_wrapped(f"{fact.decision}{f' {fact.key}' if fact.key else ''}: {fact.content}"))
            lines += [_wrapped(f"called off: {key}") for key in run.invalidated]
            lines += [_wrapped(f"turned down, {reason}: {text}") for text, reason in run.turned_down]
            if run.summary:
                lines.append(_wrapped(f"summary up to message {run.covered}: {run.summary}"))
        if each.state != "done":
            lines.append(f"{each.session}  {_NOT_DONE.get(each.state, each.state)}")
        lines += [line for note in each.notes if (line := f"! {note}") not in lines]
    calls = sum(each.calls for each in result.sessions)
    if calls:
        tokens = sum(each.input_tokens + each.output_tokens for each in result.sessions)
        lines.append(f"{_plural(calls, 'call')} of {result.generator}, {tokens:,} tokens")
    return "\n".join(lines) or "Nothing is new in any conversation."


def _messages(result: Any) -> str:
    import textwrap

    session = result.session
    lines = [session.title, f"{session.channel}, begun {_day(session.created_at)}"]
    if result.before:
        lines.append(f"({_plural(result.before, 'message')} before these; -n shows more)")
    for message in result.messages:
        lines += ["", f"{message.number}. {message.role}, {_day(message.at)}"]
        lines += [textwrap.indent(message.text, "   ")] if message.text else []
        lines += [f"   → {call.name} {call.arguments}" for call in message.tool_calls]
    if result.damaged:
        numbers = ", ".join(map(str, result.damaged))
        lines += ["", f"! damaged and skipped: {numbers}; see `picomem doctor`."]
    return "\n".join(lines)


def _import_sessions(result: Any) -> str:
    lines = [f"{_plural(result.sessions, 'new session')}, {_plural(result.messages, 'new message')}."]
    if result.users:
        lines.append(f"Of {', '.join(result.users)}: `picomem sessions --user ID` lists them.")
    if result.differing:
        lines.append(f"Left as they are, since they went another way here: {', '.join(result.differing)}.")
    if result.skipped:
        lines.append("Passed over: " + ", ".join(f"{reason} {count:,}" for reason, count in result.skipped.items()))
    return "\n".join(lines)


_TEXTS: dict[str, Callable[[Any], str]] = {
    "recall": _recall,
    "search-notes": _search_notes,
    "read-note": _read_note,
    "memories": _memories,
    "show": _show,
    "why": _why,
    "history": _history,
    "timeline": _timeline,
    "consolidate": _consolidate,
    "remember": _remember,
    "revise": _revise,
    "forget": _forget,
    "undo": _undo,
    "changes": _changes,
    "purge": _purge,
    "index": _index,
    "ingest": _ingest,
    "withhold": _withhold,
    "migrate": _migrate,
    "scrub": _scrub,
    "embed": _embed,
    "status": _status,
    "doctor": _doctor,
    "audit": _audit,
    "index-status": _index_status,
    "sessions": _sessions,
    "messages": _messages,
    "import-sessions": _import_sessions,
}
