"""The presentation of conversations with PicoBot and of their consolidation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text, Verbatim
from picomem.operations.presentations.wording import day, nothing_matches, plural

if TYPE_CHECKING:
    from picomem.operations.consolidating import ConsolidatedView, ConsolidateResult, RunView
    from picomem.operations.sessions import (
        MessagesResult,
        MessageView,
        SessionResult,
        SessionsResult,
    )

_UNTITLED = "(nothing was said yet)"
_UNNAMED = "(without a title)"
_MOST_LISTED = 40
_NOT_DONE = {
    "not due": "nothing is new",
    "overtaken": "another process was faster",
    "busy": "another process is consolidating; try again when it is done",
    "failed": "no answer that can be used; the conversation waits as it is",
    "limit": "waits for tomorrow",
    "no model": "is consolidated by a model only; set memory.consolidation_model or memory.consolidation_command",
}


def sessions(result: SessionsResult) -> Presentation:
    blocks: list[Block] = []
    for listed in result.sessions:
        session = listed.session
        about = [session.channel, plural(listed.messages, "message"), day(session.last_active_at), session.id]
        blocks.append(PresentedEntry(session.title or _UNTITLED, (Text(" · ".join(about)),)))
    damaged = f"{plural(len(result.damaged), 'damaged row')} skipped; see `picomem doctor`."
    return Presentation(
        blocks=tuple(blocks) or (Sentence(_no_sessions(result)),),
        warnings=(damaged,) if result.damaged else (),
        next_steps=(f"There are more: --cursor {result.cursor}",) if result.cursor else (),
    )


def _no_sessions(result: SessionsResult) -> str:
    if result.filters:
        return nothing_matches("conversation", result.filters)
    if result.archived:
        return "All conversations are archived; --archived lists them."
    return "There are no such conversations; --user names another user."


def session(result: SessionResult) -> Presentation:
    shown = result.session
    about = [shown.channel, f"begun {day(shown.created_at)}", shown.id]
    about += [f"forked from {shown.forked_from}"] if shown.forked_from else []
    about += ["archived"] if shown.archived_at else []
    return Presentation(blocks=(PresentedEntry(shown.title or _UNTITLED, (Text(" · ".join(about)),)),))


def messages(result: MessagesResult) -> Presentation:
    shown = result.session
    blocks: list[Block] = [Sentence(f"{shown.channel}, begun {day(shown.created_at)}")]
    if result.before:
        blocks.append(Sentence(f"({plural(result.before, 'message')} before these; -n shows more)"))
    blocks += [_message(message) for message in result.messages]
    damaged = f"damaged and skipped: {', '.join(map(str, result.damaged))}; see `picomem doctor`."
    return Presentation(
        shown.title,
        tuple(blocks),
        warnings=(damaged,) if result.damaged else (),
        next_steps=(f"There are earlier ones: --cursor {result.cursor}",) if result.cursor else (),
    )


def _message(message: MessageView) -> PresentedEntry:
    text = (Verbatim(message.text),) if message.text else ()
    calls = tuple(Verbatim(f"→ {call.name} {call.arguments}") for call in message.tool_calls)
    return PresentedEntry(f"{message.role}, {day(message.at)}", (*text, *calls), message.number)


def consolidated(result: ConsolidateResult) -> Presentation:
    blocks: list[Block] = []
    warnings: list[str] = [*result.warnings]
    blocks += [Sentence(f"{pair.decision}: {pair.older} / {pair.newer}  {pair.reason}") for pair in result.reconciled]
    for view in result.sessions:
        blocks += [_run(view, run, result.dry_run) for run in view.runs]
        if view.state != "done":
            blocks.append(Sentence(f"{_named(view)}  {_NOT_DONE.get(view.state, view.state)}"))
        warnings += view.warnings
    calls = sum(view.calls for view in result.sessions)
    if calls:
        tokens = sum(view.input_tokens + view.output_tokens for view in result.sessions)
        blocks.append(Sentence(f"{plural(calls, 'call')} of {result.generator}, {tokens:,} tokens"))
    blocks += _waiting(result)
    if not blocks and not warnings:
        blocks.append(Sentence("Nothing is new in any conversation."))
    return Presentation(blocks=tuple(blocks), warnings=tuple(dict.fromkeys(warnings)))


def _waiting(result: ConsolidateResult) -> list[Block]:
    """The sessions of transcripts that wait: each of them before anything is paid, and later how many are left."""
    if not result.waiting:
        return []
    tokens = sum(view.tokens for view in result.waiting)
    calls = sum(view.calls for view in result.waiting)
    waiting = plural(len(result.waiting), "session")
    of_them = f"{waiting} read from transcripts {'waits' if len(result.waiting) == 1 else 'wait'}"
    if result.generator == "extractive":
        end = (
            "set memory.consolidation_model, or memory.consolidation_command such as “claude -p”, to have a model do it"
        )
        said = f"{of_them}: {end}."
    else:
        room = "" if result.room_today is None else f", of which {result.room_today:,} may be spent today"
        said = f"{of_them}, latest first: about {tokens:,} tokens in {plural(calls, 'call')}{room}."
    listed = result.waiting[:_MOST_LISTED] if result.dry_run else []
    blocks: list[Block] = [Sentence(said)]
    for view in listed:
        about = [view.host, *filter(None, (view.project, day(view.ended_at) if view.ended_at else ""))]
        cost = f"{plural(view.episodes, 'episode')}, about {view.tokens:,} tokens"
        line = " · ".join([*about, cost, view.session])
        blocks.append(PresentedEntry(view.title or _UNNAMED, (Text(line),)))
    if len(result.waiting) > len(listed) > 0:
        blocks.append(Sentence(f"{len(result.waiting) - len(listed):,} more; --json lists all."))
    return blocks


def _named(view: ConsolidatedView) -> str:
    return f"{view.session}  {view.title}" if view.title else view.session


def _run(view: ConsolidatedView, run: RunView, dry_run: bool) -> PresentedEntry:
    verb = "would keep" if dry_run else "kept"
    lines = [run.timeline]
    lines += [f"{fact.decision}{f' {fact.key}' if fact.key else ''}: {fact.content}" for fact in run.facts]
    lines += [f"called off: {key}" for key in run.invalidated]
    lines += [f"turned down, {reason}: {text}" for text, reason in run.turned_down]
    lines += [f"summary up to message {run.covered}: {run.summary}"] if run.summary else []
    lines = [*([view.title] if view.title else []), *lines]
    heading = f"{view.session}  {run.unit} {run.first}–{run.last}, {verb} by {run.generator}"
    return PresentedEntry(heading, tuple(map(Text, lines)))
