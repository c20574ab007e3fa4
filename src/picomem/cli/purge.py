"""Asking before a purge: what would go is shown, and the answer is y or n."""

from __future__ import annotations

import sys
from typing import Any

from picomem.cli.text.results import text_of
from picomem.errors import InvalidInput
from picomem.values import replace


def confirmed(engine: Any, operation: Any, request: Any, *, as_json: bool) -> Any:
    """The request as it may be run: after a yes with `yes` set; None after a no. Raises InvalidInput where nobody can
    be asked."""
    chosen = request.session or request.older_than is not None or request.everything
    if request.yes or request.dry_run or not chosen:
        return request if chosen else replace(request, yes=True)  # to finish what was begun needs no second yes
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput("Nothing was purged: there is no terminal to ask at. Look with --dry-run, then say --yes.")
    planned = operation.call(engine, replace(request, dry_run=True))
    print(text_of(operation.name, planned), file=sys.stderr)
    if not planned.counts:
        return None
    print("Confirm purge? (y/n) ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return replace(request, yes=True)
    print("Nothing was purged.", file=sys.stderr)
    return None
