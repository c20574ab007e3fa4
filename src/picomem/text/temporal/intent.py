"""Reads the words around a time phrase: whether the phrase is meant as a filter, and whether the latest is wanted.

A phrase is meant where its sentence looks back: it is a question, or all that was written; it asks neither
for a duration (“how long since”) nor for a plan, and speaks of no habit. Where the sentence is about talking
(“what did we discuss in May”) that is enough. Otherwise the time belongs to what happened, which is mostly,
but not always, when it was told: such a time counts up to the length of two months or so; quarters, seasons
and years (“where did she move from four years ago”) say little about when they were talked of.

The word lists are English and Chinese. Patterns run over at most 2,000 characters, each with bounded
repetition.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache

from picomem.text.temporal.spans import Phrase

_LONG = timedelta(days=80)
_NEAR = 80  # characters before a phrase in which a word governs it

_MEETING = r"(?:time|session|conversation|chat|discussion|meeting|talk)"
_WISH = r"(?:suggest|recommend|help|give)"
_DURATION = r"(?:days|weeks|months|years|hours|minutes)"

_SOURCES = {
    # Quotation marks of several scripts, code, addresses. A straight ' only where it cannot be an apostrophe.
    "quoted": r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|‘[^’\n]{1,400}’|(?<!\w)'[^'\n]{1,200}'(?!\w)"
    r"|「[^」\n]{1,400}」|『[^』\n]{1,400}』|《[^》\n]{1,200}》|`[^`]{1,400}`|\b(?:https?|file)://\S+",
    "last": rf"\blast\s+{_MEETING}\b|\bmost\s+recent(?:ly)?\b|\blatest\b"
    r"|\b(?:did|do|have|has|had)\s+(?:\w+\s+){1,3}?(?<!the\s)last\s+(?!week|month|year|night|\w+day\b)[a-z]+"
    r"|上(?:一)?次|最近(?:的)?一次|最后一次|最新|上一?回",
    "first": rf"\bfirst\s+{_MEETING}\b|\bearliest\b"
    r"|\b(?:did|have|had)\s+(?:i|we|you|he|she|they)\s+(?:ever\s+)?first\b|第一次|首次|最早|最初|头一[次回]",
    "talk": r"\b(?:talk|discuss|chat|convers|mention|sa(?:y|id)|t(?:ell|old)|spoke|speak|session"
    r"|recommend|suggest|remind|shar(?:e|ing)|ask|explain|advi[sc]|agree|decid|cover|go(?:ne)?\s+over|br(?:ing|ought)\s+up|message|note)"
    r"|聊|说|讲|谈|讨论|提到|提过|提及|提起|告诉|问|建议|推荐|分享|对话|会话|沟通|交流|记录|决定|商量",
    "told": r"(?:聊|说|讲|谈|讨论|提到|提过|提及|对话|会话|交流)\s*$"
    r"|\b(?:talk(?:ed)?|discuss(?:ed|ion)?|chat(?:ted)?|conversation|mention(?:ed)?|sa(?:id|y)|t(?:old|ell)|spoke"
    r"|session|ask(?:ed)?|recommended|suggested|shared|message)\s+(?:(?:me|us|you|him|her|them)\s+)?"
    r"(?:(?:on|in|during|from|of|at|over|back\s+in)\s+)?(?:the\s+)?$",
    "ahead": r"\b(?:should|shall|will|won't|gonna|going\s+to|plan(?:ning)?\s+(?:to|for|on|my|a|our))\b"
    rf"|\b(?:upcoming|let's)\b|\bc(?:an|ould)\s+you\s+{_WISH}\b"
    r"|\bany\s+(?:\w+\s+){0,3}(?:suggestions|recommendations|advice|tips|ideas)\b|应该|打算|我该|帮我|接下来",
    "past": r"\b(?:did|was|were|had|been|went|made|got|said|told|\w{2,40}ed)\b"
    r"|\bha(?:ve|s)\s+(?:i|we|you|they|he|she|it)\b|了|过|曾|当时",
    "present": r"\b(?:do|does|is|are|am|can|could|what's|who's|where's|how's|when's)\b",
    "habit": r"\b(?:usually|every|always|often|normally|typically|habitually|each)\b|通常|每|一般|总是|平时",
    "reaching": r"\bsince\s+(?:\w+\s+){1,8}$",
    "span": rf"\bhow\s+(?:many\s+(?:more\s+)?{_DURATION}|long|old|much\s+time)\b"
    r"|多久|多长时间|多少[天周年]|几[天周年](?!前)|多少个[星月小]|几个[星月小]",
    "break": r"(?<=[.!?。！？])\s*|\n+",
}


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_SOURCES[name], re.IGNORECASE)


def _found(name: str, text: str) -> bool:
    return _pattern(name).search(text) is not None


def unquoted(text: str) -> str:
    """The text with quotations, code and addresses as spaces, of the same length; all of it if it is one
    quotation."""
    quoted = _pattern("quoted")
    if quoted.fullmatch(text.strip()):
        return text
    return quoted.sub(lambda match: " " * len(match.group()), text)


def wanted_order(text: str) -> str:
    """ "last" or "first" where the latest or the earliest is asked for; "" for neither, and for both: a
    comparison."""
    last, first = _found("last", text), _found("first", text)
    if last == first:
        return ""
    return "last" if last else "first"


def is_told(text: str, phrase: Phrase) -> bool:
    """Return whether a word for talking governs the phrase directly: “as mentioned on May 8th”."""
    return _found("told", text[max(0, phrase.start - _NEAR) : phrase.start])


def is_meant(text: str, phrase: Phrase, now: datetime) -> bool:
    """Return whether the sentence around a phrase asks for what was said in that time (see the head of the file)."""
    sentence, alone = _sentence(text, phrase)
    past, over = _found("past", sentence), phrase.span.end <= now
    before = text[max(0, phrase.start - _NEAR) : phrase.start]
    if not alone or _found("span", sentence) or _found("reaching", before):
        return False
    if not over and _found("ahead", sentence):
        return False
    if _found("talk", sentence) and (past or (over and not _found("habit", sentence))):
        return True
    if _found("habit", sentence) or _found("ahead", sentence):
        return False
    if not past and (not over or _found("present", sentence)):
        return False
    return phrase.span.end - phrase.span.start < _LONG


def is_past(sentence: str) -> bool:
    """Return whether a sentence tells of something past, and plans nothing."""
    return _found("past", sentence) and not _found("ahead", sentence)


def is_about_talk(sentence: str) -> bool:
    """Return whether a question asks what was said, rather than what happened."""
    return _found("talk", sentence)


def sentence_at(text: str, phrase: Phrase) -> str:
    """The sentence that holds a phrase."""
    return _sentence(text, phrase)[0]


def _sentence(text: str, phrase: Phrase) -> tuple[str, bool]:
    """The sentence that holds the phrase, and whether it is a question or stands by itself."""
    start, end = 0, len(text)
    for mark in _pattern("break").finditer(text):
        if mark.end() <= phrase.start:
            start = mark.end()
        elif mark.start() >= phrase.end:
            end = mark.start()
            break
    sentence = text[start:end].strip()
    return sentence, len(sentence) >= len(text.strip()) or sentence.endswith(("?", "？"))
