"""The people on a channel: accepted contacts, and senders who wait for the owner to accept them.

A sender is identified by the ids that the channel gives (sessions/channel_users.py). An unknown sender gets a code,
which the owner sees and the sender does not, and with which the owner accepts the sender. A code has 50 random bits and
is valid once, for a day. The number of waiting codes is limited.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from picomem.clock import DAY, Micros
from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import Resources
from picomem.engine.channel_log import Incoming
from picomem.engine.engine import Engine
from picomem.errors import Conflict, InvalidInput, NotFound
from picomem.light_dataclass import dataclass, replace
from picomem.records.access_token import AccessToken
from picomem.records.channel_message import Contact, Pairing
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.records.session import Channel, Session
from picomem.sessions.channel_users import (
    KEY_PREFIX,
    IdentifiedSender,
    change_ids,
    identify,
    identifying,
    memory_user,
    named_by_channel,
    user_of,
    user_of_session,
)
from picomem.store.connector import Transaction
from picomem.store.tables import access_tokens, contact_rows, session_rows, users
from picomem.store.tables.session_names import Place, find_session
from picomem.text.inert_text import one_line
from picomem.text.storable import plain

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without letters that look like others
_CODE_LENGTH = 10
_MOST_WAITING = 50  # of an account
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedIds:
    """A sender has other ids from now on, as a channel says: another phone number, and what goes with it."""

    channel: str
    account: str
    old: tuple[str, ...]
    new: tuple[str, ...]


def person_of(engine: Engine, incoming: Incoming) -> str:
    """The user who sends a message; empty for an unknown sender. What the message says of the sender's ids is kept."""

    def identified(tx: Transaction) -> tuple[IdentifiedSender, list[Contact]]:
        contacts = _contacts(tx, incoming.channel, incoming.account, incoming.native_ids)
        sender = identify(incoming.native_ids, contacts)
        return sender, _changes(sender, contacts, incoming, engine.now())

    connector = engine._context.connector
    with connector.read() as tx:
        sender, changes = identified(tx)
    if changes:
        with connector.write(contact_rows.SCOPE) as tx:
            sender, changes = identified(tx)  # another process may have been faster
            _put_all(tx, changes)
    return sender.person


def take_change(engine: Engine, change: ChangedIds) -> str:
    """Keep that a sender has other ids now, as the channel says; the user, or empty for an unknown sender."""
    native_ids = (*change.old, *change.new)
    with engine._context.connector.write(contact_rows.SCOPE) as tx:
        contacts = _contacts(tx, change.channel, change.account, native_ids)
        sender = change_ids(change.old, change.new, contacts)
        _put_all(tx, _changes(sender, contacts, change, engine.now()))
    return sender.person


def ask_to_pair(engine: Engine, incoming: Incoming) -> bool:
    """Let an unknown sender wait for the owner; whether they wait from now on, and not for some time already."""
    now = engine.now()
    with engine._context.connector.write(contact_rows.SCOPE) as tx:
        contact_rows.delete_expired(tx, now)
        waiting = [
            pairing
            for pairing in contact_rows.pairings(tx)
            if (pairing.channel, pairing.account) == (incoming.channel, incoming.account)
        ]
        native_ids = set(identifying(incoming.native_ids))
        if any(native_ids & set(pairing.native_ids) for pairing in waiting):
            return False
        if len(waiting) >= _MOST_WAITING:
            return False
        name = engine._context.redactor().redact(plain(incoming.name)).text
        contact_rows.put_pairing(
            tx,
            Pairing(
                code="".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH)),
                channel=incoming.channel,
                account=incoming.account,
                native_ids=incoming.native_ids,
                name=one_line(name)[:_LONGEST_NAME],
                created_at=now,
                expires_at=now + DAY,
            ),
        )
    return True


def pairings(engine: Engine, damaged: list[str] | None = None) -> list[Pairing]:
    """The senders who wait, without those whose codes have expired. Damaged rows are left out and put on `damaged`."""
    now = engine.now()
    with engine._context.connector.read() as tx:
        return [pairing for pairing in contact_rows.pairings(tx, damaged) if now < pairing.expires_at]


def every_contact(engine: Engine, damaged: list[str] | None = None) -> list[Contact]:
    """All people who are known, with the ids of their channels. Damaged rows are left out and put on `damaged`."""
    with engine._context.connector.read() as tx:
        return contact_rows.every(tx, damaged)


