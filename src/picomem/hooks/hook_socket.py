"""How a hook, or `picomem recall`, asks a picomem process that runs anyway, which spares it loading and opening
everything itself.

Each process that stays (`picomem mcp`, `picomem serve`) listens on a socket of its own in the data directory,
hook-PID.sock, which only its owner can reach. A hook asks the oldest that listens. A socket on which nobody listens was
left behind by a process that was killed: whoever finds it removes it.

    request   the variables and options that choose memory, each ended by a NUL byte, and an empty one; then the event,
              or the request of a recall with the folder in which it is asked
    reply     “+” and what the host is given, or the answer (operations/sent_answers.py); or “.”, where whoever asks had
              better do it: another database is meant, the settings have changed, or there is nothing to answer

This module is the hook's part, and loads nothing but sockets.
"""

from __future__ import annotations

import json
import os
import select
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic

from picomem.blake2b import blake2b

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from socket import socket
    from typing import Any

PREFIX, SUFFIX = "hook-", ".sock"
ANSWERED, NOT_HERE = b"+", b"."
_END = b"\0"
_LONGEST_REPLY = 1 << 20  # bytes
_DECIDING = ("HOME", "XDG_DATA_HOME", "TZ")  # and every variable of picomem's
_SECRET = "PICOMEM_STORE_KEY"
_PATHS = ("PICOMEM_DB", "PICOMEM_CONFIG", "PICOMEM_DATA_DIR", "--db")  # a relative one means another file elsewhere


def ask(folder: Path, options: Mapping[str, str], given: bytes, until: float) -> bytes | None:
    """What a running process answers, until a time of `monotonic`; None where none can."""
    sockets = sockets_in(folder)
    if not sockets:
        return None
    import socket  # noqa: PLC0415 - only where a process listens

    request = request_of(deciding(os.environ, options), given)
    for path in sockets:
        if monotonic() >= until:
            return None
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(max(0.01, until - monotonic()))
                connection.connect(str(path))
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                reply = _received(connection, until)
        except ConnectionRefusedError:
            with suppress(OSError):
                path.unlink()
            continue
        except OSError:
            continue
        if reply.startswith(ANSWERED + b"{") and reply.endswith(b"}\n"):
            return reply[1:]
        if reply.startswith(NOT_HERE):
            return None  # and neither would another
    return None


def deciding(variables: Mapping[str, str], options: Mapping[str, str]) -> list[str]:
    """What chooses memory and settings, sorted: of two equal lists the same memory is meant."""
    named = {name: value for name, value in variables.items() if name.startswith("PICOMEM_") or name in _DECIDING}
    chosen = named | dict(options)
    if key := chosen.get(_SECRET):  # whoever listens need not learn it
        chosen[_SECRET] = blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    for name in _PATHS:
        if chosen.get(name) and "://" not in chosen[name]:
            chosen[name] = os.path.realpath(os.path.expanduser(chosen[name]))  # noqa: PTH111 - which raises for no text
    return [f"{name}={value}" for name, value in sorted(chosen.items())]


def request_of(decided: Iterable[str], given: bytes) -> bytes:
    """A request as it is sent."""
    return b"".join(os.fsencode(item) + _END for item in decided) + _END + given


def parsed(request: bytes) -> tuple[list[str], bytes]:
    """What `request_of` was made from."""
    head, _, given = request.partition(2 * _END)
    return [os.fsdecode(item) for item in head.split(_END) if item], given


def sockets_in(folder: Path) -> list[Path]:
    """The sockets in the data directory, the oldest first. One that others could have put there is not asked: what it
    answers goes into the model's context."""
    made: list[tuple[float, Path]] = []
    with suppress(OSError):
        if not _is_private(folder.stat()):
            return []
        for path in folder.iterdir():
            if path.name.startswith(PREFIX) and path.suffix == SUFFIX:
                status = path.lstat()
                if stat.S_ISSOCK(status.st_mode) and _is_private(status):
                    made.append((status.st_mtime, path))
    return [path for _, path in sorted(made)]


def _is_private(status: os.stat_result) -> bool:
    """Return whether a file or folder is ours, and only ours to reach."""
    return status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077


def _received(connection: socket, until: float) -> bytes:
    """All that is sent until a time. Raises TimeoutError."""
    reply = b""
    while len(reply) <= _LONGEST_REPLY and (piece := connection.recv(1 << 16)):
        reply += piece
        connection.settimeout(max(0.001, until - monotonic()))
        if monotonic() >= until:
            raise TimeoutError
    return reply


# Reads the event that a host writes to a hook: one JSON object. Loads nothing but the decoder.
#
# An object counts as soon as it is whole, because a host may leave its end of the pipe open. What follows the object
# is ignored. A byte that is no UTF-8, and a control character in a string, cost that character alone.

LARGEST_INPUT = 4 << 20  # bytes of an event
_PIECE = 1 << 16  # bytes
_DECODER = json.JSONDecoder(strict=False)


def read_event(descriptor: int, until: float) -> tuple[bytes, dict[str, Any]]:
    """The input, and the event in it, until a time of `monotonic`. Raises TimeoutError, and ValueError with what is
    wrong."""
    given = b""
    while True:
        piece = read_piece(descriptor, until)
        given += piece
        is_all = not piece or len(given) > LARGEST_INPUT
        # A long event comes in many pieces. It is parsed when no further piece is there, not after each.
        if is_all or (b"}" in piece and not select.select([descriptor], [], [], 0)[0]):
            event = first_object(given)
            if event is not None:
                return given, event
            if is_all:
                raise ValueError(f"more than {LARGEST_INPUT:,} bytes" if piece else "no JSON object")


def read_piece(descriptor: int, until: float | None) -> bytes:
    """The next bytes, none at the end. Raises TimeoutError."""
    if until is None or ((left := until - monotonic()) > 0 and select.select([descriptor], [], [], left)[0]):
        return os.read(descriptor, _PIECE)
    raise TimeoutError


def first_object(given: bytes) -> dict[str, Any] | None:
    """The JSON object that the bytes begin with; None if they begin with none, or its end has not come yet."""
    text = given.decode("utf-8", "replace").lstrip("\ufeff \t\r\n\0")
    try:
        value, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
