"""`picomem ingest --watch`: follow the transcripts until stopped."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from picomem.errors import InvalidInput
from picomem.ingest.places import default_places
from picomem.operations.keeping import Ingest
from picomem.operations.operation import Operation
from picomem.operations.views import jsonable

if TYPE_CHECKING:
    from picomem.engine import Engine

_DEBOUNCE = 1_600  # milliseconds of quiet before a change is read: agents write in bursts


def watch(engine: Engine, operation: Operation, request: Ingest, *, as_json: bool) -> int:
    """Read what is there, then whatever changes; one line (or one JSON line) for each time something was new."""
    from watchfiles import watch as changes

    given = [Path(path).expanduser() for path in request.paths]
    folders = [path if path.is_dir() else path.parent for path in given]
    folders = folders or [place.folder for place in default_places(Path.home(), os.environ)]
    there = sorted({folder for folder in folders if folder.is_dir()})
    if not there:
        names = ", ".join(str(folder) for folder in folders)
        raise InvalidInput(f"There is nothing to watch: {names} do not exist. Name a folder that does.")
    _report(operation.call(engine, request), as_json)
    print(f"picomem: watching {', '.join(map(str, there))}; Ctrl-C stops.", file=sys.stderr, flush=True)
    for _ in changes(*there, debounce=_DEBOUNCE, raise_interrupt=False, recursive=True):
        result = operation.call(engine, request)
        if result.episodes or result.updated or result.problems:
            _report(result, as_json)
    return 0


def _report(result: object, as_json: bool) -> None:
    from picomem.cli.text import text_of

    print(json.dumps(jsonable(result), ensure_ascii=False) if as_json else text_of("ingest", result), flush=True)
