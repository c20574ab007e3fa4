"""`picomem serve` serves the store to many over a network."""

from __future__ import annotations

import argparse
from threading import Thread

import websockets  # noqa: F401 - uvicorn looks for it only when a socket is opened

from picomem.app import open_runtime
from picomem.cli.open_page import EVERYTHING_OWN, link_of, open_in_browser, prints_links
from picomem.cli.presented_text import hints_for
from picomem.cli.run import json_document, write_result
from picomem.engine.audience import redaction
from picomem.engine.authorization import has_tokens, make_sign_in_code
from picomem.errors import InvalidInput, StoreError
from picomem.gateway import server_log, web_server
from picomem.gateway.server_address import announced, new_server_address, place_beside
from picomem.hooks.hook_server import hooks_answered
from picomem.jobs import background_of_all
from picomem.paths import private_umask
from picomem.records.caller import Caller
from picomem.runtime import Runtime
from picomem.settings import load

_FAREWELL_SECONDS = 2.0  # for background work, which was told to stop at the signal


def run_serve(chosen: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT."""
    return run_server(chosen, EVERYTHING_OWN)


def run_server(
    chosen: argparse.Namespace, permissions: frozenset[str], *, shows_link: bool = False, opens_browser: bool = False
) -> int:
    """Serve until SIGTERM or SIGINT, and make a link to the web page, whose session has these permissions.

    The link is printed to a terminal, in a JSON document, or with `shows_link`; elsewhere it would end in a log. With
    `opens_browser` it is opened, and if the usual port is taken, another one serves.
    """
    private_umask()
    settings = load()
    host = settings.server.host if chosen.host is None else chosen.host
    port = settings.server.port if chosen.port is None else chosen.port
    log_format = chosen.log_format or settings.server.log_format
    with open_runtime(chosen.db, settings=settings) as runtime:
        is_open_to_programs = has_tokens(runtime.resources)
        if not is_open_to_programs and not web_server.is_loopback(host):
            raise InvalidInput(
                f"{host} is reached by other machines, and no token has been made yet; `picomem token make` makes one."
            )
        server_log.set_up(log_format, redaction(runtime.engine()))
        others = (port,) if chosen.port is not None or not opens_browser else (port, 0)
        with web_server.bound(host, *others) as listening:
            address = new_server_address(web_server.address_of(listening))
            place = place_beside(chosen.db, settings)
            shows_link = shows_link or prints_links(chosen)
            link = ""
            if shows_link or opens_browser:
                link = _page_link(runtime, chosen.user or settings.data.user, address.url, permissions)
            printed = link if shows_link else ""
            said = (
                json_document({"url": address.url, "link": printed})
                if chosen.json
                else hints_for(chosen.given).shown(_greeting(address.url, printed, is_open_to_programs))
            )
            background = background_of_all(runtime, watches=not chosen.no_watch)

            def ready() -> None:
                write_result(said)
                if opens_browser and link:
                    Thread(target=open_in_browser, args=(link, place), daemon=True).start()
                if settings.server.background:
                    background.start()

            try:
                with hooks_answered(chosen.db), announced(place, address):
                    web_server.serve(runtime, listening, address, settings.server.hosts, ready, background.ask_to_end)
            finally:
                background.end(_FAREWELL_SECONDS)
    return 0


def _page_link(runtime: Runtime, user: str, address: str, permissions: frozenset[str]) -> str:
    """A link that signs a user in to the web page once; empty where the store takes no code."""
    try:
        return link_of(address, make_sign_in_code(runtime.engine(Caller(runtime.user_named(user))), permissions))
    except StoreError:
        return ""


def _greeting(address: str, link: str, is_open_to_programs: bool) -> str:
    lines = [f"picomem serves on {address}"]
    lines += [f"The web page, for the next five minutes: {link}"] if link else []
    lines += ["`picomem open` opens the web page; `picomem open --no-browser` prints a link to it."]
    lines += [] if is_open_to_programs else ["Nobody has a token yet: `picomem token make --user ID` makes one."]
    return "\n".join(lines)
