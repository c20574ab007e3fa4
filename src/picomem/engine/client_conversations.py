"""Stores the new part of a conversation that a client sends whole each time; see sessions/client_history.py.

A conversation is recognised by a digest of its first message, which is its id on the channel. The digest uses a key
that only this store has, so it reveals nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from picomem.blake2b import blake2b
from picomem.engine.engine import Engine
from picomem.records.kinds import Origin
from picomem.records.session import Channel, Message, NewMessage, Role, Session
from picomem.sessions.client_history import Conversation, SaidLine, compact, continuation, lines_of
from picomem.store.connector import Transaction
from picomem.store.tables import meta, session_rows
from picomem.store.tables.tombstones import Tombstones
from picomem.text.storable import plain

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
