"""The command line in processes that are forked from one that has loaded everything.

    test → nursery: one interpreter, every module loaded, nothing open → a process, forked for each command

A command that talks with a model takes three seconds of processor time to load its libraries, and the tests run hundreds
of commands. Each still has a process of its own, with its own files, environment and exit code. What a fresh
interpreter does is for other tests: `test_imports.py`, `test_offline.py`, `tests/project/installed.py`.

This file is the nursery's program too.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[2]
PRELOADED = (
    "pydantic_ai.models.ollama",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.ollama",
    "pydantic_ai.providers.openai",
)


class ForkedProgram:
    """Runs `picomem ARGUMENTS…`, one command at a time."""

    def __init__(self) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "TOKENIZERS_PARALLELISM": "false"}
        self._nursery = subprocess.Popen(
            [sys.executable, __file__, str(requests), str(answers)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(requests, answers),
            start_new_session=True,
        )
        os.close(requests)
        os.close(answers)

    def close(self) -> None:
        """End the nursery."""
        os.close(self._requests)
        os.close(self._answers)
        assert self._nursery.wait(timeout=60) == 0

    def run(
        self, arguments: Sequence[str | bytes], *, stdin: bytes, cwd: Path, env: dict[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        """Run a command; give its exit code, negative after a signal, and what it wrote to stdout and stderr."""
        with tempfile.TemporaryDirectory() as folder:
            streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
            streams[0].write_bytes(stdin)
            words = [os.fsdecode(argument) for argument in arguments]
            request = {"arguments": words, "streams": [str(path) for path in streams], "cwd": str(cwd), "env": env}
            with open(self._requests, "wb", closefd=False) as pipe:
                pipe.write(json.dumps(request).encode() + b"\n")
            if not select.select([self._answers], [], [], timeout)[0]:
                os.killpg(self._nursery.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(words, timeout)
            answer = os.read(self._answers, 16)
            assert answer, "the nursery ended by itself"
            return int(answer), streams[1].read_bytes(), streams[2].read_bytes()


def _load_everything() -> None:
    import picomem

    for module in pkgutil.walk_packages(picomem.__path__, "picomem."):
        if module.name != "picomem.__main__":
            importlib.import_module(module.name)
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _nursery(requests: int, answers: int) -> None:
    """Fork a process for each request and answer with its exit code."""
    _load_everything()
    for line in open(requests, "rb", closefd=False):  # noqa: SIM115 - a block would close it in each process
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            os.close(requests)
            os.close(answers)
            _become(request)
            _run_and_end()
        status = os.waitpid(child, 0)[1]
        os.write(answers, f"{os.waitstatus_to_exitcode(status):<16}".encode())


def _become(request: dict) -> None:
    """Take over the files, the folder, the environment and the arguments of a command."""
    stdin, stdout, stderr = request["streams"]
    for number, (path, flags) in enumerate(
        ((stdin, os.O_RDONLY), (stdout, os.O_CREAT | os.O_WRONLY), (stderr, os.O_CREAT | os.O_WRONLY))
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv = ["picomem", *request["arguments"]]


def _run_and_end() -> NoReturn:
    """Run the command and end this process. The interpreter's own end would visit, and so copy, every module's objects,
    which takes longer than most commands."""
    from picomem.cli.main import main

    try:
        code = main()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - what the interpreter does with an error that nobody caught
        traceback.print_exc()
        code = 1
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue] - waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    _nursery(int(sys.argv[1]), int(sys.argv[2]))
