"""Sessions, their messages and their summaries: rows in, records out. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt, NotFound
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.records.session import Channel, Loaded, Message, Page, Role, Session, Summary, ToolCall
from picomem.store.connector import Row, Transaction
from picomem.store.reading_order import check_rises
from picomem.store.row_hash import by_name, is_whole, record_of
from picomem.store.sql_access import sql
from picomem.store.tables.memory_lineage import purge_parents
from picomem.store.tables.session_names import Place, find_session
from picomem.store.unchecked_rows import Stored, stored


class SessionText(NamedTuple):
    """The names of a session: its title, its channel id and its project."""

    id: str
    project: str
    channel_id: str
    title: str


class MessageText(NamedTuple):
    """The text of a message, its tool calls as stored (JSON), and the call that it answers."""

    session_id: str
    seq: int
    id: str
    content: str
    tool_calls: str
    tool_call_id: str
    tokens: int


class SummaryText(NamedTuple):
    """The text of a session's summary."""

    session_id: str
    text: str


class ToolIds(NamedTuple):
    """The ids of the calls that a message makes, and of the call that it answers; empty where it answers none."""

    calls: tuple[str, ...]
    answers: str


class MessageMark(NamedTuple):
    """The number of a message, and a hash that differs once the message is rewritten."""

    seq: int
    row_hash: str


def put(tx: Transaction, session: Session) -> None:
    """Store a session; of one that is there, its title, state and times."""
    values = {name: getattr(session, name) for name in Session.__slots__ if name != "scope"}
    values["channel"] = session.channel.value
    scope = session.scope
    sql(tx).run(
        "put_session",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        **values,
    )


def session(tx: Transaction, scope: Scope, session_id: str) -> Session | None:
    """The session of that very id. Raises Corrupt where its row does not match its hash."""
    row = sql(tx).one("session", user=scope.user, id=session_id)
    if row is None:
        return None
    loaded = from_row(scope, row)
    if loaded is None:
        raise Corrupt(
            CodedText("failure.damaged_session", name=session_id, command=Command("doctor")),
            id=session_id,
        )
    return loaded


def of_channel(tx: Transaction, scope: Scope, channel: str, channel_id: str) -> Session | None:
    """The session of a scope that a channel calls so, the latest that is not archived; a damaged one is passed over."""
    row = sql(tx).one(
        "session_of_channel",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        channel=channel,
        channel_id=channel_id,
    )
    return None if row is None else from_row(scope, row)


def all_of_channel(tx: Transaction, scope: Scope, channel: str, channel_id: str, limit: int) -> list[Session]:
    """The sessions that a channel calls so and that are not archived, the latest first; damaged ones are left out."""
    rows = sql(tx).all("sessions_of_channel", user=scope.user, channel=channel, channel_id=channel_id, limit=limit)
    return [session for row in rows if (session := from_row(scope, row)) is not None]


def find_id(tx: Transaction, scope: Scope, prefix: str) -> str:
    """The id of the session that is called so, or whose id alone begins so. Raises NotFound."""
    named = find_session(tx, scope, prefix, Place.CONVERSATIONS)
    if not named:
        raise NotFound(CodedText("failure.no_conversation", name=prefix[:80], command=Command("sessions")))
    return named


def page(
    tx: Transaction, scope: Scope, channel: str, archived: bool, after: tuple[Micros, str] | None, limit: int
) -> Page:
    """The sessions of a scope, latest first, from the one behind `after` (its last activity and id)."""
    at, last_id = after or (None, "")
    rows = sql(tx).all(
        "sessions_page",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        channel=channel,
        archived=int(archived),
        at=at,
        id=last_id,
        limit=limit + 1,
    )
    shown = [(row, from_row(scope, row)) for row in rows[:limit]]
    return Page(
        sessions=tuple((loaded, count_messages(tx, scope, loaded.id)) for _, loaded in shown if loaded is not None),
        cursor=f"{rows[limit - 1][10]}:{rows[limit - 1][0]}" if len(rows) > limit else "",
        damaged=tuple(str(row[0]) for row, loaded in shown if loaded is None),
    )


def inactive_since(tx: Transaction, scope: Scope, before: Micros) -> list[Session]:
    """The user's sessions without a message since `before`. Damaged rows are left out: their age is unknown."""
    rows = sql(tx).all("sessions_before", user=scope.user, before=before)
    return [session for row in rows if (session := from_row(scope, row)) is not None]


def delete(tx: Transaction, scope: Scope, session_id: str) -> None:
    """Delete a session with its messages, its summary and the records of its consolidations."""
    purge_parents(tx, scope, "summary", session_id)
    sql(tx).run("purge_session", user=scope.user, id=session_id)


def delete_messages(tx: Transaction, scope: Scope, session_id: str, seqs: Sequence[int]) -> None:
    """Delete the messages of those numbers."""
    sql(tx).run("purge_messages", user=scope.user, session_id=session_id, seqs=json.dumps(seqs))


