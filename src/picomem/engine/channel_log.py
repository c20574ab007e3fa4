"""One person's messages on the channels: incoming ones that wait for an answer, and outgoing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from picomem.clock import SECOND, Micros
from picomem.engine.engine import Engine
from picomem.errors import NotFound
from picomem.light_dataclass import dataclass, replace
from picomem.memory.lease import Heartbeat, Lease
from picomem.records.channel_message import ChannelMessage, DeliveryState, Direction, OtherWords
from picomem.records.ids import new_id
from picomem.records.kinds import Origin
from picomem.records.session import Channel, Message, NewMessage, Role
from picomem.sessions.pairs import one_of
from picomem.store.tables import channel_messages
from picomem.text.inert_text import one_line
from picomem.text.storable import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message as a channel delivers it. `native_ids` are all ids that it gives for the sender, the surest first."""

    channel: str
    account: str
    conversation: str
    native_id: str
    native_ids: tuple[str, ...]
    address: str
    name: str = ""
    is_group: bool = False
    is_addressed: bool = True
    text: str
    context: tuple[OtherWords, ...] = ()
    said_at: Micros


class ChannelLog:
    """The messages of the engine's user."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connector = engine._context.connector
        self._scope = engine.scope

    def receive(self, incoming: Incoming) -> bool:
        """Store a message that came in; False if it is stored already. What waited for the person to write again is
        sent now."""
        now = self._engine.now()
        with self._connector.write(self._scope) as tx:
            if channel_messages.is_there(tx, self._scope, incoming.channel, incoming.account, incoming.native_id):
                return False
            message = ChannelMessage(
                user=self._scope.user,
                id=new_id(),
                channel=incoming.channel,
                account=incoming.account,
                conversation=incoming.conversation,
                direction=Direction.IN,
                native_id=incoming.native_id,
                address=incoming.address,
                is_group=incoming.is_group,
                text=self._safe(incoming.text),
                context=tuple(
                    OtherWords(one_line(self._safe(words.name)), self._safe(words.text)) for words in incoming.context
                ),
                state=DeliveryState.WAITING,
                said_at=incoming.said_at,
                created_at=now,
                due_at=now,
            )
            channel_messages.put(tx, message)
            for held in channel_messages.held(tx, self._scope, message.channel, message.account, message.conversation):
                channel_messages.put(tx, replace(held, state=DeliveryState.READY, due_at=now))
        return True

    def unfinished(self) -> list[ChannelMessage]:
        """Return the messages that wait for an answer or for sending, oldest first."""
        with self._connector.read() as tx:
            return channel_messages.unfinished(tx, self._scope)

    def message(self, message_id: str) -> ChannelMessage | None:
        """The message of that id; None where there is none."""
        with self._connector.read() as tx:
            return channel_messages.of_id(tx, self._scope, message_id)

    def lease(self, conversation: str) -> Lease:
        """The lease on the work of a conversation."""
        return Lease(scope=self._scope, name=f"channel {conversation}", clock=self._engine._context.clock)

    def take(self, lease: Lease) -> bool:
        """Take the lease; False if another process has it."""
        with self._connector.write(self._scope) as tx:
            return lease.acquire(tx)

    def heartbeat(self, lease: Lease) -> Heartbeat:
        """Renew the lease until it is stopped."""
        return Heartbeat(self._connector, lease)

    def give_back(self, lease: Lease) -> None:
        """Let another process have it."""
        with self._connector.write(self._scope) as tx:
            lease.give_back(tx)

    def last_said(self, message: ChannelMessage) -> Micros:
        """Return when the person wrote last in that conversation, in the channel's time."""
        with self._connector.read() as tx:
            return channel_messages.last_said(tx, self._scope, message.channel, message.account, message.conversation)

    def into_session(self, message: ChannelMessage) -> Message | None:
        """The message in the session of its conversation, where it is stored if it is not there yet; None if somebody
        has erased it since. What others said before it, in a group, is stored with the origin `other`."""
        log = self._engine.sessions()
        if message.message_id:
            try:
                stored = log.load(message.session_id).messages
            except NotFound:
                return None
            return next((said for said in stored if said.id == message.message_id), None)
        channel = one_of(Channel, message.channel, "channel")
        with self._connector.write(self._scope) as tx:
            session = log.named(channel, f"{message.account}/{message.conversation}")
            others = [
                NewMessage(role=Role.USER, content=f"{words.name}: {words.text}", origin=Origin.OTHER)
                for words in message.context
            ]
            asked = log.append(session.id, *others, NewMessage(role=Role.USER, content=message.text))[-1]
            channel_messages.put(tx, replace(message, session_id=session.id, message_id=asked.id))
        return asked

    def finished_answer(self, asked: Message) -> str:
        """The answer that a turn came to before its process ended; empty if it came to none."""
        for message in self._engine.sessions().load(asked.session_id, after=asked.seq).messages:
            if message.role is Role.USER:
                break
            if message.role is Role.ASSISTANT and not message.tool_calls:
                return message.content
        return ""

    def answer(self, message: ChannelMessage, parts: Sequence[str]) -> None:
        """Store the parts of an answer as what goes out. Without parts the message needs none."""
        now = self._engine.now()
        with self._connector.write(self._scope) as tx:
            current = channel_messages.of_id(tx, self._scope, message.id)
            if current is None or current.state is not DeliveryState.WAITING:
                return
            channel_messages.put(tx, replace(current, state=DeliveryState.ANSWERED, text="", context=(), reason=""))
            for part in parts:
                channel_messages.put(
                    tx,
                    replace(
                        current,
                        id=new_id(),
                        direction=Direction.OUT,
                        native_id="",
                        text=self._safe(part),
                        context=(),
                        state=DeliveryState.READY,
                        reason="",
                        created_at=now,
                        due_at=now,
                        attempts=0,
                    ),
                )

    def say(self, incoming: Incoming, text: str) -> None:
        """Store something that goes out to a sender who is not accepted."""
        now = self._engine.now()
        with self._connector.write(self._scope) as tx:
            channel_messages.put(
                tx,
                ChannelMessage(
                    user=self._scope.user,
                    id=new_id(),
                    channel=incoming.channel,
                    account=incoming.account,
                    conversation=incoming.conversation,
                    direction=Direction.OUT,
                    address=incoming.address,
                    text=text,
                    state=DeliveryState.READY,
                    said_at=incoming.said_at,
                    created_at=now,
                    due_at=now,
                ),
            )

    def put_off(self, message: ChannelMessage, seconds: float, reason: str) -> None:
        """Try again later, because that went wrong for sure."""
        later = self._engine.now() + round(seconds * SECOND)
        state = DeliveryState.WAITING if message.direction is Direction.IN else DeliveryState.READY
        self._change(
            message,
            lambda now: replace(now, state=state, due_at=later, attempts=now.attempts + 1, reason=self._safe(reason)),
        )

    def begin_sending(self, message: ChannelMessage, unsure_seconds: float) -> None:
        """Note that a message may go out from now on. If nothing more is heard of it in so many seconds, it did not."""
        later = self._engine.now() + round(unsure_seconds * SECOND)
        self._change(
            message, lambda now: replace(now, state=DeliveryState.SENDING, due_at=later, attempts=now.attempts + 1)
        )

    def sent(self, message: ChannelMessage, native_id: str) -> None:
        """Note that a message has gone out."""
        self._change(
            message, lambda now: replace(now, state=DeliveryState.SENT, native_id=native_id, text="", reason="")
        )

    def hold(self, message: ChannelMessage, reason: str) -> None:
        """Keep a message until the person writes again."""
        self._change(message, lambda now: replace(now, state=DeliveryState.HELD, reason=self._safe(reason)))

    def fail(self, message: ChannelMessage, reason: str) -> None:
        """Give a message up."""
        self._change(
            message,
            lambda now: replace(now, state=DeliveryState.FAILED, text="", context=(), reason=self._safe(reason)),
        )

    def heard_of(self, message_id: str, native_id: str, problem: str) -> bool:
        """The channel says what became of a message that went out; whether it is one of this user."""
        message = self.message(message_id)
        if message is None or message.direction is not Direction.OUT:
            return False
        if problem:
            self.fail(message, problem)
        else:
            self.sent(message, native_id)
        return True

    def _change(self, message: ChannelMessage, changed: Callable[[ChannelMessage], ChannelMessage]) -> None:
        """Change a message, unless it has come to its end."""
        with self._connector.write(self._scope) as tx:
            now = channel_messages.of_id(tx, self._scope, message.id)
            if now is not None and now.state not in (DeliveryState.ANSWERED, DeliveryState.SENT, DeliveryState.FAILED):
                channel_messages.put(tx, changed(now))

    def _safe(self, text: str) -> str:
        return self._engine._context.redactor().redact(plain(text)).text


def users_with_work(engine: Engine) -> list[str]:
    """The users with something to answer or to send on any channel."""
    with engine._context.connector.read() as tx:
        return channel_messages.users(tx)
