"""The log of conversations with PicoBot: sessions, and the messages in them. The thin part: it reads and writes.

A message gets its number in the transaction that stores it, which holds the write lock from its beginning, so that two
processes on one session neither lose nor reorder one. Every text is redacted before it is stored, the arguments of
tool calls too. What belongs together (an assistant's message with its calls, and their results) can be appended at
once, and is then kept whole or not at all; results may also come later, and a call whose result never comes is met by
`pairs.grouped` when messages are read.

What the assistant says after it has read what nobody trusted wrote is stored with that origin (`said.with_origins`), so
that consolidation knows a tool's words when the assistant retells them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from picomem.clock import Clock
from picomem.coded_text import CodedText, Command
from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import replace
from picomem.policy.redact import Redactor
from picomem.records.ids import new_id
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.records.session import Channel, Loaded, Message, NewMessage, Page, Role, Session, Summary
from picomem.sessions.pairs import (
    OpenCalls,
    answers_earlier,
    check_said,
    grouped,
    last_of,
    one_line,
    one_of,
    safe_message,
    safe_said,
    stored_message,
    title_of,
    with_origins,
)
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import session_rows
from picomem.text.storable import plain

_LATEST_RESULT = 1_000  # messages after its call, or it is nobody's
TAIL = 200  # messages of a session's end that are read at once, and cached


class Sessions:
    """The sessions of one user. Ids may be given by their beginning where that is one session's alone."""

    def __init__(self, connector: Connector, scope: Scope, redactor: Callable[[], Redactor], clock: Clock) -> None:
        self._connector = connector
        self._scope = scope
        self._redactor = redactor
        self._clock = clock
        self._tails = TailCache()

    # Writing

    def create(self, channel: Channel | str = Channel.TUI, *, channel_id: str = "", title: str = "") -> Session:
        """Begin a conversation. Raises InvalidInput for an unknown channel."""
        session = self._begun(one_of(Channel, channel, "channel"), self._safe(channel_id), one_line(self._safe(title)))
        with self._connector.write(self._scope) as tx:
            session_rows.put(tx, session)
        return session

    def begin(self, channel: Channel | str, *said: NewMessage) -> list[Message]:
        """Begin a conversation with its first messages, or not at all. Raises as `create` and `append` do."""
        with self._connector.write(self._scope):
            return self.append(self.create(channel).id, *said)

    def named(self, channel: Channel | str, channel_id: str) -> Session:
        """The conversation that a channel calls so: the latest that is not archived, or a new one.

        Raises InvalidInput for an unknown channel and for an empty name.
        """
        chosen, name = one_of(Channel, channel, "channel"), self._safe(channel_id)
        if not name.strip():
            raise InvalidInput("The conversation's name is empty; write a few letters.")
        with self._connector.write(self._scope) as tx:
            session = session_rows.of_channel(tx, self._scope, chosen.value, name)
            if session is None:
                session = self._begun(chosen, name, "")
                session_rows.put(tx, session)
        return session

    def append(self, session_id: str, *said: NewMessage) -> list[Message]:
        """Store messages at the end of a session, all or none; an archived session is taken out of the archive.

        Raises NotFound, and InvalidInput for what no conversation can hold: a result without its call, among others.
        """
        safe = [safe_said(message, self._safe) for message in said]
        with self._connector.write(self._scope) as tx:
            session = self._found(tx, session_id)
            first = self._next_seq(tx, session)
            waiting = OpenCalls()
            if answers_earlier(safe):
                waiting = OpenCalls(session_rows.tool_messages(tx, self._scope, session.id, first - _LATEST_RESULT))
            check_said(safe, waiting)
            if any(message.role is Role.ASSISTANT and message.content for message in safe):
                safe = self._with_origins(tx, session, safe)
            now = self._clock()
            stored = [stored_message(session.id, seq, message, now) for seq, message in enumerate(safe, first)]
            for message in stored:
                session_rows.insert_message(tx, self._scope, message)
            title = session.title or title_of(stored)
            session_rows.put(tx, replace(session, title=title, last_active_at=now, archived_at=None))
        return stored

    def fork(self, session_id: str, at: int) -> Session:
        """A new session with the messages up to and with the number `at`, and the summary if it covers no more.

        Consolidated messages count as consolidated in the fork, too. Damaged messages are not copied,
        and the numbers close up. Raises NotFound, and InvalidInput where `at` is no message or would part a call from
        its result.
        """
        with self._connector.write(self._scope) as tx:
            source = self._found(tx, session_id)
            loaded = session_rows.messages_after(tx, self._scope, source.id, 0)
            kept = [message for message in loaded.messages if message.seq <= at]
            if not kept or kept[-1].seq != at:
                raise InvalidInput(CodedText("failure.no_message", number=str(at), command=Command("messages")))
            groups, _ = grouped(loaded.messages)
            if last_of(groups, sum(group.first <= at for group in groups) - 1) > at:
                raise InvalidInput(
                    f"Message {at} stands between a tool call and its result; fork before or behind them."
                )
            now = self._clock()
            summary = session_rows.summary(tx, self._scope, source.id)
            fork = replace(
                source,
                id=new_id(),
                forked_from=source.id,
                created_at=now,
                last_active_at=now,
                archived_at=None,
                last_consolidated_seq=sum(message.seq <= source.last_consolidated_seq for message in kept),
                consolidation_failures=0,
            )
            session_rows.put(tx, fork)
            for seq, message in enumerate(kept, 1):
                copy = replace(message, session_id=fork.id, seq=seq, id=new_id())
                session_rows.insert_message(tx, self._scope, copy)
            if summary is not None and summary.covered_seq <= at:
                covered = sum(message.seq <= summary.covered_seq for message in kept)
                session_rows.put_summary(tx, self._scope, replace(summary, session_id=fork.id, covered_seq=covered))
        return fork

    def rename(self, session_id: str, title: str) -> Session:
        """Give a session a title. Raises NotFound, and InvalidInput for an empty one."""
        line = one_line(self._safe(title))
        if not line:
            raise InvalidInput("The title is empty; write a few words.")
        return self._changed(session_id, title=line)

    def archive(self, session_id: str) -> Session:
        """Take a session out of the list; nothing of it is lost, and a new message brings it back. Raises NotFound."""
        return self._changed(session_id, archived_at=self._clock())

    def restore(self, session_id: str) -> Session:
        """Take a session out of the archive. Raises NotFound."""
        return self._changed(session_id, archived_at=None)

    # Reading

    def get(self, session_id: str) -> Session:
        """Raises NotFound, and Corrupt where its row is damaged."""
        with self._connector.read() as tx:
            return self._found(tx, session_id)

    def page(self, *, channel: Channel | str = "", archived: bool = False, limit: int = 20, cursor: str = "") -> Page:
        """Sessions, the one that was active last first; `cursor` is the one of the page before.

        Raises InvalidInput for a cursor that no page gave.
        """
        chosen = one_of(Channel, channel, "channel").value if channel else ""
        after = None
        if cursor:
            at, _, last = cursor.partition(":")
            if not (at.isascii() and at.isdigit() and last):
                raise InvalidInput(f"“{cursor[:80]}” is not a cursor; use the cursor of the previous page.")
            after = (int(at), last)
        with self._connector.read() as tx:
            return session_rows.page(tx, self._scope, chosen, archived, after, limit)

    def load(self, session_id: str, *, last: int | None = None, after: int = 0) -> Loaded:
        """The messages of a session: all, the last ones, or those behind a number.

        Rows that are damaged are left out and named. Raises NotFound.
        """
        with self._connector.read() as tx:
            found_id = session_rows.find_id(tx, self._scope, session_id)
            if last is None or last > TAIL:
                loaded = session_rows.messages_after(tx, self._scope, found_id, after)
            else:
                mark = session_rows.end_mark(tx, self._scope, found_id, TAIL)
                kept = self._tails.get(found_id, mark)
                loaded = kept or session_rows.last_messages(tx, self._scope, found_id, TAIL)
                if kept is None:
                    self._tails.put(found_id, mark, loaded)
        return _narrowed(loaded, last, after)

    def between(self, session_id: str, after: int, before: int, last: int) -> Loaded:
        """The last messages between two numbers, as `shown` returns them. Raises NotFound."""
        with self._connector.read() as tx:
            found_id = session_rows.find_id(tx, self._scope, session_id)
            loaded = session_rows.messages_between(tx, self._scope, found_id, after, before, last)
        return self._redacted(loaded)

    def shown(self, session_id: str, *, last: int | None = None, after: int = 0) -> Loaded:
        """Return messages for people, redacted by the current rules."""
        return self._redacted(self.load(session_id, last=last, after=after))

    def _redacted(self, loaded: Loaded) -> Loaded:
        return replace(loaded, messages=tuple(safe_message(message, self._safe) for message in loaded.messages))

    def end_of(self, session_id: str) -> Loaded:
        """The end of a session: its last messages, and all since the user's newest. Raises NotFound."""
        loaded = self.load(session_id, last=TAIL)
        if not loaded.before or any(message.role is Role.USER for message in loaded.messages):
            return loaded
        with self._connector.read() as tx:
            found_id = session_rows.find_id(tx, self._scope, session_id)
            return session_rows.messages_after(
                tx, self._scope, found_id, session_rows.last_user_seq(tx, self._scope, found_id) - 1
            )

    def summary(self, session_id: str) -> Summary | None:
        """The summary of a session's first messages, if there is one. Raises NotFound."""
        with self._connector.read() as tx:
            return session_rows.summary(tx, self._scope, session_rows.find_id(tx, self._scope, session_id))

    # Parts

    def _begun(self, channel: Channel, channel_id: str, title: str) -> Session:
        now = self._clock()
        return Session(
            id=new_id(),
            scope=self._scope,
            channel=channel,
            channel_id=channel_id,
            title=title,
            created_at=now,
            last_active_at=now,
        )

    def _found(self, tx: Transaction, session_id: str) -> Session:
        session = session_rows.session(tx, self._scope, session_rows.find_id(tx, self._scope, session_id))
        if session is None:
            raise NotFound(f"There is no session “{session_id[:80]}”.")
        return session

    def _changed(self, session_id: str, **fields: object) -> Session:
        with self._connector.write(self._scope) as tx:
            session = replace(self._found(tx, session_id), **fields)  # type: ignore[arg-type]
            session_rows.put(tx, session)
        return session

    def _next_seq(self, tx: Transaction, session: Session) -> int:
        """The number after the last, and after those that memory or a summary stands for, deleted or not."""
        summary = session_rows.summary(tx, self._scope, session.id)
        covered = summary.covered_seq if summary else 0
        return max(session_rows.last_seq(tx, self._scope, session.id), session.last_consolidated_seq, covered) + 1

    def _with_origins(self, tx: Transaction, session: Session, said: list[NewMessage]) -> list[NewMessage]:
        summary = session_rows.summary(tx, self._scope, session.id)
        earlier = session_rows.last_messages(tx, self._scope, session.id, TAIL).messages
        return with_origins(said, earlier, summary.origin if summary else Origin.AGENT)

    def _safe(self, text: str) -> str:
        """A text as it may be stored: valid, without secrets; its spaces are its own."""
        return self._redactor().redact(plain(text)).text


