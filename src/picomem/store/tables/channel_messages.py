"""The messages of channels: rows in, records out. Every call but `users` takes a scope."""

from __future__ import annotations

import json

from picomem.clock import Micros
from picomem.records.channel_message import ChannelMessage, DeliveryState, Direction, OtherWords
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.row_hash import by_name, is_whole, record_of
from picomem.store.sql_access import sql
from picomem.store.tables.due_work import LAST_USER


def put(tx: Transaction, message: ChannelMessage) -> None:
    """Store a message; of one that is there, what changes on its way. Its texts are redacted already."""
    values = {name: getattr(message, name) for name in ChannelMessage.__slots__ if name != "context"}
    values["direction"], values["state"] = message.direction.value, message.state.value
    context = json.dumps([[words.name, words.text] for words in message.context], ensure_ascii=False)
    sql(tx).run("put_channel_message", **{**values, "is_group": int(message.is_group), "context": context})


def of_id(tx: Transaction, scope: Scope, message_id: str) -> ChannelMessage | None:
    """The message of that id; None where there is none, or its row is damaged."""
    row = sql(tx).one("channel_message", user=scope.user, id=message_id)
    return None if row is None else _message(row)


def is_there(tx: Transaction, scope: Scope, channel: str, account: str, native_id: str) -> bool:
    """Return whether a message came in under that id, damaged or not."""
    values = {"user": scope.user, "channel": channel, "account": account, "native_id": native_id}
    return sql(tx).one("incoming_channel_message", **values) is not None


def unfinished(tx: Transaction, scope: Scope) -> list[ChannelMessage]:
    """Return the messages that wait for an answer or for sending, oldest first, without damaged rows."""
    rows = sql(tx).all("open_channel_messages", user=scope.user)
    return [message for row in rows if (message := _message(row)) is not None]


def held(tx: Transaction, scope: Scope, channel: str, account: str, conversation: str) -> list[ChannelMessage]:
    """Return the messages that are sent once the person has written again."""
    values = {"user": scope.user, "channel": channel, "account": account, "conversation": conversation}
    rows = sql(tx).all("held_channel_messages", **values)
    return [message for row in rows if (message := _message(row)) is not None]


def last_said(tx: Transaction, scope: Scope, channel: str, account: str, conversation: str) -> Micros:
    """Return when the person wrote last, in the channel's time; 0 for never."""
    values = {"user": scope.user, "channel": channel, "account": account, "conversation": conversation}
    (last,) = sql(tx).one("last_said_on_channel", **values) or (None,)
    return int(last or 0)


def users(tx: Transaction) -> list[str]:
    """The users with something to answer or to send."""
    rows = sql(tx).all("users_with_open_channel_messages", first="", last=LAST_USER)
    return [str(user) for (user,) in rows]


def delete_before(tx: Transaction, scope: Scope, before: Micros) -> None:
    """Delete what is over and older than that."""
    sql(tx).run("delete_old_channel_messages", user=scope.user, before=before)


def purge(tx: Transaction, scope: Scope) -> list[str]:
    """Delete every message of the user; the texts that they still held."""
    rows = [by_name("channel_messages", row) for row in sql(tx).all("channel_messages", user=scope.user)]
    texts = [str(row["text"]) for row in rows if row["text"]]
    sql(tx).run("delete_channel_messages", user=scope.user)
    return texts


def _message(row: Row) -> ChannelMessage | None:
    if not is_whole("channel_messages", row):
        return None
    values = by_name("channel_messages", row)
    return record_of(
        ChannelMessage,
        values,
        direction=Direction(values["direction"]),
        is_group=bool(values["is_group"]),
        context=tuple(OtherWords(name, text) for name, text in json.loads(values["context"])),
        state=DeliveryState(values["state"]),
        user=values["user_id"],
    )
