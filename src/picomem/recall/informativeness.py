"""How much a text says by itself. Pure.

A transcript is full of turns that only keep it going: “Yes”, “continue”, “Hi Kevin!”, “create the beads”, a short
question that the next turn answers. Ranking lifts a short turn by its neighbours, because an answer may be short. What
says nothing by itself, or only asks what is asked now, is no answer, whatever stands beside it. An agent also announces
what it will do next ("Let me look at the hooks."): what came of it stands in a later turn.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from picomem.text.terms import is_cjk, worded_terms

EMPTY = 0.1  # what such a text weighs beside one that says something
BARE = 0.6  # a short question or request, or an announcement: it names a subject, and something else says more of it
_LONGEST = 160  # characters; a longer text says something
_FEW = 3  # content words of a bare question
_FEWER = 2  # content words of a bare request
_GREETED = 2  # words of the name in a greeting
_CJK_WORD = 2  # characters of a Chinese word in the middle

_GREETINGS = frozenset(
    "hi hey hello hiya howdy dear bye goodbye cheers thanks thank thx hallo moin servus tschüss ciao danke".split()
)
_PHATIC = _GREETINGS | frozenset(
    """a ah aha again ahead all alright also amazing and another awesome back carry continue cool correct done exactly
    excellent fine first forward further go going good got great haha hm hmm hold i indeed it just keep let lets ll
    looks lovely me more moving nah next nice no nope now of off ok okay oh on one perfect please proceed really retry
    right same see so some sorry sounds start step stop sure that the then there this to too totally try ty understood
    up very wait way welcome well will with wonderful wow y ya yay yeah yep yes you yup your
    aber alles auch bitte das dann doch einverstanden es fertig gern gerne genau gut guten ich ja jawohl klar klasse
    los mach machen mal morgen nächste nein noch nochmal nun passt prima richtig schön sehr so stimmt super tag und
    verstanden weiter weitermachen wunderbar abend""".split()
)
# Function words of German, which the index keeps: they are no words of a short question's subject.
_GERMAN = frozenset(
    """am an auf aus bei bin bist dem den der die das du ein eine einen einer er es für habe haben hast hat ich ihr im
    in ist kann kannst mein mit nach seid sie sind und uns vom von wann war waren warum was wer wie wir wo zu zum
    zur""".split()
)
_PHATIC_CJK = (
    r"(?:你好|您好|大家好|早上好|晚上好|晚安|再见|拜拜|谢谢|多谢|不客气|好的|好吧|好滴|是的|对的|没错|没问题|没事|可以|不行|不是|不用"
    r"|继续|下一步|下一个|开始|明白|知道|收到|了解|懂|辛苦|哈哈|嘿嘿|呵呵|嗯嗯|当然|确实|真的|太好|太棒|加油|请|行|好|是|对|嗯|哦|噢|啊|呀|吧|了|呢"
    r"|吗|的|你|您|我|那|就|再|都|也|很|太|不)+"
)
_STEP = (
    r"(?:check|look|read|search|open|run|inspect|explor|investigat|fetch|review|start|pull|scan|trac|verify|gather)ing"
)
_ANNOUNCING = (
    r"(?i)^\W*(?:(?:ok|okay|now|next|first|then|also|and|so|good|great|perfect|excellent|alright|all right|right|yes"
    r"|sure|got it|finally|meanwhile|gut|jetzt|als nächstes)\b[\W_]*)*"
    r"(?:let me\b(?! know)|let['’]s\b|(?:next,? )?i(?:['’]ll| will)\b|i(?:['’]m| am) (?:going to|about to|now)\b"
    rf"|(?:i(?:['’]m| am) )?{_STEP}\b|i need to\b|time to\b"
    r"|lass mich\b|ich (?:werde|schaue?|sehe|prüfe|lese|suche)\b|(?:schaue?|sehe|prüfe|lese|suche) ich\b"
    r"|(?:好的?[，,])?(?:首先|接下来|然后|现在|下面)?(?:让我|我(?:来|先|将|会|需要|去)))"
)
_ANNOUNCED = r"(?<=[.!?:。！？：])\s+|(?<=[。！？：])|\n+"
_END = r"[?？][\s\"'”’)*`]*$"
_SENTENCE = r"[.!?。！？]\s*(?=\S)"


def informativeness(text: str, asked: AbstractSet[str] = frozenset(), *, by_agent: bool = False) -> float:
    """Return how much a text weighs as an answer to a question with the terms `asked`, 0–1: 1 where it says
    something. `by_agent` says that an agent wrote it."""
    text = text.strip()
    if by_agent and announces(text):
        return BARE
    if len(text) > _LONGEST or "\n" in text:
        return 1.0
    if is_phatic(text):
        return EMPTY
    words = worded_terms(text)
    if re.search(_END, text):
        if asked and words.keys() <= asked:
            return EMPTY
        return BARE if _count(words) <= _FEW and not re.search(_SENTENCE, text) else 1.0
    return BARE if _count(words) <= _FEWER else 1.0


def is_phatic(text: str) -> bool:
    """Return whether a text has only words that keep a talk going, or greets by name."""
    if is_cjk(text):
        return bool(re.fullmatch(_PHATIC_CJK, re.sub(r"[\W\d_]+", "", text)))
    words = [word.casefold() for word in re.findall(r"[^\W\d_]+", text)]
    if not words:
        return not any(char.isdigit() for char in text)
    names = [word for word in words if word not in _PHATIC]
    return not names or (words[0] in _GREETINGS and len(names) <= _GREETED)


def announces(text: str) -> bool:
    """Return whether an agent's text only says what the agent is about to do."""
    sentences = [part for part in re.split(_ANNOUNCED, text) if re.search(r"\w", part)]
    steps = [bool(re.search(_ANNOUNCING, sentence)) for sentence in sentences]
    return any(steps) and all(step or is_phatic(part) for step, part in zip(steps, sentences, strict=True))


def _count(words: dict[str, str]) -> int:
    """Return how many words a text has besides those that say nothing; of Chinese about as many."""
    whole = {word for word in words.values() if word.casefold() not in _GERMAN}
    return sum(max(1, len(word) // _CJK_WORD) if is_cjk(word) else 1 for word in whole)
