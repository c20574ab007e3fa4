"""`picomem tui`: the terminal user interface, which comes with the extra `tui`."""

from __future__ import annotations

import argparse
import sys

from picomem import paths
from picomem.app import open_engine, operations
from picomem.errors import InvalidInput
from picomem.paths import private_umask
from picomem.records.caller import PERMISSIONS

_THEMES = ("dark", "light")


def add_tui(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "--theme",
        choices=_THEMES,
        metavar="THEME",
        default=None,
        help=f"the colours ({', '.join(_THEMES)}; default: as the terminal's background, else dark)",
    )


def run_tui(chosen: argparse.Namespace) -> int:
    """Show the screens until the person leaves."""
    check_installed()
    if chosen.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("`picomem tui` needs a terminal; other commands, such as `picomem recall`, do without one.")
    private_umask()
    from picomem.tui.operation_runner import OperationRunner
    from picomem.tui.terminal_app import TerminalApp, preferred_theme

    is_named = chosen.db is not None or bool(paths.named_database())  # a mistyped name must not leave a new store
    with open_engine(chosen.db, user=chosen.user, permissions=PERMISSIONS, create=not is_named) as engine:
        runner = OperationRunner(engine, operations())
        try:
            return TerminalApp(runner, theme=chosen.theme or preferred_theme()).run() or 0
        finally:
            runner.close()


def check_installed() -> None:
    """Raise InvalidInput where the library of the interface is missing."""
    try:
        import textual  # noqa: F401
    except ModuleNotFoundError:
        raise InvalidInput(
            "The terminal interface needs the extra `tui`: install picomem[tui], such as with pip."
        ) from None
