"""Where a running server of a store is: a private file beside the database (for a database on a server, in the data
folder), which the picomem server removes when it ends.

    NAME.db-server.json   {"url": "http://127.0.0.1:8765", "pid": 4711}

A file whose process has gone, or whose address does not answer, was left behind by a server that was killed. Of several
servers on one store the last one stands in the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from picomem.errors import InvalidInput, NotFound
from picomem.paths import make_private_dir, read_regular, written_whole

_SUFFIX = "-server.json"
_MOST_BYTES = 4_096
_SECONDS = 2.0  # that a server may take to answer


@contextmanager
def announced(database: Path, address: str) -> Iterator[None]:
    """Let other processes find a server for as long as the block lasts. Where the file cannot be written, none does."""
    place = _place(database)
    with suppress(InvalidInput, OSError):
        make_private_dir(place.parent)
        with written_whole(place, private=True) as file:
            json.dump({"url": address, "pid": os.getpid()}, file)
    try:
        yield
    finally:
        if _announced(place) == (address, os.getpid()):
            place.unlink(missing_ok=True)


def running_address(database: Path) -> str:
    """The address of the server that runs on a store; empty where none does."""
    address, pid = _announced(_place(database))
    return address if address and _is_alive(pid) and _answers(address) else ""


def _place(database: Path) -> Path:
    return database.with_name(database.name + _SUFFIX)


def _announced(place: Path) -> tuple[str, int]:
    try:
        said = json.loads(read_regular(place, most=_MOST_BYTES))
        return str(said["url"]), int(said["pid"])
    except (NotFound, InvalidInput, ValueError, KeyError, TypeError):
        return "", 0


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    if os.name != "posix":
        return True  # there a signal 0 would end the process; whether it answers is asked next
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _answers(address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme != "http" or not parts.hostname:
        return False
    connection = HTTPConnection(parts.hostname, parts.port, timeout=_SECONDS)
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        return answer.status == 200 and json.loads(answer.read(_MOST_BYTES)) == {"ok": True}
    except (OSError, ValueError, HTTPException):
        return False
    finally:
        connection.close()
