"""The byte patterns that a scan looks for after a purge, and the search for them. Pure; it needs numpy, so it is not
loaded by recall.

The patterns of an erased text are its beginning, its middle and its end, as they are stored in a row; those of a path
are the whole and its end. Fragments
shorter than eight bytes are skipped: they are not distinctive. In addition, the long words are searched as full text
stores them: without the first letters, which full text leaves out if the previous word has them as well. The patterns
are kept only in memory.

To find thousands of patterns in a file, the first eight bytes at each position are tested, two at a time, with four
tables; the few positions that match are compared byte by byte.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from picomem.text.terms import terms

SHORTEST = 8  # bytes
_PIECE = 24  # characters
_LONGEST_PATH = 4_096  # characters
_MOST_TEXTS = 2_000
_MOST_WORDS = 2_000
_LONG_WORD = 12  # letters
_IN_COMMON = 4  # letters of a word that full text may have left out


def pieces(texts: Sequence[str]) -> set[bytes]:
    """The byte patterns of these texts as they are stored in a row."""
    encoded: set[bytes] = set()
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    for text in distinct[:: max(1, -(-len(distinct) // _MOST_TEXTS))]:
        middle = len(text) // 2
        cut = (text[:_PIECE], text[middle : middle + _PIECE], text[-_PIECE:])
        # Other sessions lie in the same folders, so the beginning of a path does not tell whose it is.
        for piece in (text, text[-_PIECE:]) if _is_path(text) else cut:
            encoded.add(piece.strip().encode("utf-8", "ignore"))
    return {piece for piece in encoded if len(piece) >= SHORTEST}


def _is_path(text: str) -> bool:
    return len(text) <= _LONGEST_PATH and re.match(r"(?:/|[A-Za-z]:[\\/])\S*$", text) is not None


def words(texts: Sequence[str]) -> list[str]:
    """The long terms of these texts, the longest first."""
    long_words = {term for text in dict.fromkeys(texts) for term in terms(text) if len(term) >= _LONG_WORD}
    return sorted(long_words, key=lambda term: (-len(term), term))[:_MOST_WORDS]


def tail(word: str) -> bytes:
    """A term as it stands in full text behind another."""
    return word[_IN_COMMON:].encode()


class Finder:
    """Finds any of many byte strings, each of eight bytes or more."""

    def __init__(self, patterns: Iterable[bytes]) -> None:
        self._by_head: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for pattern in set(patterns):
            self._by_head[pattern[:SHORTEST]].append(pattern)
        self.longest = max((len(pattern) for group in self._by_head.values() for pattern in group), default=SHORTEST)
        self._tables = np.zeros((SHORTEST // 2, 1 << 16), dtype=bool)
        for head in self._by_head:
            self._tables[range(SHORTEST // 2), np.frombuffer(head, dtype="<u2")] = True

    def found_in(self, data: bytes) -> set[bytes]:
        """Return the patterns that occur in some bytes."""
        if len(data) < SHORTEST or not self._by_head:
            return set()
        octets = np.frombuffer(data, dtype=np.uint8).astype(np.uint16)
        pairs = octets[:-1] | octets[1:] << 8
        places = np.flatnonzero(self._tables[0][pairs[: len(data) - SHORTEST + 1]])
        for step in range(1, SHORTEST // 2):
            places = places[self._tables[step][pairs[places + 2 * step]]]
        matches: set[bytes] = set()
        for place in places.tolist():
            for pattern in self._by_head.get(data[place : place + SHORTEST], ()):
                if data.startswith(pattern, place):
                    matches.add(pattern)
        return matches
