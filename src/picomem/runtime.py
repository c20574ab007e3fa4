"""The resources that a process opens once; it makes the engine of each caller from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from picomem.clock import Clock, system_clock
from picomem.engine.caller_context import CallerContext, Resources
from picomem.engine.engine import Engine
from picomem.errors import EmbedderFailed, Forbidden, StoreError
from picomem.ingest.projects import project_of
from picomem.models.embedder import Embedder
from picomem.policy.redact import check_ids
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.caller import Caller
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store.connector import Connector
from picomem.store.tables.transcript_rows import known_folders

if TYPE_CHECKING:
    from picomem.models.static_embedder import Lexicon


class Runtime:
    """One open store, its embedder, settings and clock, for any number of users and threads."""

    def __init__(
        self,
        connector: Connector,
        settings: Settings,
        *,
        embedder: Embedder | EmbedderFailed | None = None,
        lexicon: Lexicon | None = None,
        clock: Clock = system_clock,
        zone: tzinfo = UTC,
        weights: Weights = WEIGHTS,
        open_store: Callable[[Path], Connector] | None = None,
    ) -> None:
        """The runtime closes `connector`. `embedder` may be the reason why there is none; `zone` is the zone of
        "yesterday"; `weights` are those of ranking. `open_store` opens another store of this kind, as a backup."""
        self.resources = Resources(connector, embedder, clock, zone, settings, lexicon, weights, open_store)

    @property
    def settings(self) -> Settings:
        """The settings of every engine."""
        return self.resources.settings

    @property
    def store_name(self) -> str:
        """The name of the file or of the database, without the place where it is."""
        return self.resources.connector.name.replace("\\", "/").rpartition("/")[2]

    def engine(self, caller: Caller | None = None, scope: Scope | None = None, *, closes: bool = False) -> Engine:
        """Make the engine of a caller, in microseconds; it needs no closing.

        `scope` narrows the engine to an agent, a project or a session of the caller's user; without a caller it names
        the user. With `closes`, closing the engine closes the runtime. Raises Forbidden for another user's scope, and
        InvalidInput for an id that looks like a secret.
        """
        scope = scope or Scope(caller.user if caller else Scope().user)
        caller = caller or Caller(scope.user)
        check_caller(caller, scope)
        return Engine(CallerContext(self.resources, caller, scope), self.close if closes else None)

    def user_named(self, name: str) -> str:
        """The user whom a name means: the one behind an id that a channel gives, and any other name as it is.

        Raises NotFound for an id that stands for nobody, InvalidInput for one that fits several, and StoreError.
        """
        from picomem.engine.channel_contacts import resolve_user  # noqa: PLC0415 - only an id of a channel needs it

        return resolve_user(self.resources, name)

    def project_of(self, user: str, folder: str) -> str:
        """The project of a folder of this machine, as the sessions of the user name it. Where the store cannot be read,
        the folder alone tells."""
        try:
            with self.resources.connector.read() as tx:
                known = known_folders(tx, Scope(user))
        except StoreError:
            known = []
        return project_of(folder, known)

    def close(self) -> None:
        """Close the store; no engine of this runtime works afterwards."""
        self.resources.connector.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@lru_cache(maxsize=1024)
def check_caller(caller: Caller, scope: Scope) -> None:
    """Raise Forbidden for another user's scope, and InvalidInput for an id that looks like a secret.

    Cached, because looking for secrets takes longer than all else that an engine needs, and the same callers return.
    """
    if scope.user != caller.user:
        raise Forbidden(f"The caller is user {caller.user}, and the memory is of user {scope.user}; ask as that user.")
    if scope != Scope() or caller.actor:
        check_ids(scope, caller.actor)
