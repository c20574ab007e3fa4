"""Takes the greetings and thanks off a prompt. Pure.

“Hey Claude, who signs off on price changes? Thanks!” asks what “who signs off on price changes?” asks, and needs the
same of memory. As words they would count: most of what people say politely to an agent is an order.

Phrases are compared as they are written, because a host waits, and compiling a pattern takes longer than all of it.
"""

from __future__ import annotations

_MOST = 12  # phrases at either end
_BEHIND_FIRST = " \t\r\n,.!:;~–—-，。！：；、…"  # what stands between a greeting and the rest
_BEFORE_LAST = " \t\r\n,;~–—-，；、…("
_BEHIND_LAST = " \t\r\n,.!~…)，。！）"


def _longest_first(phrases: str) -> tuple[str, ...]:
    return tuple(sorted((phrase.strip() for phrase in phrases.split(",")), key=lambda phrase: -len(phrase)))


_FIRST = _longest_first(
    """hey, hi, hello, hi there, hey there, hallo, good morning, good afternoon, good evening, morning, claude, codex,
    thanks, thanks a lot, thank you, thank you so much, thx, ty, ok, okay, so, well, alright, all right, great,
    perfect, cool, nice, awesome, and, also, sorry, sorry to bother you, excuse me, please, pls, by the way, btw,
    quick question, a quick question, one more thing, one more question, another question, just a question,
    please tell me, tell me, can you tell me, can you please tell me, could you tell me, could you please tell me,
    would you mind telling me, could you remind me, can you remind me, do you know, do you happen to know,
    i would like to know, i'd like to know, i want to know, i was wondering, i wanted to ask, i need to know,
    你好, 您好, 嗨, 哈喽, 早, 早上好, 上午好, 下午好, 晚上好, 谢谢, 谢谢你, 谢谢啦, 多谢, 辛苦了, 好的, 好, 嗯, 另外,
    对了, 顺便, 顺便问一下, 不好意思, 打扰一下, 打扰了, 麻烦, 麻烦你, 麻烦问一下, 麻烦问下, 劳驾, 请, 请问, 请问一下,
    想问一下, 想问下, 我想问一下, 我想知道, 想知道, 问一下, 问下, 你知道, 请告诉我, 告诉我, 能告诉我"""
)
_LAST = _longest_first(
    """please, pls, thanks, thanks a lot, many thanks, thanks in advance, thank you, thank you so much,
    thank you very much, thx, ty, cheers, claude,
    谢谢, 谢谢你, 谢谢啦, 谢啦, 多谢, 感谢, 拜托, 拜托了, 麻烦了, 麻烦你了, 辛苦了"""
)


def without_pleasantries(prompt: str) -> str:
    """The prompt without what is only said politely before and behind it; whole where nothing else is said."""
    whole = text = prompt.strip()
    for _ in range(_MOST):
        shorter = _without_last(_without_first(text))
        if shorter == text:
            return text
        if not any(map(str.isalnum, shorter)):
            return whole
        text = shorter
    return text


def _without_first(text: str) -> str:
    start = text[:40].lower()
    for phrase in _FIRST:
        if start.startswith(phrase) and _ends_there(text[len(phrase) : len(phrase) + 1], phrase):
            return text[len(phrase) :].lstrip(_BEHIND_FIRST)
    return text


def _without_last(text: str) -> str:
    end = text.rstrip(_BEHIND_LAST)
    lower = end[-40:].lower()
    for phrase in _LAST:
        size = len(phrase)
        if lower.endswith(phrase) and _ends_there(lower[-size - 1 : -size], phrase):
            return end[:-size].rstrip(_BEFORE_LAST)
    return text


def _ends_there(beside: str, phrase: str) -> bool:
    """Return whether a word ends between a phrase and the letter beside it. Chinese has no spaces, and one character
    may begin another word: 早会 is no greeting."""
    if not phrase.isascii() and len(phrase) > 1:
        return True
    return not (beside.isalnum() or beside in ("'", "’", "_", "-"))
