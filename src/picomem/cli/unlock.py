"""`picomem unlock` and `picomem lock`: the pass phrase of a sealed store, which only a person at a terminal has."""

from __future__ import annotations

import argparse
import sys
from getpass import getpass
from pathlib import Path

from picomem.cli.run import print_json, write_result
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.paths import database_path, named_store, private_umask
from picomem.settings import load
from picomem.store.files import store_keys
from picomem.store.files.sealed_files import is_sealed, key_of
from picomem.store.files.wrapped_keys import SUFFIX, WrappedKeys, wrapped_of
from picomem.text.inert_text import for_terminal


@dataclass(frozen=True, slots=True)
class LockState:
    """The store, and whether its key is "unlocked" or "locked"."""

    store: str
    state: str


def run_unlock(chosen: argparse.Namespace) -> int:
    """Ask for the pass phrase, or for a new one, and leave the key in memory."""
    private_umask()
    database = _database(chosen)
    if chosen.new:
        _choose(database)
    else:
        _existing(database).unlock(_asked("Pass phrase: "))
    said = "unlocked until `picomem lock`, or until the machine restarts"
    sealed = is_sealed(database)
    return _print(
        chosen, database, "unlocked", said if sealed else f"{said}; `picomem encrypt` seals the store with it"
    )


def run_lock(chosen: argparse.Namespace) -> int:
    """Forget the unlocked key."""
    database = _database(chosen)
    was_unlocked = _existing(database).lock()
    said = "locked; a program that has the store open keeps its key until it ends" if was_unlocked else "locked before"
    return _print(chosen, database, "locked", said)


def _choose(database: Path) -> None:
    """Wrap the key of the store with a new pass phrase, whatever place held it; a new key where it has none."""
    wrapped = WrappedKeys(Path(f"{database}{SUFFIX}"))
    keys = [key_of(database)] if is_sealed(database) else wrapped.read() if wrapped_of(database) else []
    if not keys and wrapped_of(database):
        raise InvalidInput(f"{wrapped.name}, is locked; run `picomem unlock` first, and choose another one then.")
    phrase = _asked("New pass phrase: ")
    if sys.stdin.isatty() and _asked("The same again: ") != phrase:
        raise InvalidInput("The two pass phrases differ; nothing was changed.")
    wrapped.make(phrase, keys or [store_keys.new_key()])


def _existing(database: Path) -> WrappedKeys:
    wrapped = wrapped_of(database)
    if wrapped is None:
        raise InvalidInput(f"{database} has no pass phrase; `picomem unlock --new` chooses one.")
    return wrapped


def _asked(prompt: str) -> str:
    """A pass phrase, from the terminal unseen, or else the first line of stdin."""
    return getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")


def _database(chosen: argparse.Namespace) -> Path:
    settings = load()
    named = chosen.db if chosen.db is not None else named_store(settings.data.database)
    database = database_path(settings.data.dir, named).absolute()
    store_keys.choose(database, settings.store)
    return database


def _print(chosen: argparse.Namespace, database: Path, state: str, said: str) -> int:
    if chosen.json:
        print_json(LockState(str(database), state))
    else:
        write_result(for_terminal(f"The key of {database} is {said}."))
    return 0
