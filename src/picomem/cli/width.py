"""The width of the terminal."""

from __future__ import annotations

import os
import sys


def width() -> int:
    """Columns to write in: the terminal's, within what can be read well; 88 where there is none."""
    columns = terminal_columns()
    return min(100, max(60, 88 if columns is None else columns))


def terminal_columns() -> int | None:
    """The columns of the terminal that reads stdout; None for a file or a pipe."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None
