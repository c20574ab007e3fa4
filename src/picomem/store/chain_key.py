"""The key of a store's chains (chain_links.py): 256 random bits in a file of mode 0600 outside of the database.

It lies outside so that somebody who edits the database, a copy or a backup of it with plain SQL does not have it. A
store in a file has it beside the file. Of one on a server, the process that writes has it in the data directory, and
several such processes are given the same file (`key_file` in `[audit]`). A new file gets one, or else the first change
makes it.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from picomem.errors import DiskFull, ReadOnly, StoreError
from picomem.paths import make_private_dir, named_path, sync_folder
from picomem.store.chain_links import ChainKey

SUFFIX = ".chain-key"
_BYTES = 32


class ChainKeyFile:
    """The key in a file. It is read again when another file is in its place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int], ChainKey] | None = None

    def find(self) -> ChainKey | None:
        """The key; None where there is no file. Raises StoreError for one that cannot be read or holds no key."""
        try:
            status = self.path.stat()
            place = (status.st_ino, status.st_mtime_ns)
            if self._read is None or self._read[0] != place:
                self._read = place, ChainKey.of(_secret(self.path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{self.path} holds no key of the record of changes that can be read ({error}); put the key back, or "
                "remove the file, and the next change makes another key."
            ) from error
        return self._read[1]

    def find_or_make(self) -> ChainKey:
        """The key, which is made where there is none. Raises StoreError."""
        return self.find() or self._make()

    def _make(self) -> ChainKey:
        made = self.path.with_name(f"{self.path.name}.{os.urandom(8).hex()}")
        try:
            make_private_dir(self.path.parent)
            with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(os.urandom(_BYTES).hex().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(made, self.path)  # never over the key of another process, which may make one at this moment
            except FileExistsError:
                pass
            finally:
                made.unlink()
            sync_folder(self.path.parent)
        except OSError as error:
            kind = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else ReadOnly
            raise kind(
                f"The key of the record of changes cannot be made as {self.path} ({error.strerror}), so nothing was "
                "stored; check the rights of the folder, or name another file as key_file in [audit]."
            ) from error
        key = self.find()
        assert key is not None
        return key


def key_file(database: Path, named: str = "") -> ChainKeyFile:
    """The file of the key of a store in a file: the one that is named, or else one beside the store."""
    return ChainKeyFile(named_path(named) if named else Path(f"{database}{SUFFIX}"))


def _secret(text: bytes) -> bytes:
    secret = bytes.fromhex(text.decode("ascii"))
    if len(secret) != _BYTES:
        raise ValueError("it is no number of 256 bits")
    return secret
