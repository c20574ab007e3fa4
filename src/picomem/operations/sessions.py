"""Operations on conversations with PicoBot: list, read, begin, rename, archive, fork."""

from __future__ import annotations

from picomem.clock import iso
from picomem.engine.channel_contacts import channel_users
from picomem.engine.engine import Engine
from picomem.light_dataclass import dataclass, field
from picomem.operations.inert_results import fenced_turn
from picomem.operations.operation import ChatCommand, Operation, given_filters, option
from picomem.operations.paging import cursor_of, place_of
from picomem.operations.presentation import (
    Block,
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    Verbatim,
    day,
    nothing_matches,
    plural,
)
from picomem.operations.recall_views import view_of
from picomem.records.caller import READ_SESSIONS
from picomem.records.session import Channel, Message, Session

_AFTER_ALL = 2**62  # a number that no message has
_UNTITLED = "(nothing was said yet)"


@dataclass(frozen=True, slots=True)
class SessionsRequest:
    channel: str | None = option("only from this channel", None, choices=tuple(Channel))
    archived: bool = option("archived conversations instead", False)
    limit: int = option("maximum number of conversations", 20, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "")


@dataclass(frozen=True, slots=True)
class SessionView:
    """A conversation; `last_consolidated_seq` is the number of the last consolidated message. `users` are the ids that
    the channel gives to its user, as in `tui:local`, of which each may be named as a user; `user` is the only one of
    them, or else the user's own name: which one of several was used is not recorded."""

    id: str
    title: str
    channel: str
    channel_id: str
    user: str
    users: list[str]
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
    """The one that was active last first; `cursor` is empty on the last page, `damaged` names skipped rows. `filters`
    are those of the request, if they leave nothing of what is there; `archived` says that everything is archived."""

    sessions: list[ListedSession]
    cursor: str
    damaged: list[str]
    filters: list[str] = field(default_factory=list)
    archived: bool = False


def sessions(engine: Engine, request: SessionsRequest) -> SessionsResult:
    """List conversations with PicoBot, most recently active first."""
    log = engine.sessions()
    page = log.page(
        channel=request.channel or "", archived=request.archived, limit=request.limit, cursor=request.cursor
    )
    listed = [ListedSession(_session_view(engine, session), count) for session, count in page.sessions]
    if listed or page.damaged:
        return SessionsResult(listed, page.cursor, list(page.damaged))
    has_active, has_archived = (bool(log.page(archived=archived, limit=1).sessions) for archived in (False, True))
    has_others = has_active or (has_archived and request.archived)
    filters = given_filters(request, ("channel", "archived")) if has_others else []
    return SessionsResult([], "", [], filters, archived=has_archived and not has_others)


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    session: str = option("the conversation's id, or the beginning of it", positional=True)
    last: int = option("maximum number of messages, from the end", 50, short="-n", least=1, rows=True)
    after: int = option("only messages after this number", 0, least=0)
    cursor: str = option("continue with earlier ones: the cursor of the previous page", "")


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
    """`before` is how many messages the session has before these, and `cursor` continues with them, empty on the last
    page; `damaged` are the numbers of skipped ones."""

    session: SessionView
    messages: list[MessageView]
    before: int
    cursor: str
    damaged: list[int]


def messages(engine: Engine, request: MessagesRequest) -> MessagesResult:
    """Print the messages of a conversation with PicoBot, with tool calls and their results."""
    log = engine.sessions()
    session = log.get(request.session)
    (before,) = place_of(request.cursor, (0,)) if request.cursor else (_AFTER_ALL,)
    loaded = log.between(session.id, request.after, before, request.last + 1)
    numbers = sorted([message.seq for message in loaded.messages] + list(loaded.damaged))
    left_out = len(numbers) - request.last  # 1 where there are more
    first = numbers[max(left_out, 0)] if numbers else 0
    return MessagesResult(
        _session_view(engine, session),
        [_message_view(message) for message in loaded.messages if message.seq >= first],
        loaded.before + max(left_out, 0),
        cursor_of((first,)) if left_out > 0 else "",
        [number for number in loaded.damaged if number >= first],
    )


@dataclass(frozen=True, slots=True)
class SessionResult:
    """The conversation as it is now."""

    session: SessionView


@dataclass(frozen=True, slots=True)
class BeginSessionRequest:
    title: str = option("its title (default: the beginning of the first message)", "")
    channel: str = option("where it takes place", Channel.TUI.value, choices=tuple(Channel))
    channel_id: str = option("the channel's id for it; a known conversation is continued", "")


def begin_session(engine: Engine, request: BeginSessionRequest) -> SessionResult:
    """Begin a conversation with PicoBot, or find the one with this channel id.

    The first message of a chat also begins a conversation.
    """
    log = engine.sessions()
    if request.channel_id:
        engine.caller.require(READ_SESSIONS, "begin-session with a channel_id")  # a known one shows its title
        session = log.named(request.channel, request.channel_id)
        session = log.rename(session.id, request.title) if request.title and not session.title else session
    else:
        session = log.create(request.channel, title=request.title)
    return SessionResult(_session_view(engine, session))


@dataclass(frozen=True, slots=True)
class RenameSessionRequest:
    session: str = option("the conversation's id, or the beginning of it", positional=True)
    title: str = option("its new title", positional=True, free_text=True)


