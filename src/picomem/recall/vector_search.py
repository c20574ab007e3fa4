"""Vector search: a question's vector against all of a user's vectors.

Up to `EXACT` of them are kept in memory as floats, and each is compared. Of more, their signs are kept, a bit a
dimension, which choose the `likely` ones; the vectors of those are compared. They come from memory as
well, a byte a dimension, as long as all of them are small enough for that; else from the store. `tests/recall` holds
that to finding nearly all of what comparing each one finds.

What is in memory is kept up with the store by reading what is new and what was rewritten, whoever wrote it; a process
that asks once reads all of it once. A process that asks for many users forgets those who have not asked for longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

from picomem.coded_text import CodedText, Command
from picomem.errors import EmbedderFailed
from picomem.light_dataclass import dataclass
from picomem.models.embedder import UNRELATED
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import vector_rows
from picomem.store.tables.vector_rows import Columns, Space

if TYPE_CHECKING:
    import numpy as np

    from picomem.models.embedder import Embedder

    Codes = np.ndarray  # uint64, a row for every 64 dimensions, a column a vector


# Vectors by their signs, a bit a dimension, and the choice of those that are likely near to a question's. Pure.
#
# Two steps, each on what the one before left: in how many signs a vector differs from the question's (a popcount); then
# the question's own numbers, added up with the vector's signs, eight dimensions at a time from a table. What comes out
# is for a comparison of the vectors themselves.

_BY_SIGNS = 8_000  # vectors that are looked at in the second step, …
_SHARE = 20  # … or one in so many, if that is more


def sign_codes(rows: np.ndarray) -> Codes:
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
    own = sign_codes(asked[None, :])[:, 0]
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


EXACT = 20_000
_SAMPLE = 4_096  # vectors at most (and half as many at least) that stand for more than EXACT
_COMPARED = 2_000  # of the likely ones
_PAGE = 10_000  # rows that are read at a time
_KEPT = 32 << 20  # bytes of vectors that are kept: 130,000 of the default model's
_ALL = 128 << 20  # bytes that are held for all users together; more only for the one who asks


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the cosines of a question with many texts lie: the middling one, and how far below it the lowest sixth ends.

    The lower half says how far unrelated texts spread: the texts that answer are in the upper one.
    """

    middling: float = 0.0
    spread: float = 0.0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Cosines:
    """The cosines of the nearest documents, and how those of all documents and of unrelated texts lie."""

    nearest: dict[int, float]
    all: Distribution
    unrelated: Distribution = Distribution()  # by the model; empty where the documents are enough to tell


@dataclass(frozen=True, slots=True)
class _Held:
    """What is in memory of a space, as of `space`: of every document the code, of one in `step` the vector as floats;
    and of every document, if they are not too many, the vector as it is stored."""

    space: Space
    docs: np.ndarray  # int64
    codes: Codes
    stored: _Stored | None
    step: int
    sampled: np.ndarray  # int64: the documents of `sample`
    sample: np.ndarray  # float32, unit rows

    @property
    def bytes(self) -> int:
        """The size in memory."""
        stored = self.stored.rows.nbytes + self.stored.scales.nbytes if self.stored else 0
        return self.docs.nbytes + self.codes.nbytes + self.sampled.nbytes + self.sample.nbytes + stored


@dataclass(frozen=True, slots=True)
class _Stored:
    """Vectors as they are stored: a byte a dimension, and for each the scale that makes a unit vector of it."""

    scales: np.ndarray  # float32
    rows: np.ndarray  # int8

    def units(self) -> np.ndarray:
        """As float32."""
        return self.rows * self.scales[:, None]

    def only(self, chosen: np.ndarray) -> _Stored:
        """The vectors of these numbers, or those where a mask is true."""
        return _Stored(self.scales[chosen], self.rows[chosen])


