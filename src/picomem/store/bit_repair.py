"""Finds the one bit that flipped in a row, by the row's hash.

A hash of 16 bytes fits one row and no other, so if turning back a single bit makes the row match, the row is what was
stored. The bits of every value and of the hash are tried. Long rows are skipped, because the time grows with the
square of the length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress

from picomem.blake2b import blake2b
from picomem.store.connector import Row
from picomem.store.row_hash import encoded, row_hash

LONGEST = 8_192  # bytes of a row that is tried


def mended(table: str, row: Sequence[object]) -> Row | None:
    """The row as it was stored, or None. It is given with every text as bytes, and its hash at the end."""
    *values, stored = row
    size = sum(len(value) for value in values if isinstance(value, bytes))
    if not isinstance(stored, bytes) or len(stored) != 32 or size > LONGEST:
        return None
    texts = _decoded(values)
    if texts is not None:
        digest = row_hash(table, texts)
        if _bits_apart(stored, digest.encode()) <= 1:  # the hash itself, or nothing but the type of a value
            return (*texts, digest)
    for place, value in enumerate(values):
        others = _decoded([*values[:place], *values[place + 1 :]])
        if others is None:
            continue  # another value cannot be read, so that is where a bit flipped
        head = encoded([table, *others[:place]])[:-1] + ","
        tail = encoded(others[place:])[1:]
        tail = f",{tail}" if len(others) > place else "]"
        beginning = blake2b(head.encode("utf-8", "surrogatepass"), digest_size=16)
        rest = tail.encode("utf-8", "surrogatepass")
        for candidate in _neighbours(value):
            digest = beginning.copy()
            digest.update(encoded([candidate])[1:-1].encode("utf-8", "surrogatepass"))
            digest.update(rest)
            if digest.hexdigest().encode() == stored:
                return (*others[:place], candidate, *others[place:], digest.hexdigest())
    return None


def _decoded(values: Sequence[object]) -> list[object] | None:
    """The values with each text as text; None where one is no UTF-8."""
    try:
        return [value.decode() if isinstance(value, bytes) else value for value in values]
    except UnicodeDecodeError:
        return None


def _bits_apart(one: bytes, other: bytes) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(one, other, strict=True))


def _neighbours(value: object) -> Iterator[object]:
    """Every value that is one bit away."""
    if isinstance(value, bytes):
        changed = bytearray(value)
        for place in range(len(changed)):
            for bit in range(8):
                changed[place] ^= 1 << bit
                with suppress(UnicodeDecodeError):
                    yield changed.decode()
                changed[place] ^= 1 << bit
    elif isinstance(value, int):
        for bit in range(64):
            turned = (value ^ (1 << bit)) & (1 << 64) - 1
            yield turned - (1 << 64) if turned >> 63 else turned
    elif isinstance(value, float):
        (number,) = struct.unpack(">Q", struct.pack(">d", value))
        for bit in range(64):
            yield struct.unpack(">d", struct.pack(">Q", number ^ (1 << bit)))[0]
