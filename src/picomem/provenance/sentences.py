"""The sentences that a person says in a message: no code, no quoted lines, nothing that others wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from picomem.provenance.whose_words import BLANK, without_fences, without_others

LONGEST_TEXT = 4_000  # characters; a longer text is a document with, perhaps, words around it: only its ends are read
_END = 1_000
_STOP = r"[.!?]+(?=[\s\x00]|$)|[。！？]+|\n+"
BULLET = r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+"
_ABBREVIATION = r"(?:\b\w\.\w|(?<!\S)[A-Za-z]|^\s*\d{1,2})$"
_WRAPPED_AT = 60  # a line at least so long that goes on in lower case was wrapped by an editor


def own_sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """The person's sentences, each with its place. Words that they quote within a sentence stay in it."""
    said = without_fences(without_others(text))
    for start, end in _ends(text):
        for first, last in sentence_spans(said[start:end]):
            sentence = text[start + first : start + last].strip()
            if sentence and BLANK not in said[start + first : start + last]:
                yield start + first, start + last, sentence


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences, their stops included, blanks and list marks before them left out."""
    start = 0
    while start < len(text):
        stop = _next_stop(text, start)
        mark = re.match(rf"\s*(?:{BULLET})?", text[start:stop])
        first = start + (mark.end() if mark else 0)
        if first < stop:
            yield first, stop
        start = stop


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks."""
    return sentence.rstrip(" \t\n\"'”’)").endswith(("?", "？"))


def _ends(text: str) -> list[tuple[int, int]]:
    """All of the text, or a long one's first and last part, without the sentences that are cut there."""
    if len(text) <= LONGEST_TEXT:
        return [(0, len(text))]
    stops = [match.end() for match in re.finditer(r"[.!?](?=\s)|[。！？\n]", text[:_END])]
    tail = len(text) - _END
    stop = re.search(r"[.!?]\s|[。！？\n]", text[tail:])
    return [(0, stops[-1] if stops else 0), (tail + stop.end() if stop else len(text), len(text))]


def _next_stop(text: str, start: int) -> int:
    for match in re.finditer(_STOP, text[start:]):
        at, end = start + match.start(), start + match.end()
        if match[0] == "\n":
            goes_on = match.start() >= _WRAPPED_AT and text[end : end + 1].islower()
        else:
            goes_on = match[0] == "." and re.search(_ABBREVIATION, text[max(start, at - 8) : at])
        if not goes_on:
            return end
    return len(text)
