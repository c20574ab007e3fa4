"""`picomem tui`: the terminal user interface, which comes with the extra `tui`."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing

from picomem import paths
from picomem.app import open_engine, operations
from picomem.cli.chat_model import settings_for_a_person, with_model
from picomem.errors import InvalidInput
from picomem.jobs import EMBED, in_background
from picomem.paths import private_umask
from picomem.records.caller import PERMISSIONS
from picomem.settings import Settings
from picomem.tui.terminal_app import TerminalApp, preferred_theme
from picomem.tui.workspace import OperationRunner


def run_tui(chosen: argparse.Namespace) -> int:
    """Show the screens until the person leaves."""
    if chosen.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("`picomem tui` needs a terminal; other commands, such as `picomem recall`, do without one.")
    private_umask()
    os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")
    settings, no_model = _settings(chosen.model)
    theme = chosen.theme or preferred_theme(os.environ)
    is_named = chosen.db is not None or bool(paths.named_database())  # a mistyped name must not leave a new store
    with (
        open_engine(
            chosen.db, user=chosen.user, settings=settings, permissions=PERMISSIONS, create=not is_named
        ) as engine,
        in_background(engine, (EMBED,)),
        closing(OperationRunner(engine, operations())) as runner,
    ):
        return TerminalApp(runner, theme=theme, no_model=no_model).run() or 0


def _settings(model: str) -> tuple[Settings, str]:
    """The settings with a model to talk with, or why there is none. Raises InvalidInput for a model that was named."""
    settings = settings_for_a_person()
    try:
        return with_model(settings, model), ""
    except InvalidInput as error:
        if model:
            raise
        return settings, str(error)
