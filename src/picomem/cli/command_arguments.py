"""The arguments of the commands that are no operations.

They stand here, apart from the commands themselves, because `picomem --help` and completion scripts need all of them,
and a command loads a server or an agent.
"""

from __future__ import annotations

import argparse

from picomem.cli.options import unicode_text
from picomem.hosts.host import HOST_NAMES, REACHES
from picomem.settings_tables import LOG_FORMATS

_THEMES = ("dark", "light")
_MODEL = "talk with this model: PROVIDER:NAME, or a name of the provider in the settings"


def add_chat(parser: argparse.ArgumentParser) -> None:
    """The arguments of `picomem chat`."""
    goes_on = "go on with this conversation; the beginning of its id is enough"
    parser.add_argument(
        "question", nargs="*", type=unicode_text, metavar="QUESTION", help="answer this and end (default: a prompt)"
    )
    parser.add_argument("--session", metavar="ID", type=unicode_text, default="", help=goes_on)
    parser.add_argument("--model", metavar="NAME", type=unicode_text, default="", help=_MODEL)


def add_tui(parser: argparse.ArgumentParser) -> None:
    """The arguments of `picomem tui`."""
    parser.add_argument("--model", metavar="NAME", type=unicode_text, default="", help=_MODEL)
    parser.add_argument(
        "--theme",
        choices=_THEMES,
        metavar="THEME",
        default=None,
        help=f"the colours ({', '.join(_THEMES)}; default: as the terminal's background, else dark)",
    )


def add_demo(parser: argparse.ArgumentParser) -> None:
    """The argument of `picomem demo`."""
    parser.add_argument("--keep", metavar="FOLDER", help="keep the demo's store in this folder")


def add_install(parser: argparse.ArgumentParser) -> None:
    """The options of `picomem install`."""
    parser.add_argument(
        "--scope",
        choices=REACHES,
        default="user",
        metavar="SCOPE",
        help="the settings of all your work, or those of the project in this folder (user, project; default: user)",
    )
    parser.add_argument(
        "--keep-transcripts",
        action="store_true",
        help="also keep copies of the transcripts that Claude Code is about to delete (ingest.keep; default: ask)",
    )
    parser.add_argument(
        "--distil",
        action=argparse.BooleanOptionalAction,
        help="let a model of the host distil finished sessions into memory, in the background (default: ask)",
    )
    _add_hosts(parser)


def add_uninstall(parser: argparse.ArgumentParser) -> None:
    """The options of `picomem uninstall`."""
    _add_hosts(parser)


def add_serve(parser: argparse.ArgumentParser) -> None:
    """The options of `picomem serve`."""
    parser.add_argument("--host", metavar="ADDRESS", help="address to listen on (default: server.host, 127.0.0.1)")
    parser.add_argument("--port", metavar="PORT", type=int, help="the port (default: server.port, 8765; 0: a free one)")
    parser.add_argument("--no-watch", action="store_true", help="do not read the transcripts of this machine")
    parser.add_argument(
        "--log-format", choices=LOG_FORMATS, help="how the log on stderr is written (default: server.log_format, json)"
    )


def add_open(parser: argparse.ArgumentParser) -> None:
    """The options of `picomem open`: its own, and those of `picomem serve` for a server that it starts."""
    parser.add_argument("--no-browser", action="store_true", help="print the link, and open no browser")
    parser.add_argument("--read-only", action="store_true", help="a session that reads, and changes nothing")
    add_serve(parser)


def add_move(parser: argparse.ArgumentParser) -> None:
    """The arguments of `picomem move`."""
    parser.add_argument("source", metavar="FROM", help="the store, a file or the address of a server")
    parser.add_argument("target", metavar="TO", help="the other store; it is made where there is none")
    parser.add_argument("--dry-run", action="store_true", help="only say who and what would be moved")


def add_postgres(parser: argparse.ArgumentParser) -> None:
    """The arguments of `picomem postgres`."""
    parser.add_argument("act", metavar="init", choices=("init",), help="make the tables, or bring them up to date")
    parser.add_argument("--citus", action="store_true", help="let Citus divide the users among its machines")
    parser.add_argument("--shards", metavar="N", type=int, help="with --citus, how many parts each table gets")


def add_unlock(parser: argparse.ArgumentParser) -> None:
    """The option of `picomem unlock`."""
    parser.add_argument("--new", action="store_true", help="choose a pass phrase, the first or another one")


def add_lock(_parser: argparse.ArgumentParser) -> None:
    """`picomem lock` has no arguments."""


def _add_hosts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"the hosts ({', '.join(HOST_NAMES)}; default: ask)")
    parser.add_argument("--dry-run", action="store_true", help="only show the changes, as a diff of each file")
    parser.add_argument("--yes", action="store_true", help="do not ask")
