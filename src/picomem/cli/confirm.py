"""Asks the person at the terminal before an operation that cannot be undone: shows the effect, and reads y or n."""

from __future__ import annotations

import sys
from typing import Any

from picomem.cli.presented_text import text_of
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.operations.operation import Operation


def confirmed(engine: Engine, operation: Operation, request: Any, *, as_json: bool) -> Any:
    """The request as it may be run after a yes; None after a no. Raises InvalidInput where nobody can be asked."""
    confirmation = operation.confirmation
    assert confirmation is not None
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput(
            f"{confirmation.declined}: there is no terminal to ask at. Look with --dry-run, then say --yes."
        )
    preview = operation.call(engine, confirmation.preview(request))
    print(text_of(operation, preview), file=sys.stderr)
    if confirmation.is_empty(preview):
        return None
    print(confirmation.question, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return confirmation.granted(request, preview)
    print(f"{confirmation.declined}.", file=sys.stderr)
    return None
