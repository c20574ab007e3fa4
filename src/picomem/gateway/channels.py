"""The channels of the server: routes for the channels in the settings, and the worker that answers on them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from picomem.channels.answering import LOOK_SECONDS, Accounts, WorkSignal, answer_waiting
from picomem.channels.whatsapp import WhatsAppAccount, settings_of_accounts
from picomem.errors import Forbidden, NotFound, StoreError
from picomem.gateway.request_rates import RequestRates
from picomem.gateway.whatsapp_webhook import WhatsAppWebhook
from picomem.runtime import Runtime
from picomem.text.inert_text import one_line

_Answer = Callable[[Request], Awaitable[Response]]

_log = logging.getLogger("picomem")


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
