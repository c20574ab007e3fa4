"""Prints a message of the program, as opposed to a result: one line on stderr."""

from __future__ import annotations

import sys

from picomem.text.inert_text import one_line

_LONGEST = 2_000  # characters; a remark may quote what a person gave


def remark(text: str, program: str = "picomem") -> None:
    """Say a sentence of our own, which may quote names and errors."""
    print(f"{program}: {one_line(text, _LONGEST)}", file=sys.stderr, flush=True)
