"""Runs an operation for the command line: opens the store, shows progress, prints the result."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from picomem.app import open_engine
from picomem.cli.presented_text import hints_for, text_of
from picomem.coded_text import with_commands
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NoStore, OutputFailed, PicomemError
from picomem.hooks.hook_socket import ask
from picomem.light_dataclass import asdict
from picomem.operations.folder_projects import call_in_folder, named_in_folder
from picomem.operations.inert_results import with_texts
from picomem.operations.operation import Operation, Progressing
from picomem.operations.recall_views import AnswerView, jsonable
from picomem.paths import data_dir, private_umask
from picomem.records.caller import PERMISSIONS
from picomem.text.inert_text import escaped_json, one_line
from picomem.version import __version__

# The person at the terminal can read and write the database file itself, so everything is granted to them.
_AT_THE_TERMINAL = PERMISSIONS
_PATIENCE = 2.0  # seconds for a process that runs anyway


def run_operation(operation: Operation, request: Any, chosen: argparse.Namespace) -> int:
    """Do it, and print the result as text or as one JSON document."""
    private_umask()
    folder = _folder()
    if operation.result is AnswerView and (answer := _asked_of_running(request, folder, chosen)):
        _print(operation, answer, chosen)
        return operation.exit_code(answer)
    try:
        with _opened(operation, request, chosen) as engine:
            request = named_in_folder(engine, request, folder)
            if getattr(chosen, "watch", False):
                from picomem.cli.watch import watch  # noqa: PLC0415 - only with --watch

                return watch(engine, operation, request, as_json=chosen.json)
            if operation.confirmation and operation.confirmation.is_needed(request):
                confirmed_request = _confirmed(engine, operation, request, as_json=chosen.json)
                if confirmed_request is None:
                    return 0
                request = confirmed_request
            lines = None if chosen.json else operation.printed_lines(engine, request)
            if lines is not None:
                with closing(lines):
                    for line in lines:
                        write_result(line, end="", failed="Not all of it could be written to stdout")
                return 0
            with progress_bar(operation.long and not chosen.json, rows=operation.progress_unit == "rows") as progress:
                result = call_in_folder(engine, operation, request, folder, progress)
    except NoStore as error:
        if not operation.examines_machine:
            raise
        result = error
    if operation.examines_machine:
        from picomem.hosts.host_findings import with_host_findings  # noqa: PLC0415 - only `doctor` needs it

        result = with_host_findings(result, request, chosen.db)
    _print(operation, result, chosen)
    return operation.exit_code(result)


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return ""


def _asked_of_running(request: Any, folder: str, chosen: argparse.Namespace) -> AnswerView | None:
    """The answer of a picomem process that runs anyway, which has loaded what a recall needs; None where none can
    answer."""
    options = {"--db": chosen.db, "--user": chosen.user}
    given = json.dumps({"request": asdict(request), "folder": folder, "version": __version__}).encode()
    try:
        named = {name: value for name, value in options.items() if value is not None}
        reply = ask(data_dir(), named, given, monotonic() + _PATIENCE)
        if reply is None:
            return None
        from picomem.operations.sent_answers import read_sent  # noqa: PLC0415 - only where a process runs

        return read_sent(reply)
    except (PicomemError, ValueError):  # settings that nobody can read; what is no answer
        return None


def _print(operation: Operation, result: Any, chosen: argparse.Namespace) -> None:
    hints = hints_for(chosen.given)
    if chosen.json:
        print_json(with_texts(result, lambda text, _: with_commands(text, hints.shown)))
    else:
        write_result(text_of(operation, result, hints))


def _confirmed(engine: Engine, operation: Operation, request: Any, *, as_json: bool) -> Any:
    """Show what an operation that cannot be undone would do, and read y or n: the request as it may be run after a yes;
    None after a no. Raises InvalidInput where nobody can be asked."""
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


@contextmanager
def _opened(operation: Operation, request: Any, chosen: argparse.Namespace) -> Iterator[Engine]:
    """The memory that the options choose. A dry run that would make the store gets an empty one, which is removed."""
    is_trial = operation.creates and operation.opens_store and getattr(request, "dry_run", False)
    open_chosen = partial(open_engine, user=chosen.user, permissions=_AT_THE_TERMINAL, late=not operation.opens_store)
    with ExitStack() as stack:
        try:
            engine = open_chosen(chosen.db, create=operation.creates and not is_trial, without_store=not is_trial)
        except NoStore:
            if not is_trial:
                raise
            from tempfile import TemporaryDirectory  # noqa: PLC0415 - only some dry runs need it

            folder = stack.enter_context(TemporaryDirectory(prefix="picomem-"))
            engine = open_chosen(Path(folder) / "picomem.db")
        yield stack.enter_context(engine)


def print_json(result: Any) -> None:
    """One document of a result."""
    write_result(json_document(jsonable(result), indent=2))


def write_result(
    text: str, *, end: str = "\n", failed: str = "It is done, but its result could not be written to stdout"
) -> None:
    """Print a result. Raises OutputFailed, whose message begins with `failed`, where stdout takes no more."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the rest fails again when Python ends
        raise OutputFailed(f"{failed}: {error.strerror}.") from error


def json_document(value: Any, indent: int | None = None) -> str:
    """A JSON document that a terminal does not obey. `ensure_ascii` is off: people read it too."""
    return escaped_json(json.dumps(value, ensure_ascii=False, indent=indent))


@contextmanager
def progress_bar(wanted: bool, *, rows: bool = False) -> Iterator[Progressing | None]:
    """A bar on stderr, of bytes or of rows, while something long runs; nothing where nobody watches."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich import console, progress  # noqa: PLC0415 - only a bar needs it

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn() if rows else progress.DownloadColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=None)

        def show(done: int, total: int, path: str) -> None:
            bar.update(task, completed=done, total=total, description=one_line(path[-40:]))

        yield show
