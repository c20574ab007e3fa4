"""BLAKE2b (RFC 7693), without what `hashlib` loads beside it: OpenSSL, for which a recall would wait 5 ms."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # type: ignore[import-not-found] # the very class that hashlib hands out
except ImportError:  # another Python than CPython, or one that was built otherwise
    from hashlib import blake2b

__all__ = ["blake2b"]
