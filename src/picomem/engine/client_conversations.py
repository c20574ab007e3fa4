"""Stores the new part of a conversation that a client sends whole each time; see engine/client_conversations.py.

A conversation is recognised by a digest of its first message, which is its id on the channel. The digest uses a key
that only this store has, so it reveals nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from picomem.blake2b import blake2b
from picomem.engine.engine import Engine
from picomem.light_dataclass import dataclass, replace
from picomem.records.kinds import Origin
from picomem.records.session import Channel, Message, NewMessage, Role, Session
from picomem.store.connector import Transaction
from picomem.store.tables import meta, session_rows
from picomem.store.tables.tombstones import Tombstones
from picomem.text.storable import plain

# Finds the stored conversation that continues, by the history that a client sends with each message. Pure.
#
# A client of a chat API sends the whole conversation each time. What is stored already must be recognised, so the
# history is compared with stored conversations, message by message and without white space:
#
# - the person's messages must be equal;
# - an answer must be the beginning of the stored one, or missing: a client that stopped an answer shows a part of it;
# - tool calls and their results, which no client sees, are passed over.
#
# A history that ends where a stored conversation ends continues it. One that differs, or ends earlier, continues a
# fork. One that begins later, because a client sends its last messages only, continues the conversation that ends the
# same.

_FEWEST = 2  # messages of a history that is recognised by a conversation's end alone


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A message as a client shows it, without white space. `seq` is the number of the last stored message in it."""

    role: Role
    text: str
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored conversation. `is_answering` says that its last message is being answered now."""

    session: str
    lines: tuple[SaidLine, ...]
    is_answering: bool = False


@dataclass(frozen=True, slots=True)
class Continuation:
    """The place of a new message.

    `session` is empty for a new conversation. With `fork_at` the message belongs to a fork of the session behind that
    number. `known` messages of the history are stored already. `asked` is the number of the new message if it is
    stored too, because an earlier request with it was not answered.
    """

    session: str = ""
    fork_at: int = 0
    known: int = 0
    asked: int = 0


def compact(text: str) -> str:
    """A text without white space, which clients and models change."""
    return "".join(text.split())


def lines_of(messages: Iterable[Message]) -> tuple[SaidLine, ...]:
    """A stored conversation as a client shows it: the texts between two messages of the person are one answer."""
    lines: list[SaidLine] = []
    for message in messages:
        text = compact(message.content)
        if message.role is Role.USER:
            lines.append(SaidLine(Role.USER, text, message.seq))
        elif message.role is Role.ASSISTANT and text:
            if lines and lines[-1].role is Role.ASSISTANT:
                lines[-1] = replace(lines[-1], text=lines[-1].text + text, seq=message.seq)
            else:
                lines.append(SaidLine(Role.ASSISTANT, text, message.seq))
    return tuple(lines)


def continuation(
    history: Sequence[SaidLine], asked: str, conversations: Sequence[Conversation], *, is_named: bool = False
) -> Continuation:
    """Return where a message with this history belongs; `asked` is compact.

    `conversations` are those that may be meant, the likeliest first. With `is_named` the client named the only one.
    """
    if is_named and not history:
        (named,) = conversations
        return Continuation(named.session, asked=_at_end(named, max(0, len(named.lines) - 1), asked) or 0)
    best = Continuation(conversations[0].session) if is_named else Continuation()
    for conversation in conversations:
        known, taken = _match(history, conversation.lines)
        stored = _at_end(conversation, taken, asked) if known == len(history) else None
        if stored is not None and (history or stored):
            return Continuation(conversation.session, known=known, asked=stored)
        if known > best.known:
            best = Continuation(conversation.session, fork_at=conversation.lines[taken - 1].seq, known=known)
    if len(history) < (1 if is_named else _FEWEST):
        return best
    for conversation in conversations:
        for start in range(1, len(conversation.lines)):
            known, taken = _match(history, conversation.lines[start:])
            if known < len(history):
                continue
            if (stored := _at_end(conversation, start + taken, asked)) is not None:
                return Continuation(conversation.session, known=known, asked=stored)
    return best


def _match(history: Sequence[SaidLine], lines: Sequence[SaidLine]) -> tuple[int, int]:
    """Return how many messages of the history are the first ones of `lines`, and how many lines these are."""
    taken = 0
    for known, said in enumerate(history):
        place = taken
        if said.role is Role.USER:
            while place < len(lines) and lines[place].role is Role.ASSISTANT:
                place += 1  # the client left the answer out
        if place == len(lines) or lines[place].role is not said.role:
            return known, taken
        stored = lines[place].text
        if not (stored == said.text if said.role is Role.USER else stored.startswith(said.text)):
            return known, taken
        taken = place + 1
    return len(history), taken


def _at_end(conversation: Conversation, taken: int, asked: str) -> int | None:
    """Return whether a conversation ends behind that many lines: the number of the new message if it is stored there
    and unanswered, 0 if it is not stored, and None if the conversation goes on in another way."""
    rest = conversation.lines[taken:]
    if len(rest) == 1 and rest[0].role is Role.USER and rest[0].text == asked and not conversation.is_answering:
        return rest[0].seq
    return 0 if all(line.role is Role.ASSISTANT for line in rest) else None


_PREFIX = "completions:"
_PERSON = b"picomem.chats"
_MOST_ALIKE = 20  # conversations with the same first message that are compared
_MOST_RECENT = 20  # conversations of which a client may send the end alone


def store_new(
    engine: Engine, history: Sequence[NewMessage], asked: str, session: str, answering: Collection[str]
) -> Message:
    """Store what of a client's conversation is not stored yet; the stored form of the person's message.

    `session` names the conversation, or is empty. `answering` are the ids of the messages that are being answered now.
    An answer in the history that is not stored comes from another program, so its origin is `other`. A history that
    begins with a purged conversation is taken from behind it: the client still shows what the store has erased. Raises
    NotFound for an unknown session.
    """
    log, redact = engine.sessions(), engine._context.redactor()

    def compared(text: str) -> str:
        return compact(redact.redact(plain(text)).text)

    said = [SaidLine(message.role, compared(message.content)) for message in history]
    with engine._context.connector.write(engine.scope) as tx:
        first = history[0].content if history else asked
        name = _name(tx, compared(first))
        if session:
            candidates = [log.get(session)]
        else:
            alike = session_rows.all_of_channel(tx, engine.scope, Channel.API, name, _MOST_ALIKE)
            candidates = [*alike, *_recent(engine, {known.id for known in alike})]
        conversations = [_conversation(engine, candidate.id, answering) for candidate in candidates]
        place = continuation(said, compared(asked), conversations, is_named=bool(session))
        if purged := _purged_beginning(tx, engine, history, place.known):
            return store_new(engine, history[purged:], asked, session, answering)
        meant = place.session
        if place.fork_at:
            meant = log.fork(meant, place.fork_at).id
        elif not meant:
            meant = log.create(Channel.API, channel_id=name).id
        if place.asked:
            stored = log.load(meant, after=place.asked - 1).messages
            return stored[0]
        new = list(_from_elsewhere(history[place.known :]))
        return log.append(meant, *new, NewMessage(role=Role.USER, content=asked))[-1]


def _purged_beginning(tx: Transaction, engine: Engine, history: Sequence[NewMessage], known: int) -> int:
    """Return behind how many messages of a history its last copy of a purged message stands; 0 if it has none. The
    first `known` messages are stored."""
    redact = engine._context.redactor()
    texts = {
        place: (redact.redact(plain(message.content)).text, None)
        for place, message in enumerate(history)
        if place >= known
    }
    return max(Tombstones(tx, engine.scope).words(texts, is_copy=True), default=-1) + 1


def _recent(engine: Engine, known: Collection[str]) -> list[Session]:
    page = engine.sessions().page(channel=Channel.API, limit=_MOST_RECENT)
    return [
        session for session, _ in page.sessions if session.channel_id.startswith(_PREFIX) and session.id not in known
    ]


def _conversation(engine: Engine, session: str, answering: Collection[str]) -> Conversation:
    messages = engine.sessions().load(session).messages
    asked = next((message.id for message in reversed(messages) if message.role is Role.USER), "")
    return Conversation(session, lines_of(messages), asked in answering)


def _from_elsewhere(history: Iterable[NewMessage]) -> Iterable[NewMessage]:
    for message in history:
        origin = Origin.OTHER if message.role is Role.ASSISTANT else None
        yield NewMessage(role=message.role, content=message.content, origin=origin)


def _name(tx: Transaction, first: str) -> str:
    return _PREFIX + blake2b(first.encode(), key=meta.redaction_key(tx), person=_PERSON, digest_size=16).hexdigest()
