"""The keys of the turns that were read last, to know one that comes again."""

from __future__ import annotations

from base64 import b64decode, b64encode
from hashlib import blake2b

_REMEMBERED = 4096
_DIGEST = 6  # bytes: among 4,096 entries a false match has a chance of 1 in 10^10 a turn


class Recent:
    """The last few thousand keys that were seen, as digests: repeats in a transcript stand near, or are
    copies of the whole; a set of all keys would grow with the file."""

    def __init__(self, packed: str = "") -> None:
        data = b64decode(packed, validate=True)
        self._keys = dict.fromkeys(data[at : at + _DIGEST] for at in range(0, len(data), _DIGEST))

    def add(self, key: str) -> bool:
        """Remember `key`; False where it was there already."""
        digest = _digest(key)
        if digest in self._keys:
            return False
        self._keys[digest] = None
        if len(self._keys) > _REMEMBERED:
            del self._keys[next(iter(self._keys))]
        return True

    def __contains__(self, key: str) -> bool:
        return _digest(key) in self._keys

    def take(self, key: str) -> bool:
        """Forget `key`; whether it was there."""
        digest = _digest(key)
        if digest not in self._keys:
            return False
        del self._keys[digest]
        return True

    def packed(self) -> str:
        return b64encode(b"".join(self._keys)).decode()


def _digest(key: str) -> bytes:
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
