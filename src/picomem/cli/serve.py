"""`picomem mcp`: the store, served to one agent over stdin and stdout. `picomem serve`: to many, over a network.

The engine and the protocols are loaded when a server starts, because `picomem --help` reads the options here: MCP alone
takes a second and a half of processor time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from picomem.blake2b import blake2b
from picomem.errors import InvalidInput, StoreError
from picomem.paths import database_path, is_server, named_store, private_umask
from picomem.records.caller import OWN_DATA, PURGE, Caller
from picomem.settings import LOG_FORMATS, Settings, load

if TYPE_CHECKING:
    from picomem.engine.engine import Engine
    from picomem.runtime import Runtime

EVERYTHING_OWN = OWN_DATA | {PURGE}  # what a person at the machine may do with their own memory
_FAREWELL_SECONDS = 2.0  # for background work, which was told to stop at the signal


def run_mcp(chosen: argparse.Namespace) -> int:
    """Serve until the agent closes stdin."""
    from picomem.gateway.mcp import run_stdio

    private_umask()
    run_stdio(lambda: _opened(chosen))
    return 0


def add_serve(parser: argparse.ArgumentParser) -> None:
    """The options of `picomem serve`."""
    parser.add_argument("--host", metavar="ADDRESS", help="the address to listen on (default: server.host, 127.0.0.1)")
    parser.add_argument("--port", metavar="PORT", type=int, help="the port (default: server.port, 8765; 0: a free one)")
    parser.add_argument("--no-watch", action="store_true", help="do not read the transcripts of this machine")
    parser.add_argument(
        "--log-format", choices=LOG_FORMATS, help="how the log on stderr is written (default: server.log_format, json)"
    )


def run_serve(chosen: argparse.Namespace, *, page: frozenset[str] = EVERYTHING_OWN, opens_browser: bool = False) -> int:
    """Serve until SIGTERM or SIGINT. What is printed holds a link to the web page, whose session has the permissions
    `page`; with `opens_browser` it is opened, and if the usual port is taken, another one serves."""
    try:
        import websockets  # noqa: F401 - uvicorn looks for it only when a socket is opened

        from picomem.gateway import server_log, web_server
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"`picomem serve` needs the extra `server` ({error.name} is missing): install picomem[server], such as "
            "with pip."
        ) from None
    from picomem.app import open_runtime
    from picomem.cli.run import json_document, write_result
    from picomem.engine.upkeep import redaction
    from picomem.gateway.server_address import announced
    from picomem.hooks.hook_server import hooks_answered
    from picomem.jobs import background_of_all

    private_umask()
    settings = load()
    host = settings.server.host if chosen.host is None else chosen.host
    port = settings.server.port if chosen.port is None else chosen.port
    log_format = chosen.log_format or settings.server.log_format
    with open_runtime(chosen.db, settings=settings) as runtime:
        has_tokens = runtime.has_tokens()
        if not has_tokens and not web_server.is_loopback(host):
            raise InvalidInput(
                f"{host} is reached by other machines, and no token has been made yet; `picomem token make` makes one."
            )
        server_log.set_up(log_format, redaction(runtime.engine()))
        others = (port,) if chosen.port is not None or not opens_browser else (port, 0)
        with web_server.bound(host, *others) as listening:
            address = web_server.address_of(listening)
            link = _page_link(runtime, chosen.user or settings.data.user, address, page)
            said = (
                json_document({"url": address, "link": link}) if chosen.json else _greeting(address, link, has_tokens)
            )
            background = background_of_all(runtime, watches=not chosen.no_watch)

            def ready() -> None:
                write_result(said)
                if opens_browser and link:
                    show(link)
                if settings.server.background:
                    background.start()

            try:
                with hooks_answered(chosen.db), announced(database_of(chosen, settings), address):
                    web_server.serve(runtime, listening, settings.server.hosts, ready, background.ask_to_end)
            finally:
                background.end(_FAREWELL_SECONDS)
    return 0


def database_of(chosen: argparse.Namespace, settings: Settings) -> Path:
    """The file of the store that the options, the environment and the settings name; for a store on a server a file in
    the data folder, which is not there, with a name made from the address."""
    named = chosen.db or named_store(settings.data.database)
    if not is_server(named):
        return database_path(settings.data.dir, named)
    return database_path(settings.data.dir).with_name(blake2b(named.encode(), digest_size=8).hexdigest())


def link_of(address: str, code: str) -> str:
    """The link that signs in to the web page. Its fragment stays in the browser."""
    return f"{address}/sign-in#{code}"


def show(link: str) -> None:
    """Open a link in the browser of this machine, if there is one; what the browser prints is no result of ours."""
    import webbrowser
    from threading import Thread

    Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _page_link(runtime: Runtime, user: str, address: str, permissions: frozenset[str]) -> str:
    """A link that signs a user in to the web page once; empty where the store takes no code."""
    from picomem.engine.authorization import make_sign_in_code

    reachable = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
    try:
        return link_of(reachable, make_sign_in_code(runtime.engine(Caller(user)), permissions))
    except StoreError:
        return ""


def _greeting(address: str, link: str, has_tokens: bool) -> str:
    lines = [f"picomem serves on {address}"]
    lines += [f"The web page, for the next five minutes: {link}", "`picomem open` makes a new link."] if link else []
    lines += [] if has_tokens else ["Nobody has a token yet: `picomem token make --user ID` makes one."]
    return "\n".join(lines)


@contextmanager
def _opened(chosen: argparse.Namespace) -> Iterator[Engine]:
    from picomem.app import open_engine
    from picomem.hooks.hook_server import hooks_answered
    from picomem.jobs import in_background

    opened = open_engine(chosen.db, user=chosen.user, actor="agent:mcp", without_store=True)
    with opened as engine, in_background(engine), hooks_answered(chosen.db):
        yield engine
