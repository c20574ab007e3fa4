"""`picomem serve` as a process of its own, and what its clients need."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from tests.databases import chosen, open_memory
from tests.forked_program import ForkedProcess, program
from tests.sealed_stores import is_setting

from picomem.engine.authorization import make_token

TIMEOUT = 60


class Served(NamedTuple):
    """A server that runs: where, on which store, the process, and the file that its log goes to."""

    url: str
    db: Path
    process: ForkedProcess | subprocess.Popen[bytes]
    log: Path

    def client(self, token: str = "", **headers: str) -> httpx2.Client:
        """A client that shows a token. It makes no TLS context, which takes longer than many a test."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(
            base_url=self.url, headers={**shown, **named}, timeout=TIMEOUT, trust_env=False, verify=False
        )

    def post(self, token: str, operation: str, arguments: dict[str, Any] | None = None, **headers: str) -> Any:
        """Call an operation; the response."""
        with self.client(token, **headers) as client:
            return client.post(f"/api/v1/{operation}", json=arguments or {})

    def stop(self) -> int:
        """Ask it to end; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=TIMEOUT)
        return self.process.wait()

    def whole_log(self) -> str:
        """Ask it to end; all that it logged."""
        self.stop()
        return self.log.read_text("utf-8")


class Ran(NamedTuple):
    """A command that has ended, named as in `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def picomem(db: Path, *arguments: str) -> Ran:
    """Run the command line."""
    code, out, err = program().run(
        ["--db", chosen().named(db), *arguments], stdin=b"", cwd=Path.cwd(), env=environment(db), timeout=TIMEOUT
    )
    return Ran(code, out.decode(), err.decode())


def token(db: Path, *arguments: str) -> str:
    """Make a token; its text."""
    return str(made_token(db, *arguments)["token"])


def made_token(db: Path, *arguments: str) -> dict[str, Any]:
    """Make a token; all that is said of it."""
    done = picomem(db, "token", "make", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def token_made_here(db: Path, user: str = "local") -> str:
    """The text of a token with the usual permissions, made in this process, which takes no second."""
    with open_memory(db, user=user, embedder="none") as memory:
        return make_token(memory, frozenset(), "", None)[1]


@contextmanager
def serving(db: Path, *arguments: str, **variables: str) -> Iterator[Served]:
    """Run `picomem serve` on a free port until the end of the block."""
    log = db.parent / f"{db.stem}.log"
    with log.open("w") as errors:
        env = {**environment(db), **variables}
        process = program().start(_serve(db, arguments), env=env, stderr=errors.fileno())
    with _served(db, process, log) as served:
        yield served


@contextmanager
def serving_in_fresh_interpreter(db: Path, *arguments: str, **variables: str) -> Iterator[Served]:
    """As `serving`, but not forked: for how the process of a server begins and ends."""
    log = db.parent / f"{db.stem}.log"
    command = [sys.executable, "-m", "picomem", *_serve(db, arguments)]
    with log.open("w") as errors:
        env = {**environment(db), **variables}
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=errors)
    with _served(db, process, log) as served:
        yield served


def _serve(db: Path, arguments: tuple[str, ...]) -> list[str]:
    return ["--db", chosen().named(db), "serve", "--port", "0", "--json", *arguments]


@contextmanager
def _served(db: Path, process: ForkedProcess | subprocess.Popen[bytes], log: Path) -> Iterator[Served]:
    assert process.stdout is not None
    said = process.stdout.readline()
    assert said, log.read_text("utf-8")
    try:
        yield Served(json.loads(said)["url"], db, process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextmanager
def running_mcp(db: Path, **variables: str) -> Iterator[ForkedProcess]:
    """Run `picomem mcp` until the end of the block; then its stdin closes."""
    env = {**environment(db), **variables}
    process = program().start(["--db", chosen().named(db), "mcp"], env=env, has_stdin=True)
    try:
        yield process
    finally:
        process.communicate(timeout=TIMEOUT)


def environment(db: Path) -> dict[str, str]:
    """The variables of a process on a store of a test."""
    kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
    home = db.parent / "home"  # the transcripts of whoever runs the tests are not read
    home.mkdir(exist_ok=True)
    return {
        **kept,
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": "",
        "CODEX_HOME": "",
        "PICOMEM_DATA_DIR": str(db.parent / "data"),
        "PICOMEM_RECALL_EMBEDDER": "none",
    }
