"""The address of a store's running server: a private file beside the database, which the server removes when it ends.

    NAME.db-server.json   {"url": "http://127.0.0.1:8765", "pid": 4711, "key": "…"}

A killed server leaves the file behind, and another program may use its port by then. So a client sends a challenge, and
only the process that wrote the file can answer it: with the message authentication code of the challenge and the
address under the key of the file. A server that starts while another runs on the store leaves that one its file and
writes NAME.db-server-PID.json; clients prefer the first, and find the second when the first has ended. The files of
processes that are gone are removed at the next start.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from picomem.blake2b import blake2b
from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import dataclass
from picomem.paths import (
    data_dir,
    database_path,
    is_server,
    named_path,
    named_store,
    open_regular,
    status_of,
    without_password,
    written_whole,
)
from picomem.settings import Settings

_CHOOSE_A_DATABASE = ("host", "hostaddr", "port", "dbname")  # options of an address
_SUFFIX = "-server.json"
_LINK_SUFFIX = "-sign-in.html"
_MOST_BYTES = 4_096
_KEY_BYTES = 32
_LONGEST_CHALLENGE = 128  # characters
_SECONDS = 2.0  # that a server may take to answer
PROOF = "/proof"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server, and the key with which it proves that it is the server of the file."""

    url: str
    key: bytes

    def proof(self, challenge: str) -> str:
        """Return the answer to a challenge that only the holder of the key can compute. Raises InvalidInput for a
        challenge that nobody sends."""
        if not 0 < len(challenge) <= _LONGEST_CHALLENGE:
            raise InvalidInput(
                f"A challenge has between 1 and {_LONGEST_CHALLENGE} characters; send one as ?challenge=TEXT."
            )
        return hmac.new(self.key, f"{self.url}\n{challenge}".encode(), "sha256").hexdigest()


def new_server_address(url: str) -> ServerAddress:
    """The address of a server that begins, with a key of its own."""
    return ServerAddress(url, secrets.token_bytes(_KEY_BYTES))


def place_beside(database: str | None, settings: Settings) -> Path:
    """The path of a store, beside which the files of its server are; `database` is the one that the options name. A
    store on a database server has its files in the data directory."""
    named = database or named_store(settings.data.database)
    if not is_server(named):
        return database_path(settings.data.dir, named)
    folder = named_path(settings.data.dir) if settings.data.dir else data_dir()
    chosen = [option for option in parse_qsl(urlsplit(named).query) if option[0] in _CHOOSE_A_DATABASE]
    told = repr((without_password(named), sorted(chosen)))
    return folder / f"server-{blake2b(told.encode(), digest_size=8).hexdigest()}"


def sign_in_file(store: Path) -> Path:
    """The private page that leads a browser to the sign-in, so that the link stands in no list of processes."""
    return store.with_name(store.name + _LINK_SUFFIX)


@contextmanager
def announced(store: Path, address: ServerAddress) -> Iterator[None]:
    """Let other processes find a server for as long as the block lasts. Where the file cannot be written, none does."""
    for left in _places(store):
        if (announcement := _announced(left, store)) and not _is_alive(announcement[1]):
            left.unlink(missing_ok=True)
    place = _place(store)
    if (other := _announced(place, store)) and other[1] != os.getpid():
        place = store.with_name(f"{store.name}-server-{os.getpid()}.json")
    said = {"url": address.url, "pid": os.getpid(), "key": address.key.hex()}
    with suppress(InvalidInput), written_whole(place, private=True) as file:
        json.dump(said, file)
    try:
        yield
    finally:
        if _announced(place, store) == (address, os.getpid()):
            place.unlink(missing_ok=True)
        if not _places(store):
            sign_in_file(store).unlink(missing_ok=True)


def running_address(store: Path) -> str:
    """The address of a server that runs on a store; empty where none does."""
    for place in _places(store):
        announcement = _announced(place, store)
        if announcement is not None and _is_alive(announcement[1]) and _proves_itself(announcement[0]):
            return announcement[0].url
    return ""


def _place(store: Path) -> Path:
    return store.with_name(store.name + _SUFFIX)


def _places(store: Path) -> list[Path]:
    """The files that say where servers of a store are, that of the first server first."""
    further = re.compile(re.escape(store.name) + r"-server-\d+\.json")
    try:
        names = sorted(path.name for path in store.parent.iterdir() if further.fullmatch(path.name))
    except OSError:
        names = []
    own = [_place(store)] if status_of(_place(store)) is not None else []
    return [*own, *map(store.with_name, names)]


def _announced(place: Path, store: Path) -> tuple[ServerAddress, int] | None:
    try:
        with open_regular(place) as file:
            if not _is_trusted(os.fstat(file.fileno()).st_uid, store):
                return None
            said = json.loads(file.read(_MOST_BYTES))
        key = bytes.fromhex(said["key"])
        return (ServerAddress(str(said["url"]), key), int(said["pid"])) if len(key) == _KEY_BYTES else None
    except (NotFound, InvalidInput, OSError, ValueError, KeyError, TypeError):
        return None


def _is_trusted(owner: int, store: Path) -> bool:
    """Return whether the owner of an announcement is this user, or the owner of the store: in a folder that others
    write to, anybody can put a file beside the database."""
    if os.name != "posix":
        return True
    status = status_of(store)
    return owner == os.geteuid() or (status is not None and owner == status.st_uid)


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


def _proves_itself(address: ServerAddress) -> bool:
    try:
        parts = urlsplit(address.url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme != "http" or not host:
        return False
    challenge = secrets.token_hex(_KEY_BYTES)
    connection = HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request("GET", f"{PROOF}?challenge={challenge}")
        answer = connection.getresponse()
        proof = str(json.loads(answer.read(_MOST_BYTES))["proof"])
        return answer.status == 200 and hmac.compare_digest(proof.encode(), address.proof(challenge).encode())
    except (OSError, ValueError, KeyError, TypeError, HTTPException):
        return False
    finally:
        connection.close()
