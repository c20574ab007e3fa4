"""Whose a conversation and a message are: the user id that each channel gives (P4), and who sent a message. Pure.

whatsapp:<phone>@s.whatsapp.net · ws:<key prefix> or ws:<session> · tui:local or tui:<name> · api:<key prefix>
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.records.channel_message import Contact
from picomem.records.scope import LOCAL_USER
from picomem.records.session import Channel, Session

_SERVER = "s.whatsapp.net"
_CHANNELS = {"whatsapp": Channel.WHATSAPP, "ws": Channel.WEBSOCKET, "tui": Channel.TUI, "api": Channel.API}
KEY_PREFIX = 8  # characters of an API key: enough to tell keys apart, and no key


def user_of(channel: Channel, *, name: str = "", key: str = "", session: str = "") -> str:
    """The user id. `name` is a phone number (WhatsApp) or a configured name (TUI), `key` an API key.

    Raises InvalidInput where the channel needs what is not given.
    """
    if channel is Channel.WHATSAPP:
        digits = re.sub(r"\D", "", name.partition("@")[0].partition(":")[0])
        return f"whatsapp:{_given(digits, 'a phone number')}@{_SERVER}"
    if channel is Channel.TUI:
        return f"tui:{name or 'local'}"
    if channel is Channel.WEBSOCKET:
        return f"ws:{key[:KEY_PREFIX] or _given(session, 'an API key or a session')}"
    return f"api:{_given(key[:KEY_PREFIX], 'an API key')}"


def memory_user(user: str) -> str:
    """The user in whose memory the conversations of such an id belong: the terminal's is the local user, or the one of
    that name. For any other id the id itself; whom it stands for may change (engine/channel_contacts.py)."""
    alias = named_by_channel(user)
    return alias[1] if alias is not None and alias[0] is Channel.TUI else user


def user_of_session(session: Session, *, phone: str = "", key: str = "") -> str:
    """The id that a conversation's channel gives to its user; the user's own, where the channel does not say more.
    `phone` and `key` are what is known of the user on the channel."""
    user = session.scope.user
    if named_by_channel(user) is not None:
        return user
    if session.channel is Channel.TUI:
        return user_of(Channel.TUI, name="" if user == LOCAL_USER else user)
    if session.channel is Channel.WEBSOCKET:
        return user_of(Channel.WEBSOCKET, session=session.id)
    return user_of(session.channel, name=phone, key=key) if phone or key else user


def named_by_channel(name: str) -> tuple[Channel, str] | None:
    """The channel of such an id, and the phone number, name, key or session in it; None for any other name."""
    prefix, colon, value = name.partition(":")
    channel = _CHANNELS.get(prefix)
    if not colon or not value or channel is None:
        return None
    if channel is Channel.WHATSAPP:
        phone, at, server = value.partition("@")
        return (channel, phone) if phone.isdecimal() and (at, server) in (("", ""), ("@", _SERVER)) else None
    return channel, value


def _given(value: str, what: str) -> str:
    if not value:
        raise InvalidInput(f"To say whose this conversation is, the channel must give {what}.")
    return value


# The user behind a sender on a channel, by the ids that the channel gives.
#
# An id has a kind and a value: `phone:351912345678`, `id:PT.1349…` (Meta's business-scoped id), `parent:PT.ENT.1181…`
# (the same for a group of businesses), `lid:2214…@lid`, `username:ann.lee`.
#
# - A lasting id (`id`, `parent`, `lid`) is never given to somebody else. It decides whose a message is.
# - A phone number can pass to somebody else. It decides only where no lasting id contradicts it. A number that comes
#   with a lasting id of somebody else is revoked: from then on it stands for nobody.
# - A user name can be given up and taken by somebody else. It is shown to the owner, and decides nothing.
#
# All ids of one payload are of one sender, because the channel vouches for it. So an unknown id that comes with a known
# one becomes known as well. An id that was revoked stays so, and a sender whose lasting id was revoked is unknown.

PHONE, SCOPED, PARENT, LID, USERNAME = "phone", "id", "parent", "lid", "username"
_LASTING = frozenset({SCOPED, PARENT, LID})


@dataclass(frozen=True, slots=True)
class IdentifiedSender:
    """The user who sends a message, empty for an unknown sender; and what the payload changes: ids that become known
    with it, and ids that stand for nobody from now on."""

    person: str = ""
    sender: str = ""
    added: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()


def kind_of(native_id: str) -> str:
    """The kind of an id."""
    return native_id.partition(":")[0]


def identifying(native_ids: Sequence[str]) -> tuple[str, ...]:
    """The ids without user names."""
    return tuple(native_id for native_id in native_ids if kind_of(native_id) != USERNAME)


def identify(native_ids: Sequence[str], contacts: Sequence[Contact]) -> IdentifiedSender:
    """The sender of a message with these ids. `contacts` are all contacts, on this account, of every user for whom one
    of the ids stands or stood."""
    by_id = {contact.native_id: contact for contact in contacts}
    stored = [by_id[native_id] for native_id in native_ids if native_id in by_id]
    lasting = [contact for contact in stored if kind_of(contact.native_id) in _LASTING]
    phones = [contact for contact in stored if kind_of(contact.native_id) == PHONE and contact.revoked_at is None]
    deciding = lasting or phones
    if any(contact.revoked_at is not None for contact in lasting) or len({one.person for one in deciding}) != 1:
        return IdentifiedSender()
    owner = deciding[0]
    if not lasting and _contradicts(native_ids, _aliases(owner, contacts)):
        return IdentifiedSender(revoked=tuple(contact.native_id for contact in phones))
    return _known(owner, native_ids, contacts, replaced={PHONE, USERNAME} if lasting else {USERNAME})


def change_ids(old: Sequence[str], new: Sequence[str], contacts: Sequence[Contact]) -> IdentifiedSender:
    """The sender who had the ids `old` and has the ids `new` instead, as the channel itself says. `contacts` as for
    `identify`, of both."""
    person = identify(old, contacts).person
    by_id = {contact.native_id: contact for contact in contacts}
    owner = next((by_id[one] for one in old if one in by_id and by_id[one].person == person), None)
    taken = [by_id[one] for one in new if one in by_id and kind_of(one) in _LASTING]
    if owner is None or any(contact.person != person for contact in taken):
        return IdentifiedSender()
    return _known(owner, new, contacts, replaced={kind_of(one) for one in new})


def _known(
    owner: Contact, native_ids: Sequence[str], contacts: Sequence[Contact], replaced: set[str]
) -> IdentifiedSender:
    """The owner of a contact, who has these ids now; other ids of the kinds `replaced` are no longer theirs."""
    by_id = {contact.native_id: contact for contact in contacts}
    renewed = replaced & {kind_of(native_id) for native_id in native_ids}

    def is_given_up(contact: Contact) -> bool:
        is_alias = (contact.person, contact.sender) == (owner.person, owner.sender)
        return is_alias and kind_of(contact.native_id) in renewed

    def is_anothers_phone(contact: Contact) -> bool:
        return contact.person != owner.person and kind_of(contact.native_id) == PHONE

    return IdentifiedSender(
        person=owner.person,
        sender=owner.sender,
        added=tuple(native_id for native_id in native_ids if _is_new(by_id.get(native_id), owner)),
        revoked=tuple(
            contact.native_id
            for contact in contacts
            if contact.revoked_at is None
            and (is_given_up(contact) if contact.native_id not in native_ids else is_anothers_phone(contact))
        ),
    )


def _aliases(owner: Contact, contacts: Sequence[Contact]) -> list[Contact]:
    """The ids of the same sender."""
    return [contact for contact in contacts if (contact.person, contact.sender) == (owner.person, owner.sender)]


def _contradicts(native_ids: Sequence[str], aliases: Sequence[Contact]) -> bool:
    """Return whether a payload has another lasting id than the sender had; the ids themselves are unknown."""
    had = {kind_of(alias.native_id) for alias in aliases} & _LASTING
    return any(kind_of(native_id) in had for native_id in native_ids)


def _is_new(contact: Contact | None, owner: Contact) -> bool:
    """Return whether an id is to be stored as the owner's."""
    if contact is None:
        return True
    if kind_of(contact.native_id) == USERNAME:
        is_theirs = (contact.person, contact.sender) == (owner.person, owner.sender)
        return not is_theirs or contact.revoked_at is not None
    return contact.person == owner.person and contact.sender != owner.sender and contact.revoked_at is None
