"""Failures of hooks: `hooks.log` in the data directory, JSON lines, the latest last.

A hook prints only its answer, so this file is the only place where a failure shows; `picomem status` names it. It holds
names of files, but no text of conversations. Of an error outside picomem's tree it holds only the kind and the place,
because the message may quote its input.
"""

from __future__ import annotations

import json
import os
import traceback
from contextlib import suppress
from pathlib import Path

from picomem.clock import DAY, iso, parse_iso, system_clock
from picomem.errors import PicomemError
from picomem.paths import data_dir, make_private_dir, read_regular, status_of
from picomem.text.inert_text import one_line

NAME = "hooks.log"
_MOST_BYTES = 64_000
_LONGEST = 500  # characters of a problem


def note(problem: str) -> None:
    """Append a line; a log that cannot be written is no reason to harm a host."""
    line = json.dumps({"at": iso(system_clock()), "problem": one_line(problem[:_LONGEST])})
    with suppress(OSError, PicomemError):
        make_private_dir(data_dir())
        _append(data_dir() / NAME, line + "\n")


def latest() -> str:
    """Return the failures of the last day for people: time, failure, and where to read more; empty without failures."""
    try:
        path = data_dir() / NAME
        if status_of(path) is None:
            return ""
        lines = read_regular(path, most=2 * _MOST_BYTES).decode("utf-8", "replace").strip().split("\n")
        entry = json.loads(lines[-1])
        at = parse_iso(entry["at"])
        if at < system_clock() - DAY:
            return ""
        return f"A hook went wrong on {iso(at)[:16].replace('T', ' at ')} UTC: {entry['problem']} (all of them: {path})"
    except (OSError, PicomemError, ValueError, TypeError, KeyError, IndexError):
        return f"{NAME} in the data directory cannot be read; remove it."


def described(error: Exception) -> str:
    """A fault of picomem's own: its kind, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"picomem has a fault: {type(error).__name__}{place}; please report it."


def _append(path: Path, line: str) -> None:
    """One write, so lines of two hooks do not mix. A file that has grown loses its older half."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size > _MOST_BYTES:
            latest = os.pread(descriptor, _MOST_BYTES // 2, size - _MOST_BYTES // 2).partition(b"\n")[2]
            os.ftruncate(descriptor, 0)
            os.write(descriptor, latest)
        os.write(descriptor, line.encode("utf-8", "replace"))
    finally:
        os.close(descriptor)
