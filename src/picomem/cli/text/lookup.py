"""What was asked of memory, as text."""

from __future__ import annotations

from typing import Any

from picomem.cli.text.lines import day, details, plural, step, wrapped


def recall(answer: Any) -> str:
    lines = []
    for number, hit in enumerate(answer.hits, 1):
        if hit.source == "memory":
            title = f"{hit.key}  ({hit.kind}, {day(hit.at)[:10]})" + (f"  {hit.citation}" if hit.citation else "")
            title += "".join(f"  #{tag}" for tag in hit.tags)
        elif hit.source == "note":
            title = f"note {hit.id}"
        else:
            speaker = "" if hit.role in ("user", "assistant") else f"{hit.role}: "
            title = f"{speaker}{hit.citation or 'said ' + day(hit.at)[:10]}"
            title += f"  [{hit.project}]" if hit.project else ""
        lines.append(f"{number}. {title}")
        lines.append(wrapped(hit.text if hit.origin in ("user", "agent") else f"(from {hit.origin}) {hit.text}"))
        if hit.context:
            lines.append(wrapped(f"why it matters: {hit.context}"))
        name = {"memory": hit.key, "note": day(hit.at)}.get(hit.source, hit.id)
        lines.append(wrapped(f"{hit.score:.2f} · {hit.why} · {name}"))
        lines.append("")
    if not answer.hits and not answer.left_out:
        lines += ["Nothing was found.", ""]
    lines += [wrapped(warning, "") for warning in answer.warnings]
    if answer.time_phrase:
        lines.append(f"Looked at “{answer.time_phrase}”: {day(answer.since)} to {day(answer.until)} UTC.")
    legs = ", ".join(f"{leg} {found}" for leg, found in answer.legs.items())
    budget = f" of {answer.token_budget:,}" if answer.token_budget else ""
    lines.append(wrapped(f"confidence {answer.confidence:.2f} · {answer.tokens:,}{budget} tokens · {legs}", ""))
    if answer.left_out > 0:
        lines.append(f"{plural(answer.left_out, 'more hit')} did not fit the budget; --token-budget raises it.")
    return "\n".join(lines)


def search_notes(result: Any) -> str:
    lines = []
    for number, each in enumerate(result.results, 1):
        lines.append(f"{number}. {each.path}  line {each.startLine}" + (f"  ({each.heading})" if each.heading else ""))
        lines += [wrapped(each.snippet), f"   {each.score:.2f}", ""]
    if not result.results:
        lines.append("Nothing was found.")
    return "\n".join([*lines, *([wrapped(result.warning, "")] if result.warning else [])]).rstrip("\n")


def read_note(result: Any) -> str:
    if result.status != "ok":
        return result.message
    more = f"\n(--first-line {result.nextFrom} goes on)" if result.nextFrom else ""
    return result.text + more


def show(result: Any) -> str:
    import textwrap

    lines = [result.episode.citation + (f"  [{result.episode.project}]" if result.episode.project else "")]
    lines.append(result.episode.transcript)
    if result.state != "open":
        return "\n".join([*lines, "", result.explanation, "", wrapped(result.episode.text, "   ", 40)])
    for turn in result.turns:
        lines += ["", f"{turn.number}. {turn.role}, {day(turn.at)}", textwrap.indent(turn.text, "   ")]
    return "\n".join(lines)


def memories(result: Any) -> str:
    lines = []
    for memory in result.memories:
        lines.append(f"{memory.key}  ({memory.kind}, {day(memory.updated_at)[:10]})")
        said = memory.content if memory.origin in ("user", "agent") else f"(from {memory.origin}) {memory.content}"
        lines.append(wrapped(said, "   ", 3))
    if not result.memories and not result.warnings:
        lines.append("Nothing is remembered yet; `picomem remember TEXT` stores a statement.")
    if result.left_out:
        lines.append(f"There are {result.left_out:,} more; -n shows more.")
    return "\n".join([*lines, *result.warnings])


def why(result: Any) -> str:
    lines = []
    if result.memory:
        state = "archived" if result.memory.archived else result.memory.kind
        lines += [f"{result.memory.key}  ({state})", wrapped(result.memory.content), *details(result.memory), ""]
    for change in result.changes:
        version = f" version {change.after}" if change.after else ""
        lines.append(f"{day(change.at)}  {step(change)}{version}  by {change.actor}")
        lines.append(wrapped(f"because {change.reason}"))
        if change.candidate:
            lines.append(wrapped(f"offered: {change.candidate}"))
    for source in result.sources:
        if source.kind in ("episode", "message"):
            lines += [f"from {source.citation}  ({source.id})", wrapped(f"“{source.text}”")]
    if result.explanation:
        lines.append(wrapped(result.explanation, ""))
    return "\n".join(lines)


def history(result: Any) -> str:
    if not result.versions:
        return "Nothing was believed of it then."
    lines: list[str] = []
    life = ""
    for version in result.versions:
        if version.id != life:  # a key that was forgotten and used again had another memory under it
            life = version.id
            lines += ["", f"{version.key}  {life}"]
        until = f" – {day(version.valid_to)}" if version.valid_to else " on"
        current = "  (current)" if version.current else ""
        lines.append(f"{version.version}. true from {day(version.valid_from)}{until}{current}")
        known_to = day(version.known_to) if version.known_to else "now"
        lines.append(f"   believed {day(version.known_from)} – {known_to}")
        lines += [wrapped(version.content), *details(version)]
    return "\n".join(lines[1:])


def timeline(result: Any) -> str:
    if not result.episodes:
        return "\n".join(result.warnings) or "Nothing was said then; `picomem ingest` reads past sessions."
    lines: list[str] = []
    session = None
    for hit in result.episodes:
        if hit.session != session:
            session = hit.session
            lines += ["", f"── {hit.citation.split(' turn')[0]}" + (f"  [{hit.project}]" if hit.project else "")]
        lines.append(f"{day(hit.at)}  {hit.role}  ({hit.id})")
        lines.append(wrapped(hit.text, "   ", 2))
    return "\n".join([*lines[1:], *(["", *result.warnings] if result.warnings else [])])


def index(result: Any) -> str:
    return f"{result.page}\n({result.tokens:,} of {result.budget:,} tokens)"
