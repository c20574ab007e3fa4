"""The keys of sealed stores, and the places where they are kept, in the order in which they are asked:

    `key` of `[store]` (PICOMEM_STORE_KEY) → `key_file` → `key_command` → `keyring` → what `picomem unlock` unwrapped

A key is 64 hexadecimal digits. A place may hold two, a line each, the new one first: while a store gets another key,
one of them opens it, whenever the process is killed.

The settings of a store are those of its folder, because picomem's copies beside a store have the key of the store; of a
file elsewhere, such as a backup, they are those of the process.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

from picomem.coded_text import CodedText, Command
from picomem.errors import InvalidInput, NotFound, PicomemError, Sealed, Unsupported
from picomem.paths import named_path, read_regular
from picomem.settings import load
from picomem.settings_tables import StoreSettings
from picomem.store.files.wrapped_keys import wrapped_beside, write_durably

_LARGEST = 4_096  # bytes of a key file
_COMMAND_SECONDS = 30
_SERVICE = "picomem"  # in the system's keyring

_chosen: dict[Path, StoreSettings] = {}


class KeyPlace(Protocol):
    """A place that may hold the key of a store."""

    @property
    def name(self) -> str:
        """What it is, as a part of a sentence."""
        ...

    def read(self) -> list[str]:
        """The keys that it holds, the newest first. Raises PicomemError where it cannot be read."""
        ...

    def keep(self, keys: Sequence[str]) -> None:
        """Hold these keys and no others. Raises Unsupported where only a person can change it."""
        ...


def choose(database: Path, settings: StoreSettings) -> None:
    """Note the settings of a store for this process."""
    _chosen[database.absolute().parent] = settings


def keys_for(path: Path) -> Iterator[str]:
    """The keys that may open a file, from every place that holds one. Raises Sealed where a place cannot be read."""
    for place in _places(path):
        try:
            yield from place.read()
        except PicomemError as error:
            problem = str(error).rstrip(".")
            raise Sealed(CodedText("failure.sealed_place", path=str(path), problem=problem)) from error


def key_for_new(path: Path) -> str:
    """The key that a new store gets; empty where no place has one. Raises Sealed where it is locked."""
    key = next(keys_for(path), "")
    if not key and is_locked(path):
        raise Sealed(CodedText("failure.sealed_locked", path=str(path), command=Command("unlock")))
    return key


def is_locked(path: Path) -> bool:
    """Return whether a pass phrase is needed for the key of a file."""
    return any(not wrapped.read() for wrapped in wrapped_beside(path))


def place_of(path: Path, key: str = "") -> KeyPlace:
    """The place that holds this key; without one, where the key of a store is to be kept. Raises InvalidInput where
    nobody said."""
    places = _places(path)
    if not places:
        raise InvalidInput(
            "Say first where the key is to be kept: name a `key_file` or a `keyring` entry under [store] in the "
            "settings, or choose a pass phrase with `picomem unlock --new`; docs/sealing.md compares them."
        )
    return next((place for place in places if (key in place.read() if key else place.read())), places[0])


def key_in_file(path: Path) -> str:
    """The key in a file that somebody named. Raises InvalidInput where it holds none, or others can read it."""
    keys = _KeyFile(path).read()
    if not keys:
        raise InvalidInput(f"There is no key in {path}; write 64 hexadecimal digits into it.")
    return keys[0]


def new_key() -> str:
    """A random key."""
    return os.urandom(32).hex()


def _places(path: Path) -> list[KeyPlace]:
    settings = _chosen.get(path.absolute().parent) or _of_process()
    places: list[KeyPlace] = []
    if given := settings.key or os.environ.get("PICOMEM_STORE_KEY"):
        places.append(_GivenKey(given))
    if settings.key_file:
        places.append(_KeyFile(named_path(settings.key_file)))
    if settings.key_command:
        places.append(_Command(settings.key_command))
    if settings.keyring:
        places.append(_Keyring(settings.keyring))
    return [*places, *wrapped_beside(path)]


def _of_process() -> StoreSettings:
    try:
        return load().store
    except InvalidInput:  # the library may be used where its settings cannot be read
        return StoreSettings()


def _checked(text: str, name: str) -> list[str]:
    """The keys in a text of a place. The text is repeated nowhere."""
    keys = text.split()
    if not all(re.fullmatch("[0-9a-fA-F]{64}", key) for key in keys):
        raise InvalidInput(f"{name} holds no key: a key is 64 hexadecimal digits")
    return [key.lower() for key in keys]


class _GivenKey:
    name = "PICOMEM_STORE_KEY, or `key` in the settings"

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> list[str]:
        return _checked(self._text, self.name)

    def keep(self, keys: Sequence[str]) -> None:  # noqa: ARG002 - of the protocol
        raise Unsupported(f"picomem cannot change {self.name}.")


class _KeyFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = f"the key file {path}"

    def read(self) -> list[str]:
        try:
            content = read_regular(self._path, most=_LARGEST)
        except NotFound:
            return []
        if os.name == "posix" and self._path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidInput(f"{self._path} can be read by others; run: chmod 600 {self._path}")
        return _checked(content.decode("ascii", "replace"), self.name)

    def keep(self, keys: Sequence[str]) -> None:
        write_durably(self._path, "".join(f"{key}\n" for key in keys))


class _Command:
    name = "the `key_command` of the settings"

    def __init__(self, command: str) -> None:
        self._command = command

    def read(self) -> list[str]:
        return _checked(_answer_of(self._command), self.name)

    def keep(self, keys: Sequence[str]) -> None:  # noqa: ARG002 - of the protocol
        raise Unsupported(f"picomem cannot change what {self.name} prints.")


@lru_cache(maxsize=8)
def _answer_of(command: str) -> str:
    """What a command prints. It may ask a vault, so it runs once a process; nobody may be there to answer it."""
    import subprocess  # noqa: PLC0415 - only some keys need it
    from shlex import split  # noqa: PLC0415 - only some keys need it

    try:
        done = subprocess.run(
            split(command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_COMMAND_SECONDS
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InvalidInput(f"{_Command.name} failed: {type(error).__name__}") from error
    if done.returncode:
        raise InvalidInput(f"{_Command.name} failed with exit code {done.returncode}")
    return done.stdout


class _Keyring:
    def __init__(self, entry: str) -> None:
        self._entry = entry
        self.name = f"the entry “{entry}” of the system's keyring"

    @cached_property
    def _keyring(self):
        try:
            import keyring  # noqa: PLC0415 - an extra
            import keyring.errors  # noqa: PLC0415 - an extra
        except ModuleNotFoundError:
            raise InvalidInput("the keyring needs a library; install it with: pip install 'picomem[keyring]'") from None
        return keyring

    def read(self) -> list[str]:
        try:
            text = self._keyring.get_password(_SERVICE, self._entry)
        except self._keyring.errors.KeyringError as error:
            raise InvalidInput(f"the system's keyring does not answer: {error}") from error
        return _checked(text or "", self.name)

    def keep(self, keys: Sequence[str]) -> None:
        try:
            self._keyring.set_password(_SERVICE, self._entry, " ".join(keys))
        except self._keyring.errors.KeyringError as error:
            raise InvalidInput(f"The system's keyring took no key: {error}.") from error