def delete_summary(tx: Transaction, scope: Scope, session_id: str) -> None:
    """Delete a session's summary."""
    sql(tx).run("purge_summary", user=scope.user, session_id=session_id)


def ids(tx: Transaction, scope: Scope) -> list[str]:
    """The ids of the user's sessions, in order."""
    return [str(session_id) for (session_id,) in sql(tx).all("session_ids", user=scope.user)]


def count(tx: Transaction, scope: Scope) -> int:
    """Return how many sessions the user has."""
    row = sql(tx).one("count_sessions", user=scope.user)
    return int(row[0]) if row else 0


def count_all_messages(tx: Transaction, scope: Scope) -> int:
    """Return how many messages the user's sessions have in all."""
    row = sql(tx).one("count_all_messages", user=scope.user)
    return int(row[0]) if row else 0


def stored_sessions(tx: Transaction, scope: Scope) -> Iterator[Stored[SessionText]]:
    """The names of every session of the user, by id."""
    rows = sql(tx).all("all_sessions", user=scope.user)
    return stored("sessions", _session_text, rows)


def stored_messages(tx: Transaction, scope: Scope) -> Iterator[Stored[MessageText]]:
    """The text of every message of the user, in the order of the sessions."""
    rows = sql(tx).all("all_messages", user=scope.user)
    return stored("messages", _message_text, rows)


def stored_summaries(tx: Transaction, scope: Scope) -> Iterator[Stored[SummaryText]]:
    """The text of every summary of the user, by session."""
    rows = sql(tx).all("all_summaries", user=scope.user)
    return stored("session_summaries", _summary_text, rows)


def rewrite_text(tx: Transaction, scope: Scope, text: SessionText) -> None:
    """Store another title for a session, and another id of its channel."""
    sql(tx).run("rewrite_session_text", user=scope.user, id=text.id, title=text.title, channel_id=text.channel_id)


def rewrite_message(tx: Transaction, scope: Scope, text: MessageText) -> None:
    """Store another text for a message, with other calls and tokens."""
    sql(tx).run(
        "rewrite_message_text",
        user=scope.user,
        session_id=text.session_id,
        seq=text.seq,
        content=text.content,
        tool_calls=text.tool_calls,
        tool_call_id=text.tool_call_id,
        tokens=text.tokens,
    )


def rewrite_summary(tx: Transaction, scope: Scope, text: SummaryText) -> None:
    """Store another text for a summary."""
    sql(tx).run("rewrite_summary_text", user=scope.user, session_id=text.session_id, summary=text.text)


def insert_message(tx: Transaction, scope: Scope, message: Message) -> None:
    """Store a message; its text is redacted already."""
    values = {name: getattr(message, name) for name in Message.__slots__}
    values |= {
        "role": message.role.value,
        "origin": message.origin.value,
        "tool_calls": _calls_json(message.tool_calls),
    }
    sql(tx).run("insert_message", user=scope.user, **values)


def count_messages(tx: Transaction, scope: Scope, session_id: str, before: int = 1 << 62) -> int:
    """Return how many messages the session has, or has before the number `before`."""
    (count,) = sql(tx).one("count_messages", user=scope.user, session_id=session_id, before=before) or (0,)
    return int(count)


def last_seq(tx: Transaction, scope: Scope, session_id: str) -> int:
    """The number of the last message; 0 where there is none."""
    (last,) = sql(tx).one("last_message_seq", user=scope.user, session_id=session_id) or (None,)
    return int(last or 0)


def last_user_seq(tx: Transaction, scope: Scope, session_id: str) -> int:
    """The number of the user's newest message; 1 where there is none."""
    (last,) = sql(tx).one("last_user_seq", user=scope.user, session_id=session_id) or (None,)
    return int(last or 1)


def messages_after(tx: Transaction, scope: Scope, session_id: str, seq: int) -> Loaded:
    """Every message behind the number `seq`."""
    rows = sql(tx).all("messages_after", user=scope.user, session_id=session_id, seq=seq)
    return _loaded(tx, scope, session_id, rows)


def messages_page(tx: Transaction, scope: Scope, session_id: str, after: int, limit: int) -> Loaded:
    """The first messages behind a number, `limit` at most. Raises Corrupt where they are out of order."""
    rows = sql(tx).all("messages_page", user=scope.user, session_id=session_id, seq=after, limit=limit)
    if rows:
        check_rises(after, by_name("messages", rows[-1])["seq"], "messages")
    return _loaded(tx, scope, session_id, rows)


def message_by_id(tx: Transaction, scope: Scope, message_id: str) -> Message | None:
    """The message of that very id; None where there is none, or it does not match its hash."""
    row = sql(tx).one("message_by_id", user=scope.user, id=message_id)
    return None if row is None else _message(row)


