"""BLAKE2b (RFC 7693) without OpenSSL, which `hashlib` loads as well and which would delay a recall by 5 ms."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # type: ignore[import-not-found] # the very class that hashlib hands out
except ImportError:  # another Python than CPython, or one that was built otherwise
    from hashlib import blake2b

__all__ = ["blake2b"]
