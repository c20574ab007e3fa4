"""How wide the terminal is."""

from __future__ import annotations

import os
import sys


def width() -> int:
    """Columns to write in: the terminal's, within what can be read well; 88 where there is none."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 88
    return min(100, max(60, columns))
