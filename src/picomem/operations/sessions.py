"""Operations on conversations with PicoBot: sessions, messages, import-sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.clock import iso
from picomem.operations.fence import fenced
from picomem.operations.operation import MOST_ROWS, Operation, option
from picomem.operations.views import iso_or_none
from picomem.paths import named_path
from picomem.records.session import Channel, Message, Session
from picomem.values import dataclass

if TYPE_CHECKING:
    from picomem.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Sessions:
    channel: str | None = option("only from this channel", None, choices=tuple(Channel))
    archived: bool = option("the archived ones instead", False)
    limit: int = option("sessions at most", 20, short="-n", least=1, most=MOST_ROWS)
    cursor: str = option("go on from here: the cursor that the last page gave", "")


@dataclass(frozen=True, slots=True)
class SessionView:
    """A conversation; `last_consolidated_seq` is the number of the last message that memory has taken up."""

    id: str
    title: str
    channel: str
    channel_id: str
    state: str
    agent: str
    project: str
    forked_from: str
    created_at: str
    last_active_at: str
    archived_at: str | None
    last_consolidated_seq: int
    last_consolidated_at: str | None


@dataclass(frozen=True, slots=True)
class ListedSession:
    session: SessionView
    messages: int


@dataclass(frozen=True, slots=True)
class SessionsResult:
    """The one that was active last first; `cursor` is empty on the last page, `damaged` names skipped rows."""

    sessions: list[ListedSession]
    cursor: str
    damaged: list[str]


def sessions(engine: Engine, request: Sessions) -> SessionsResult:
    """List conversations with PicoBot, the one that was active last first."""
    page = engine.sessions().page(
        channel=request.channel or "", archived=request.archived, limit=request.limit, cursor=request.cursor
    )
    listed = [ListedSession(_session_view(session), count) for session, count in page.sessions]
    return SessionsResult(listed, page.cursor, list(page.damaged))


@dataclass(frozen=True, slots=True)
class Messages:
    session: str = option("the session's id, or the beginning of it", positional=True)
    last: int = option("messages at most, from the end", 50, short="-n", least=1, most=MOST_ROWS)
    after: int = option("only those behind the message of this number", 0, least=0)


@dataclass(frozen=True, slots=True)
class CallView:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class MessageView:
    number: int
    role: str
    origin: str
    at: str
    text: str
    tokens: int
    tool_calls: list[CallView]
    tool_call_id: str


@dataclass(frozen=True, slots=True)
class MessagesResult:
    """`before` is how many messages the session has before these; `damaged` are the numbers of skipped ones."""

    session: SessionView
    messages: list[MessageView]
    before: int
    damaged: list[int]


def messages(engine: Engine, request: Messages) -> MessagesResult:
    """Print the messages of a conversation with PicoBot, tool calls and their results too."""
    log = engine.sessions()
    session = log.get(request.session)
    loaded = log.shown(session.id, last=request.last, after=request.after)
    views = [_message_view(message) for message in loaded.messages]
    return MessagesResult(_session_view(session), views, loaded.before, list(loaded.damaged))


@dataclass(frozen=True, slots=True)
class ImportSessions:
    path: str = option("the sessions.json file", positional=True, path=True)


@dataclass(frozen=True, slots=True)
class ImportSessionsResult:
    """What is new, and whose it is. `differing` are sessions that went another way here and were left as they are;
    `skipped` counts what was not understood."""

    users: list[str]
    sessions: int
    messages: int
    differing: list[str]
    skipped: dict[str, int]


def import_sessions(engine: Engine, request: ImportSessions) -> ImportSessionsResult:
    """Take over the conversations of a PicoBot sessions.json, each for its own user.

    What is there already is not taken twice. The file stays as it is; one in the data directory is taken over at start
    and renamed sessions.json.migrated.
    """
    from picomem.engine import upkeep

    done = upkeep.import_sessions(engine, named_path(request.path))
    return ImportSessionsResult(list(done.users), done.sessions, done.messages, list(done.differing), done.skipped)


def _session_view(session: Session) -> SessionView:
    return SessionView(
        id=session.id,
        title=session.title,
        channel=session.channel.value,
        channel_id=session.channel_id,
        state=session.state,
        agent=session.scope.agent,
        project=session.scope.project,
        forked_from=session.forked_from,
        created_at=iso(session.created_at),
        last_active_at=iso(session.last_active_at),
        archived_at=iso_or_none(session.archived_at),
        last_consolidated_seq=session.last_consolidated_seq,
        last_consolidated_at=iso_or_none(session.last_consolidated_at),
    )


def _message_view(message: Message) -> MessageView:
    return MessageView(
        number=message.seq,
        role=message.role.value,
        origin=message.origin.value,
        at=iso(message.created_at),
        text=message.content,
        tokens=message.tokens,
        tool_calls=[CallView(call.id, call.name, call.arguments) for call in message.tool_calls],
        tool_call_id=message.tool_call_id,
    )


OPERATIONS = (
    Operation(
        name="sessions",
        request=Sessions,
        result=SessionsResult,
        run=sessions,
        reply=lambda result: "\n".join(
            f"{each.session.last_active_at} {each.session.title} ({each.messages} messages, {each.session.id})"
            for each in result.sessions
        ),
        permission="memory:read:session",
        example="picomem sessions --channel whatsapp",
        read_only=True,
        idempotent=True,
        pages=True,
    ),
    Operation(
        name="messages",
        request=Messages,
        result=MessagesResult,
        run=messages,
        reply=lambda result: "\n\n".join(f"{each.role}: {fenced(each.text, each.origin)}" for each in result.messages),
        permission="memory:read:session",
        example="picomem messages 01a20090-6145 -n 10",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="import-sessions",
        request=ImportSessions,
        result=ImportSessionsResult,
        run=import_sessions,
        reply=lambda result: f"{result.sessions} new sessions, {result.messages} new messages.",
        permission="memory:write:global",
        example="picomem import-sessions ~/picobot/data/sessions.json",
        creates=True,
        idempotent=True,
        reads_local_files=True,
    ),
)
