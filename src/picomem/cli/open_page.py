"""`picomem open`: opens the web page in the browser, signed in by a link that works once.

It uses the server that runs on the store, or else starts one that runs until it is interrupted.
"""

from __future__ import annotations

import argparse

from picomem.cli.run import json_document, write_result
from picomem.cli.serve import EVERYTHING_OWN, add_serve, run_server
from picomem.paths import private_umask
from picomem.records.caller import OWN_DATA
from picomem.settings import load

READ_ONLY = frozenset(permission for permission in OWN_DATA if ":read:" in permission)


def add_open(parser: argparse.ArgumentParser) -> None:
    """The options of `picomem open`: its own, and those of `picomem serve` for a server that it starts."""
    parser.add_argument("--no-browser", action="store_true", help="print the link, and open no browser")
    parser.add_argument("--read-only", action="store_true", help="a session that reads, and changes nothing")
    add_serve(parser)


def run_open(chosen: argparse.Namespace) -> int:
    """Print the link, and open it; serve where no server runs."""
    from picomem.cli.browser_sign_in import link_of, open_in_browser, prints_links
    from picomem.gateway.server_address import place_beside, running_address

    settings = load()
    permissions = READ_ONLY if chosen.read_only else EVERYTHING_OWN
    store = place_beside(chosen.db, settings)
    address = running_address(store)
    if not address:
        return run_server(chosen, permissions, shows_link=chosen.no_browser, opens_browser=not chosen.no_browser)
    from picomem.app import open_engine
    from picomem.engine.authorization import make_sign_in_code

    private_umask()
    with open_engine(chosen.db, user=chosen.user, settings=settings, embedder="none", create=False) as engine:
        link = link_of(address, make_sign_in_code(engine, permissions))
    shows_link = chosen.no_browser or prints_links(chosen)
    if chosen.json:
        write_result(json_document({"url": address, "link": link}))
    else:
        write_result(link if shows_link else f"The web page is at {address}.")
    if not chosen.no_browser:
        open_in_browser(link, store)
    return 0
