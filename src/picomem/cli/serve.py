"""`picomem mcp`: the store, served to one agent over stdin and stdout. `picomem serve`: to many, over a network.

The engine and the protocols are loaded when a server starts, because `picomem --help` reads the options here: MCP alone
takes a second and a half of processor time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from picomem.errors import InvalidInput
from picomem.paths import private_umask
from picomem.settings import LOG_FORMATS, load

if TYPE_CHECKING:
    from picomem.engine.engine import Engine

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


def run_serve(chosen: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT."""
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
        with web_server.bound(host, port) as listening:
            address = web_server.address_of(listening)
            hint = "" if has_tokens else "\nNobody has a token yet: `picomem token make --user ID` makes one."
            said: Any = json_document({"url": address}) if chosen.json else f"picomem serves on {address}{hint}"
            background = background_of_all(runtime, watches=not chosen.no_watch)

            def ready() -> None:
                write_result(said)
                if settings.server.background:
                    background.start()

            try:
                with hooks_answered(chosen.db):
                    web_server.serve(runtime, listening, settings.server.hosts, ready, background.ask_to_end)
            finally:
                background.end(_FAREWELL_SECONDS)
    return 0


@contextmanager
def _opened(chosen: argparse.Namespace) -> Iterator[Engine]:
    from picomem.app import open_engine
    from picomem.hooks.hook_server import hooks_answered
    from picomem.jobs import in_background

    opened = open_engine(chosen.db, user=chosen.user, actor="agent:mcp", without_store=True)
    with opened as engine, in_background(engine), hooks_answered(chosen.db):
        yield engine
