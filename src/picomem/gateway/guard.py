"""The checks that every request must pass first: pure ASGI, so that HTTP and sockets pass the same ones.

A page in the user's own browser can reach a server on loopback (DNS rebinding, cross-site requests and sockets). So:

- Host names this server, or it is 421;
- an Origin, which browsers send, is one of ours, and a browser does not say that the request is another site's, or it
  is 403; only a link to the page to sign in may stand elsewhere. A container may publish the server on another port of
  the machine, so on the machine's own names the Origin of the very Host that is asked for is ours too;
- every route needs a token, except those of `OPEN`, `OPEN_PAGES` and `OPEN_CHANNELS`, or it is 401; the token comes in
  the header `Authorization`, for a socket also as the subprotocol `bearer.TOKEN`, never in the address. The web page
  takes the cookie of its session instead, its socket either; a change by a cookie must come with an Origin;
- a token makes no more than so many requests in a time, and an address no more without a valid one, or it is 429;
- a user, and an address without a token, has no more than a share of the connections in use, and so many sockets and
  streams at once, or it is 429 (`Shares`);
- a body has at most so many bytes, whatever it says of its length, or it is 413; a body that does not come is 408.

What passed has its `Caller` in `scope["state"]["caller"]`, and its token, which a socket or a stream may outlive, in
`["credential"]`. No answer of ours carries a stack trace or a CORS header.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import anyio

from picomem.errors import PicomemError, TooLarge, TooManyRequests, TooSlow
from picomem.gateway.error_replies import error_headers, http_error, remote_sentence
from picomem.gateway.limits import RequestRates, address_of
from picomem.light_dataclass import dataclass
from picomem.records.access_token import Credential
from picomem.records.caller import Caller

Owner = tuple[str, str]  # "user" or "address", and which


class Shares:
    """At most `most` of one kind for each owner. Not for threads: it lives in the event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[Owner] = Counter()

    @contextmanager
    def taken(self, owner: Owner) -> Iterator[bool]:
        """Take one until the end of the block; False where the owner has all of theirs."""
        if self._open[owner] >= self.most:
            yield False
            return
        self._open[owner] += 1
        try:
            yield True
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]


Message = MutableMapping[str, Any]
ReceiveMessage = Callable[[], Awaitable[Message]]
SendMessage = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], ReceiveMessage, SendMessage], Coroutine[Any, Any, None]]
FindCaller = Callable[[Credential], Awaitable[Caller | None]]