def rename_session(engine: Engine, request: RenameSessionRequest) -> SessionResult:
    """Give a conversation with PicoBot another title."""
    return SessionResult(_session_view(engine, engine.sessions().rename(request.session, request.title)))


@dataclass(frozen=True, slots=True)
class ArchiveSessionRequest:
    session: str = option("the conversation's id, or the beginning of it", positional=True)
    restore: bool = option("take it out of the archive again", False)


def archive_session(engine: Engine, request: ArchiveSessionRequest) -> SessionResult:
    """Archive a conversation with PicoBot: it leaves the list, nothing is lost, and a new message restores it."""
    conversations = engine.sessions()
    change = conversations.restore if request.restore else conversations.archive
    return SessionResult(_session_view(engine, change(request.session)))


def _archive_reply(session: SessionView) -> str:
    return f"Conversation {session.id} is {'archived' if session.archived_at else 'back in the list'}."


@dataclass(frozen=True, slots=True)
class ForkSessionRequest:
    session: str = option("the conversation's id, or the beginning of it", positional=True)
    at: int = option("the number of the last message that the new conversation has", positional=True, least=1)


def fork_session(engine: Engine, request: ForkSessionRequest) -> SessionResult:
    """Begin a new conversation with the messages of another one up to a number; the other one does not change."""
    return SessionResult(_session_view(engine, engine.sessions().fork(request.session, request.at)))


def _session_view(engine: Engine, session: Session) -> SessionView:
    users = channel_users(engine, session)
    user = users[0] if len(users) == 1 else session.scope.user
    return view_of(SessionView, session, session.scope, user=user, users=users)


def _message_view(message: Message) -> MessageView:
    return view_of(
        MessageView,
        message,
        number=message.seq,
        at=iso(message.created_at),
        text=message.content,
        tool_calls=[CallView(call.id, call.name, call.arguments) for call in message.tool_calls],
    )


def _present_sessions(result: SessionsResult) -> Presentation:
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


def _present_session(result: SessionResult) -> Presentation:
    shown = result.session
    about = [shown.channel, f"begun {day(shown.created_at)}", shown.id]
    about += [f"forked from {shown.forked_from}"] if shown.forked_from else []
    about += ["archived"] if shown.archived_at else []
    return Presentation(blocks=(PresentedEntry(shown.title or _UNTITLED, (Text(" · ".join(about)),)),))


def _present_messages(result: MessagesResult) -> Presentation:
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


OPERATIONS = (
    Operation(
        name="sessions",
        group="look",
        run=sessions,
        present=_present_sessions,
        reply=lambda result: "\n".join(
            f"{listed.session.last_active_at} {listed.session.title} ({listed.messages} messages, {listed.session.id})"
            for listed in result.sessions
        ),
        permission="memory:read:session",
        example="picomem sessions --channel whatsapp",
        read_only=True,
        idempotent=True,
        pages=True,
        chat_commands=(ChatCommand("sessions", "the conversations so far"),),
    ),
    Operation(
        name="messages",
        pages=True,
        group="look",
        run=messages,
        present=_present_messages,
        reply=lambda result: "\n\n".join(
            f"{message.role}: {fenced_turn(message.text, message.origin, message.role)}" for message in result.messages
        ),
        permission="memory:read:session",
        example="picomem messages 01a20090-6145 -n 10",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="begin-session",
        group="use",
        run=begin_session,
        present=_present_session,
        reply=lambda result: f"Conversation {result.session.id}.",
        permission="memory:write:session",
        example='picomem begin-session --title "Moving house"',
        creates=True,
        begins=True,
    ),
    Operation(
        name="rename-session",
        group="use",
        run=rename_session,
        present=_present_session,
        reply=lambda result: f"Conversation {result.session.id} is called “{result.session.title}”.",
        permission="memory:write:session",
        answer_permissions=("memory:read:session",),
        example='picomem rename-session 01a20090-6145 "Moving house"',
        idempotent=True,
        chat_commands=(
            ChatCommand(
                "rename",
                "give this conversation another title",
                argument="title",
                placeholder="TITLE",
                example="Moving house",
                session="session",
            ),
        ),
    ),
    Operation(
        name="archive-session",
        group="use",
        run=archive_session,
        present=_present_session,
        reply=lambda result: (
            f"Conversation {result.session.id} is {'' if result.session.archived_at else 'no longer '}archived."
        ),
        permission="memory:write:session",
        answer_permissions=("memory:read:session",),
        example="picomem archive-session 01a20090-6145",
        idempotent=True,
        chat_commands=(
            ChatCommand(
                "archive",
                "take this conversation out of the list and begin another",
                session="session",
                continues_in="new",
            ),
        ),
    ),
    Operation(
        name="fork-session",
        group="use",
        run=fork_session,
        present=_present_session,
        reply=lambda result: f"Conversation {result.session.id} is a fork of {result.session.forked_from}.",
        permission="memory:write:session",
        answer_permissions=("memory:read:session",),
        example="picomem fork-session 01a20090-6145 12",
        chat_commands=(
            ChatCommand(
                "fork",
                "go on from the message of this number, in a new conversation",
                argument="at",
                placeholder="NUMBER",
                example="12",
                missing="Say the number of a message",
                session="session",
                continues_in="result",
            ),
        ),
    ),
)
