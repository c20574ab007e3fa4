"""Keys that a pass phrase wraps, in a file beside the store, `memory.db-key`.

The pass phrase gives a wrapping key by Argon2id, and that wraps the keys of the store (AES key wrap, RFC 3394).
`picomem unlock` asks for it once. Until `picomem lock`, or until the machine restarts, the keys then lie in a file of
the user's runtime folder, which is memory: /run/user/UID, or else /dev/shm. So a hook finds them and waits for nobody.
The wrapping key lies there as well, so that `picomem rekey` asks for nothing either.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from picomem.coded_text import CodedText, Command
from picomem.errors import InvalidInput, NotFound, Sealed, Unsupported
from picomem.paths import make_private_dir, read_regular, sync_folder, written_whole

SUFFIX = "-key"
_LARGEST = 16_384  # bytes of either file
_PASSES, _KIB, _LANES = 3, 65_536, 4  # RFC 9106's second choice
_BEGINNING = b'{"name": "'
_LEAST = 8  # characters of a pass phrase


class WrappedKeys:
    """The keys in one such file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = f"{path}, which a pass phrase opens"

    def read(self) -> list[str]:
        """The keys, the newest first; none while they are locked."""
        return self._unlocked()[1:]

    def keep(self, keys: Sequence[str]) -> None:
        """Hold other keys under the same pass phrase. Raises Sealed while they are locked."""
        unlocked = self._unlocked()
        if not unlocked:
            raise Sealed(CodedText("failure.sealed_locked", path=str(self._path), command=Command("unlock")))
        self._write(self._parts(), unlocked[0], keys)

    def make(self, pass_phrase: str, keys: Sequence[str]) -> None:
        """Wrap keys with a new pass phrase, and leave them unlocked. Raises InvalidInput, and Unsupported."""
        if len(pass_phrase) < _LEAST:
            raise InvalidInput(f"A pass phrase has {_LEAST} characters at least; several words are best.")
        parts = {
            "name": os.urandom(16).hex(),
            "salt": os.urandom(16).hex(),
            "passes": _PASSES,
            "kib": _KIB,
            "lanes": _LANES,
        }
        self._write(parts, _wrapping_key(pass_phrase, parts), keys)

    def unlock(self, pass_phrase: str) -> None:
        """Unwrap the keys until `lock`. Raises Sealed where the pass phrase is another, and Unsupported."""
        from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap  # noqa: PLC0415 - once a day

        parts = self._parts()
        wrapping = _wrapping_key(pass_phrase, parts)
        try:
            keys = [aes_key_unwrap(bytes.fromhex(wrapping), bytes.fromhex(key)).hex() for key in parts["keys"]]
        except InvalidUnwrap:
            raise Sealed(CodedText("failure.sealed_pass_phrase", path=str(self._path))) from None
        self._leave_unlocked(parts, wrapping, keys)

    def lock(self) -> bool:
        """Forget the unwrapped keys; whether there were any. A process that has the store open keeps its own."""
        was_unlocked = bool(self._unlocked())
        _unlocked_file(self._parts()).unlink(missing_ok=True)
        return was_unlocked

    def copy_to(self, database: Path) -> None:
        """Put a copy beside a backup of the store, which nothing else opens."""
        write_durably(Path(f"{database}{SUFFIX}"), json.dumps(self._parts()))

    def _write(self, parts: dict, wrapping: str, keys: Sequence[str]) -> None:
        from cryptography.hazmat.primitives.keywrap import aes_key_wrap  # noqa: PLC0415 - once a day

        wrapped = [aes_key_wrap(bytes.fromhex(wrapping), bytes.fromhex(key)).hex() for key in keys]
        # First: where nothing can be unlocked, no store may be sealed.
        self._leave_unlocked(parts, wrapping, keys)
        write_durably(self._path, json.dumps({**parts, "keys": wrapped}))

    def _leave_unlocked(self, parts: dict, wrapping: str, keys: Sequence[str]) -> None:
        write_durably(_unlocked_file(parts), "\n".join((wrapping, *keys)))

    def _unlocked(self) -> list[str]:
        """The wrapping key and the keys; empty while they are locked."""
        with suppress(NotFound, Unsupported):
            file = _unlocked_file(self._parts())
            return read_regular(file, most=_LARGEST).decode("ascii", "replace").split()
        return []

    def _parts(self) -> dict:
        try:
            parts = json.loads(read_regular(self._path, most=_LARGEST))
            return {**parts, "name": bytes.fromhex(parts["name"]).hex()}  # no name of another file
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInput(
                f"{self._path} is damaged; put back a copy of it, which lies beside each backup."
            ) from error


def write_durably(path: Path, text: str) -> None:
    """Write a private file that a power cut leaves old or new: a store may be sealed next with the key in it."""
    make_private_dir(path.parent)
    with written_whole(path, private=True) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


def wrapped_beside(path: Path) -> list[WrappedKeys]:
    """The wrapped keys in the folder of a file, among others' files whose names end so too."""
    with suppress(OSError):
        named = sorted(path.absolute().parent.glob(f"*{SUFFIX}"))
        return [WrappedKeys(file) for file in named if file.is_file() and _begins_as_ours(file)]
    return []


def _begins_as_ours(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(_BEGINNING)) == _BEGINNING


def wrapped_of(database: Path) -> WrappedKeys | None:
    """The wrapped keys of a store; None where no pass phrase was chosen."""
    file = Path(f"{database}{SUFFIX}")
    return WrappedKeys(file) if file.exists() else None


def _wrapping_key(pass_phrase: str, parts: dict) -> str:
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id  # noqa: PLC0415 - once a day

    kdf = Argon2id(
        salt=bytes.fromhex(parts["salt"]),
        length=32,
        iterations=parts["passes"],
        lanes=parts["lanes"],
        memory_cost=parts["kib"],
    )
    return kdf.derive(pass_phrase.encode()).hex()


def _unlocked_file(parts: dict) -> Path:
    return _memory_folder() / f"{parts['name']}.key"


def _memory_folder() -> Path:
    """A folder in memory that only this user can read. Raises Unsupported where there is none."""
    if os.name == "posix":
        user = os.getuid()
        for folder in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"):
            if folder and _is_own(Path(folder), user):
                return Path(folder) / "picomem"
        shared = Path("/dev/shm")  # in which a folder of our own is made
        own = shared / f"picomem-{user}"
        if shared.is_dir() and (not own.exists() or _is_own(own, user)):
            return own
    raise Unsupported(
        "This machine has no folder in memory for an unlocked key; keep the key in the system's keyring instead "
        "(`keyring` under [store])."
    )


def _is_own(folder: Path, user: int) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_private = not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == user and is_private
