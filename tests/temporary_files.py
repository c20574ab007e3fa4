"""Where tests keep their temporary files: in memory where there is room, since each commit of a store waits for its disk.

The tests make thousands of stores, and a new store waits nine times. A file system in memory keeps locks, mapped logs
and killed processes' writes as a disk does; only a power cut tells them apart, and `tests/store/power_cut.py` simulates
one. `make soak` stays on the disk, and so does a run with TMPDIR set.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes that must be free


def keep_temporary_files_in_memory() -> None:
    """Point this process and its children at the folder in memory, where it is suitable."""
    if "TMPDIR" not in os.environ and "SOAK" not in os.environ and _is_suitable():
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # read TMPDIR anew


def _is_suitable() -> bool:
    """Whether the folder exists, may be written, has room, and runs the programs that tests put there."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return False
    state = os.statvfs(MEMORY)
    return state.f_bavail * state.f_frsize >= ROOM and not state.f_flag & os.ST_NOEXEC
