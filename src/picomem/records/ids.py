"""Ids: UUID version 7 (RFC 9562), generated here, so that rows sort by creation time on every database."""

from __future__ import annotations

import os
import threading
import time

from picomem.blake2b import blake2b

_lock = threading.Lock()
_last = 0
_LAST_STAMP = (1 << 60) - 1


def new_id(after: str = "") -> str:
    """A UUIDv7 as text. Within a process each is greater than the one before, even when the clock stands still.

    It is also greater than the id `after`, which another process may have made before the clock was set back.
    """
    global _last
    stamp = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 12
    with _lock:
        stamp = max(stamp, _last + 1)
        _last = stamp
    stamp = max(stamp, _stamp(after) + 1)
    high = (stamp >> 12) << 16 | 0x7000 | (stamp & 0xFFF)
    low = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1 | 1 << 63
    text = f"{high << 64 | low:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _stamp(uuid: str) -> int:
    """The time and the counter of an id, 60 bits; 0 for a text that is no id, or that no id can follow."""
    digits = uuid[:8] + uuid[9:13] + uuid[15:18]
    try:
        stamp = int(digits, 16)
    except ValueError:
        return 0
    return stamp if len(uuid) == 36 and 0 <= stamp < _LAST_STAMP else 0


def content_hash(*parts: str) -> str:
    """A short BLAKE2b over the parts, in order; stored beside a row's text so that a flipped bit is seen."""
    digest = blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(4, "big"))
        digest.update(data)
    return digest.hexdigest()
