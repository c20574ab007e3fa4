"""The resources that a process opens once; it makes the engine of each caller from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from picomem.clock import Clock, system_clock
from picomem.engine.caller_context import CallerContext
from picomem.engine.engine import Engine
from picomem.engine.shared_resources import Resources
from picomem.errors import Forbidden, StoreError
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.caller import Caller
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store.connector import Connector

if TYPE_CHECKING:
    from types import TracebackType

    from picomem.engine.job_store import JobStore
    from picomem.errors import EmbedderFailed
    from picomem.models.embedder import Embedder
    from picomem.models.static_embedder import Lexicon
    from picomem.records.access_token import Credential


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
        self._resources = Resources(connector, embedder, clock, zone, settings, lexicon, weights, open_store)

    @property
    def settings(self) -> Settings:
        """The settings of every engine."""
        return self._resources.settings

    @property
    def store_name(self) -> str:
        """The name of the file or of the database, without the place where it is."""
        return self._resources.connector.name.replace("\\", "/").rpartition("/")[2]

    def engine(self, caller: Caller | None = None, scope: Scope | None = None, *, closes: bool = False) -> Engine:
        """Make the engine of a caller, in microseconds; it needs no closing.

        `scope` narrows the engine to an agent, a project or a session of the caller's user; without a caller it names
        the user. With `closes`, closing the engine closes the runtime. Raises Forbidden for another user's scope, and
        InvalidInput for an id that looks like a secret.
        """
        scope = scope or Scope(caller.user if caller else Scope().user)
        caller = caller or Caller(scope.user)
        check_caller(caller, scope)
        return Engine(CallerContext(self._resources, caller, scope), self.close if closes else None)

    def caller_of(self, credential: Credential) -> Caller | None:
        """The caller of a token; None if the token is not valid. Reads the store each time. Raises StoreError."""
        from picomem.engine.authorization import caller_of

        return caller_of(self._resources, credential)

    def user_named(self, name: str) -> str:
        """The user whom a name means: the one behind an id that a channel gives, and any other name as it is.

        Raises NotFound for an id that stands for nobody, InvalidInput for one that fits several, and StoreError.
        """
        from picomem.engine.user_aliases import resolve_user

        return resolve_user(self._resources, name)

    def project_of(self, user: str, folder: str) -> str:
        """The project of a folder of this machine, as the sessions of the user name it. Where the store cannot be read,
        the folder alone tells."""
        from picomem.ingest.projects import project_of
        from picomem.store.transcript_rows import known_folders

        try:
            with self._resources.connector.read() as tx:
                known = known_folders(tx, Scope(user))
        except StoreError:
            known = []
        return project_of(folder, known)

    def is_sign_in_code(self, code: str) -> bool:
        """Return whether a code would open a session of the web page now."""
        from picomem.engine.authorization import is_sign_in_code

        return is_sign_in_code(self._resources, code)

    def sign_in(self, code: str, replaced: str = "") -> str | None:
        """Exchange a one-time code for the token of a session of the web page, which ends the session `replaced`; None
        for a code that is not valid."""
        from picomem.engine.authorization import sign_in

        return sign_in(self._resources, code, replaced)

    def sign_out(self, token: str) -> None:
        """End the session of a token of the web page."""
        from picomem.engine.authorization import sign_out

        sign_out(self._resources, token)

    def page_session_names(self, user: str) -> frozenset[str]:
        """The names that stand on the changes of a user's sessions of the web page. Raises StoreError."""
        from picomem.engine.authorization import page_session_names

        return page_session_names(self._resources, user)

    def has_tokens(self) -> bool:
        """Return whether any user has a token that programs may show. Raises StoreError."""
        from picomem.engine.authorization import has_tokens

        return has_tokens(self._resources)

    def job_store(self) -> JobStore:
        """The records of the background work of all users."""
        from picomem.engine.job_store import JobStore

        return JobStore(self._resources)

    def close(self) -> None:
        """Close the store; no engine of this runtime works afterwards."""
        self._resources.connector.close()

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
        from picomem.policy.redact import check_ids  # the local user needs no redactor

        check_ids(scope, caller.actor)
