"""Whether a statement is what a person stated, in their words or nearly. Pure.

Who has read a page can put the page in any words, so the words that a statement shares with the page prove little when
there are none. What can be checked is the other side: whether the person said it. A statement is grounded where a few
sentences of one message of theirs

- have three in four of its words (of Chinese, Japanese and Korean three in five pairs of characters, since each word
  that is put otherwise spoils three pairs),
- have every number, name of a file, address or identifier in it, and
- deny where it denies.

A question states nothing, unless it asks for something to be remembered or changed; but what a "which" or a "why"
takes for granted ("what does it say of my boat Swift?") is said too, where the statement has no other word. What a
person pasted is not theirs (`pasted`).

The same sentences say what a person wants forgotten: they speak of forgetting, and of the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from picomem.policy.pasted import own_words
from picomem.text.terms import is_cjk, terms

# Words of whoever writes about a conversation: that somebody else used them too says nothing.
NEUTRAL = frozenset(
    terms(
        "user agent assistant prefers preference likes wants uses using needs called named works working project "
        "decided decision currently wishes asked said person people team"
    )
)
_NEUTRAL_CJK = "用户|使用者|助手|喜欢|偏好|希望|需要|使用|决定|正在"
_DENIALS = frozenset(terms("not no never none nobody nothing without cannot neither nor"))  # compared as such
_SHARE = 0.75  # of a statement's words that the person must have said
_SHARE_CJK = 0.6
_MENTIONED = 1 / 3  # of a memory's words that the person must say to have it forgotten, unless they say its key
_SPAN = 3  # sentences that are read as one statement
_LONGEST = 20_000  # characters of a message
_MOST_SENTENCES = 600

_STOP = r"(?<=[.!?])\s+|(?<=[。！？])|\n+"
_QUESTION = r"[?？]\s*$"
_OPEN = r"(?i)\b(?:what|which|where|when|who|whose|why|how)\b|什么|哪|谁|為什麼|为什么|怎么|何时"
_REQUEST = (
    r"(?i)\b(?:remember|forget|note|store|save|keep|record|delete|remove|drop|erase|update|change|correct)\b|"
    r"记|忘|删|刪|改|存"
)
_FORGETTING = (
    r"(?i)\b(?:forget|delete|remove|drop|erase|discard|clear|archive|purge|wipe|get rid of|no longer|not \w+ any ?more|"
    r"any ?more|wrong|outdated|obsolete|isn['’]t true|not true|never mind|stop (?:remembering|storing))\b|"
    r"忘|删|刪|去掉|移除|清除|不再|不用再|错了|錯了|过时"
)
_NEGATION = (
    r"(?i)\b(?:not|no|never|none|nobody|nothing|without|cannot|stop|avoid|except|unless|neither|nor)\b|n['’]t\b|"
    r"不|别|別|没|沒|勿|无需|禁止|除了|除非"
)
# What a paraphrase keeps: numbers, addresses, paths, identifiers. Dates are reckoned ("next Tuesday").
_HARD = r"[^\s,;，。；！？（）()\[\]{}\"'`<>]*[\d_/@\\#$][^\s,;，。；！？（）()\[\]{}\"'`<>]*"
_DATE = r"\b\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?\b"


def content_words(text: str) -> frozenset[str]:
    """The terms of a statement that say something."""
    return frozenset(terms(re.sub(_NEUTRAL_CJK, " ", text))) - NEUTRAL


class Grounds:
    """What one or several persons' messages state."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = tuple(text for text in texts if text.strip())

    @cached_property
    def terms(self) -> frozenset[str]:
        """Every word that was said, questions included."""
        return frozenset(term for text in self._texts for term in terms(own_words(text[:_LONGEST])))

    def hold(self, statement: str, known: str = "", *, whole: bool = False) -> bool:
        """Whether it was stated, with `whole` word for word. With `known`, which it is to replace, whether what is new
        in it was, and something is."""
        words = content_words(statement) - _DENIALS
        denies = bool(re.search(_NEGATION, statement))
        news, hard = words, _hard(statement)
        if known and denies == bool(re.search(_NEGATION, known)):
            news, hard = words - frozenset(terms(known)), hard - _hard(known)
        if not news:
            return not known
        least = (1.0 if whole else _SHARE_CJK if is_cjk(statement) else _SHARE) * len(news)
        stated = any(
            len(news & passage.terms) >= least and hard <= passage.terms and passage.denies(words) == denies
            for passage in self._passages
        )
        return stated or (not known and any(words <= question.terms and not denies for question in self._questions))

    def ask_to_forget(self, key: str, content: str) -> bool:
        """Whether a memory is asked to be forgotten or called wrong."""
        return any(passage.forgets and _is_about(passage, key, content) for passage in self._passages)

    def speak_of(self, key: str, content: str) -> bool:
        """Whether a memory is spoken of."""
        return any(_is_about(passage, key, content) for passage in self._passages)

    @cached_property
    def _passages(self) -> list[_Passage]:
        found: list[_Passage] = []
        for text in self._texts:
            sentences = [_Sentence(each) for each in _sentences(text) if not _is_question(each)]
            found += [
                _Passage(sentences[at : at + span])
                for span in range(1, _SPAN + 1)
                for at in range(max(1, len(sentences) - span + 1))
                if sentences
            ]
        return found

    @cached_property
    def _questions(self) -> list[_Sentence]:
        asked = (each for text in self._texts for each in _sentences(text) if _is_question(each))
        return [_Sentence(each) for each in asked if re.search(_OPEN, each)]


class _Sentence:
    def __init__(self, text: str) -> None:
        self.terms = frozenset(terms(text))
        self.denies = bool(re.search(_NEGATION, text))
        self.forgets = bool(re.search(_FORGETTING, text))


class _Passage:
    """A few sentences that follow one another."""

    def __init__(self, sentences: list[_Sentence]) -> None:
        self._sentences = sentences
        self.terms = frozenset(term for sentence in sentences for term in sentence.terms)
        self.forgets = any(sentence.forgets for sentence in sentences)

    def denies(self, words: frozenset[str]) -> bool:
        """Whether a sentence with some of these words denies."""
        return any(sentence.denies for sentence in self._sentences if sentence.terms & words)


def _is_about(passage: _Passage, key: str, content: str) -> bool:
    name, words = frozenset(terms(key.replace("_", " "))), content_words(f"{key} {content}") - _DENIALS
    return bool(name and name <= passage.terms) or len(words & passage.terms) >= max(1, _MENTIONED * len(words))


def _sentences(text: str) -> list[str]:
    parts = re.split(_STOP, own_words(text[:_LONGEST]))
    return [part.strip() for part in parts if part.strip()][-_MOST_SENTENCES:]


def _is_question(sentence: str) -> bool:
    """A question that asks for no change of what is remembered."""
    return bool(re.search(_QUESTION, sentence)) and not re.search(_REQUEST, sentence)


def _hard(text: str) -> frozenset[str]:
    """The terms of the numbers and the identifiers in a text."""
    text = re.sub(_DATE, " ", text)
    return frozenset(term for word in re.findall(_HARD, text) for term in terms(word))
