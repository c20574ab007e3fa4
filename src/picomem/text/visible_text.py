"""A text as a reader sees it, without invisible characters, and the positions of that reading in the original.

Such characters have good uses: they join emoji, spell Persian and Indic words, and choose how a font draws a letter.
So stored text keeps them, and a search for secrets uses the visible text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import Literal

# The characters that a reader does not see, as ranges for a character class of a regular expression.

# Soft hyphen; combining grapheme joiner; Hangul and Khmer fillers; Mongolian variation selectors; zero-width space;
# invisible operators and deprecated format characters; the byte order mark; annotation marks; shorthand and musical
# format characters; tag characters, which spell hidden ASCII. None of them has a use in which it should be kept.
INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # they choose how a font draws the character before
JOINERS = "\u200c\u200d"  # they join emoji and spell Persian and Indic words
OPENING, CLOSING = "\u202a\u202b\u2066\u2067\u2068", "\u202c\u2069"  # changes of direction that end
OVERRIDES = "\u202d\u202e"  # changes of direction that show a text in another order than it has
MARKS = "\u061c\u200e\u200f"  # characters without width that have a direction


_UNSEEN = INVISIBLE + SELECTORS + JOINERS + OPENING + CLOSING + OVERRIDES + MARKS
_CONTINUATION = r"\\\r?\n[ \t]*"  # a line that goes on after a backslash
_TERMINAL = r"\x1b\[[0-9;?]{0,32}[A-Za-z]"  # colours and movements (ECMA-48)
# Compiled by `re` when first used: most texts that a recall reads are ASCII.
_ANY = f"[{_UNSEEN}]+"
_ANY_GAP = f"[{_UNSEEN}]+|{_CONTINUATION}|{_TERMINAL}"
_ANY_ODD = f"[{_UNSEEN}＝＿０-９Ａ-Ｚａ-ｚ]"
_NARROW = {place: place - 0xFEE0 for place in map(ord, "＝＿")} | {
    first + at: first + at - 0xFEE0
    for first, count in ((0xFF10, 10), (0xFF21, 26), (0xFF41, 26))
    for at in range(count)
}
_TAGS = "[\U000e0020-\U000e007e]+"


def without_unseen(text: str) -> str:
    """The text without the characters that a reader does not see."""
    return text if text.isascii() else re.sub(_ANY, "", text)


def without_terminal_codes(text: str) -> str:
    """The text without the codes that colour it at a terminal."""
    return re.sub(_TERMINAL, "", text) if "\x1b[" in text else text


def spelled_in_tags(text: str) -> list[tuple[int, int, str]]:
    """The runs of tag characters: start, end, and the ASCII that each spells."""
    if text.isascii():
        return []
    return [
        (run.start(), run.end(), "".join(chr(ord(c) - 0xE0000) for c in run[0])) for run in re.finditer(_TAGS, text)
    ]


class VisibleText:
    """A text as it reads: without unseen characters and terminal codes, with continued lines in one, and with the usual
    letters and digits for those of full width, which Chinese and Japanese keyboards also type."""

    def __init__(self, written: str) -> None:
        self._written = written
        self.text = written
        if "\\\n" in written or "\\\r\n" in written or "\x1b[" in written:
            self.text = re.sub(_ANY_GAP, "", written)
        if not written.isascii() and re.search(_ANY_ODD, self.text):
            self.text = re.sub(_ANY, "", self.text).translate(_NARROW)
        self._differs = len(self.text) != len(written)
        self._read: list[int] = []  # where something is left out, in the reading
        self._left_out: list[int] = []  # how many characters are left out up to and with that place

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The position of a non-empty span of the reading in the text as written."""
        if not self._differs:
            return start, end
        return self._place(start), self._place(end - 1) + 1

    def place(self, written: int) -> int:
        """The position in the reading of a place of the text as written, at the edge of a part that is left out."""
        if not self._differs:
            return written
        self._index()
        low, high = 0, len(self._read)
        while low < high:  # the last gap that ends at or before the place
            middle = (low + high) // 2
            if self._read[middle] + self._left_out[middle] <= written:
                low = middle + 1
            else:
                high = middle
        if low < len(self._read):  # inside a gap: its beginning
            before = self._left_out[low - 1] if low else 0
            return min(written - before, self._read[low])
        return written - (self._left_out[low - 1] if low else 0)

    def _place(self, read: int) -> int:
        self._index()
        at = bisect_right(self._read, read)
        return read + (self._left_out[at - 1] if at else 0)

    def _index(self) -> None:
        """Note every gap once, when a place is first asked for: most texts hold nothing that is looked for."""
        if self._read:
            return
        left_out = 0
        for gap in re.finditer(_ANY_GAP, self._written):
            self._read.append(gap.start() - left_out)
            left_out += gap.end() - gap.start()
            self._left_out.append(left_out)


# Unicode's normal forms, in a time that grows with the text. Sorting a letter's marks takes quadratic time, and a text
# can bring a million; no language needs over 30 (Unicode's stream-safe format, UAX #15).

_MOST_MARKS = 30
_HIDDEN_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"  # of class 0, but they decompose into marks alone
_NO_LETTERS = re.compile(rf"(?:[^\w\x00-\x7f]|[{_HIDDEN_MARKS}]){{{_MOST_MARKS + 1},}}")  # no other mark is a letter
_STREAK = re.compile(rb"[^\0]{%d,}" % (_MOST_MARKS + 1))


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """A text in a normal form, with at most 30 marks on a letter."""
    return text if text.isascii() else unicodedata.normalize(form, _NO_LETTERS.sub(_few_marks, text))


def _few_marks(run: re.Match[str]) -> str:
    """A run of characters beyond ASCII that are no letters, its streaks of combining marks cut."""
    text = run[0]
    classes = bytes(unicodedata.combining(character) or character in _HIDDEN_MARKS for character in text)
    kept: list[str] = []
    position = 0
    for streak in _STREAK.finditer(classes):
        kept.append(text[position : streak.start() + _MOST_MARKS])
        position = streak.end()
    kept.append(text[position:])
    return "".join(kept)