class VectorSearch:
    """The nearest neighbours of a text among the vectors of one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._asked: tuple[str, np.ndarray] | None = None
        self._held: dict[tuple[str, str], _Held] = {}  # by user and source, the one asked for longest ago first
        self._held_bytes = 0  # a sum that is kept, because adding up for each question takes milliseconds
        self._lock = Lock()

    def nearest(self, tx: Transaction, scope: Scope, source: str, text: str, count: int) -> Cosines:
        """The `count` documents nearest to a text. Raises EmbedderFailed."""
        import numpy as np

        held = self._up_to_date(tx, scope, source)
        if held is None or not len(held.docs):
            return Cosines({}, Distribution())
        asked = self._vector(text)
        if len(asked) != held.sample.shape[1]:
            raise EmbedderFailed(
                CodedText(
                    "failure.other_dimensions",
                    model=self.embedder.name,
                    given=len(asked),
                    stored=held.sample.shape[1],
                    command=Command("embed", afresh=True),
                )
            )
        docs, cosines = held.sampled, _cosines(held.sample, asked)
        of_all = distribution(cosines, len(held.docs))
        if held.step > 1:
            chosen = np.sort(likely(held.codes, asked, max(count, _COMPARED)))
            docs, stored = held.docs[chosen], held.stored and held.stored.only(chosen)
            if stored is None:
                docs, stored = _unpacked(vector_rows.of(tx, scope, held.space.number, docs.tolist()))
            cosines = _cosines(stored.units(), asked)
        top = np.argpartition(-cosines, count)[:count] if count < len(docs) else np.arange(len(docs))
        return Cosines(dict(zip(docs[top].tolist(), cosines[top].tolist(), strict=True)), of_all)

    @cached_property
    def unrelated(self) -> Distribution:
        """How the cosines of unrelated texts lie with this model, by the model itself. Raises EmbedderFailed."""
        import numpy as np

        rows = self.embedder.embed(UNRELATED)
        return distribution((rows @ rows.T)[np.triu_indices(len(rows), 1)], len(rows))

    def _vector(self, text: str) -> np.ndarray:
        """The question's vector, made once for all of its legs: a model takes its time, a server costs money."""
        kept = self._asked
        if kept is None or kept[0] != text:
            kept = self._asked = (text, self.embedder.embed_question(text))
        return kept[1]

    def _up_to_date(self, tx: Transaction, scope: Scope, source: str) -> _Held | None:
        space = vector_rows.space(tx, scope, source, self.embedder.name)
        if space is None:
            return None
        held = self._held.get((scope.user, source))
        if held is not None and held.space != space:
            held = _read_on(tx, scope, held, space)
        if held is None:
            held = _gathered(space, None, map(_unpacked, _pages(tx, scope, space, 0)))
        self._hold(scope.user, source, held)
        return held

    def _hold(self, user: str, source: str, held: _Held) -> None:
        """Hold `_ALL` bytes at most; what this user has stays in any case."""
        with self._lock:
            self._drop((user, source))
            self._held[(user, source)] = held
            self._held_bytes += held.bytes
            if self._held_bytes <= _ALL:
                return
            for key in list(self._held):
                if key[0] != user:
                    self._drop(key)
                if self._held_bytes <= _ALL:
                    return

    def _drop(self, key: tuple[str, str]) -> None:
        dropped = self._held.pop(key, None)
        if dropped is not None:
            self._held_bytes -= dropped.bytes


def distribution(cosines: np.ndarray, documents: int) -> Distribution:
    """How cosines lie. By `partition`, because `numpy.median` loads numpy's masked arrays: 10 ms of a recall in a fresh
    process."""
    import numpy as np

    count = len(cosines)
    if not count:
        return Distribution()
    low, before, after = count // 6, (count - 1) // 2, count // 2
    ordered = np.partition(cosines, [low, before, after])
    middling = float(ordered[[before, after]].mean())
    return Distribution(middling, middling - float(ordered[low]), documents)


