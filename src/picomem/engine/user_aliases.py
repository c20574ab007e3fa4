"""Finds the user behind an id that a channel gives (P4), where a person names a user.

An alias is no way in: whoever resolves one has checked that the caller may name another user. A user who has rows under
exactly that id, as an import from PicoBot makes them, comes before the user whom the id stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import Resources
from picomem.errors import InvalidInput, NotFound
from picomem.records.access_token import AccessToken
from picomem.records.scope import Scope
from picomem.records.session import Channel, Session
from picomem.sessions.channel_users import KEY_PREFIX, memory_user, named_by_channel, user_of_session
from picomem.store import access_tokens, contact_rows, session_rows, users
from picomem.store.connector import Transaction
from picomem.store.session_names import Place, find_session

if TYPE_CHECKING:
    from picomem.engine.engine import Engine

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