def accept(engine: Engine, code: str, person: str) -> tuple[str, Pairing]:
    """Accept the sender with that code as a user; the user, and what was accepted. Without a `person` it is the user
    id that the channel gives (sessions/channel_users.py). Raises NotFound for a code that nobody waits with."""
    wanted = code.strip().upper().encode("utf-8", "replace")
    with engine._context.connector.write(contact_rows.SCOPE) as tx:
        waiting = [pairing for pairing in contact_rows.pairings(tx) if engine.now() < pairing.expires_at]
        pairing = next((one for one in waiting if secrets.compare_digest(one.code.encode(), wanted)), None)
        if pairing is None:
            raise NotFound(CodedText("failure.nobody_waits", command=Command("pair", "list")))
        user = Scope(person or _unused_user(tx, pairing)).user
        sender, now = new_id(), engine.now()
        for native_id in pairing.native_ids:
            contact_rows.put(
                tx,
                Contact(
                    channel=pairing.channel,
                    account=pairing.account,
                    native_id=native_id,
                    person=user,
                    created_at=now,
                    sender=sender,
                ),
            )
        contact_rows.delete_pairing(tx, pairing.code)
    return user, pairing


def revoke(engine: Engine, person: str, native_id: str = "") -> int:
    """Let a user write on no channel any more, or with `native_id` not by that id; how many ids were known.

    All ids of a user are forgotten; a single one is kept as revoked, so that it does not become known again with the
    next message. Raises NotFound where none was known.
    """
    with engine._context.connector.write(contact_rows.SCOPE) as tx:
        if not native_id:
            count = contact_rows.forget(tx, person)
        else:
            meant = [
                contact
                for contact in contact_rows.of_person(tx, person)
                if contact.native_id == native_id and contact.revoked_at is None
            ]
            _put_all(tx, [replace(contact, revoked_at=engine.now()) for contact in meant])
            count = len(meant)
    if not count:
        what = f" as “{native_id[:64]}”" if native_id else ""
        raise NotFound(CodedText("failure.unknown_sender", who=f"{person[:64]}{what}", command=Command("pair", "list")))
    return count


def former_people(engine: Engine, pairing: Pairing) -> list[str]:
    """The users for whom an id of a waiting sender stood before."""
    with engine._context.connector.read() as tx:
        native_ids = identifying(pairing.native_ids)
        stored = (contact_rows.of_id(tx, pairing.channel, pairing.account, native_id) for native_id in native_ids)
        return sorted({contact.person for contact in stored if contact is not None})


def default_user(channel: str, native_ids: Sequence[str]) -> str:
    """The user id that the channel gives: by a phone number where there is one."""
    phone = next((one.partition(":")[2] for one in native_ids if one.startswith("phone:")), "")
    if channel == Channel.WHATSAPP and phone:
        return user_of(Channel.WHATSAPP, name=phone)
    return f"{channel}:{native_ids[0].partition(':')[2]}"


def _unused_user(tx: Transaction, pairing: Pairing) -> str:
    """The user id that the channel gives. Raises Conflict where it is the user of another sender: a phone number may
    have passed to somebody else, who must not get the memory of the one before."""
    user = default_user(pairing.channel, pairing.native_ids)
    contacts = [contact for contact in contact_rows.of_person(tx, user) if contact.channel == pairing.channel]
    shared = [one for one in contacts if one.native_id in pairing.native_ids and one.revoked_at is None]
    if contacts and not shared:
        raise Conflict(
            f"{user} is the user of another sender, who may have had the number before; name a user with --user, or "
            f"--user {user} if it is the same person."
        )
    return user


def _contacts(tx: Transaction, channel: str, account: str, native_ids: Sequence[str]) -> list[Contact]:
    """All contacts on an account of every user for whom one of the ids stands or stood."""
    stored = (contact_rows.of_id(tx, channel, account, native_id) for native_id in native_ids)
    people = sorted({contact.person for contact in stored if contact is not None})
    return [
        contact
        for person in people
        for contact in contact_rows.of_person(tx, person)
        if (contact.channel, contact.account) == (channel, account)
    ]


def _changes(
    sender: IdentifiedSender, contacts: Sequence[Contact], source: Incoming | ChangedIds, now: Micros
) -> list[Contact]:
    """The contacts to store after a payload."""

    def contact_of(native_id: str) -> Contact:
        return Contact(
            channel=source.channel,
            account=source.account,
            native_id=native_id,
            person=sender.person,
            created_at=now,
            sender=sender.sender,
        )

    changes = [contact_of(native_id) for native_id in sender.added]
    changes += [replace(contact, revoked_at=now) for contact in contacts if contact.native_id in sender.revoked]
    return changes


