"""`picomem ingest --watch`: follow the transcripts until stopped.

    read all there is → watch the folders → read all again (what came in between) → read what changes, when it changes

A reading that fails is said once and tried again, as nobody stands by: the store may be locked by another process, or
the disk full for a while. Folders that appear, or are replaced, while we watch are noticed within a few seconds.
Ctrl-C ends it like every command, with what was read until then. So does SIGTERM, as a service manager sends it, but
with exit code 0: to be stopped is how this command ends, and systemd counts 143 among the failures.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from picomem.cli.run import json_document
from picomem.cli.stderr_line import remark
from picomem.errors import InvalidInput, PicomemError
from picomem.ingest.discovery import default_places, listed_names
from picomem.ingest.source import LOG
from picomem.light_dataclass import replace
from picomem.operations.maintenance import IngestRequest
from picomem.operations.operation import Operation
from picomem.operations.views import jsonable
from picomem.paths import home_folder, is_folder, named_path

if TYPE_CHECKING:
    from picomem.engine.engine import Engine

_QUIET = 400  # milliseconds without a change before changes are read: agents write in bursts
_LONGEST_BURST = 5_000  # milliseconds after which they are read although more come
_LOOK = 2_000  # milliseconds between two looks at the folders themselves
_ENDINGS = (".jsonl", ".jsonl.zst", ".jsonl.gz")


def watch(engine: Engine, operation: Operation, request: IngestRequest, *, as_json: bool) -> int:
    """Read what is there, then whatever changes; one line (or one JSON line) for each time something was new.

    Returns 0 after SIGTERM, and ends with KeyboardInterrupt otherwise. Raises InvalidInput where there is nothing to
    watch, and what `ingest` raises the first time.
    """
    terminated = False

    def terminate(number: int, _frame: object) -> None:
        nonlocal terminated
        terminated = True
        signal.signal(number, signal.SIG_DFL)  # a second one ends it at once, which harms no transaction either
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        _follow(engine, operation, request, as_json=as_json)
    except KeyboardInterrupt:
        if not terminated:
            raise
        remark("told to stop; what was read until now is kept.")
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _follow(engine: Engine, operation: Operation, request: IngestRequest, *, as_json: bool) -> NoReturn:
    given = [named_path(path) for path in request.paths]
    folders = [path if is_folder(path) else path.parent for path in given]
    folders = folders or [place.folder for place in default_places(home_folder(), os.environ)]
    files = frozenset(path.name for path in given if not is_folder(path))
    if not _there(folders):
        names = ", ".join(str(folder) for folder in folders)
        raise InvalidInput(f"There is nothing to watch: {names} do not exist. Name a folder that does.")
    _report(operation, operation.call(engine, request), as_json)
    remark(f"watching {', '.join(map(str, _there(folders)))}; Ctrl-C stops.")
    problem = ""
    while True:
        there = _there(folders)
        due = request
        for changed in _changes(there, files, recursive=len(files) < len(given) or not given):
            if changed:
                due = due or (request if files else _within(request, changed))
            if due is not None:
                problem = _read(engine, operation, due, problem, as_json)
                due = request if problem else None
            if _there(folders) != there:
                break


def _there(folders: list[Path]) -> dict[Path, int]:
    """The folders that exist, each with what tells it from another one in its place."""
    there: dict[Path, int] = {}
    for folder in sorted(set(folders)):
        with suppress(OSError):  # missing, or closed to us
            there[folder] = folder.stat().st_ino
    return there


def _changes(there: dict[Path, int], files: frozenset[str], *, recursive: bool) -> Iterator[set[Path]]:
    """The transcripts that changed, whenever anything did; and an empty set every few seconds.

    What else changes counts for nothing: our own database may lie in the folder, and reading writes to it.
    """
    from watchfiles import watch as changes

    try:
        for changed in changes(
            *there,
            watch_filter=None,
            debounce=_LONGEST_BURST,
            step=_QUIET,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            recursive=recursive,
            ignore_permission_denied=True,
        ):
            paths = {Path(path) for _, path in changed}
            # A new folder counts as well: what was put into it before it was watched made no sound.
            endings = (*_ENDINGS, *listed_names())
            named = ((path, path.name.removesuffix(LOG)) for path in paths)
            yield {path for path, name in named if name.endswith(endings) or name in files or path.is_dir()}
    except FileNotFoundError:
        return  # a folder went away before it could be watched: the caller looks again
    except OSError as error:
        raise InvalidInput(f"The folders cannot be watched: {error}.") from error


def _within(request: IngestRequest, changed: set[Path]) -> IngestRequest | None:
    """The request, for those folders only in which something changed; None where they are gone."""
    folders = sorted({str(path if path.is_dir() else path.parent) for path in changed if path.parent.is_dir()})
    return replace(request, paths=tuple(folders)) if folders else None


def _read(engine: Engine, operation: Operation, request: IngestRequest, problem: str, as_json: bool) -> str:
    """Read, and report what was new. What went wrong, or an empty string; said only if it is not `problem` again."""
    try:
        result = operation.call(engine, request)
    except PicomemError as error:
        if str(error) != problem:
            remark(str(error))
        return str(error)
    if result.episodes or result.updated or result.problems:
        _report(operation, result, as_json)
    return ""


def _report(operation: Operation, result: object, as_json: bool) -> None:
    from picomem.cli.text.presented import text_of

    print(json_document(jsonable(result)) if as_json else text_of(operation, result), flush=True)
