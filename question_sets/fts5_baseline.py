"""Plain SQLite full text: the baseline for recall.

Stock FTS5 with the tokenizer `porter unicode61`, one document a session or a turn, the question's words without stop
words joined by OR, `bm25()`, best first, and nothing else. Chinese has no spaces, so a run of its characters is
indexed, and searched, as its pairs of neighbours.

Its words and its stop words are its own: if they were shared with the engine, a change there would move the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import apsw

STOP_WORDS = frozenset(
    """a about am an and any are as at be been but by can could did do does doing for from had has have having he her
    hers him his how i if in into is it its me my of on or our ours she should so some such than that the their
    theirs them then there these they this those to too us was we were what when where which who whom whose why with
    would you your yours""".split()
)
_WORD = re.compile(r"\w+")
_CJK_RUN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


class Fts5:
    """A full-text table in a file of its own. Documents are numbered from 0 in the order in which they come.

    A table that is `shared` by many users holds the user's name beside each document, as a simple program would: in a
    column that is not indexed, by which what was found is filtered.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._connection = apsw.Connection(str(path))
        # As much page cache as the engine has.
        self._connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000")
        self._connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (body, user UNINDEXED, tokenize = 'porter unicode61')"
            if shared
            else "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (body, tokenize = 'porter unicode61')"
        )
        self._shared = shared
        (last,) = next(iter(self._connection.execute("SELECT max(rowid) FROM words")))
        self._documents = int(last or 0)

    def add(self, texts: Iterable[str], user: str = "") -> None:
        with self._connection:
            for text in texts:
                self._documents += 1
                if self._shared:
                    row = (self._documents, paired(text), user)
                    self._connection.execute("INSERT INTO words (rowid, body, user) VALUES (?, ?, ?)", row)
                else:
                    row = (self._documents, paired(text))
                    self._connection.execute("INSERT INTO words (rowid, body) VALUES (?, ?)", row)

    def best(self, question: str, limit: int, user: str = "") -> list[int]:
        """The numbers of the documents (of a user) that fit a question best, best first, `limit` at most."""
        match = match_of(question)
        if not match:
            return []
        if self._shared:
            # As most would write it. By rank it takes a quarter less where a user has many rows, and more where few.
            rows = self._connection.execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND user = ? ORDER BY bm25(words) LIMIT ?",
                (match, user, limit),
            )
        else:
            rows = self._connection.execute(
                "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (match, limit)
            )
        return [int(row[0]) - 1 for row in rows]

    def top_score(self, question: str) -> float:
        """The score of the document that fits a question best (bm25, more is better); 0 where none does."""
        match = match_of(question)
        row = match and next(
            iter(
                self._connection.execute("SELECT -rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT 1", (match,))
            ),
            None,
        )
        return float(row[0]) if row else 0.0

    def close(self) -> None:
        self._connection.close()


def match_of(question: str) -> str:
    """The question as an FTS5 expression; empty where it has no word. One of stop words alone keeps them."""
    words = list(dict.fromkeys(_WORD.findall(paired(question).lower())))
    chosen = [word for word in words if word not in STOP_WORDS] or words
    return " OR ".join(f'"{word}"' for word in chosen)


def paired(text: str) -> str:
    """The text with every run of Chinese, Japanese or Korean as its pairs of neighbouring characters."""
    return _CJK_RUN.sub(_pairs, text)


def _pairs(run: re.Match[str]) -> str:
    text = run[0]
    return f" {' '.join(text[at : at + 2] for at in range(max(1, len(text) - 1)))} "
