"""Handing the link that signs in to a person: printed, or opened in the browser of this machine.

The link holds a one-time code, so it goes neither into a log nor into the list of processes.
"""

from __future__ import annotations

import argparse
import sys
from html import escape
from pathlib import Path

from picomem.cli.stderr_line import remark
from picomem.gateway.server_address import sign_in_file
from picomem.paths import written_whole

_LEADING_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>picomem</title>
<p><a href="{link}">picomem</a></p>
"""


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
    import webbrowser

    place = sign_in_file(store)
    with written_whole(place, private=True) as file:
        file.write(_LEADING_PAGE.format(link=escape(link)))
    if not webbrowser.open(place.absolute().as_uri()):
        remark("No browser could be opened; `picomem open --no-browser` prints a link for any browser.")
