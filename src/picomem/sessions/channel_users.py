"""The owner of a conversation: the user id that each channel gives (P4). Pure.

whatsapp:<phone>@s.whatsapp.net · ws:<key prefix> or ws:<session> · tui:local or tui:<name> · api:<key prefix>
"""

from __future__ import annotations

import re

from picomem.errors import InvalidInput
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
    that name. For any other id the id itself; whom it stands for may change (engine/user_aliases.py)."""
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
