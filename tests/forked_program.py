"""The command line in processes that are forked from one that has loaded everything.

    test → nursery: one interpreter, everything loaded, nothing open → a process, forked for each command

A server takes two seconds of processor time to load its libraries, a command that talks with a model three, and the
tests run hundreds of them. Each still has a process of its own, with its own files, environment and exit code. What a
fresh interpreter does is for other tests: `test_imports.py`, `test_offline.py`, `tests/gateway/test_shutdown.py`,
`tests/project/installed.py`.

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
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

ROOT = Path(__file__).parents[1]
PRELOADED = (
    "anyio._backends._asyncio",
    "pydantic_ai.models.ollama",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.ollama",
    "pydantic_ai.providers.openai",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "websockets",
)
_MOST_BYTES = 1 << 20  # of a request


class ForkedProcess:
    """A process that the nursery forked, with the methods of `subprocess.Popen` that tests use."""

    def __init__(
        self, arguments: Sequence[str], states: int, stdin: IO[bytes] | None, stdout: IO[bytes] | None
    ) -> None:
        self.args = list(arguments)
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._states = states  # a pipe on which the nursery tells the process id, and later the exit code
        self.pid = self._next_state()

    def _next_state(self) -> int:
        state = os.read(self._states, 16)
        assert state, "the nursery ended by itself"
        return int(state)

    def poll(self) -> int | None:
        """The exit code, negative after a signal; None while the process runs."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process; its exit code. Raises TimeoutExpired."""
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._states], [], [], timeout)[0]:
            self.returncode = self._next_state()
            os.close(self._states)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended, and its state is still on the way
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, None]:
        """Close stdin, wait for the end of the process, and give what it wrote last: less than a pipe holds."""
        if self.stdin:
            self.stdin.close()
        self.wait(timeout)
        if self.stdout is None or self.stdout.closed:
            return b"", None
        with self.stdout:
            return self.stdout.read(), None


class ForkedProgram:
    """Runs `picomem ARGUMENTS…`."""

    def __init__(self) -> None:
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "TOKENIZERS_PARALLELISM": "false"}
        self._nursery = subprocess.Popen(
            [sys.executable, __file__, str(control.fileno())],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[control.fileno()],
            start_new_session=True,
        )
        control.close()

    def close(self) -> None:
        """End the nursery."""
        self._control.close()
        assert self._nursery.wait(timeout=60) == 0

    def start(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        stderr: int = 2,
        has_stdin: bool = False,
        code: str = "",
    ) -> ForkedProcess:
        """Start a command with a pipe for its output, and for its input with `has_stdin`; otherwise that is empty. With
        `code` this Python program runs on the arguments, in place of the command line."""
        reading, stdout = os.pipe()
        stdin, writing = os.pipe()
        try:
            states = self._ask(arguments, env, Path.cwd(), (stdin, stdout, stderr), code)
        finally:
            os.close(stdin)
            os.close(stdout)
        if not has_stdin:
            os.close(writing)
        return ForkedProcess(
            arguments, states, os.fdopen(writing, "wb") if has_stdin else None, os.fdopen(reading, "rb")
        )

    def run(
        self,
        arguments: Sequence[str | bytes],
        *,
        stdin: bytes,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        code: str = "",
    ) -> tuple[int, bytes, bytes]:
        """Run a command, or the Python program `code` on the arguments; give the exit code, negative after a signal, and
        what was written to stdout and stderr."""
        words = [os.fsdecode(argument) for argument in arguments]
        with (
            tempfile.TemporaryFile() as input_file,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            input_file.write(stdin)
            input_file.seek(0)
            files = (input_file.fileno(), output.fileno(), errors.fileno())
            process = ForkedProcess(words, self._ask(words, env, cwd, files, code), None, None)
            try:
                exit_code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            output.seek(0)
            errors.seek(0)
            return exit_code, output.read(), errors.read()

    def _ask(
        self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, files: tuple[int, int, int], code: str = ""
    ) -> int:
        """Ask for a process with these standard streams; the pipe that tells its states."""
        reading, writing = os.pipe()
        request = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env), "code": code}
        socket.send_fds(self._control, [json.dumps(request).encode()], [*files, writing])
        os.close(writing)
        return reading


@cache
def program() -> ForkedProgram:
    """The program of this process, which loads it once."""
    started = ForkedProgram()
    atexit.register(started.close)
    return started


def _load_everything() -> None:
    import picomem

    for module in pkgutil.walk_packages(picomem.__path__, "picomem."):
        if module.name != "picomem.__main__":
            importlib.import_module(module.name)
    for name in PRELOADED:
        importlib.import_module(name)
    from picomem.gateway.mcp import build_server

    # What a command makes when it first needs it: patterns, the tokenizer, the table of word vectors.
    with tempfile.TemporaryDirectory() as folder, picomem.open(f"{folder}/warm.db", embedder="static") as memory:
        talk = Path(folder) / "talk.jsonl"
        talk.write_text('{"role": "user", "content": "Remember that the warm engine has a token."}\n')
        memory.ingest([talk])
        memory.remember("The warm engine starts at once", key="warm_engine")
        memory.remember("The warm engine starts late", key="cold_engine")  # two that are compared
        memory.recall("what starts at once?")
        build_server(memory)  # the schemas of all tools
    gc.collect()
    gc.freeze()


def _nursery(control: socket.socket) -> None:
    """Fork a process for each request. Tell its process id, and when it has ended its exit code."""
    _load_everything()
    is_ended, ended = socket.socketpair()
    ended.setblocking(False)
    signal.set_wakeup_fd(ended.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    states: dict[int, int] = {}
    while True:
        readable = select.select([control, is_ended], [], [])[0]
        if is_ended in readable:
            is_ended.recv(1024)
            _tell_of_ended(states)
        if control in readable:
            request, files, _, _ = socket.recv_fds(control, _MOST_BYTES, 4)
            if not request:
                return
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for descriptor in (control.fileno(), is_ended.fileno(), ended.fileno(), *states.values()):
                    os.close(descriptor)
                asked = json.loads(request)
                _become(asked, files)
                _run_and_end(asked["code"])
            *streams, states[child] = files
            for stream in streams:
                os.close(stream)
            os.write(states[child], f"{child:<16}".encode())


def _tell_of_ended(states: dict[int, int]) -> None:
    while states:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        state = states.pop(child)
        with suppress(BrokenPipeError):  # nobody waits for it
            os.write(state, f"{os.waitstatus_to_exitcode(status):<16}".encode())
        os.close(state)


def _become(request: dict, files: Sequence[int]) -> None:
    """Take over the files, the folder, the environment and the arguments of a command."""
    for number, opened in enumerate(files[:3]):
        os.dup2(opened, number)
    for opened in files:
        os.close(opened)
    for number, name in enumerate(("stdin", "stdout", "stderr")):  # which the nursery made for other files
        was = getattr(sys, name)
        buffering = 1 if was.line_buffering else -1
        stream = open(number, was.mode, buffering, was.encoding, was.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv = ["picomem", *request["arguments"]]


def _run_and_end(program_text: str) -> NoReturn:
    """Run the command, or the program, and end this process. The interpreter's own end would visit, and so copy, every module's objects,
    which takes longer than most commands."""
    from picomem.cli.main import main

    try:
        code = exec(program_text, {"__name__": "__main__"}) if program_text else main()
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
    _nursery(socket.socket(fileno=int(sys.argv[1])))
