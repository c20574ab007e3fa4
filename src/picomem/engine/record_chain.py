"""The record of changes of a caller's user: whether it is whole, and its signed head."""

from __future__ import annotations

import logging
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, PicomemError
from picomem.health import record_check
from picomem.health.record_check import Head, RecordCheck
from picomem.paths import named_path, read_text
from picomem.store.tables import handout_rows

_LARGEST = 64 << 20  # bytes of a file of heads
_SECONDS = 30  # of a command that takes a head


def verify_record(engine: Engine, head: Path | None = None) -> RecordCheck:
    """Verify the record, also against the heads in a file. Raises InvalidInput for heads that nobody signed."""
    heads = record_check.read_heads(read_text(head, most=_LARGEST), engine.scope.user) if head else []
    with engine._context.connector.read() as tx:
        return record_check.verify(tx, engine.scope, heads)


def record_head(engine: Engine) -> Head:
    """The signed head of the record as it is now, which goes where the settings say. Raises NotFound without a record
    or its key, and InvalidInput."""
    with engine._context.connector.read() as tx:
        head = record_check.signed(tx, engine.scope, engine.now())
    line = record_check.line_of(head)
    settings = engine.settings.audit
    if settings.head_file:
        _append(named_path(settings.head_file), line)
    if settings.head_command:
        _hand_to(settings.head_command, line)
    return head


def note_handed_out(engine: Engine, verb: str, ids: Iterable[str]) -> None:
    """Record what an operation has handed to an agent, if the settings say so (`reads` in `[audit]`).

    Raises StoreError: what cannot be recorded is not handed out.
    """
    if engine.settings.audit.reads:
        with engine._context.connector.write(engine.scope) as tx:
            handout_rows.record(tx, engine.scope, engine.caller.signature, verb, ids, engine.now())


def copy_head(engine: Engine) -> None:
    """Let the head go where the settings say; a warning is logged where it does not get there."""
    try:
        record_head(engine)
    except PicomemError as error:
        logging.getLogger("picomem").warning("%s", error)


def _append(path: Path, line: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
    except OSError as error:
        raise InvalidInput(
            f"The head was not copied to {path} ({error.strerror}); correct head_file in [audit]."
        ) from error


def _hand_to(command: str, line: str) -> None:
    """Run a command of the settings, split as a shell would split it; no shell runs it."""
    try:
        done = subprocess.run(shlex.split(command), input=line.encode(), capture_output=True, timeout=_SECONDS)
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        raise InvalidInput(f"The head was not handed over ({error}); correct head_command in [audit].") from error
    if done.returncode:
        raise InvalidInput(
            f"The head was not handed over, because head_command in [audit] ended with status {done.returncode}."
        )
