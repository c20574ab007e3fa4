"""Decides whether a model invented a statement, because nothing that it was shown says anything like it. Pure.

A model that is asked for facts invents some: it repeats an example of its task, states what is usual, or gets a number
wrong. It may rephrase, so this only counts words: two in five must occur in the conversation. If only one of statement
and conversation is Chinese, words cannot be compared, but names, identifiers and numbers can: the statement needs one
of the conversation's, and must not have any other. Without one, nothing confirms the statement, so it is rejected even
if it is true. A number that nobody said is invented, except small numbers, which people spell out, and those of dates
and times, which are computed ("next Tuesday").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from picomem.light_dataclass import dataclass
from picomem.provenance.statements import content_words
from picomem.text.terms import terms

_SAID = 0.4  # of a statement's words, that it was shown
_SAID_CJK = 0.2  # of its pairs of characters: each word that is put otherwise spoils three
_CJK = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
# A name or an identifier: a Latin word beside Chinese, Japanese or Korean; among other Latin words one with a capital
# that begins no sentence, or with a digit, a dot or an underscore within.
_NAME = (
    r"(?<![A-Za-z0-9_.])(?:(?<=[\u3040-\uffef])\s?[A-Za-z][\w.-]*[A-Za-z0-9]|"
    r"[A-Za-z][\w.-]*(?=\s?[\u3040-\uffef])|(?<=[a-z0-9,;:()\"'] )[A-Z][\w.-]*\w|"
    r"[A-Za-z]+[0-9_.-]+\w*[A-Za-z0-9_]|\w+[A-Z]\w*)"
)
_SPELT_OUT = 12  # numbers up to it
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_WHEN = (
    rf"(?i)\b\d{{4}}-\d\d(?:-\d\d)?\b|\b\d{{1,2}}:\d\d\b|\b(?:19|20)\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)\b"
    rf"|\b\d{{1,2}}\s+{_MONTH}|{_MONTH}\s+\d{{1,2}}\b|\b\d{{1,2}}\s?[ap]m\b|\d+\s*[年月日号點点时]"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The words and the numbers that a model was shown, and whether it was mostly Chinese, Japanese or Korean."""

    words: frozenset[str]
    numbers: frozenset[str]
    cjk: bool

    @classmethod
    def of(cls, texts: Iterable[str]) -> Shown:
        """Collect the words and numbers of these texts."""
        told = list(texts)
        words = frozenset(term for text in told for term in terms(text))
        return cls(words, frozenset(_numbers("\n".join(told))), _is_cjk("\n".join(told)))

    def reason_against(self, statement: str) -> str:
        """Explain why a statement counts as invented; empty if it may have been said."""
        statement = re.sub(_WHEN, " ", statement)
        words = content_words(statement)
        if _is_cjk(statement) is not self.cjk:
            if reason := self._unconfirmed(statement):
                return reason
        elif len(words & self.words) < (_SAID_CJK if self.cjk else _SAID) * len(words):
            return "nobody said anything like it"
        unsaid = [number for number in _numbers(statement) if number not in self.numbers]
        made_up = next((number for number in unsaid if len(number) > 4 or int(number) > _SPELT_OUT), "")
        return f"nobody said the number {made_up[:20]}" if made_up else ""

    def _unconfirmed(self, statement: str) -> str:
        """Explain why nothing in the conversation confirms a statement in another script; empty if something does."""
        names = [name for name in re.findall(_NAME, statement) if content_words(name)]
        strange = next((name for name in names if not content_words(name) <= self.words), "")
        if strange:
            return f"nobody said “{strange.strip()[:40]}”"
        if names or any(len(number) > 1 and number in self.numbers for number in _numbers(statement)):
            return ""
        return "nobody said a name or a number of it, and its words are in another script than the talk's"


def _is_cjk(text: str) -> bool:
    """Return whether a text is Chinese, Japanese or Korean with, perhaps, names in it."""
    return len(re.findall(_CJK, text)) > len(re.findall(r"[A-Za-z][\w.-]*", text))


def _numbers(text: str) -> list[str]:
    """The numbers in a text, without leading noughts and what groups their digits."""
    joined = re.sub(r"(?<=\d)[,' ](?=\d{3}\b)", "", text)
    return [digits.lstrip("0") or "0" for digits in re.findall(r"[0-9]+", joined)]
