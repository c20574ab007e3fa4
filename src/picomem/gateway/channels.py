"""The channels of the server: routes for the channels in the settings, and the worker that answers on them."""

from __future__ import annotations

import hmac
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from picomem.channels.answering import LOOK_SECONDS, Accounts, WorkSignal, answer_waiting
from picomem.channels.whatsapp import (
    SendStatus,
    WhatsAppAccount,
    changes_in,
    is_signature,
    is_signed,
    messages_in,
    other_numbers,
    settings_of_accounts,
    statuses_in,
)
from picomem.engine.channel_contacts import ChangedIds, ask_to_pair, person_of, take_change
from picomem.engine.channel_log import ChannelLog, Incoming, users_with_work
from picomem.errors import Forbidden, NotFound, StoreError
from picomem.gateway.error_replies import parsed
from picomem.gateway.limits import RequestRates
from picomem.light_dataclass import replace
from picomem.records.caller import OWN_DATA, Caller
from picomem.records.channel_message import DIRECTORY, OtherWords
from picomem.runtime import Runtime
from picomem.settings_tables import WhatsAppSettings
from picomem.text.inert_text import one_line

# `/channels/whatsapp/ACCOUNT`: the webhook of Meta's Cloud API for WhatsApp.
#
# These addresses need no token: verification shows the token that the owner chose, and every message is signed with
# the app's secret. A message is acknowledged when it is stored; channels/answering.py answers it.
#
# Messages of others in a group stay in this process, for an hour at most, and are stored with the next message that
# addresses PicoBot.

UNKNOWN = "I do not know you yet. Ask the owner of this PicoBot to accept you, and then write again."
_THREADS = 4
_MOST_GROUPS = 1_000
_MOST_WORDS = 20  # of others, before a message
_WORDS_SECONDS = 3_600.0
_LONGEST_WORDS = 1_000  # characters
_LONGEST_NUMBER = 40

_log = logging.getLogger("picomem")


class WhatsAppWebhook:
    """The routes of the accounts in the settings."""

    def __init__(self, runtime: Runtime, news: WorkSignal) -> None:
        self._runtime = runtime
        accounts = settings_of_accounts(runtime.settings.whatsapp)
        self._accounts = {settings.account: settings for settings in accounts.values()}
        self._names = runtime.settings.channels.names
        self._group_answers = runtime.settings.channels.group_answers
        self._news = news
        self._threads = CapacityLimiter(_THREADS)  # apart from others': writers may wait for their lock
        self._groups: dict[tuple[str, str], deque[tuple[float, OtherWords]]] = {}  # by account and conversation

    async def verify(self, request: Request) -> Response:
        """Meta's question whether this address is ours."""
        asked = request.query_params
        settings = self._settings_of(request)
        shown, expected = asked.get("hub.verify_token", ""), settings.verify_token
        is_ours = hmac.compare_digest(shown.encode("utf-8", "replace"), expected.encode())
        if asked.get("hub.mode") != "subscribe" or not expected or not is_ours:
            raise Forbidden(
                "The verification token is not the one of the settings; enter whatsapp.verify_token in Meta's settings."
            )
        return PlainTextResponse(asked.get("hub.challenge", "")[:200])

    async def receive(self, request: Request) -> Response:
        """Messages, and statuses of what was sent."""
        settings = self._settings_of(request)
        signature, secret = request.headers.get("X-Hub-Signature-256", ""), settings.app_secret
        can_be_signed = bool(secret) and is_signature(signature)
        body = await request.body() if can_be_signed else b""
        if not can_be_signed or not is_signed(body, signature, secret):
            raise Forbidden(
                "The signature is not that of the app; set whatsapp.app_secret to the secret of the app that sends."
            )
        payload = parsed(body)
        for number in other_numbers(payload, settings.phone_number_id):
            _log.warning(
                "picomem: what came to /channels/whatsapp/%s for the phone number id %s was left out: set "
                "phone_number_id of the account to that id, or let Meta send it to the account of that number.",
                settings.account,
                one_line(number, _LONGEST_NUMBER),
            )
        now = self._runtime.engine().now()
        messages = messages_in(payload, settings, self._names, now)
        statuses = statuses_in(payload, settings.phone_number_id)
        changes = changes_in(payload, settings)
        await to_thread.run_sync(self._take, changes, messages, statuses, limiter=self._threads)
        self._news.tell()
        return Response(status_code=200)

    def _settings_of(self, request: Request) -> WhatsAppSettings:
        settings = self._accounts.get(request.path_params["account"])
        if settings is None:
            raise NotFound("There is no such account; [whatsapp] of the settings names them.")
        return settings

    def _take(self, changes: list[ChangedIds], messages: list[Incoming], statuses: list[SendStatus]) -> None:
        for change in changes:
            take_change(self._runtime.engine(), change)
        for message in messages:
            self._take_message(message)
        if statuses:
            users = users_with_work(self._runtime.engine())
            for status in statuses:
                for user in users:
                    if self._channel_log(user).heard_of(status.message_id, status.native_id, status.problem):
                        break

    def _take_message(self, message: Incoming) -> None:
        person = person_of(self._runtime.engine(), message)
        if message.is_group:
            answers = self._group_answers
            is_meant = bool(person) and (answers == "always" or (answers == "addressed" and message.is_addressed))
            if not is_meant:
                self._overhear(message)
                return
            message = replace(message, context=self._heard(message))
        if person:
            self._channel_log(person).receive(message)
        elif ask_to_pair(self._runtime.engine(), message):
            unknown = replace(message, conversation=f"pairing:{message.native_ids[0]}")
            self._channel_log(DIRECTORY).say(unknown, UNKNOWN)

    def _overhear(self, message: Incoming) -> None:
        if message.text.strip():
            group = (message.account, message.conversation)
            words = self._groups.pop(group, deque(maxlen=_MOST_WORDS))
            words.append((time.monotonic(), OtherWords(message.name or "somebody", message.text[:_LONGEST_WORDS])))
            self._groups[group] = words
            if len(self._groups) > _MOST_GROUPS:
                del self._groups[next(iter(self._groups))]

    def _heard(self, message: Incoming) -> tuple[OtherWords, ...]:
        since = time.monotonic() - _WORDS_SECONDS
        heard = self._groups.pop((message.account, message.conversation), ())
        return tuple(words for at, words in heard if at >= since)

    def _channel_log(self, user: str) -> ChannelLog:
        return ChannelLog(self._runtime.engine(Caller(user, "channel:whatsapp", OWN_DATA)))