OPEN = frozenset({"/health", "/ready", "/proof"})  # they say that the process works, and which it is; nothing else
SIGN_IN = "/sign-in"
CERTIFICATE = "/purge/certificate"  # gives back what the page has sealed, because the session may be purged as well
OPEN_PAGES = (SIGN_IN, "/static/", CERTIFICATE)  # beginnings of addresses that hold nothing of anybody
OPEN_CHANNELS = ("/channels/whatsapp/",)  # beginnings of addresses that check who calls by themselves
SUBPROTOCOL = "bearer."
SOCKET = "/ws"
MCP = "/mcp"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")  # of this machine, which no other site can make its own
_ONCE = frozenset(
    """authorization content-length host mcp-protocol-version mcp-session-id origin picomem-user sec-fetch-dest
    sec-fetch-mode sec-fetch-site transfer-encoding x-hub-signature-256""".split()
)
_CLOSED = {"Connection": "close"}  # what comes next on the connection may be no request
_WRONG_HOST = 421
_CLOSING_SECONDS = 5.0  # for which a socket that was refused is waited for


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a caller: bytes of a body and of a frame, sockets and streams at once, sessions of MCP, requests a
    second and at once (of an address without a valid token in `strangers_burst`), seconds for the head and for the body
    of a request to come, and for a client to read on; and the number of connections at once, over all callers."""

    body: int = 1 << 20
    frame: int = 1 << 18
    sockets: int = 64
    sessions: int = 256
    rate: float = 50.0
    burst: int = 200
    strangers_burst: int = 1_000
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    read_seconds: float = 20.0
    connections: int = 512

    @property
    def share(self) -> int:
        """The number of connections that one user, or one address without a token, may have in use."""
        return max(1, self.connections // 4)


class GuardedPages(Protocol):
    """The web page, as the guard needs it."""

    def owns(self, path: str) -> bool:
        """Return whether the cookie of a session is the only token that is taken at this address."""
        ...

    def takes_session(self, path: str) -> bool:
        """Return whether the cookie of a session is taken at this address."""
        ...

    def session_token(self, scope: MutableMapping[str, Any], cookies: str) -> str:
        """The token in a header `Cookie`; empty where there is none."""
        ...

    def refusal(
        self, scope: MutableMapping[str, Any], status: int, code: str, message: str, headers: dict[str, str]
    ) -> Application:
        """An answer that a person reads."""
        ...


class Guard:
    """An ASGI application around another."""

    def __init__(
        self,
        application: Application,
        find_caller: FindCaller,
        *,
        hosts: Iterable[str],
        origins: Iterable[str],
        limits: Limits,
        rates: RequestRates,
        pages: GuardedPages | None = None,
    ) -> None:
        """`hosts` are names without a port; `origins` are whole, as `http://127.0.0.1:8765`."""
        self._pages = pages
        self._application = application
        self._find_caller = find_caller
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origins)
        self._limits = limits
        self._rates = rates
        self._connections = Shares(limits.share)
        self._held = Shares(limits.sockets)  # what lasts until its client ends it

    async def __call__(self, scope: MutableMapping[str, Any], receive: ReceiveMessage, send: SendMessage) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        headers = _headers(scope)
        refused = _ambiguous(scope) or self._foreign(scope, headers)
        caller: Caller | None = None
        credential = Credential("")
        if refused is None and scope["path"].startswith(OPEN_PAGES):
            refused = self._too_often(None, scope)
        elif refused is None and scope["path"] not in OPEN and not scope["path"].startswith(OPEN_CHANNELS):
            credential = self._credential(scope, headers)
            refused = _without_origin(scope, headers) if credential.is_cookie else None
            if refused is None:
                try:
                    caller = await self._find_caller(credential)
                except PicomemError as error:
                    refused = (error.status, error.code, remote_sentence(error), {})
                else:
                    refused = self._unknown(caller, scope)
        scope.setdefault("state", {})["credential"] = credential
        if refused is None and scope["type"] == "http":
            refused = self._too_large(headers)
        with ExitStack() as shares:
            if refused is None and scope["path"] not in OPEN:
                refused = self._beyond_share(scope, caller, shares)
            if refused is not None:
                await self._refuse(scope, receive, send, headers, refused)
                return
            scope["state"]["caller"] = caller
            is_request = scope["type"] == "http"
            await self._application(scope, self._bounded(receive) if is_request else receive, send)

    def _credential(self, scope: MutableMapping[str, Any], headers: dict[str, str]) -> Credential:
        """The token of a request, from the place where its address takes one."""
        is_of_page = self._pages is not None and self._pages.owns(scope["path"])
        token = "" if is_of_page else _token(scope, headers)
        if self._pages and not token and self._pages.takes_session(scope["path"]):
            token = self._pages.session_token(scope, headers.get("cookie", ""))
            return Credential(token, is_cookie=bool(token))
        return Credential(token)

    async def _refuse(
        self,
        scope: MutableMapping[str, Any],
        receive: ReceiveMessage,
        send: SendMessage,
        headers: dict[str, str],
        refused: tuple[int, str, str, dict[str, str]],
    ) -> None:
        status, code, message, further = refused
        is_read = scope["type"] == "http" and status != _WRONG_HOST and "text/html" in headers.get("accept", "")
        if self._pages and is_read:
            await self._pages.refusal(scope, status, code, message, further)(scope, receive, send)
        else:
            await refuse(scope, receive, send, *refused)

    def _foreign(
        self, scope: MutableMapping[str, Any], headers: dict[str, str]
    ) -> tuple[int, str, str, dict[str, str]] | None:
        host = headers.get("host", "").lower()
        if host_name(host) not in self._hosts:
            return (
                421,
                "wrong_host",
                "This server does not go by that name; name it in hosts of [server] in the settings.",
                {},
            )
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins and not _is_published(origin, host):
            return (
                403,
                "foreign_origin",
                "Pages of other sites may not ask; a proxy's name belongs in hosts of [server].",
                {},
            )
        is_of_other_site = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if is_of_other_site and not _leads_to_sign_in(scope, headers):
            return 403, "foreign_origin", "Pages of other sites may not ask; open the page at its own address.", {}
        return None

    def _too_often(
        self, caller: Caller | None, scope: MutableMapping[str, Any]
    ) -> tuple[int, str, str, dict[str, str]] | None:
        try:
            self._rates.count(caller) if caller else self._rates.count_stranger(scope)
        except TooManyRequests as error:
            return error.status, error.code, str(error), error_headers(error)
        return None

    def _unknown(
        self, caller: Caller | None, scope: MutableMapping[str, Any]
    ) -> tuple[int, str, str, dict[str, str]] | None:
        if refused := self._too_often(caller, scope):
            return refused
        if caller is None:
            message = (
                "A valid token is needed, sent as “Authorization: Bearer TOKEN”; `picomem token make --user USER` on "
                "the server's machine makes one."
            )
            return 401, "unauthorized", message, {"WWW-Authenticate": "Bearer"}
        return None

    def _too_large(self, headers: dict[str, str]) -> tuple[int, str, str, dict[str, str]] | None:
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) <= self._limits.body:
            return None
        return 413, "too_large", _too_large_sentence(self._limits.body), {}

    def _beyond_share(
        self, scope: MutableMapping[str, Any], caller: Caller | None, shares: ExitStack
    ) -> tuple[int, str, str, dict[str, str]] | None:
        """Count a request for its user, or for its address, until `shares` is closed."""
        owner = ("user", caller.user) if caller else ("address", address_of(scope))
        if _lasts(scope) and not shares.enter_context(self._held.taken(owner)):
            message = f"A user has at most {self._held.most} sockets and streams at once; close one."
            return 429, "too_many_sockets", message, {}
        if not shares.enter_context(self._connections.taken(owner)):
            error = TooManyRequests(
                f"A caller has at most {self._connections.most} requests, sockets and streams at once; wait for one to "
                "end and send it again.",
                retry_after=1,
            )
            return error.status, error.code, str(error), error_headers(error)
        return None

    def _bounded(self, receive: ReceiveMessage) -> ReceiveMessage:
        """A body that grows beyond its bound, or does not come, ends as if the client had gone."""
        seen = 0
        ends = time.monotonic() + self._limits.body_seconds
        is_whole = False

        async def bounded() -> Message:
            nonlocal seen, is_whole
            if is_whole:
                return await receive()
            with anyio.move_on_after(max(0.0, ends - time.monotonic())):
                message = await receive()
                seen += len(message.get("body", b""))
                is_whole = not message.get("more_body", False)
                if seen > self._limits.body:
                    raise TooLarge(_too_large_sentence(self._limits.body))
                return message
            raise TooSlow(f"A request is whole within {self._limits.body_seconds:.0f} s; send it again.")

        return bounded


def host_name(host: str) -> str:
    """The name in a header `Host`, without the port. What is no port stays, so that the whole is nobody's name."""
    name, colon, port = host.rpartition(":")
    is_port = not port or (port.isascii() and port.isdecimal())  # RFC 3986, 3.2.3: it may be empty
    return name if colon and is_port else host