def _read_on(tx: Transaction, scope: Scope, held: _Held, space: Space) -> _Held | None:
    """What is held with what is new and what was rewritten; None where everything has to be read again."""
    import numpy as np

    missed = space.rewrites - held.space.rewrites
    if held.space.number != space.number or missed > vector_rows.REWRITES_KEPT:
        return None
    if missed < 0 or space.last_doc < held.space.last_doc:
        return held  # a reader with an older snapshot than the one that read last
    again = vector_rows.rewritten(tx, scope, space.number, held.space.rewrites) if missed else []
    if again:
        stay, sample_stays = ~np.isin(held.docs, again), ~np.isin(held.sampled, again)
        held = _Held(
            held.space,
            held.docs[stay],
            held.codes[:, stay],
            held.stored and held.stored.only(stay),
            held.step,
            held.sampled[sample_stays],
            held.sample[sample_stays],
        )
        if _step(len(held.docs)) < held.step:
            return None
    below = sorted({doc for doc in again if doc <= held.space.last_doc})
    pages = chain([vector_rows.of(tx, scope, space.number, below)], _pages(tx, scope, space, held.space.last_doc))
    return _gathered(space, held, (_unpacked(page) for page in pages if page.docs))


def _pages(tx: Transaction, scope: Scope, space: Space, last: int) -> Iterator[Columns]:
    while last < space.last_doc and (page := vector_rows.after(tx, scope, space.number, last, _PAGE)).docs:
        yield page
        last = page.docs[-1]


def _gathered(space: Space, held: _Held | None, pages: Iterator[tuple[np.ndarray, _Stored]]) -> _Held:
    """What was held, and pages of more, as one."""
    import numpy as np

    docs, codes, sampled, samples = [np.zeros(0, np.int64)], [], [np.zeros(0, np.int64)], []
    kept: list[_Stored] | None = []
    if held is not None:
        docs, codes, sampled, samples = [held.docs], [held.codes], [held.sampled], [held.sample]
        kept = None if held.stored is None else [held.stored]
    total = len(docs[0])
    for page, stored in pages:
        total += len(page)
        docs.append(page)
        codes.append(sign_codes(stored.rows))
        kept = [*kept, stored] if kept is not None and total * stored.rows.shape[1] <= _KEPT else None
        chosen = _in_sample(page, _step(total))
        sampled.append(page[chosen])
        samples.append(stored.only(chosen).units())
    step = _step(total)
    documents = np.concatenate(sampled)
    chosen = _in_sample(documents, step)
    return _Held(
        space,
        np.concatenate(docs),
        np.concatenate(codes, axis=1) if codes else np.zeros((0, 0), np.uint64),
        _joined(kept) if kept else None,
        step,
        documents[chosen],
        np.concatenate(samples)[chosen] if samples else np.zeros((0, 0), np.float32),
    )


def _joined(parts: list[_Stored]) -> _Stored:
    import numpy as np

    return _Stored(np.concatenate([part.scales for part in parts]), np.concatenate([part.rows for part in parts]))


def _step(total: int) -> int:
    """One of how many vectors is kept: each, or a power of two, so that a sample is a part of any larger one."""
    return 1 if total <= EXACT else 1 << (-(-total // _SAMPLE) - 1).bit_length()


def _in_sample(docs: np.ndarray, step: int) -> np.ndarray:
    """Which documents are sampled. Chosen by a hash of the number, which says nothing of who spoke, or when."""
    return (docs * 0x9E3779B1 >> 20 & (step - 1)) == 0


def _unpacked(page: Columns) -> tuple[np.ndarray, _Stored]:
    """What the store gave: the documents (int64), and their vectors."""
    import numpy as np

    count = len(page.docs)
    matrix = np.frombuffer(b"".join(page.vectors), np.int8).reshape(count, -1 if count else 0)
    return np.array(page.docs, np.int64), _Stored(np.array(page.scales, np.float32), matrix)


def _cosines(rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The products of unit rows with a unit vector. Not `rows @ asked`: the linear algebra library would wake a thread
    for each core, and the time that they wait for each other is more than what they save."""
    import numpy as np

    return np.einsum("ij,j->i", rows, asked) if len(rows) else np.zeros(0, np.float32)
