"""The owner of a conversation: the user id that each channel gives (P4). Pure.

whatsapp:<phone>@s.whatsapp.net · ws:<key prefix> or ws:<session> · tui:local or tui:<name> · api:<key prefix>
"""

from __future__ import annotations

import re

from picomem.errors import InvalidInput
from picomem.records.session import Channel

KEY_PREFIX = 8  # characters of an API key: enough to tell keys apart, and no key


def user_of(channel: Channel, *, name: str = "", key: str = "", session: str = "") -> str:
    """The user id. `name` is a phone number (WhatsApp) or a configured name (TUI), `key` an API key.

    Raises InvalidInput where the channel needs what is not given.
    """
    if channel is Channel.WHATSAPP:
        digits = re.sub(r"\D", "", name.partition("@")[0].partition(":")[0])
        return f"whatsapp:{_given(digits, 'a phone number')}@s.whatsapp.net"
    if channel is Channel.TUI:
        return f"tui:{name or 'local'}"
    if channel is Channel.WEBSOCKET:
        return f"ws:{key[:KEY_PREFIX] or _given(session, 'an API key or a session')}"
    return f"api:{_given(key[:KEY_PREFIX], 'an API key')}"


def _given(value: str, what: str) -> str:
    if not value:
        raise InvalidInput(f"To say whose this conversation is, the channel must give {what}.")
    return value
