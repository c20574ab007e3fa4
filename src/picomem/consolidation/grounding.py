"""Checks the quotes with which a model backs what it proposes. Pure.

A model names a message and copies the words of it that say so. That these words stand there is a fact, in any language,
so it decides: the user or the agent said them, and words that the user pasted are others'. How the model words its
statement is free, within bounds that need no language either: it shares a word with the message, or with the one before
it, which it may answer; and it has no number that nobody said, except small ones, which people spell out, and dates,
which are computed ("next Tuesday"). Where the model was shown text of others too, it may have been talked into
something. Then a statement with any further word could be theirs, so the quote itself is kept in its place, and a
question is no quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from picomem.coded_text import CodedText
from picomem.models.generator import PromptLine
from picomem.provenance.statements import content_words
from picomem.provenance.whose_words import own_words, pasted_words
from picomem.records.session import Role
from picomem.text.likeness import holds_words
from picomem.text.terms import terms

_SPELT_OUT = 12  # numbers up to it
_DATE = r"\b\d{4}-\d\d(?:-\d\d)?\b|\b\d{1,2}:\d\d\b"
_QUESTION = r"[^.!?\n。！？]*[?？]"
_LEFT_OUT = r"\s*\[?(?:…|\.\.\.)\]?\s*"  # within a quote
_LEAST_WORDS = 3  # with a meaning, of a quote that stands alone
_SPOKEN_OF = 3  # one in so many words of a memory that is over


class Testimony:
    """What the user and the agent said in a part of a conversation. `has_others` says that others did as well."""

    def __init__(self, lines: Sequence[PromptLine], known: Iterable[str], *, has_others: bool) -> None:
        self.has_others = has_others or any(not line.origin.trusted or pasted_in(line) for line in lines)
        own = [(line, own_text(line)) for line in lines if line.origin.trusted]
        self._fresh = [(line, self._quotable(text)) for line, text in own if line.fresh]
        self._before = {line.number: text for (_, text), (line, _) in pairwise(own)}
        self._shown = [text for _, text in own] + list(known)
        self._words = frozenset(term for text in self._shown for term in terms(text))
        self._numbers = frozenset(_numbers("\n".join(self._shown)))

    def _quotable(self, text: str) -> str:
        return re.sub(_QUESTION, "\n", text) if self.has_others else text

    def find(self, message: int, quote: str) -> PromptLine | None:
        """The new message that holds the words of a quote, the one of that number first; None where none does."""
        pieces = [piece for piece in re.split(_LEFT_OUT, quote) if any(char.isalnum() for char in piece)]
        nearest = sorted(self._fresh, key=lambda said: said[0].number != message)
        return next((line for line, text in nearest if pieces and _holds(text, pieces)), None)

    def reason_against(self, statement: str, line: PromptLine) -> str:
        """Explain why a statement does not follow from the message that is quoted for it; empty if it may."""
        context = f"{own_text(line)}\n{self._before.get(line.number, '')}"
        if not content_words(statement).intersection(terms(context)):
            return CodedText("reason.rejected_invented")
        unsaid = [number for number in _numbers(re.sub(_DATE, " ", statement)) if number not in self._numbers]
        made_up = next((number for number in unsaid if len(number) > 4 or int(number) > _SPELT_OUT), "")
        return CodedText("reason.rejected_invented_number", number=made_up[:20]) if made_up else ""

    def worded(self, statement: str, quote: str) -> str:
        """The words in which a statement may be kept; empty where there are none."""
        if not self.has_others or content_words(statement) <= self._words:
            return statement
        return quote if len(content_words(quote)) >= _LEAST_WORDS else ""

    def speaks_of(self, text: str, line: PromptLine, memory: str) -> bool:
        """Return whether a text, with the message that is quoted for it, speaks of a memory. A change of mind is told
        in other words, so one word in common will do; where there is no text, the message alone must name the memory.
        """
        words = content_words(memory)
        shared = words.intersection(terms(f"{text}\n{own_text(line)}"))
        return bool(shared) if text else len(shared) * _SPOKEN_OF >= max(len(words), 1)


def pasted_in(line: PromptLine) -> str:
    """Other people's words in a line of the person."""
    return pasted_words(line.text) if line.role is Role.USER and line.origin.trusted else ""


def own_text(line: PromptLine) -> str:
    """The words of whoever says a line."""
    return own_words(line.text) if line.role is Role.USER else line.text


def _holds(text: str, pieces: Iterable[str]) -> bool:
    return all(holds_words(text, piece) for piece in pieces)


def _numbers(text: str) -> list[str]:
    """The numbers in a text, without leading noughts and what groups their digits."""
    joined = re.sub(r"(?<=\d)[,' ](?=\d{3}\b)", "", text)
    return [digits.lstrip("0") or "0" for digits in re.findall(r"[0-9]+", joined)]
