"""The commands of the chat: a line that begins with a slash is for picomem and not for the model.

They are the operations of the table, said shorter. To purge is the person's alone: no tool does it, and it is asked
for again before it is done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from picomem.cli.text.results import text_of
from picomem.errors import InvalidInput, NotFound
from picomem.operations.table import operation
from picomem.text.safe import one_line

if TYPE_CHECKING:
    from picomem.cli.chat import Chat

HELP = """\
/memory [WORDS]      what is remembered; with words, what memory finds for them
/why NAME            why something is remembered: what was decided, when, from what
/forget NAME         archive a memory
/new                 begin another conversation
/sessions            the conversations so far
/session ID          go on with one of them
/purge_session       erase this conversation and what came of it
/purge_user          erase everything of this user
/purge_older DAYS    erase conversations that ended more than so many days ago, and what came of them
/help                this
/quit                end"""


def obey(chat: Chat, line: str) -> bool:
    """Do what the line says; whether the chat goes on. Raises InvalidInput for what is no command, and what the
    operations raise."""
    name, _, rest = line[1:].partition(" ")
    if name in ("quit", "exit"):
        return False
    if name not in _COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(name, list(_COMMANDS), 1, 0.5)
        raise InvalidInput(
            f"There is no command /{name[:40]}; {f'did you mean /{near[0]}?' if near else '/help lists them.'}"
        )
    _COMMANDS[name](chat, rest.strip())
    return True


def _done(chat: Chat, verb: str, /, **values: Any) -> Any:
    """Run an operation of the table."""
    if chat.engine is None:
        raise InvalidInput("Memory cannot be used, so there is nothing to look at.")
    found = operation(verb)
    return found.call(chat.engine, found.request(**values))


def _shown(chat: Chat, verb: str, /, **values: Any) -> None:
    print(text_of(verb, _done(chat, verb, **values)))


def _memory(chat: Chat, words: str) -> None:
    if not words:
        found = _done(chat, "memories")
        print(text_of("memories", found) if found.memories else "Nothing is remembered yet; say what should be.")
        return
    print(text_of("recall", _done(chat, "recall", query=words)).partition("\n\nconfidence ")[0])


def _why(chat: Chat, name: str) -> None:
    try:
        _shown(chat, "why", id=_named(name, "/why staging_db_port"))
    except NotFound:
        raise NotFound(f"Nothing is remembered as “{name[:80]}”; /memory shows the names.") from None


def _forget(chat: Chat, name: str) -> None:
    _shown(chat, "forget", name=_named(name, "/forget staging_db_port"))


def _new(chat: Chat, _rest: str) -> None:
    chat.begin()
    print("A new conversation.", file=sys.stderr)


def _sessions(chat: Chat, _rest: str) -> None:
    found = _done(chat, "sessions")
    print(text_of("sessions", found) if found.sessions else "There are no conversations yet.")


def _session(chat: Chat, name: str) -> None:
    try:
        chat.begin(_named(name, "/session 01a20090-6145"))
    except NotFound:
        raise NotFound(f"There is no conversation “{name[:80]}”; /sessions lists them.") from None
    title = _done(chat, "messages", session=chat.bot.talk.session, last=1).session.title
    print(f"Going on with: {one_line(title)}", file=sys.stderr)


def _purge_session(chat: Chat, _rest: str) -> None:
    session = chat.bot.talk.session
    if not session:
        raise InvalidInput("Nothing of this conversation is stored yet.")
    if _purged(chat, session=session):
        chat.begin()


def _purge_user(chat: Chat, _rest: str) -> None:
    if _purged(chat, everything=True):
        chat.begin()


def _purge_older(chat: Chat, days: str) -> None:
    if not (days.isascii() and days.isdigit()):
        raise InvalidInput("Say how many days, as in /purge_older 90.")
    _purged(chat, older_than=int(days))


def _purged(chat: Chat, **chosen: Any) -> bool:
    """Show what would go, ask, and erase it; whether it was done."""
    print(text_of("purge", _done(chat, "purge", dry_run=True, **chosen)), file=sys.stderr)
    if (chat.ask("Confirm purge? (y/n) ") or "").lower() not in ("y", "yes"):
        print("Nothing was purged.", file=sys.stderr)
        return False
    _shown(chat, "purge", yes=True, **chosen)
    return True


def _help(_chat: Chat, _rest: str) -> None:
    print(HELP)


def _named(name: str, example: str) -> str:
    if not name:
        raise InvalidInput(f"Say which, as in {example}.")
    return name


_COMMANDS: dict[str, Callable[[Chat, str], None]] = {
    "memory": _memory,
    "why": _why,
    "forget": _forget,
    "new": _new,
    "sessions": _sessions,
    "session": _session,
    "purge_session": _purge_session,
    "purge_user": _purge_user,
    "purge_older": _purge_older,
    "help": _help,
}
