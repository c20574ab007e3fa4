"""What every adapter does: it answers JSON lines on stdin with JSON lines on stdout.

    {"do": "open", "folder": PATH, "model": FOLDER}     {"version": TEXT}
    {"do": "add", "ids": [TEXT], "texts": [TEXT]}       {"times": [TIME]}
    {"do": "ready"}                                     {"times": [TIME]}      what was added can be asked for
    {"do": "ask", "questions": [TEXT], "count": NUMBER} {"times": [TIME], "ids": [[TEXT]]}
    {"do": "weigh"}                                     {"mb": NUMBER, "peak_mb": NUMBER}
    {"do": "close"}                                     {}

or with {"error": TEXT}. A TIME is [seconds that passed, seconds of the processor in all threads]. It is taken here,
around the library's own call: neither JSON nor the pipe counts.

An adapter runs in the interpreter of its library and imports nothing of picomem's (but for those of picomem and FTS5),
so no library is a dependency of anything but its adapter.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol


class Peer(Protocol):
    """A library that holds texts under ids and finds them again."""

    version: str

    def add(self, ids: list[str], texts: list[str]) -> None: ...

    def ready(self) -> None:
        """Make everything that was added findable, and keep it on disk."""
        ...

    def ask(self, question: str, count: int) -> list[str]:
        """The ids of the best, the best first."""
        ...

    def close(self) -> None: ...


def serve(opened: Callable[[Path, Path], Peer]) -> None:
    """Answer until told to close; `opened` takes an empty folder to keep things in, and the folder of a model."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries print what they please
    peer: Peer | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "open":
                peer = opened(Path(request["folder"]), Path(request["model"]))
                answer: dict[str, Any] = {"version": peer.version}
            elif peer is None:
                answer = {"error": "nothing is open"}
            else:
                answer = _answer(peer, request)
        # Whatever a foreign library raises is for the parent to tell.
        except Exception as error:  # noqa: BLE001
            said = str(error).strip().splitlines()
            answer = {"error": f"{type(error).__name__}: {said[0] if said else ''}"}
        answers.write(f"{json.dumps(answer)}\n")
        answers.flush()
        if request["do"] == "close":
            return


def _answer(peer: Peer, request: dict[str, Any]) -> dict[str, Any]:
    what = request["do"]
    if what == "add":
        return {"times": [_timed(lambda: peer.add(request["ids"], request["texts"]))[1]]}
    if what == "ready":
        return {"times": [_timed(peer.ready)[1]]}
    if what == "weigh":
        return _weight()
    if what == "close":
        peer.close()
        return {}
    asked = [
        _timed(lambda question=question: peer.ask(question, request["count"])) for question in request["questions"]
    ]
    return {"ids": [ids for ids, _ in asked], "times": [time for _, time in asked]}


def _timed(do: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    began, used = perf_counter(), process_time()
    result = do()
    return result, (perf_counter() - began, process_time() - used)


def _weight() -> dict[str, float]:
    """Resident memory in megabytes (10⁶ bytes), now and at most; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return {"mb": 0.0, "peak_mb": 0.0}
    told = dict(line.split(":", 1) for line in status.read_text().splitlines())
    now, peak = (int(told[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return {"mb": now, "peak_mb": peak}
