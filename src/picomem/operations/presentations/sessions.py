"""How conversations with PicoBot, and what memory takes up of them, are presented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text, Verbatim
from picomem.operations.presentations.wording import counts, day, plural

if TYPE_CHECKING:
    from picomem.operations.consolidating import ConsolidateResult, RunView
    from picomem.operations.sessions import (
        ImportSessionsResult,
        MessagesResult,
        MessageView,
        SessionResult,
        SessionsResult,
    )

_UNTITLED = "(nothing was said yet)"
_NOT_DONE = {
    "not due": "nothing is new",
    "overtaken": "another process was faster",
    "busy": "another process is consolidating; try again when it is done",
    "failed": "no answer that can be used; the conversation waits as it is",
}


def sessions(result: SessionsResult) -> Presentation:
    blocks: list[Block] = []
    for listed in result.sessions:
        session = listed.session
        about = [session.channel, plural(listed.messages, "message"), day(session.last_active_at), session.id]
        blocks.append(PresentedEntry(session.title or _UNTITLED, (Text(" · ".join(about)),)))
    damaged = f"{plural(len(result.damaged), 'damaged row')} skipped; see `picomem doctor`."
    return Presentation(
        blocks=tuple(blocks) or (Sentence("There are no such conversations; --user names another user."),),
        warnings=(damaged,) if result.damaged else (),
        next_steps=(f"There are more: --cursor {result.cursor}",) if result.cursor else (),
    )


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
    return Presentation(shown.title, tuple(blocks), warnings=(damaged,) if result.damaged else ())


def _message(message: MessageView) -> PresentedEntry:
    text = (Verbatim(message.text),) if message.text else ()
    calls = tuple(Verbatim(f"→ {call.name} {call.arguments}") for call in message.tool_calls)
    return PresentedEntry(f"{message.role}, {day(message.at)}", (*text, *calls), message.number)


def imported(result: ImportSessionsResult) -> Presentation:
    sentences = [f"{plural(result.sessions, 'new session')}, {plural(result.messages, 'new message')}."]
    if result.users:
        sentences.append(f"Of {', '.join(result.users)}: `picomem sessions --user ID` lists them.")
    if result.differing:
        sentences.append(f"Left as they are, since they went another way here: {', '.join(result.differing)}.")
    if result.skipped:
        sentences.append(f"Passed over: {counts(result.skipped, number_first=False)}")
    return Presentation(blocks=tuple(map(Sentence, sentences)))


def consolidated(result: ConsolidateResult) -> Presentation:
    blocks: list[Block] = []
    warnings: list[str] = []
    for view in result.sessions:
        blocks += [_run(view.session, run, result.dry_run) for run in view.runs]
        if view.state != "done":
            blocks.append(Sentence(f"{view.session}  {_NOT_DONE.get(view.state, view.state)}"))
        warnings += view.warnings
    calls = sum(view.calls for view in result.sessions)
    if calls:
        tokens = sum(view.input_tokens + view.output_tokens for view in result.sessions)
        blocks.append(Sentence(f"{plural(calls, 'call')} of {result.generator}, {tokens:,} tokens"))
    if not blocks and not warnings:
        blocks.append(Sentence("Nothing is new in any conversation."))
    return Presentation(blocks=tuple(blocks), warnings=tuple(dict.fromkeys(warnings)))


def _run(session_id: str, run: RunView, dry_run: bool) -> PresentedEntry:
    verb = "would keep" if dry_run else "kept"
    lines = [run.timeline]
    lines += [f"{fact.decision}{f' {fact.key}' if fact.key else ''}: {fact.content}" for fact in run.facts]
    lines += [f"called off: {key}" for key in run.invalidated]
    lines += [f"turned down, {reason}: {text}" for text, reason in run.turned_down]
    lines += [f"summary up to message {run.covered}: {run.summary}"] if run.summary else []
    heading = f"{session_id}  messages {run.first}–{run.last}, {verb} by {run.generator}"
    return PresentedEntry(heading, tuple(map(Text, lines)))
