"""The composition root: makes a runtime from settings, database, embedder and clock, and an engine from the runtime."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import closing
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from picomem import paths
from picomem.clock import Clock, local_zone, system_clock, zone_named
from picomem.coded_text import CodedText, Command
from picomem.engine.engine import Engine
from picomem.errors import EmbedderFailed, InvalidInput, NoStore, PicomemError, StoreError
from picomem.light_dataclass import replace
from picomem.models.embedder import Embedder
from picomem.models.selection import embedder_of
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.caller import Caller
from picomem.records.scope import Scope
from picomem.runtime import Runtime, check_caller
from picomem.sessions.channel_users import named_by_channel
from picomem.settings import Settings, load
from picomem.store.chain_key import ChainKeyFile, key_file
from picomem.store.connector import CitusChoice, Connector, LateConnector, ServerStore
from picomem.store.files import store_keys
from picomem.store.files.lost_files import is_abandoned, is_empty_file
from picomem.store.sqlite.connector import SqliteConnector

if TYPE_CHECKING:
    from picomem.models.static_embedder import Lexicon
    from picomem.operations.operation import Operation
    from picomem.store.postgres.connector import PostgresConnector


class StoreOptions(TypedDict, total=False):
    """How a store is opened; see `open_runtime`."""

    settings: Settings | None
    embedder: str | Embedder | None
    clock: Clock
    create: bool
    without_store: bool
    late: bool
    weights: Weights


def open_engine(
    path: str | Path | None = None,
    *,
    user: str | None = None,
    agent: str = "",
    project: str = "",
    session: str = "",
    folder: str = "",
    actor: str = "",
    permissions: Collection[str] | None = None,
    **options: Unpack[StoreOptions],
) -> Engine:
    """Open the memory of one user, or create one unless `create` is false; closing the engine closes the store.

    `user` is the settings' where none is named; an id that a channel gives means the user for whom it stands (see
    engine/channel_contacts.py). With `folder` the project is that of the sessions in the folder. `permissions` are what
    the caller may do, by default what `Caller` says. For the rest see `open_runtime`, which serves several users.
    """
    if user is not None and not user.strip():
        # An empty variable in a script must not open the memory of somebody else.
        raise InvalidInput("The user id is empty; name a user, or leave it out to use the one in the settings.")
    chosen = options["settings"] = options.get("settings") or load()
    scope = Scope(user or chosen.data.user, agent, project, session)
    caller = Caller(scope.user, actor)
    if permissions is not None:
        caller = replace(caller, permissions=permissions)
    check_caller(caller, scope)  # before a file is made
    runtime = open_runtime(path, **options)
    if named_by_channel(scope.user) is not None:
        try:
            scope = replace(scope, user=runtime.user_named(scope.user))
        except StoreError:
            pass  # what needs the store says so
        except PicomemError:
            runtime.close()
            raise
        caller = replace(caller, user=scope.user)
    if folder:
        scope = scope.narrowed(project=runtime.project_of(scope.user, folder))
    return runtime.engine(caller, scope, closes=True)


def open_runtime(
    path: str | Path | None = None,
    *,
    settings: Settings | None = None,
    embedder: str | Embedder | None = None,
    clock: Clock = system_clock,
    create: bool = True,
    without_store: bool = False,
    late: bool = False,
    weights: Weights = WEIGHTS,
) -> Runtime:
    """Open a store for any number of users, or create one unless `create` is false.

    `path` is the database file, or the address of a server as postgresql://USER@HOST/DATABASE (default: `$PICOMEM_DB`,
    the settings', or the file in the data directory). `embedder` is an Embedder, or one as `recall.embedder` names it
    ("static", "none", "onnx:FOLDER", …); by default what the settings say. Raises InvalidInput for bad settings,
    StoreError for a bad file, and NoStore where there is none and none is to be created. With `without_store`, where
    notes are configured, only what needs the store raises that, and recall asks the notes. With `late` the store is
    opened when it is needed first. `weights` are those of ranking, for measuring what a part of it is worth.
    """
    chosen = settings or load()
    named = str(path) if path is not None else paths.named_store(chosen.data.database)
    snapshot = None
    if paths.is_server(named):
        place = paths.without_password(named)
        opened = _server_opener(named, create=create, key=chosen.audit.key_file)
        open_store = None
    else:
        database = paths.database_path(chosen.data.dir, named)
        store_keys.choose(database, chosen.store)
        if path is None and not late and _is_there(database.parent / "sessions.json"):
            snapshot = database.parent / "sessions.json"
        key = key_file(Path(os.path.realpath(database)), chosen.audit.key_file)
        place = str(database)
        opened = _file_opener(database, create=create or snapshot is not None, named=bool(named), key=key)
        open_store = partial(SqliteConnector, is_examined=True, chain_key=key)  # its copies become the store
    zone, model = zone_of(chosen), _embedder(embedder or chosen.recall.embedder, chosen)  # before a file is made
    has_notes = bool(chosen.notes.paths or chosen.notes.extra_paths)
    runtime = Runtime(
        _connector(place, opened, late=late, without_store=without_store and has_notes),
        chosen,
        embedder=model,
        lexicon=_lexicon() if model is not None else None,
        clock=clock,
        zone=zone,
        weights=weights,
        open_store=open_store,
    )
    if snapshot is not None:
        from picomem.engine.transcripts import take_over_snapshot  # noqa: PLC0415 - few data folders have a snapshot

        take_over_snapshot(runtime.engine(), snapshot)
    return runtime


def open_store(name: str, *, create: bool) -> Connector:
    """Open a store, a file or the address of a server, or make it. Raises NoStore where there is none and `create` is
    false, InvalidInput and StoreError."""
    if paths.is_server(name):
        return _server_opener(name, create=create, key=load().audit.key_file)()
    return _file_opener(paths.database_file(name), create=create, named=True)()


def _file_opener(
    database: Path, *, create: bool, named: bool, key: ChainKeyFile | None = None
) -> Callable[[], Connector]:
    def opened() -> Connector:
        if not create:
            check_exists(database, named=named)
        return SqliteConnector(database, chain_key=key)

    return opened


def make_server_store(address: str, citus: CitusChoice | None) -> ServerStore:
    """Make a store on a server, or bring it up to date; with `citus` divided among the machines of Citus. Raises
    InvalidInput, Conflict, Unsupported and StoreError."""
    with closing(_server_opener(address, create=True, citus=citus)()) as connector:
        return connector.described()


def _server_opener(
    address: str, *, create: bool, citus: CitusChoice | None = None, key: str = ""
) -> Callable[[], PostgresConnector]:
    paths.check_address(address)
    try:
        from picomem.store.postgres.connector import PostgresConnector  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("psycopg", "psycopg_pool"):
            raise
        raise InvalidInput(
            f"A store on PostgreSQL needs {error.name}; install it with: pip install 'picomem[postgres]'"
        ) from None

    def opened() -> PostgresConnector:
        connector = PostgresConnector(address, create=create, citus=citus)
        if key:
            connector.chain_key = ChainKeyFile(paths.named_path(key))
        return connector

    return opened


def _is_there(path: Path) -> bool:
    try:
        return paths.status_of(path) is not None
    except InvalidInput:
        return False  # a folder that is closed to us: opening the database says so


def check_exists(database: Path, *, named: bool) -> None:
    """Raise NoStore where there is no such file; `named` is whether somebody named it, and may have mistyped. Raise
    StoreError where the file is empty and may have been a store."""
    try:
        database.stat()
        if is_empty_file(database):
            raise (StoreError if is_abandoned(database) else NoStore)(
                CodedText(
                    "failure.empty_file",
                    path=str(database),
                    restore=Command("restore"),
                    remember=Command("remember"),
                    ingest=Command("ingest"),
                )
            )
    except (FileNotFoundError, NotADirectoryError):
        if named:
            raise NoStore(
                CodedText(
                    "failure.no_store_at", place=str(database), remember=Command("remember"), ingest=Command("ingest")
                )
            ) from None
        raise NoStore(
            CodedText(
                "failure.nothing_stored",
                path=str(database),
                ingest=Command("ingest"),
                remember=Command("remember", "TEXT"),
            )
        ) from None
    except OSError:
        return  # opening it gives a better message


def _connector(name: str, opened: Callable[[], Connector], *, late: bool, without_store: bool) -> Connector:
    if not late:
        try:
            return opened()
        except StoreError:
            if not without_store:
                raise
    return LateConnector(name, opened)


def _embedder(chosen: str | Embedder, settings: Settings) -> Embedder | EmbedderFailed | None:
    """The embedder, or why there is none: recall works by words meanwhile, and says so."""
    if not isinstance(chosen, str):
        return chosen
    try:
        return embedder_of(chosen, settings.embedder)
    except EmbedderFailed as error:
        return error


def _lexicon() -> Lexicon:
    """Return the lexicon; None without vectors, because the lexicon needs numpy."""
    from picomem.models.static_embedder import Lexicon  # noqa: PLC0415 - it needs numpy

    return Lexicon()


def operations() -> tuple[Operation, ...]:
    """Every operation: those of the table, and the turns of PicoBot. What a gateway, a page or a TUI offers."""
    from picomem.agent import turns  # noqa: PLC0415 - a hook does not need them
    from picomem.operations import table  # noqa: PLC0415 - a hook does not need them

    return (*table.operations(), *turns.OPERATIONS)


def zone_of(settings: Settings) -> tzinfo:
    """The zone of "yesterday": the settings', or the machine's."""
    name = settings.recall.timezone
    if not name:
        return local_zone()
    if name == "UTC":
        return UTC
    try:
        return zone_named(name)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidInput(
            f"recall.timezone is “{name}”, which is not a time zone; write it like Europe/Berlin."
        ) from error