def _lasts(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request lasts until its client ends it: a socket, or the stream of a session of MCP."""
    return scope["type"] == "websocket" or (scope["path"] == MCP and scope["method"] == "GET")


def _too_large_sentence(most: int) -> str:
    return f"A request has at most {most:,} bytes; send it in several."


def _is_published(origin: str, host: str) -> bool:
    """Return whether a page comes from the same port of this machine as its request goes to, whichever that is. Another
    port is another site. Over TLS, and by other names, there is a proxy, which the settings name."""
    return origin == f"http://{host}" and host_name(host) in LOOPBACK_NAMES


def _ambiguous(scope: MutableMapping[str, Any]) -> tuple[int, str, str, dict[str, str]] | None:
    """Refuse a request that a proxy in front may read in another way: it says twice who asks, or how long it is."""
    names = [name.decode("latin-1").lower() for name, _ in scope["headers"]]
    repeated = sorted(name for name in _ONCE if names.count(name) > 1)
    if repeated:
        return 400, "bad_request", f"The header “{repeated[0]}” came more than once; send it once.", _CLOSED
    if "content-length" in names and "transfer-encoding" in names:
        message = "A request has a Content-Length or a Transfer-Encoding, not both; send one of them."
        return 400, "bad_request", message, _CLOSED
    return None


def _headers(scope: MutableMapping[str, Any]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _token(scope: MutableMapping[str, Any], headers: dict[str, str]) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    if scope["type"] == "websocket":
        for offered in scope.get("subprotocols", ()):
            if offered.startswith(SUBPROTOCOL):
                return offered.removeprefix(SUBPROTOCOL)
    return ""


def _leads_to_sign_in(scope: MutableMapping[str, Any], headers: dict[str, str]) -> bool:
    """Return whether a window goes to the page to sign in, as from the file of `picomem open`, which is another site.
    The page shows nothing of anybody, and asks before it changes the user."""
    return (
        scope["type"] == "http"
        and (scope["method"], scope["path"]) == ("GET", SIGN_IN)
        and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    )


def _without_origin(
    scope: MutableMapping[str, Any], headers: dict[str, str]
) -> tuple[int, str, str, dict[str, str]] | None:
    """Refuse a change that a cookie permits if no browser says which page asks. `_foreign` has checked an Origin."""
    is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
    if is_read or "origin" in headers or headers.get("sec-fetch-site") == "same-origin":
        return None
    return 403, "foreign_origin", "A form of the page comes with its Origin; load the page again.", {}


async def refuse(
    scope: MutableMapping[str, Any],
    receive: ReceiveMessage,
    send: SendMessage,
    status: int,
    code: str,
    message: str,
    headers: dict[str, str],
) -> None:
    """Say no. Before it is accepted, a socket is answered like a request where the server can do that."""
    if scope["type"] == "websocket":
        await receive()  # the request to connect
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": code})
            return
    await http_error(status, code, message, headers=headers)(scope, receive, send)
    if scope["type"] == "websocket":
        # uvicorn logs an application that returns before the connection is closed as a mistake. It says that the socket
        # is gone once when it begins to close, and once when it has.
        with anyio.move_on_after(_CLOSING_SECONDS):
            for _ in range(2):
                await receive()
