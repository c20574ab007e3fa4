"""Loads a user's rows for purge planning and resolves the user's selection."""

from __future__ import annotations

from picomem.clock import DAY, Micros
from picomem.erasure.plan import Choice, PurgeInventory
from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import replace
from picomem.records.scope import Scope
from picomem.store import access_tokens, contact_rows, retention_rows, session_rows, user_entries
from picomem.store.connector import Transaction
from picomem.store.session_names import Place, find_session

_LONGEST_AGE = 36_500  # days


def load_inventory(tx: Transaction, scope: Scope) -> PurgeInventory:
    """All rows that a plan needs. Damaged rows are read as they are: they are erased like the others."""
    return PurgeInventory(
        transcripts=retention_rows.transcripts(tx, scope),
        episodes=retention_rows.episodes(tx, scope),
        sessions=retention_rows.sessions(tx, scope),
        messages=retention_rows.messages(tx, scope),
        covered=session_rows.covered(tx, scope),
        versions=retention_rows.versions(tx, scope),
        refusals=retention_rows.refusals(tx, scope),
        links=retention_rows.links(tx, scope),
        tokens=[token.id for token in access_tokens.unchecked(tx, scope) if token.opens_api],
        grants=(user_entries.value(tx, scope, user_entries.GRANTED) or "").split(),
        senders=[sender.native_id for sender in contact_rows.unchecked_of_person(tx, scope.user)],
    )


def load_checked_inventory(tx: Transaction, scope: Scope) -> PurgeInventory:
    """All rows that a plan needs, and the damaged ones that it may miss."""
    return replace(load_inventory(tx, scope), damaged=retention_rows.damaged(tx, scope))


def choice(
    tx: Transaction,
    scope: Scope,
    session: str,
    older_than: int | None,
    everything: bool,
    now: Micros,
) -> Choice:
    """Resolve a selection: a session (its id, or the beginning of it), an age in days, or everything.

    Raises InvalidInput unless it is one of them, and NotFound for a session that is not there, or several.
    """
    if (session != "") + (older_than is not None) + everything != 1:
        raise InvalidInput(
            "Choose what to erase: a session, everything older than a number of days, or everything; exactly one "
            "(`picomem purge --help`)."
        )
    if older_than is not None:
        if not 1 <= older_than <= _LONGEST_AGE:
            raise InvalidInput(f"The age is {older_than}; it must be a number of days, at least 1.")
        return Choice(before=now - older_than * DAY)
    if everything:
        return Choice(everything=True)
    named = find_session(tx, scope, session, Place.CONVERSATIONS | Place.TRANSCRIPTS | Place.MEMORIES)
    if not named:
        raise NotFound(
            f"There is no session “{session[:80]}”; `picomem sessions` and `picomem timeline --json` show their ids."
        )
    return Choice(sessions=frozenset([named]))
