"""`picomem move FROM TO`: copy users from one store to another.

An operation of the table is a caller's and works on one store. This is for whoever runs both stores, so it is a command
of the terminal alone.
"""

from __future__ import annotations

import argparse
from contextlib import closing, nullcontext

from picomem.app import open_store
from picomem.cli.run import print_json, progress_bar, write_result
from picomem.clock import system_clock
from picomem.errors import Conflict, InvalidInput, NoStore
from picomem.operations.presentation import plural
from picomem.paths import private_umask
from picomem.records.scope import Scope
from picomem.store.connector import Connector
from picomem.text.inert_text import for_terminal
from picomem.transfer.moving import MovedStore, MovedUser, move, planned_move

_MOST_USERS = 20  # that are named


def run_move(chosen: argparse.Namespace) -> int:
    """Move, and print what was moved; the exit code is that of Conflict where not all was."""
    if chosen.db is not None:
        raise InvalidInput("A move names both stores itself; leave out --db.")
    private_umask()
    scope = Scope(chosen.user) if chosen.user is not None else None
    with closing(open_store(chosen.source, create=False)) as source:
        planned = planned_move(source, scope)  # before a target is made
        target = _target(chosen.target, create=not chosen.dry_run)
        with closing(target) if target else nullcontext(), progress_bar(not chosen.json, rows=True) as progress:
            moved = move(source, target, planned, system_clock(), dry_run=chosen.dry_run, progress=progress)
    if scope is not None and not moved.is_complete:
        raise Conflict(_sentence(moved.users[0], moved))
    if chosen.json:
        print_json(moved)
    else:
        write_result(for_terminal(_text(moved)))
    return 0 if moved.is_complete else Conflict.exit_code


def _target(name: str, *, create: bool) -> Connector | None:
    """The target; None where there is none and none is to be made."""
    try:
        return open_store(name, create=create)
    except NoStore:
        return None


def _text(moved: MovedStore) -> str:
    counts = {state: [user for user in moved.users if user.state == state] for state in _SAID}
    lines = [
        f"{plural(len(those), 'user')} {_SAID[state]}: {plural(sum(user.rows for user in those), 'row')}"
        for state, those in counts.items()
        if those
    ]
    head = f"{moved.source} → {moved.target or 'a store that is not there yet'}"
    troubles = [user for user in moved.users if user.state in _TROUBLES]
    damaged = sum(user.damaged for user in moved.users)
    warnings = [f"! {_sentence(user, moved)}" for user in troubles[:_MOST_USERS]]
    if len(troubles) > _MOST_USERS:
        warnings.append(f"! … and {len(troubles) - _MOST_USERS} more users; --json names all of them")
    if damaged:
        warnings.append(f"! {plural(damaged, 'row')} did not match their hash and were copied as they are.")
    left = [f"Not moved: {text}." for text in moved.not_moved]
    return "\n".join([head, *(lines or ["nobody has anything there"]), *warnings, *left])


_SAID = {
    "moved": "moved, every row compared",
    "movable": "can be moved",
    "moved before": "moved before, and every row is the same",
    "changed since": "changed since they were moved",
    "not empty": "not moved",
}
_TROUBLES = ("changed since", "not empty")


def _sentence(user: MovedUser, moved: MovedStore) -> str:
    if user.state == "changed since":
        return (
            f"{user.user} was moved at {user.moved_at} and has changed since, in {moved.source} or in {moved.target}; "
            "nothing was written."
        )
    return (
        f"{moved.target} has rows of {user.user} already that did not come by a move, so nothing of theirs was "
        "written; name another store."
    )
