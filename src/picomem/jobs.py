"""The background work of a long-running process: `picomem mcp` and `picomem ingest --watch`.

So far there is one kind: creating missing vectors (memory/missing_vectors.py). It runs in a thread, beside the caller
that opened the engine; a lease decides which of several processes does the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from picomem.engine.engine import Engine
from picomem.engine.upkeep import missing_vectors, reach
from picomem.errors import PicomemError

_LOOK_SECONDS = 5.0  # between two looks at whether anything was stored: three rows are read
_REST_SECONDS = 60.0  # after a failure, and where another process is at work
_FAREWELL_SECONDS = 0.5  # how long an end waits for the batch that is being made: nothing is lost without it


@contextmanager
def in_background(engine: Engine, look_seconds: float = _LOOK_SECONDS) -> Iterator[None]:
    """Work in the background until the end of the block; the engine is to be closed after that."""
    stop = Event()
    thread = Thread(target=_work, args=(engine, stop, look_seconds), name="picomem-embed", daemon=True)
    if engine.embedder_name == "none" or engine.read_only:
        yield
        return
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_FAREWELL_SECONDS)


def _work(engine: Engine, stop: Event, look_seconds: float) -> None:
    seen: object = None  # how far the store reached when nothing was missing
    pause = 0.0
    while not stop.wait(pause):
        try:
            now = reach(engine)
            pause = look_seconds
            if now != seen and missing_vectors(engine):
                engine.embed(remove=False, wait=False, stop=stop)
                continue  # look whether anything came in meanwhile
            seen = now
        except PicomemError:
            pause = _REST_SECONDS  # recall and status say what is wrong; here nobody listens
