"""A proxy in front of a server that cuts a connection at its COMMIT."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread

_SOCKET = ".s.PGSQL.5432"
_PIECE = 1 << 16
_READY = b"Z\0\0\0\x05I"  # for the next message, outside of a transaction
_NOT_COMMITTED = b"could not commit transaction for shard 102163 on at least one active node"


class CuttingProxy:
    """Passes bytes between clients and the server whose socket is in `server`, on a socket in `folder`.

    `cut("before")` drops the next COMMIT of a write and its connection; `cut("after")` lets the server commit and drops
    the connection before the client gets the answer. `cut("begin")` drops each message that begins a write, as a server
    does that it kills. With `cut("failed")` the server commits and the client is told what Citus says when the machine
    of the user did not answer; with `cut("undone")` it is told so and nothing is committed. `when_cut` is called between.
    """

    def __init__(self, server: Path, folder: Path) -> None:
        self.folder = folder
        self.refuses = False
        self.when_cut: Callable[[], object] = lambda: None
        self.requests = 0  # round trips: several messages may be under way at once
        self.begins = 0
        self._cut = ""
        self._server = server
        self._lock = Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen(64)
        Thread(target=self._listen, daemon=True).start()

    def cut(self, where: str) -> None:
        """Cut the connection of the next COMMIT, before the server gets it or after it has committed, or each that begins
        a write; or let the next COMMIT fail."""
        self._cut = where

    def close(self) -> None:
        """End the proxy and all its connections."""
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(str(self._server / _SOCKET))
            with self._lock:
                self._open |= {client, server}
            writes, is_answered = False, True
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    if not (piece := ready.recv(_PIECE)):
                        return
                    if ready is server:
                        client.sendall(piece)
                        is_answered = True
                        continue
                    if b"BEGIN" in piece:
                        writes = b"READ ONLY" not in piece
                        self.begins += writes
                        if self._cut == "begin" and writes:
                            return
                    if self._cut in ("failed", "undone") and writes and b"COMMIT" in piece:
                        self._fail(piece, server, client)
                    elif self._cut and writes and b"COMMIT" in piece:
                        self._cut_at(piece, server)
                        return
                    else:
                        self.requests += is_answered
                        is_answered = False
                        server.sendall(piece)

    def _fail(self, piece: bytes, server: socket.socket, client: socket.socket) -> None:
        """Answer a COMMIT with Citus's error, after the server has committed or rolled back."""
        where, self._cut = self._cut, ""
        server.sendall(piece if where == "failed" else piece.replace(b"COMMIT", b"ABORT "))
        answer = b""
        while not answer.endswith(_READY):
            answer += server.recv(_PIECE)
        fields = b"SERROR\0VERROR\0CXX000\0M" + _NOT_COMMITTED + b"\0\0"
        self.when_cut()
        client.sendall(b"E" + (len(fields) + 4).to_bytes(4, "big") + fields + _READY)

    def _cut_at(self, piece: bytes, server: socket.socket) -> None:
        where, self._cut = self._cut, ""
        if where == "after":
            server.sendall(piece)
            answer = b""
            while b"COMMIT" not in answer:
                answer += server.recv(_PIECE)
        self.when_cut()
