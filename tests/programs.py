"""Run a test file as a program: the other process of a test about processes.

This file is a program too: the nursery of `forking`.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def start(file: str, *arguments: str, wrapped: Sequence[str] = (), **variables: str) -> subprocess.Popen[str]:
    """Start a test file with pipes for its input and output.

    `wrapped` is a command that runs it, and `variables` are added to its environment."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    env = {**os.environ, "PYTHONPATH": path, "TOKENIZERS_PARALLELISM": "false", **variables}
    return subprocess.Popen(
        [*wrapped, sys.executable, file, *arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@contextmanager
def forking(file: str) -> Iterator[Callable[..., Any]]:
    """A function that calls `program` of a test file, each time in a process of its own, which is forked from one that
    has loaded the file and the modules that earlier calls needed. It gives the result, which must be JSON, or None if
    SIGKILL ended the process."""
    nursery = start(__file__, file)
    assert nursery.stdin is not None
    assert nursery.stdout is not None

    def call(*arguments: Any) -> Any:
        print(json.dumps(arguments), file=nursery.stdin, flush=True)
        answer = nursery.stdout.readline()
        assert answer, "the process failed"
        return json.loads(answer)

    with nursery:
        yield call
        nursery.stdin.close()
    assert nursery.returncode == 0


def _is_importable(module: str) -> bool:
    """Return whether a module can be loaded by its name. (Compiled ones may put others beside them that cannot.)"""
    return bool(getattr(sys.modules[module], "__spec__", None))


def _nursery(file: str) -> None:
    program = runpy.run_path(file)["program"]
    for line in sys.stdin:
        known = set(sys.modules)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                result = program(*json.loads(line))
                os.write(
                    writing,
                    json.dumps(
                        [result, [name for name in sys.modules if name not in known and _is_importable(name)]]
                    ).encode(),
                )
                code = 0
            except BaseException:  # noqa: BLE001 - what the interpreter does with an error that nobody caught
                traceback.print_exc()
            os._exit(code)
        os.close(writing)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with open(reading) as answer:
            result, modules = json.loads(answer.read() or "[null, []]")
        if code not in (0, -signal.SIGKILL):
            sys.exit(1)
        sys.stdout.write(f"{json.dumps(result)}\n")
        sys.stdout.flush()
        for name in modules:  # each process would load them anew
            importlib.import_module(name)


if __name__ == "__main__":
    _nursery(sys.argv[1])
