"""Vectors by their signs, a bit a dimension, and the choice of those that are likely near to a question's. Pure.

Two steps, each on what the one before left: in how many signs a vector differs from the question's (a popcount); then
the question's own numbers, added up with the vector's signs, eight dimensions at a time from a table. What comes out
is for a comparison of the vectors themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Codes = np.ndarray  # uint64, a row for every 64 dimensions, a column a vector

_BY_SIGNS = 8_000  # vectors that are looked at in the second step, …
_SHARE = 20  # … or one in so many, if that is more


def made(rows: np.ndarray) -> Codes:
    """The signs of unit rows (float or integer)."""
    import numpy as np

    signs = np.packbits(rows > 0, axis=1)
    padded = np.zeros((len(rows), -(-signs.shape[1] // 8) * 8), np.uint8)
    padded[:, : signs.shape[1]] = signs
    return np.ascontiguousarray(padded.view(np.uint64).T)


def likely(codes: Codes, asked: np.ndarray, count: int) -> np.ndarray:
    """The columns of the `count` vectors (or all there are) that may be nearest to a unit vector."""
    import numpy as np

    total = codes.shape[1]
    if count >= total:
        return np.arange(total)
    own = made(asked[None, :])[:, 0]
    distances = np.zeros(total, np.uint16)
    for word, same in zip(codes, own, strict=True):
        distances += np.bitwise_count(word ^ same)
    within = np.cumsum(np.bincount(distances))
    farthest = np.searchsorted(within, max(count, _BY_SIGNS, total // _SHARE))
    near = np.flatnonzero(distances <= farthest)
    products = _signed_products(codes, near, asked)
    return near if len(near) <= count else near[np.argpartition(-products, count)[:count]]


def _signed_products(codes: Codes, columns: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The products of a vector with the signs (1 or -1) of those in the columns, as float32."""
    import numpy as np

    numbers = np.zeros(len(codes) * 64, np.float32)
    numbers[: len(asked)] = asked
    signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1
    tables = iter(numbers.reshape(-1, 8) @ signs.T)  # what each value of each byte of a code adds
    products = np.zeros(len(columns), np.float32)
    for word in codes:
        for byte in word.take(columns).view(np.uint8).reshape(-1, 8).T:
            products += next(tables).take(byte, mode="clip")  # a byte is never outside; to be told so saves a third
    return products
