"""The proof of a purge: every file, decrypted if it is sealed, is searched byte by byte for the erased texts.

A fragment that also occurs in remaining text proves nothing (people repeat themselves), so it is counted separately.
The full-text index is queried as well, because it may store only the part of a word that differs from the previous
word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from picomem.errors import InvalidInput, NotFound
from picomem.ingest.source import texts_of
from picomem.light_dataclass import dataclass, field
from picomem.records.scope import Scope
from picomem.store import remaining_text, search
from picomem.store.connector import Transaction
from picomem.store.files.decrypted_pages import content
from picomem.store.tables import episodes, memories, tombstones
from picomem.text.terms import terms

# The byte patterns that a scan looks for after a purge, and the search for them. Pure.
#
# The patterns of an erased text are its beginning, its middle and its end, as they are stored in a row; those of a path
# are the whole and its end. Fragments shorter than eight bytes are skipped: they are not distinctive. In addition, the
# long words are searched as full text stores them: without the first letters, which full text leaves out if the
# previous word has them as well. The patterns are kept only in memory.
#
# To find thousands of patterns in a file, the first eight bytes at each position are tested, two at a time, with four
# tables; the few positions that match are compared byte by byte.

SHORTEST = 8  # bytes
_PIECE = 24  # characters
_MOST_LOOKED_AT = 64  # documents with a word
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


@dataclass(slots=True)
class Scan:
    """The result of a scan for erased texts. `found` counts by file; `shared` also stand in what stays; `postings`
    are words that full text still has of what is gone."""

    files: int = 0
    bytes: int = 0
    patterns: int = 0
    shared: int = 0
    postings: int = 0
    found: dict[str, int] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing was found, and everything was read."""
        return not (self.found or self.postings or self.unread)


def scan(
    tx: Transaction,
    users: Sequence[Scope],
    scope: Scope,
    texts: Sequence[str],
    files: Iterable[Path],
    copies: Sequence[Path] = (),
) -> Scan:
    """Look for what was erased, texts of the user `scope`, in files, and in what the user's `copies` of transcripts
    hold; `users` are all whose rows stay."""
    result = Scan()
    long = words(texts)
    live = {word for word in long if _is_live(tx, scope, word)}
    compressed = set(copies)
    result.postings = sum(_has_postings(tx, scope, word) for word in long if word not in live)
    tails = {tail(word) for word in long if word not in live}
    patterns = pieces(texts) | {ending for ending in tails if len(ending) >= SHORTEST}
    result.patterns = len(patterns)
    finder = Finder(patterns)
    pieces_by_path = {
        str(path): _in_file(content(path), finder, result) for path in files if path not in compressed
    } | {str(path): _in_file(texts_of(path), finder, result) for path in copies}
    every = set().union(*pieces_by_path.values())
    stay = _staying(tx, users, every)
    result.shared = len(stay)
    result.found = {path: len(matches - stay) for path, matches in pieces_by_path.items() if matches - stay}
    return result


def telling(tx: Transaction, scope: Scope, texts: Sequence[str]) -> Finder:
    """Finds what tells of these texts in a text of a person's: pieces of them, and long words that nothing has which
    stays."""
    return Finder(pieces(texts) | {word.encode() for word in words(texts) if not _is_live(tx, scope, word)})


def erased_finder(tx: Transaction, users: Sequence[Scope], scope: Scope, texts: Sequence[str]) -> Finder:
    """Finds what a scan for these texts would find."""
    tails = {tail(word) for word in words(texts) if not _is_live(tx, scope, word)}
    patterns = pieces(texts) | {ending for ending in tails if len(ending) >= SHORTEST}
    return Finder(patterns - _staying(tx, users, patterns))


def _in_file(read: Iterable[bytes], finder: Finder, result: Scan) -> set[bytes]:
    matches: set[bytes] = set()
    rest = b""
    try:
        for chunk in read:
            result.bytes += len(chunk)
            matches |= finder.found_in(rest + chunk)
            rest = chunk[-(finder.longest - 1) :]
    except NotFound:
        return matches  # a temporary file that somebody has finished with
    except InvalidInput as error:
        result.unread.append(str(error))
    else:
        result.files += 1
    return matches


def _staying(tx: Transaction, users: Sequence[Scope], matches: set[bytes]) -> set[bytes]:
    """The pieces that occur in remaining data: in a row, or in full text as part of another word."""
    if not matches:
        return set()
    finder = Finder(matches)
    stay = finder.found_in(tombstones.EVERYTHING.encode())  # the mark may be in the file until its log is emptied next
    # All that stays of a user, and of the file: a word like "decision" stands in it for reasons of its own.
    for text in remaining_text.texts(tx, users):
        stay |= finder.found_in(text.encode("utf-8", "ignore"))
    for piece in matches - stay:
        text = piece.decode("utf-8", "ignore")
        if search.of(tx).has_term_with(text):
            stay.add(piece)
    return stay


def _is_live(tx: Transaction, user: Scope, word: str) -> bool:
    """Return whether a document that is there has the word."""
    if memories.has_docs(tx, user, search.of(tx).latest_with(user, "memory", [word], _MOST_LOOKED_AT)):
        return True
    return episodes.has_docs(tx, user, search.of(tx).latest_with(user, "episode", [word], _MOST_LOOKED_AT))


def _has_postings(tx: Transaction, scope: Scope, word: str) -> bool:
    return any(search.of(tx).counts(scope, source, [word])[word] for source in ("memory", "episode"))
