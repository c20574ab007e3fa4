"""The reasons of changes, and of hits, citations, and warnings, in the reader's language.

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
# The keys of families of texts.
_REASON, _WHY, _CITATION, _WARNING, _COMMAND = "reason.{}", "why.{}", "citation.{}", "warning.{}", "remote_command.{}"
_ADVICE = "warning.ask_operator"  # ends a warning that names a command of the server's machine
_COMMANDS = ("command", "further_command")  # places of a command, or of the operation that a remote caller is told of
_BETWEEN = "; "
_PLACE = re.compile(r"\{(\w+)\}")
_NEAR = re.compile(r"(.+) \(near (.+)\)")
_SHAPES = {  # of what stands in some places: a name is between quotation marks, and has none within
    **dict.fromkeys(("key", "same_key", "name"), "[^“”]+"),
    "turn": r"\d+",
    "turns": r"\d+–\d+",
    **dict.fromkeys(("named", "given"), "`[^`]+`"),
    "day": r"\d{4}-\d\d-\d\d",
    **dict.fromkeys(_COMMANDS, r"(?:the operation )?`[^`]+`(?: with `[^`]+`)?"),
    **dict.fromkeys(("lost", "hidden", "known", "stay"), r"[\d,]+"),
    **dict.fromkeys(("sure", "least"), r"\d+%"),
}
_COUNT = re.compile(r"([\d,]+) (.+)")


def told_reason(reason: str, say: Say) -> str:
    """A stored reason in the language of `say`."""
    sentences = list(_told_sentences(reason, say))
    return reason if None in sentences else say("reasons.between").join(filter(None, sentences))


def told_word(word: str, say: Say) -> str:
    """A decision, a field or an origin, as a reason names it; a word that is not known as it is."""
    return say(f"reason_word.{word}") if f"reason_word.{word}" in catalog("en") else word


def told_why(why: str, say: Say) -> str:
    """Why a hit was found, or the remark on it, in the language of `say`; what is not known stays as it is."""
    return say("reasons.between").join(_told_alone(part, say, _WHY) or part for part in why.split(_BETWEEN))


def told_citation(citation: str, say: Say) -> str:
    """Where a hit or a source was said, in the language of `say`; what is not known, such as a path, stays as it is."""
    return _told_alone(citation, say, _CITATION) or citation


def told_warning(warning: str, say: Say) -> str:
    """A warning of a result in the language of `say`; what is not known stays as it is."""
    advice = " " + catalog("en")[_ADVICE]
    told = _told_alone(warning.removesuffix(advice), say, _WARNING)
    if told is None:
        return warning
    return f"{told} {say(_ADVICE)}" if warning.endswith(advice) else told


def _told_sentences(reason: str, say: Say) -> Iterator[str | None]:
    """Tell each sentence of a reason; None for one that is not known."""
    rest, is_more = reason, True
    while is_more:
        told = _told_alone(rest, say)
        if told is not None:  # a sentence may have the mark within it that stands between two
            yield told
            return
        first, is_more, rest = rest.partition(_BETWEEN)
        yield _told_alone(first, say) if is_more else None


def _told_alone(sentence: str, say: Say, family: str = _REASON) -> str | None:
    """Tell a sentence of a family of texts."""
    for key, pattern in _patterns(family):
        if match := pattern.fullmatch(sentence):
            values = {place: _told_value(place, value, say) for place, value in match.groupdict().items()}
            return say(key, **values)
    return None


def _told_value(place: str, value: str, say: Say) -> str:
    """Tell what stands in a place of a sentence; names and what a model said stay as they are."""
    if place in _OF_WORDS:
        return say("reasons.between_words").join(told_word(word, say) for word in value.split(", "))
    if place == "words":
        return say("reasons.between_words").join(_told_near(word, say) for word in value.split(", "))
    if place == "counts":
        return say("reasons.between_words").join(_told_count(count, say) for count in value.split(", "))
    if place == "citation":
        return told_citation(value, say)
    if place in _COMMANDS:
        return _told_alone(value, say, _COMMAND) or value
    return told_reason(value, say) if place == "reason" else value


def _told_near(word: str, say: Say) -> str:
    match = _NEAR.fullmatch(word)
    return say("why_word.near", word=match[1], asked=match[2]) if match else word


def _told_count(count: str, say: Say) -> str:
    match = _COUNT.fullmatch(count)
    key = _counted().get(match[2]) if match else None
    return say("reasons.count", count=match[1], what=say(f"going.{key}")) if match and key else count


@cache
def _patterns(family: str) -> list[tuple[str, re.Pattern[str]]]:
    """The sentences of the engine as patterns, by their keys, the most specific first."""
    sentences = sorted(_texts(family.partition(".")[0]).items(), key=lambda sentence: -len(_PLACE.sub("", sentence[1])))
    return [(family.format(name), re.compile(_pattern(text), re.DOTALL)) for name, text in sentences]


def _pattern(text: str) -> str:
    pieces = _PLACE.split(text)  # what stands between the places, and their names in turn
    return "".join(
        f"(?P<{piece}>{_SHAPES.get(piece, '.+?')})" if place % 2 else re.escape(piece)
        for place, piece in enumerate(pieces)
    )


@cache
def _counted() -> dict[str, str]:
    """The ends of the keys of what a purge counts, by its English for one and for many."""
    return {english: name.removesuffix(".one") for name, english in _texts("going").items()}


def _texts(family: str) -> dict[str, str]:
    """The English texts of a family, by the ends of their keys."""
    keys = {key: key.partition(".") for key in catalog("en")}
    return {name: catalog("en")[key] for key, (start, _, name) in keys.items() if start == family}
