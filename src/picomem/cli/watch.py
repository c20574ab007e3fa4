"""`picomem ingest --watch`: follows the transcripts until it is stopped; see jobs/watching.py.

It prints the new entries after each reading. A failed reading is reported once and repeated. Ctrl-C ends it like every
command, with the result so far. SIGTERM, which service managers send, ends it with exit code 0: being stopped is the
normal end of this command, and systemd counts 143 as a failure.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from picomem.cli.presented_text import text_of
from picomem.cli.run import json_document
from picomem.cli.terminal import remark
from picomem.engine.engine import Engine
from picomem.jobs import Run, Watch, in_background
from picomem.light_dataclass import replace
from picomem.operations.ingesting import IngestRequest
from picomem.operations.operation import Operation
from picomem.operations.recall_views import jsonable


def watch(engine: Engine, operation: Operation, request: IngestRequest, *, as_json: bool) -> int:
    """Read what is there, then whatever changes; one line (or one JSON line) for each time something was new.

    Returns 0 after SIGTERM and where the job was cancelled, and ends with KeyboardInterrupt otherwise. Raises
    InvalidInput where there is nothing to watch, and what `ingest` raises the first time.
    """
    terminated = False

    def terminate(number: int, _frame: object) -> None:
        nonlocal terminated
        terminated = True
        signal.signal(number, signal.SIG_DFL)  # a second one ends it at once, which harms no transaction either
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        with in_background(engine) as background:
            background.run_here(_job(operation, request, as_json), _tell_of_another)
        remark("the job was cancelled; what was read until now is kept.")
    except KeyboardInterrupt:
        if not terminated:
            raise
        remark("told to stop; what was read until now is kept.")
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _job(operation: Operation, request: IngestRequest, as_json: bool) -> Watch:
    is_first = True

    def read(engine: Engine, paths: Sequence[str], run: Run) -> None:
        nonlocal is_first
        result = operation.call(engine, replace(request, paths=tuple(paths)) if paths else request, run.progress)
        if is_first or result.episodes or result.updated or result.problems:
            _report(operation, result, as_json)
        is_first = False

    return Watch(request.paths, read, _tell_of_folders, _tell_of_trouble)


def _tell_of_folders(folders: Sequence[Path]) -> None:
    remark(f"watching {', '.join(map(str, folders))}; Ctrl-C stops.")


def _tell_of_trouble(problem: str) -> None:
    if problem:
        remark(problem)


def _tell_of_another() -> None:
    remark("another process watches the same folders; this one goes on when that one ends. Ctrl-C stops.")


def _report(operation: Operation, result: object, as_json: bool) -> None:
    print(json_document(jsonable(result)) if as_json else text_of(operation, result), flush=True)