def marks(tx: Transaction, scope: Scope, session_id: str, after: int, last: int) -> tuple[MessageMark, ...]:
    """A value that changes if a message behind `after` and up to `last` is added, rewritten or deleted."""
    rows = sql(tx).all("message_marks", user=scope.user, session_id=session_id, after=after, last=last)
    return tuple(map(MessageMark._make, rows))


def last_messages(tx: Transaction, scope: Scope, session_id: str, limit: int) -> Loaded:
    """The last messages, `limit` at most."""
    rows = sql(tx).all("last_messages", user=scope.user, session_id=session_id, limit=limit)
    return _loaded(tx, scope, session_id, rows[::-1])


def messages_between(tx: Transaction, scope: Scope, session_id: str, after: int, before: int, limit: int) -> Loaded:
    """The last messages between two numbers, `limit` at most."""
    rows = sql(tx).all(
        "messages_between", user=scope.user, session_id=session_id, after=after, before=before, limit=limit
    )
    return _loaded(tx, scope, session_id, rows[::-1])


def end_mark(tx: Transaction, scope: Scope, session_id: str, limit: int) -> object:
    """A value that changes if any of the last messages is added, rewritten or deleted, or any before them."""
    rows = sql(tx).all("session_end", user=scope.user, session_id=session_id, limit=limit)
    return count_messages(tx, scope, session_id), tuple(rows)


def tool_messages(tx: Transaction, scope: Scope, session_id: str, after: int) -> list[ToolIds]:
    """The tool calls and answered calls of each message behind a number that has any."""
    rows = sql(tx).all("tool_messages", user=scope.user, session_id=session_id, after=after)
    return [ToolIds(tuple(call.id for call in _calls(calls) or ()), str(answers)) for _, calls, answers in rows]


def summary(tx: Transaction, scope: Scope, session_id: str) -> Summary | None:
    """The session's summary; None too where its row is damaged, for it can be made again."""
    row = sql(tx).one("session_summary", user=scope.user, session_id=session_id)
    if row is None or not is_whole("session_summaries", row):
        return None
    values = by_name("session_summaries", row)
    return record_of(Summary, values, text=values["summary"], origin=Origin(values["origin"]))


def covered(tx: Transaction, scope: Scope) -> dict[str, int]:
    """Up to which message the summary of each session goes, by the id of the session."""
    return dict(sql(tx).all("summaries_covered", user=scope.user))


def put_summary(tx: Transaction, scope: Scope, summary: Summary) -> None:
    """Store a session's one summary, in place of the one before."""
    sql(tx).run(
        "put_session_summary",
        user=scope.user,
        session_id=summary.session_id,
        summary=summary.text,
        origin=summary.origin.value,
        message_count=summary.message_count,
        covered_seq=summary.covered_seq,
        created_at=summary.created_at,
        updated_at=summary.updated_at,
    )


def _loaded(tx: Transaction, scope: Scope, session_id: str, rows: Sequence[Row]) -> Loaded:
    if not rows:
        return Loaded()
    messages = [(row[1], _message(row)) for row in rows]
    return Loaded(
        messages=tuple(message for _, message in messages if message is not None),
        damaged=tuple(seq for seq, message in messages if message is None),
        before=count_messages(tx, scope, session_id, rows[0][1]),
    )


def _message(row: Row) -> Message | None:
    """A row as a record, or None where it does not match its hash."""
    values = by_name("messages", row)
    calls = _calls(values["tool_calls"]) if is_whole("messages", row) else None
    if calls is None:
        return None
    role, origin = Role(values["role"]), Origin(values["origin"])
    return record_of(Message, values, role=role, tool_calls=calls, origin=origin)


def from_row(scope: Scope, row: Row) -> Session | None:
    """A row as a record, or None where it does not match its hash."""
    if not is_whole("sessions", row):
        return None
    values = by_name("sessions", row)
    whose = Scope(scope.user, values["agent"], values["project"])
    return record_of(Session, values, scope=whose, channel=Channel(values["channel"]))


def _session_text(row: Row) -> SessionText:
    values = by_name("sessions", row)
    return SessionText(values["id"], values["project"], values["channel_id"], values["title"])


def _message_text(row: Row) -> MessageText:
    values = by_name("messages", row)
    return MessageText(**{name: values[name] for name in MessageText._fields})


def _summary_text(row: Row) -> SummaryText:
    values = by_name("session_summaries", row)
    return SummaryText(values["session_id"], values["summary"])


def _calls_json(calls: Iterable[ToolCall]) -> str:
    return json.dumps([[call.id, call.name, call.arguments] for call in calls], ensure_ascii=False)


def _calls(stored: str) -> tuple[ToolCall, ...] | None:
    """The calls as they were stored; None where that cannot be read."""
    try:
        return tuple(ToolCall(*map(str, call)) for call in json.loads(stored))
    except (ValueError, TypeError):
        return None
