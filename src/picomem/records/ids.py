"""Ids: UUID version 7 (RFC 9562), made by us, so that rows sort by when they were made on every database."""

from __future__ import annotations

import os
import threading
import time

from picomem.digest import blake2b

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """A UUIDv7 as text. Within a process each is greater than the one before, even when the clock stands still."""
    global _last
    stamp = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 12
    with _lock:
        stamp = max(stamp, _last + 1)
        _last = stamp
    high = (stamp >> 12) << 16 | 0x7000 | (stamp & 0xFFF)
    low = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1 | 1 << 63
    text = f"{high << 64 | low:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def content_hash(*parts: str) -> str:
    """A short BLAKE2b over the parts, in order; stored beside a row's text so that a flipped bit is seen."""
    digest = blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(4, "big"))
        digest.update(data)
    return digest.hexdigest()