def _narrowed(loaded: Loaded, last: int | None, after: int) -> Loaded:
    """Of what was loaded, the last so many rows and those behind a number."""
    seqs = sorted([message.seq for message in loaded.messages] + list(loaded.damaged))
    kept = [seq for seq in seqs if seq > after]
    kept = kept if last is None else kept[max(0, len(kept) - last) :]
    if len(kept) == len(seqs):
        return loaded
    start = kept[0] if kept else (seqs[-1] + 1 if seqs else 1)
    return Loaded(
        messages=tuple(message for message in loaded.messages if message.seq >= start),
        damaged=tuple(seq for seq in loaded.damaged if seq >= start),
        before=loaded.before + len(seqs) - len(kept),
    )


# A cache of the ends of sessions.
#
# An entry is valid only while its rows have the same numbers and hashes, which every lookup checks
# (`store.sessions.end_mark`). So a message of another process is seen at once, and so is a purge. The cache is limited
# by its number of characters; the least recently used entries go first.

MOST_CHARACTERS = 8_000_000


class TailCache:
    """The last messages of some sessions. Safe to share between threads."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[str, tuple[object, Loaded]] = OrderedDict()
        self.characters = 0

    def get(self, session: str, mark: object) -> Loaded | None:
        """The cached end of a session at this mark, or None."""
        with self._lock:
            held = self._held.get(session)
            if held is None or held[0] != mark:
                return None
            self._held.move_to_end(session)
            return held[1]

    def put(self, session: str, mark: object, loaded: Loaded) -> None:
        """Keep it, in place of what was known before."""
        with self._lock:
            old = self._held.pop(session, None)
            self.characters += _characters(loaded) - (_characters(old[1]) if old else 0)
            self._held[session] = (mark, loaded)
            while self.characters > self._most:
                _, (_, dropped) = self._held.popitem(last=False)
                self.characters -= _characters(dropped)


def _characters(loaded: Loaded) -> int:
    return sum(
        len(message.content) + sum(len(call.arguments) for call in message.tool_calls) + 1
        for message in loaded.messages
    )