def _put_all(tx: Transaction, contacts: Sequence[Contact]) -> None:
    for contact in contacts:
        contact_rows.put(tx, contact)


# Finds the user behind an id that a channel gives (P4), where a person names a user.
#
# An alias is no way in: whoever resolves one has checked that the caller may name another user. A user who has rows
# under exactly that id, as an import from PicoBot makes them, comes before the user whom the id stands for.

_PHONE = "phone:"


def resolve_user(resources: Resources, name: str) -> str:
    """The user whom a name means: the one behind an alias, and any other name as it is.

    Raises NotFound for a token or a socket that there is not, and InvalidInput for an alias that fits several.
    """
    alias = named_by_channel(name)
    if alias is None:
        return name
    channel, value = alias
    with resources.connector.read() as tx:
        known = users.ids(tx)
        if name in known:
            return name
        if channel is Channel.TUI:
            return memory_user(name)
        if channel is Channel.WHATSAPP:
            return _only(name, sorted(_people(tx, value)) or [name], "people")
        scopes = [Scope(user) for user in known]
        owners = [scope.user for scope in scopes for token in _tokens(tx, scope, value, resources.clock())]
        if channel is Channel.WEBSOCKET:
            owners += [scope.user for scope in scopes for _ in range(_sockets(tx, scope, value))]
        return _only(name, owners, "tokens" if channel is Channel.API else "tokens or sessions")


def channel_users(engine: Engine, session: Session) -> list[str]:
    """The ids that a conversation's channel gives to its user: of WhatsApp the numbers with which they were accepted,
    of the API their tokens. Of several it is not recorded which one they used. Who has none is named as picomem does.
    """
    ids: list[str] = []
    with engine._context.connector.read() as tx:
        if session.channel is Channel.API:
            known = _tokens(tx, session.scope, "", engine.now())
            ids = [user_of_session(session, key=token.id) for token in known]
            if len(ids) > 1 and named_by_channel(session.scope.user) is None:
                ids = [f"api:{token.short_id}" for token in known]  # as ids of one minute begin alike
        elif session.channel is Channel.WHATSAPP:
            account = session.channel_id.partition("/")[0]
            phones = {
                contact.native_id.removeprefix(_PHONE)
                for contact in contact_rows.of_person(tx, session.scope.user)
                if contact.revoked_at is None
                and (contact.channel, contact.account) == (Channel.WHATSAPP, account)
                and contact.native_id.startswith(_PHONE)
            }
            ids = [user_of_session(session, phone=phone) for phone in sorted(phones)]
    return list(dict.fromkeys(ids)) or [user_of_session(session)]


def _only(name: str, owners: Sequence[str], what: str) -> str:
    if not owners:
        raise NotFound(CodedText("failure.no_alias", name=name[:64], command=Command("token", "list", user="USER")))
    if len(owners) > 1:
        raise InvalidInput(f"“{name[:64]}” fits several {what}; write more of the id, or name the user.")
    return owners[0]


def _people(tx: Transaction, phone: str) -> set[str]:
    """The users for whom a phone number stands, on all accounts."""
    return {
        contact.person
        for contact in contact_rows.every(tx)
        if contact.revoked_at is None and (contact.channel, contact.native_id) == (Channel.WHATSAPP, f"{_PHONE}{phone}")
    }


def _tokens(tx: Transaction, scope: Scope, key: str, now: Micros) -> list[AccessToken]:
    """The user's tokens that programs may show now, and whose id begins so or is abbreviated so. No `key`: all."""
    return [
        token
        for token in access_tokens.every(tx, scope)
        if token.opens_api
        and token.is_valid(now)
        and (not key or (len(key) >= KEY_PREFIX and token.id.startswith(key)) or token.short_id == key)
    ]


def _sockets(tx: Transaction, scope: Scope, name: str) -> int:
    """How many of the user's conversations over a WebSocket have that id, or one that begins so; 2 for several."""
    try:
        session_id = find_session(tx, scope, name, Place.CONVERSATIONS)
    except NotFound:
        return 2
    if not session_id or (session_id != name and len(name) < KEY_PREFIX):
        return 0
    session = session_rows.session(tx, scope, session_id)
    return int(session is not None and session.channel is Channel.WEBSOCKET)
