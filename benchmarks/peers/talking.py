"""A peer in a process of its own, which communicates in JSON lines (see adapters/serving.py).

It gets a home of its own, so that it reads nobody's settings, and no access to a model hub. Chroma looks for its
default model in the home; the model of `--model` lies there, or nothing. The output of a library goes to a separate
file.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.peers.kinds import Kind
from picomem.errors import PicomemError

_ADAPTERS = Path(__file__).parent / "adapters"
_CHROMA = Path(".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx")
_PROJECT = str(Path(__file__).parents[2])  # picomem's own adapters share its sets of questions
_SECONDS_TO_END = 30


class PeerFailed(PicomemError):
    """A peer could not do what it was asked for."""

    code = "peer_failed"


Time = tuple[float, float]  # seconds that passed, and of the processor in all threads


def _time(told: Sequence[float]) -> Time:
    passed, used = told
    return passed, used


class Talk:
    """A peer that is open."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.version = ""

    def open(self, folder: Path, model: Path | None) -> None:
        self.version = self._told(do="open", folder=str(folder), model=str(model or folder))["version"]

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> Time:
        return _time(self._told(do="add", ids=list(ids), texts=list(texts))["times"][0])

    def ready(self) -> Time:
        return _time(self._told(do="ready")["times"][0])

    def ask(self, questions: Sequence[str], count: int) -> tuple[list[list[str]], list[Time]]:
        """The ids found and the time, by question."""
        told = self._told(do="ask", questions=list(questions), count=count)
        return told["ids"], [_time(pair) for pair in told["times"]]

    def weigh(self) -> tuple[float, float]:
        """Megabytes of resident memory, now and at most."""
        told = self._told(do="weigh")
        return told["mb"], told["peak_mb"]

    def close(self) -> None:
        self._told(do="close")

    def _told(self, **request: Any) -> dict[str, Any]:
        reading, writing = self._process.stdout, self._process.stdin
        assert reading is not None
        assert writing is not None
        with suppress(BrokenPipeError):  # a process that ended says why in its last lines
            writing.write(f"{json.dumps(request)}\n")
            writing.flush()
        line = reading.readline()
        if not line:
            raise PeerFailed("its process ended")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerFailed(answer["error"])
        return answer


@contextmanager
def talking(kind: Kind, folder: Path, environments: Path | None, model: Path | None) -> Iterator[Talk]:
    """A peer that keeps its things in `folder`, which is made. Raises PeerFailed, with the last that it printed where
    it ended without an answer."""
    home = folder.with_name(f"{folder.name}-home")
    folder.mkdir(parents=True)
    home.mkdir()
    if model is not None:
        _lay(model, home / _CHROMA)
    command = [kind.interpreter(environments), str(_ADAPTERS / f"{kind.adapter}.py"), *kind.arguments]
    printed = home / "printed"
    with printed.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            cwd=home,
            env=_environment(kind, home),
        )
    with process:
        try:
            talk = Talk(process)
            talk.open(folder, model)
            yield talk
        except PeerFailed as error:
            process.kill()
            last = printed.read_text("utf-8", errors="replace").strip().splitlines()[-1:]
            raise PeerFailed("; ".join([str(error), *(last if process.wait() > 0 else [])])) from error
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()  # type: ignore[union-attr]
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()


def _environment(kind: Kind, home: Path) -> Mapping[str, str]:
    # The one thread of linear algebra that picomem asks for is picomem's choice and nobody else's.
    mine = kind.environment == ""
    passed = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PICOMEM_", "XDG_", "MEMPAL")) and (mine or name != "OPENBLAS_NUM_THREADS")
    }
    return passed | {
        "HOME": str(home),
        "PICOMEM_DATA_DIR": str(home),
        "HF_HUB_OFFLINE": "1",
        "ANONYMIZED_TELEMETRY": "False",
        "PYTHONDONTWRITEBYTECODE": "1",
        **(
            {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join((_PROJECT, passed.get("PYTHONPATH", "")))}
            if mine
            else {}
        ),
    }


def _lay(model: Path, place: Path) -> None:
    """The model's files where Chroma would have put the one that it downloads."""
    place.mkdir(parents=True)
    for file in model.iterdir():
        if file.is_file():
            (place / file.name).symlink_to(file.resolve())
