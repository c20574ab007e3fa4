"""The reasons of changes in the reader's language.

The engine stores a reason as English sentences, in one text. The English catalogue has the same sentences word for
word, with places for what is named in them, so each of them is recognised by its English and told in another language.
A text of which any sentence is not recognised is shown as it was stored: somebody gave that reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from picomem.page.message_catalog import Say, catalog

_OF_WORDS = frozenset({"decision", "fields", "origin", "other_origin"})  # places where one of a few words stands
_BETWEEN = "; "
_PLACE = re.compile(r"\{(\w+)\}")
_SIGNALS = re.compile(r"(.*?)( \([^()]*\))?", re.DOTALL)  # a sentence, and what spoke for it, which has no other words


def told_reason(reason: str, say: Say) -> str:
    """A stored reason in the language of `say`."""
    sentences = list(_told_sentences(reason, say))
    return reason if None in sentences else say("reasons.between").join(filter(None, sentences))


def told_word(word: str, say: Say) -> str:
    """A decision, a field or an origin, as a reason names it; a word that is not known as it is."""
    return say(f"reason_word.{word}") if f"reason_word.{word}" in catalog("en") else word


def _told_sentences(reason: str, say: Say) -> Iterator[str | None]:
    """Tell each sentence of a reason; None for one that is not known."""
    rest, is_more = reason, True
    while is_more:
        told = _told(rest, say)
        if told is not None:  # a sentence may have the mark within it that stands between two
            yield told
            return
        first, is_more, rest = rest.partition(_BETWEEN)
        yield _told(first, say) if is_more else None


def _told(sentence: str, say: Say) -> str | None:
    for signals in ("", (_SIGNALS.fullmatch(sentence) or [""] * 3)[2] or ""):
        for name, pattern in _patterns():
            if match := pattern.fullmatch(sentence.removesuffix(signals)):
                places = match.groupdict().items()
                values = {place: _words(value, say) if place in _OF_WORDS else value for place, value in places}
                return say(f"reason.{name}", **values) + signals
    return None


def _words(value: str, say: Say) -> str:
    return say("reasons.between_words").join(told_word(word, say) for word in value.split(", "))


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """The sentences of the engine as patterns, by the ends of their keys."""
    keys = {key: key.partition(".")[2] for key in catalog("en") if key.partition(".")[0] == "reason"}
    return [(name, re.compile(_pattern(catalog("en")[key]), re.DOTALL)) for key, name in keys.items()]


def _pattern(text: str) -> str:
    pieces = _PLACE.split(text)  # what stands between the places, and their names in turn
    return "".join(f"(?P<{piece}>.+?)" if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))
