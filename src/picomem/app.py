"""The one place that wires: settings, database, embedder and clock become an engine."""

from __future__ import annotations

from datetime import UTC, tzinfo
from pathlib import Path

from picomem import paths
from picomem.clock import Clock, local_zone, system_clock
from picomem.engine import Engine
from picomem.errors import InvalidInput
from picomem.models.embedder import Embedder
from picomem.records.scope import Scope
from picomem.settings import Settings, load
from picomem.store.sqlite import SqliteConnector


def open_engine(
    path: str | Path | None = None,
    *,
    user: str | None = None,
    agent: str = "",
    project: str = "",
    session: str = "",
    settings: Settings | None = None,
    embedder: str | Embedder | None = None,
    clock: Clock = system_clock,
    actor: str = "",
) -> Engine:
    """Open, or create, a memory.

    `path` is the database file (default: the data directory's). `embedder` is "static", "none", or an Embedder;
    by default what the settings say. Raises InvalidInput for bad settings and StoreError for a bad file.
    """
    if user is not None and not user.strip():
        # An empty variable in a script must not open the memory of somebody else.
        raise InvalidInput("The user id is empty; name a user, or leave it out for the one of the settings.")
    chosen = settings or load()
    scope = Scope(user or chosen.data.user, agent, project, session)
    connector = SqliteConnector(_database(path, chosen))
    return Engine(
        connector, scope, _embedder(embedder or chosen.recall.embedder), clock, zone_of(chosen), chosen, actor
    )


def _database(path: str | Path | None, settings: Settings) -> Path:
    if path is not None:
        return Path(path).expanduser()
    return Path(settings.data.dir).expanduser() / "picomem.db" if settings.data.dir else paths.database_path()


def _embedder(chosen: str | Embedder) -> Embedder | None:
    if not isinstance(chosen, str):
        return chosen
    if chosen == "none":
        return None
    if chosen != "static":
        raise InvalidInput(f"“{chosen}” is no embedder; it is static or none.")
    from picomem.models.static import StaticEmbedder

    return StaticEmbedder()


def zone_of(settings: Settings) -> tzinfo:
    """The zone of "yesterday": the settings', or the machine's."""
    name = settings.recall.timezone
    if not name:
        return local_zone()
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidInput(f"recall.timezone is “{name}”, which is no time zone; write it as Europe/Berlin.") from error
