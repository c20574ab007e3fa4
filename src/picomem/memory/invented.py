"""Whether a model made a statement up: nothing it was shown says anything like it. Pure.

A model that is asked for facts finds some where there are none: it repeats an example of its task, goes by what is
usual, or gets a number wrong. It may put things in its own words, so words are only counted: two in five must have
been said; none where the talk is Chinese and the statement is not, or the other way round. Numbers are not put in other
words; one that nobody said is made up, but for small ones, which people spell out, and those of dates and
times, which are reckoned ("next Tuesday").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from picomem.policy.grounding import content_words
from picomem.text.terms import terms
from picomem.values import dataclass

_SAID = 0.4  # of a statement's words, that it was shown
_SAID_CJK = 0.2  # of its pairs of characters: each word that is put otherwise spoils three
_CJK = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
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
        """Those of these texts."""
        told = list(texts)
        words = frozenset(term for text in told for term in terms(text))
        return cls(words, frozenset(_numbers("\n".join(told))), _mostly_cjk("".join(told)))

    def reason_against(self, statement: str) -> str:
        """Why a statement is made up; empty where it may have been said."""
        statement = re.sub(_WHEN, " ", statement)
        words = content_words(statement)
        least = 0.0 if _mostly_cjk(statement) is not self.cjk else _SAID_CJK if self.cjk else _SAID
        if len(words & self.words) < least * len(words):
            return "nobody said anything like it"
        unsaid = [each for each in _numbers(statement) if each not in self.numbers]
        made_up = next((each for each in unsaid if len(each) > 4 or int(each) > _SPELT_OUT), "")
        return f"nobody said the number {made_up[:20]}" if made_up else ""


def _mostly_cjk(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return 2 * len(re.findall(_CJK, text)) > letters


def _numbers(text: str) -> list[str]:
    """The numbers in a text, without leading noughts and what groups their digits."""
    joined = re.sub(r"(?<=\d)[,' ](?=\d{3}\b)", "", text)
    return [each.lstrip("0") or "0" for each in re.findall(r"[0-9]+", joined)]
