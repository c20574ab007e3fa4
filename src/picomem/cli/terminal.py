"""The terminal: how wide it is, and messages of the program on stderr, as opposed to results."""

from __future__ import annotations

import os
import sys

from picomem.text.inert_text import one_line

_LONGEST = 2_000  # characters; a remark may quote what a person gave


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


def remark(text: str, program: str = "picomem") -> None:
    """Say a sentence of our own, which may quote names and errors."""
    print(f"{program}: {one_line(text, _LONGEST)}", file=sys.stderr, flush=True)
