"""`picomem open`: opens the web page in the browser, signed in by a link that works once.

It uses the server that runs on the store, or else starts one that runs until it is interrupted.
"""

from __future__ import annotations

import argparse

from picomem.cli.run import json_document, write_result
from picomem.cli.serve import EVERYTHING_OWN, add_serve, database_of, link_of, run_serve, show
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
    from picomem.gateway.server_address import running_address

    settings = load()
    permissions = READ_ONLY if chosen.read_only else EVERYTHING_OWN
    address = running_address(database_of(chosen, settings))
    if not address:
        return run_serve(chosen, page=permissions, opens_browser=not chosen.no_browser)
    from picomem.app import open_engine
    from picomem.engine.authorization import make_sign_in_code

    private_umask()
    with open_engine(chosen.db, user=chosen.user, settings=settings, embedder="none", create=False) as engine:
        link = link_of(address, make_sign_in_code(engine, permissions))
    write_result(json_document({"url": address, "link": link}) if chosen.json else link)
    if not chosen.no_browser:
        show(link)
    return 0
