"""A process that stays answers hooks on its socket (hook_socket.py): the index page and what recall is sure of; and the
recalls of the command line, which would take longer to load what they need than to ask.

For hooks it has a runtime of its own that asks by words alone, as a hook by itself does, so that what is injected does
not depend on which processes happen to run. Only what somebody waits for is answered here. Reading a transcript on is
left to the hook: it would take the processor from whoever talks with this process.
"""

from __future__ import annotations

import os
import socket
import socketserver
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from picomem import paths
from picomem.app import open_runtime
from picomem.engine.audience import note_injected
from picomem.engine.hook_log import described, note
from picomem.errors import PicomemError
from picomem.hooks.hook_context import context_of
from picomem.hooks.hook_events import encoded, event_of
from picomem.hooks.hook_socket import (
    ANSWERED,
    LARGEST_INPUT,
    NOT_HERE,
    PREFIX,
    SUFFIX,
    deciding,
    first_object,
    parsed,
    sockets_in,
)
from picomem.records.caller import PERMISSIONS, Caller
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import settings_file
from picomem.version import __version__

_LONGEST_PATH = 100  # bytes of a socket's path; systems take 104 or 108
_LOOK_SECONDS = 1.0  # at a socket that may be deserted
_SECONDS = 2.0  # that a hook may take to send its request
_LARGEST_HEAD = 1 << 17


@contextmanager
def hooks_answered(database: str | None) -> Iterator[None]:
    """Answer hooks in a thread, as long as the context lasts; `database` is the one that this process was told to open.

    Where no socket can be made, hooks do everything themselves.
    """
    server = _bound(database) if hasattr(socket, "AF_UNIX") else None
    if server is None:
        yield
        return
    thread = threading.Thread(target=server.serve_forever, name="hooks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _HookServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """TCPServer is a server of streams; socketserver has none by another name on systems without such sockets."""

    address_family = getattr(socket, "AF_UNIX", socket.AF_UNSPEC)
    daemon_threads = True

    def __init__(self, path: Path, database: str | None) -> None:
        self.path = path
        self.decided = deciding(os.environ, {"--db": database} if database else {})
        self.settings_state = _settings_state()
        self.memory: Runtime = open_runtime(database, embedder="none", create=False, late=True)
        self._database = database
        self._recalling: Runtime | None = None
        self._loading: threading.Thread | None = None
        super().__init__(cast("Any", str(path)), _HookConnection)  # of this family, an address is a path

    def recalling(self) -> Runtime | None:
        """The runtime with the embedder of the settings; None until it is loaded, which begins when the command line
        asks first: that one recall is quicker by itself."""
        if self._loading is None:
            self._loading = threading.Thread(target=self._load, name="recalling", daemon=True)
            self._loading.start()
        return self._recalling

    def _load(self) -> None:
        try:
            runtime = open_runtime(self._database, create=False, late=True)
            runtime.engine(Caller(runtime.settings.data.user)).recall("what was said last?")
        except PicomemError as error:
            note(described(error))  # the command line meets the same, and says it
        else:
            self._recalling = runtime

    def server_close(self) -> None:
        super().server_close()
        with suppress(OSError):
            self.path.unlink()
        self.memory.close()
        if self._recalling:
            self._recalling.close()

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - socketserver's
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, OSError):  # the hook gave up waiting
            note(described(error))


class _HookConnection(socketserver.StreamRequestHandler):
    timeout = _SECONDS

    def handle(self) -> None:
        assert isinstance(self.server, _HookServer)
        decided, given = parsed(self.rfile.read(LARGEST_INPUT + _LARGEST_HEAD))
        user = next((item.removeprefix("--user=") for item in decided if item.startswith("--user=")), None)
        decided = [item for item in decided if not item.startswith("--user=")]
        if decided != self.server.decided or _settings_state() != self.server.settings_state:
            self.wfile.write(NOT_HERE)
            return
        asked = first_object(given) or {}
        try:
            if "request" not in asked:
                self._answer(self.server.memory, user, asked)
            elif asked.get("version") == __version__ and (memory := self.server.recalling()):
                self._recall(memory, user, asked)
            else:
                self.wfile.write(NOT_HERE)
        except PicomemError:
            self.wfile.write(NOT_HERE)  # the hook meets the same, and notes it

    def _recall(self, memory: Runtime, user: str | None, asked: dict[str, Any]) -> None:
        # Hooks need none of these.
        from picomem.operations.folder_projects import call_in_folder, named_in_folder  # noqa: PLC0415
        from picomem.operations.sent_answers import sent_form  # noqa: PLC0415
        from picomem.operations.table import operation  # noqa: PLC0415

        recall, folder = operation("recall"), asked["folder"]
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in asked["request"].items()}
        user = memory.user_named(memory.settings.data.user if user is None else user)
        engine = memory.engine(Caller(user, permissions=PERMISSIONS), Scope(user))
        request = named_in_folder(engine, recall.request(**values), folder)
        self.wfile.write(ANSWERED + sent_form(call_in_folder(engine, recall, request, folder)))

    def _answer(self, memory: Runtime, user: str | None, asked: dict[str, Any]) -> None:
        event = event_of(asked)
        if not event.gets_context:
            self.wfile.write(NOT_HERE)
            return
        user = memory.user_named(memory.settings.data.user if user is None else user)
        engine = memory.engine(Caller(user, "hook"), Scope(user, project=memory.project_of(user, event.folder)))
        context, ids = context_of(engine, event)
        self.wfile.write(ANSWERED + encoded(event, context))
        self.connection.shutdown(socket.SHUT_WR)
        if ids:
            note_injected(engine, event.session, ids)


def _bound(database: str | None) -> _HookServer | None:
    """A server on a socket that only its owner reaches; None where there can be none."""
    try:
        folder = paths.data_dir()
        path = folder / f"{PREFIX}{os.getpid()}{SUFFIX}"
        paths.make_private_dir(folder)
        if len(os.fsencode(path)) > _LONGEST_PATH or stat.S_IMODE(folder.stat().st_mode) & 0o077:
            return None
        _remove_deserted(folder)
        path.unlink(missing_ok=True)  # of a process that had this number before
        return _HookServer(path, database)
    except (OSError, PicomemError):
        return None


def _settings_state() -> tuple[int, int] | None:
    """What changes with the settings file."""
    try:
        status = settings_file().stat()
    except (OSError, PicomemError):
        return None
    return status.st_mtime_ns, status.st_size


def _remove_deserted(folder: Path) -> None:
    """Remove the sockets that processes left behind which are gone."""
    for path in sockets_in(folder):
        with suppress(OSError, ValueError):
            pid = int(path.name.removeprefix(PREFIX).removesuffix(SUFFIX))
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(_LOOK_SECONDS)
                    try:
                        connection.connect(str(path))  # a process of another container may have that number
                    except ConnectionRefusedError:
                        path.unlink()