_Answer = Callable[[Request], Awaitable[Response]]


class Channels:
    """All channels; one for each server."""

    def __init__(self, runtime: Runtime, rates: RequestRates) -> None:
        self._runtime = runtime
        self._rates = rates
        self._news = WorkSignal()
        self._accounts: Accounts = _accounts(runtime)

    def routes(self) -> list[Route]:
        """The addresses at which channels deliver messages."""
        verify, receive = _no_account, _no_account
        if self._accounts:
            whatsapp = WhatsAppWebhook(self._runtime, self._news)
            verify, receive = whatsapp.verify, whatsapp.receive
        path = "/channels/whatsapp/{account}"
        return [
            Route(path, self._counting_strangers(verify), methods=["GET"]),
            Route(path, self._counting_strangers(receive), methods=["POST"]),
        ]

    def _counting_strangers(self, answer: _Answer) -> _Answer:
        """The same, with a rate for callers who cannot prove that they are the channel. The channel itself has none:
        behind a proxy it would share that of a stranger, who could keep its messages out."""

        async def counting(request: Request) -> Response:
            try:
                return await answer(request)
            except (Forbidden, NotFound):
                self._rates.count_stranger(request.scope)
                raise

        return counting

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer messages until the end of the block."""
        async with anyio.create_task_group() as tasks:
            if self._accounts:
                tasks.start_soon(self._answer)
            yield
            tasks.cancel_scope.cancel()

    async def _answer(self) -> None:
        since = self._runtime.engine().now()
        while True:
            wait = LOOK_SECONDS
            try:
                wait = await answer_waiting(self._runtime, self._accounts, self._news, since)
            except StoreError as error:
                _log.warning("picomem: messages on channels wait: %s", one_line(str(error)))
            await self._news.wait(wait)


async def _no_account(_request: Request) -> Response:
    raise NotFound("There is no such account; [whatsapp] of the settings names them.")


def _accounts(runtime: Runtime) -> Accounts:
    whatsapp = runtime.settings.whatsapp
    if not (whatsapp.account or whatsapp.accounts):
        return {}
    accounts = [WhatsAppAccount(account, table) for table, account in settings_of_accounts(whatsapp).items()]
    return {(account.channel, account.account): account for account in accounts}
