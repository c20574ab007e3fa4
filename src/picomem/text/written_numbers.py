"""The numbers of a text, however they are written: “30”, “thirty”, “三十” are the same number. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from picomem.text.temporal.chinese_words import read_number

_SMALL = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_DIGITS = r"\d+(?:[.,:]\d+)*"
_THOUSANDS = r"(?<=\d),(?=\d{3}(?!\d))"
_TENS_AND_ONE = rf"\b({'|'.join(_TENS)})(?:[ -]({'|'.join(list(_SMALL)[1:10])}))?\b"
_SMALL_WORD = rf"\b(?:{'|'.join(_SMALL)})\b"
_CHINESE = r"[零〇一二两三四五六七八九十百千万]+"


def numbers_in(text: str) -> frozenset[str]:
    """The numbers of a text, in digits; a time or a version as it is written."""
    return frozenset(_numbers(text.casefold()))


def _numbers(text: str) -> Iterator[str]:
    yield from re.findall(_DIGITS, re.sub(_THOUSANDS, "", text))
    for match in re.finditer(_TENS_AND_ONE, text):
        yield str(_TENS[match[1]] + _SMALL.get(match[2] or "", 0))
    for word in re.findall(_SMALL_WORD, re.sub(_TENS_AND_ONE, "", text)):
        yield str(_SMALL[word])
    for word in re.findall(_CHINESE, text):
        yield str(read_number(word))
