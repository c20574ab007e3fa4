"""Sessions that a question names by their place: “our third session”, “two conversations ago”, “上次聊天”. Pure.

    sessions 3 to 5 · session 4 · our first (three) sessions      counted from the first
    2 sessions ago · our last (three) sessions · the second to last chat · the last time we talked    from the last

A number leaves no doubt. “Our last session”, or the first, is meant as such where nothing else is asked for (“what did
we talk about in our last session?”); with a subject beside it, the one on that subject may be meant, and so it is
only likely. “My third session with the trainer” is no session of ours. Meetings and calls are not sessions: people
have those with each other, and talk about them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from picomem.light_dataclass import dataclass
from picomem.text.temporal import chinese_words
from picomem.text.temporal.intent import unquoted
from picomem.text.temporal.words import NUMBERS, ORDINALS
from picomem.text.terms import query_terms

_LONGEST = 2_000  # characters that are searched

_KIND = r"(?:session|conversation|chat|talk|discussion)"
_NUMBER = r"(?:\d{1,4}|[a-z]{3,9}(?:[-\s][a-z]{3,5})?)"
_ORDINAL = r"(?:\d{1,4}(?:st|nd|rd|th)|[a-z]{5,11}(?:[-\s][a-z]{5,7})?)"
_TO = r"\s*(?:to|through|thru|until|and|[-–—])\s*"
_APART = r"\s+(?:to|through|thru|until|and|[-–—])\s+"  # “thirty-first” is no span
# Whose it is: not “his third session”, not “the third session of physiotherapy”.
_OURS = r"(?<!\bmy\s)(?<!\bhis\s)(?<!\bher\s)(?<!\btheir\s)"
_WITH_US = r"(?!\s+(?:with|of)\s+(?!you\b|me\b))"
_TALKED = r"(?:talked|spoke|chatted|conversed)"
_CHINESE_NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十百]{1,5})"
_CHINESE_KIND = r"(?:的)?(?:对话|会话|聊天|谈话|交流|聊|谈)"

_PATTERNS = {
    "span": rf"\b{_KIND}s?\s*#?(?P<low>{_NUMBER}){_TO}(?:{_KIND}\s*)?#?(?P<high>{_NUMBER})\b",
    "one": rf"\b{_KIND}\s*(?:#|number\s+|no\.?\s*)?(?P<low>\d{{1,4}})\b",
    "back": rf"\b(?P<low>{_NUMBER}|an?)\s+{_KIND}s?\s+(?:ago|back)\b",
    "before last": rf"\b(?:(?:second|next)[-\s]to[-\s]last|penultimate)\s+{_KIND}\b{_WITH_US}"
    rf"|\b{_KIND}\s+before\s+(?:the\s+)?last\b",
    "last": rf"{_OURS}\b(?:last|latest|most\s+recent)\s+(?:(?P<high>{_NUMBER})\s+)?{_KIND}s?\b{_WITH_US}",
    "last time": rf"\blast\s+time\s+(?:that\s+)?we\s+{_TALKED}\b|\bwe\s+last\s+{_TALKED}\b",
    "first": rf"{_OURS}\bfirst\s+(?P<high>{_NUMBER})\s+{_KIND}s\b{_WITH_US}",
    "first time": rf"\bfirst\s+time\s+(?:that\s+)?we\s+{_TALKED}\b|\bwe\s+first\s+{_TALKED}\b",
    "nth span": rf"{_OURS}\b(?P<low>{_ORDINAL}){_APART}(?:the\s+)?(?P<high>{_ORDINAL})\s+{_KIND}s?\b{_WITH_US}",
    "nth": rf"{_OURS}\b(?P<low>{_ORDINAL})\s+{_KIND}\b{_WITH_US}",
    "中 back": rf"(?P<low>{_CHINESE_NUMBER})次{_CHINESE_KIND}(?:之|以)?前",
    "中 from end": rf"倒数第(?P<low>{_CHINESE_NUMBER})次{_CHINESE_KIND}",
    "中 span": rf"第(?P<low>{_CHINESE_NUMBER})(?:次)?[到至和](?:第)?(?P<high>{_CHINESE_NUMBER})次{_CHINESE_KIND}",
    "中 nth": rf"第(?P<low>{_CHINESE_NUMBER})次{_CHINESE_KIND}",
    "中 before last": rf"上上次{_CHINESE_KIND}",
    "中 last": rf"(?:上一?|最近|最近一|最后一)次{_CHINESE_KIND}",
    "中 lasts": rf"(?:最近|最后|过去|前)(?P<high>{_CHINESE_NUMBER})次{_CHINESE_KIND}",
}
_SIGNS = ("session", "conversation", "chat", "talk", "discussion", "spoke", "conversed", "次")  # one is in all of them
# In a question about a session as a whole, nothing but these words is left besides its name.
_WHOLE = (
    "we us our you me talk discuss chat speak spoke say said tell told cover go over mention remember recall"
    " remind summary summarise summarize recap topics topic things thing subject conversation session happened"
    " what was about did all everything"
)
_CHINESE_WHOLE = r"[我们你咱俩和跟在里中的时候都说聊谈讨论过了到些什么啥内容话题是吗呢？?，。\s]*"


@dataclass(frozen=True, slots=True)
class SessionReading:
    """A reference to sessions: from the `first` to the `last`, counted from 1, at the beginning or (`from_end`) at the
    end."""

    first: int
    last: int
    from_end: bool
    phrase: str  # the words that were read, as they stand in the question
    certain: bool


def read_sessions(question: str) -> SessionReading | None:
    """The sessions that `question` names by their place; None if it names none. No text makes it raise."""
    text = question[:_LONGEST]
    if not any(word in text.casefold() for word in _SIGNS):
        return None
    masked = unquoted(text)
    for rule, source in _PATTERNS.items():
        for match in re.finditer(source, masked, re.IGNORECASE):
            if (place := _place(rule, match)) is not None:
                first, last, from_end, numbered = place
                phrase = text[match.start() : match.end()]
                rest = masked[: match.start()] + " " + masked[match.end() :]
                return SessionReading(first, last, from_end, phrase, numbered or _is_all(rest))
    return None


def chosen(reading: SessionReading, in_order: Sequence[str]) -> list[str]:
    """The sessions that the question means, of sessions in the order of time."""
    end = len(in_order)
    if reading.from_end:
        return list(in_order[max(0, end - reading.last) : max(0, end - reading.first + 1)])
    return list(in_order[reading.first - 1 : reading.last])


def _place(rule: str, match: re.Match[str]) -> tuple[int, int, bool, bool] | None:
    """First, last, whether from the end, whether it was said by number."""
    name = rule.removeprefix("中 ")
    groups = match.groupdict()
    read = _chinese if name != rule else _english
    low, high = (read(ordinal) if (ordinal := groups.get(key)) else None for key in ("low", "high"))
    if ("low" in groups and low is None) or (groups.get("high") and high is None):
        return None
    match name:
        case "span" | "nth span":
            return (min(low, high), max(low, high), False, True) if low and high else None
        case "one":
            return (low, low, False, True) if low else None
        case "nth":  # “our first conversation about Redis” need not be the very first
            return (low, low, False, low > 1) if low else None
        case "back" | "from end":
            return (low, low, True, True) if low else None
        case "before last":
            return 2, 2, True, True
        case "first":
            return 1, high or 1, False, True
        case "first time":
            return 1, 1, False, False
        case _:
            return 1, high or 1, True, bool(high)


def _english(text: str) -> int | None:
    words = text.lower().replace("-", " ").split()
    if words in (["a"], ["an"]):
        return 1
    if digits := re.fullmatch(r"(\d+)(?:st|nd|rd|th)?", words[0]):
        return int(digits[1])
    tens = NUMBERS.get(words[0]) if len(words) == 2 else 0
    ones = ORDINALS.get(words[-1]) or NUMBERS.get(words[-1])
    return None if tens is None or ones is None else tens + ones


def _chinese(text: str) -> int | None:
    return chinese_words.read_number(text)


def _is_all(rest: str) -> bool:
    """Return whether nothing else is asked for."""
    if not rest.isascii() and re.fullmatch(_CHINESE_WHOLE, rest):
        return True
    return _whole_terms().issuperset(query_terms(rest))


@cache
def _whole_terms() -> frozenset[str]:
    return frozenset(query_terms(_WHOLE))
