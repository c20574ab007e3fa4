"""Nothing connects anywhere: importing picomem, and each main verb with no model configured (S12).

Sockets are forbidden by an audit hook in the process itself and, where the system allows it, by a network namespace
that has no network. This file is the process's program too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.programs import start

FORBIDDEN = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
    "socket.sendmsg",
    "urllib.Request",
)
OLLAMA_PORT = 11434
MARK = "CONNECTED: "
SAY = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'

# Each command with what it reads on stdin and the exit codes that it may have.
COMMANDS: dict[str, tuple[list[str], str, set[int]]] = {
    "remember": (["remember", "The ferry sails at one", "--key", "ferry"], "", {0}),
    "recall": (["recall", "When does the ferry sail?"], "", {0}),
    "ingest": (["ingest", "talk.jsonl"], "", {0}),
    "consolidate": (["consolidate"], "", {0}),
    "mcp": (["mcp"], SAY, {0}),
    "chat": (["chat"], "hello\n", {2}),  # no model is configured, and it says so
}


def _without_network() -> list[str]:
    """What to begin a command with so that it has no network; nothing where that is not allowed here."""
    unshare = shutil.which("unshare")
    if unshare and not subprocess.run([unshare, "-n", "true"], capture_output=True, check=False).returncode:
        return [unshare, "-n"]
    return []


@pytest.mark.requirement("X1")
@pytest.mark.reliability("S12")
def test_no_command_connects_to_anything(tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Remember that the lantern is lit at six."}) + "\n")
    folders = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path / "c")}
    for name, (arguments, said, codes) in COMMANDS.items():
        given = [str(talk) if argument == talk.name else argument for argument in arguments]
        process = start(__file__, *given, wrapped=_without_network(), **folders)
        out, _ = process.communicate(said, timeout=120)
        assert MARK not in out, f"{name}: {out}"
        assert process.returncode in codes, f"{name}: {process.returncode}, {out}"


@pytest.mark.reliability("S12")
def test_the_audit_hook_sees_a_connection() -> None:
    process = start(__file__, "connect")
    assert MARK in process.communicate(timeout=60)[0]


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event in FORBIDDEN and not _is_local(event, arguments):
        sys.__stdout__.write(f"{MARK}{event} {arguments[1:]}\n")  # type: ignore[union-attr]
        raise PermissionError("the network is forbidden")


def _is_local(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether a socket of the file system is meant, as those of an event loop are, or Ollama by a chat."""
    if event == "socket.connect" and isinstance(arguments[1], str | bytes):
        return True
    # A chat without a model looks for Ollama on this very machine.
    host, port = arguments[1][:2] if event == "socket.connect" else arguments[:2]  # type: ignore[index]
    return sys.argv[1:2] == ["chat"] and host in ("localhost", "127.0.0.1", "::1") and port == OLLAMA_PORT


def _watched(given: list[str]) -> int:
    """The command of the arguments, watched from before picomem is imported."""
    sys.addaudithook(_watch)
    import picomem

    assert picomem.open
    if given == ["connect"]:
        import socket

        socket.create_connection(("127.0.0.1", 9))
    from picomem.cli.main import main

    return main(given)


if __name__ == "__main__":
    raise SystemExit(_watched(sys.argv[1:]))
