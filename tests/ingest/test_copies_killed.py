"""A process that is killed with SIGKILL while it writes a copy: the copy is the old one or the new one, and the next run
brings it up to date."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from picomem.ingest.source import header_of, records_of

from .test_transcript_copies import Opener, copies, ingest, keeping, path, texts, write

__all__ = ["keeping", "path"]  # fixtures

pytestmark = [
    pytest.mark.plain_file("no copies are made of a sealed store"),
    pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGKILL"),
    pytest.mark.sqlite_file("a second process opens the file"),
]

_PROGRAM = """
import os, pathlib, signal, sys
from picomem.engine.transcripts import keep_transcripts
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import IngestSettings, RecallSettings
from picomem.store.sqlite.connector import SqliteConnector

point, at, calls = sys.argv[2], int(sys.argv[3]), []

def killing(real):
    def call(*arguments):
        calls.append(1)
        if len(calls) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments)
    return call

settings = Settings(recall=RecallSettings(embedder="none", timezone="UTC"), ingest=IngestSettings(keep="all"))
with Runtime(SqliteConnector(pathlib.Path(sys.argv[1])), settings) as runtime:
    engine = runtime.engine()
    owner = os if point == "fsync" else pathlib.Path
    setattr(owner, point, killing(getattr(owner, point)))
    keep_transcripts(engine)
"""


@pytest.mark.parametrize(("point", "at"), [("fsync", 1), ("replace", 1), ("fsync", 2)])
def test_a_kill_leaves_the_old_copy_or_the_new_one(keeping: Opener, path: Path, db: Path, point: str, at: int) -> None:
    engine = keeping("all")
    ingest(engine, path)
    old = path.stat().st_size
    write(path, (("user", "Then delete it."), ("assistant", "Deleted.")), first=4)
    engine.ingest([path])
    arguments = [sys.executable, "-c", _PROGRAM, str(db), point, str(at)]
    killed = subprocess.run(arguments, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    (copy,) = copies(engine)
    new = path.stat().st_size
    is_new = (point, at) == ("fsync", 2)
    assert (header_of(copy).end, len(list(records_of(copy)))) == ((new, 6) if is_new else (old, 4))
    assert ingest(engine, path).kept == (0 if is_new else 1)
    before = texts(engine)
    path.unlink()
    assert texts(engine) == before
    assert "Deleted." in before
    engine.purge(session="5e55")
    assert not copy.parent.exists(), "what the killed process left goes with the rest"
