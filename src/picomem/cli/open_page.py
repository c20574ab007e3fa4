"""`picomem open`: opens the web page in the browser, signed in by a link that works once.

It uses the server that runs on the store, or else starts one that runs until it is interrupted. The link holds a
one-time code, so it goes neither into a log nor into the list of processes.
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from html import escape
from pathlib import Path

from picomem.app import open_engine
from picomem.cli.main import command_module
from picomem.cli.run import json_document, write_result
from picomem.cli.terminal import remark
from picomem.engine.authorization import make_sign_in_code
from picomem.gateway.server_address import place_beside, running_address, sign_in_file
from picomem.paths import private_umask, written_whole
from picomem.records.caller import GLOBAL, OWN_DATA, PURGE
from picomem.settings import load

# What a person at the machine may do with their own memory, and with the whole store as far as it was granted to them.
EVERYTHING_OWN = OWN_DATA | {PURGE} | GLOBAL
READ_ONLY = frozenset(permission for permission in OWN_DATA if ":read:" in permission)
_LEADING_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>picomem</title>
<p><a href="{link}">picomem</a></p>
"""


def run_open(chosen: argparse.Namespace) -> int:
    """Print the link, and open it; serve where no server runs."""
    settings = load()
    permissions = READ_ONLY if chosen.read_only else EVERYTHING_OWN
    store = place_beside(chosen.db, settings)
    address = running_address(store)
    if not address:
        return command_module("serve").run_server(
            chosen, permissions, shows_link=chosen.no_browser, opens_browser=not chosen.no_browser
        )
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


def prints_links(chosen: argparse.Namespace) -> bool:
    """Return whether stdout is for a person's eyes, or for a program that asked for the link, and no log."""
    return chosen.json or sys.stdout.isatty()


def link_of(address: str, code: str) -> str:
    """The link that signs in to the web page. Its fragment stays in the browser."""
    reachable = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
    return f"{reachable}/sign-in#{code}"


def open_in_browser(link: str, store: Path) -> None:
    """Open a link in the browser of this machine. What the browser prints is no result of ours.

    Other users of the machine can read the arguments of a program. So the browser gets the path of a private file,
    which leads to the link.
    """
    place = sign_in_file(store)
    with written_whole(place, private=True) as file:
        file.write(_LEADING_PAGE.format(link=escape(link)))
    if not webbrowser.open(place.absolute().as_uri()):
        remark("No browser could be opened; `picomem open --no-browser` prints a link for any browser.")
