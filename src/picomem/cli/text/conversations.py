"""Conversations with PicoBot, as text."""

from __future__ import annotations

from typing import Any

from picomem.cli.text.lines import day, plural, wrapped


def sessions(result: Any) -> str:
    lines = []
    for listed in result.sessions:
        session = listed.session
        about = [session.channel, plural(listed.messages, "message"), day(session.last_active_at), session.id]
        lines += [session.title or "(nothing was said yet)", f"   {' · '.join(about)}"]
    if not result.sessions:
        lines.append("There are no such conversations; --user names another user.")
    if result.damaged:
        lines.append(f"! {plural(len(result.damaged), 'damaged row')} skipped; see `picomem doctor`.")
    if result.cursor:
        lines.append(f"There are more: --cursor {result.cursor}")
    return "\n".join(lines)


def messages(result: Any) -> str:
    import textwrap

    session = result.session
    lines = [session.title, f"{session.channel}, begun {day(session.created_at)}"]
    if result.before:
        lines.append(f"({plural(result.before, 'message')} before these; -n shows more)")
    for message in result.messages:
        lines += ["", f"{message.number}. {message.role}, {day(message.at)}"]
        lines += [textwrap.indent(message.text, "   ")] if message.text else []
        lines += [f"   → {call.name} {call.arguments}" for call in message.tool_calls]
    if result.damaged:
        numbers = ", ".join(map(str, result.damaged))
        lines += ["", f"! damaged and skipped: {numbers}; see `picomem doctor`."]
    return "\n".join(lines)


def begin_session(result: Any) -> str:
    session = result.session
    about = [session.channel, f"begun {day(session.created_at)}", session.id]
    about += [f"forked from {session.forked_from}"] if session.forked_from else []
    about += ["archived"] if session.archived_at else []
    return f"{session.title or '(nothing was said yet)'}\n   {' · '.join(about)}"


rename_session = archive_session = fork_session = begin_session


def import_sessions(result: Any) -> str:
    lines = [f"{plural(result.sessions, 'new session')}, {plural(result.messages, 'new message')}."]
    if result.users:
        lines.append(f"Of {', '.join(result.users)}: `picomem sessions --user ID` lists them.")
    if result.differing:
        lines.append(f"Left as they are, since they went another way here: {', '.join(result.differing)}.")
    if result.skipped:
        lines.append("Passed over: " + ", ".join(f"{reason} {count:,}" for reason, count in result.skipped.items()))
    return "\n".join(lines)


_NOT_DONE = {
    "not due": "nothing is new",
    "overtaken": "another process was faster",
    "busy": "another process is consolidating; try again when it is done",
    "failed": "no answer that can be used; the conversation waits as it is",
}


def consolidate(result: Any) -> str:
    lines = []
    for each in result.sessions:
        for run in each.runs:
            verb = "would keep" if result.dry_run else "kept"
            lines.append(f"{each.session}  messages {run.first}–{run.last}, {verb} by {run.generator}")
            lines.append(wrapped(run.timeline))
            for fact in run.facts:
                lines.append(wrapped(f"{fact.decision}{f' {fact.key}' if fact.key else ''}: {fact.content}"))
            lines += [wrapped(f"called off: {key}") for key in run.invalidated]
            lines += [wrapped(f"turned down, {reason}: {text}") for text, reason in run.turned_down]
            if run.summary:
                lines.append(wrapped(f"summary up to message {run.covered}: {run.summary}"))
        if each.state != "done":
            lines.append(f"{each.session}  {_NOT_DONE.get(each.state, each.state)}")
        lines += [line for warning in each.warnings if (line := f"! {warning}") not in lines]
    calls = sum(each.calls for each in result.sessions)
    if calls:
        tokens = sum(each.input_tokens + each.output_tokens for each in result.sessions)
        lines.append(f"{plural(calls, 'call')} of {result.generator}, {tokens:,} tokens")
    return "\n".join(lines) or "Nothing is new in any conversation."
