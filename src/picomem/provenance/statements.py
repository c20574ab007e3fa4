"""Decides whether a person stated something: whether they typed it, word for word. Pure.

After reading a page, an agent can reword it freely, so the words that a statement shares with the page prove little.
But it can be checked whether the person said it. A statement counts as theirs if each sentence of it has the words of a
sentence that they typed, in its order. Endings, case and words without a meaning of their own may differ, and so may
the words by which one writes about a conversation ("the user prefers"). Nothing may be added, left out or moved, so no
denial and no condition is lost. Only messages of one line count, because nothing shows whether the others were typed.

An agent whose words are not the person's is told to ask them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache

from picomem.provenance.requests import asks_to_forget, find_requests, is_question, sentence_spans, without_beginning
from picomem.provenance.whose_words import typed_line, typed_words
from picomem.text.likeness import plain_words
from picomem.text.terms import terms

# Words of whoever writes about a conversation: that somebody else used them too says nothing.
NEUTRAL = frozenset(
    terms(
        "user agent assistant prefers preference likes wants uses using needs called named works working project "
        "decided decision currently wishes asked said person people team"
    )
)
_NEUTRAL_CJK = "我们|我|用户|使用者|助手|喜欢|偏好|希望|需要|使用|决定|正在"
_MENTIONED = 1 / 3  # of a memory's words that the person must say to speak of it, unless they say its key
_LONGEST = 20_000  # characters of a message

Find = Callable[[frozenset[str], float], Iterable[str]]


def content_words(text: str) -> frozenset[str]:
    """The terms of a statement that say something."""
    return frozenset(terms(re.sub(_NEUTRAL_CJK, " ", text))) - NEUTRAL


def find_nothing(_words: frozenset[str], _share: float) -> Iterable[str]:
    """Find no message."""
    return ()


class Grounds:
    """The statements in messages of one or several persons, and others that need no person (`known`).

    The messages are `texts`, and those that `find` returns as holding a share (0–1) of some words.
    """

    def __init__(self, texts: Iterable[str] = (), find: Find = find_nothing, *, known: Iterable[str] = ()) -> None:
        self._texts = [text for text in dict.fromkeys(texts) if text.strip()]
        self._find = find
        self._known = tuple(known)
        self._held: dict[tuple[str, str], bool] = {}
        self._found: dict[tuple[frozenset[str], float], list[str]] = {}

    def joined(self, texts: Iterable[str]) -> Grounds:
        """These statements and those in more texts."""
        return Grounds((*self._texts, *texts), self._find, known=self._known)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Every word that was said, questions included."""
        said = (typed_words(text[:_LONGEST]) for text in self._texts)
        return frozenset(term for text in (*said, *self._known) for term in terms(text))

    def hold(self, statement: str, known: str = "") -> bool:
        """Return whether it was stated, each sentence of it that is none of the `known` text."""
        if (statement, known) not in self._held:
            self._held[statement, known] = self._holds(statement, known)
        return self._held[statement, known]

    def _holds(self, statement: str, known: str) -> bool:
        if len(statement) > _LONGEST:
            return False  # nobody repeats so much word for word
        about = content_words(statement)
        sentences = [words for words in _said_in(statement) if words] if about else []
        stated = self._stated | _said_in(known) if known else self._stated
        if sentences and not all(words in stated for words in sentences):
            stated = stated.union(*map(_stated_in, self._find_once(about, 1.0)))
        return bool(sentences) and all(words in stated for words in sentences)

    def ask_to_forget(self, key: str, content: str) -> bool:
        """Return whether a memory is asked to be forgotten."""
        name, words = _subject(key, content)
        texts = [*self._texts, *self._find_once(name, 1.0), *self._find_once(words, _MENTIONED)]
        return any(asks_to_forget(text, key, content) for text in dict.fromkeys(texts))

    def _find_once(self, words: frozenset[str], share: float) -> list[str]:
        if (words, share) not in self._found:
            self._found[words, share] = list(self._find(words, share))
        return self._found[words, share]

    @cached_property
    def _stated(self) -> frozenset[tuple[str, ...]]:
        of_persons = (words for text in self._texts for words in _stated_in(text))
        return frozenset(of_persons).union(*map(_said_in, self._known))


@lru_cache(maxsize=64)
def _stated_in(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of each sentence that a person typed, and of what they ask to be remembered."""
    start, end = typed_line(text)
    line = text[start:end]
    sentences = [line[first:last] for first, last in sentence_spans(line) if not is_question(line[first:last])]
    stated = (*sentences, *map(without_beginning, sentences), *(request.content for request in find_requests(text)))
    return tuple(map(_words, dict.fromkeys(stated)))


def _said_in(text: str) -> frozenset[tuple[str, ...]]:
    """The words of each sentence of a text that need no person."""
    return frozenset(_words(text[first:last]) for first, last in sentence_spans(text))


def _words(sentence: str) -> tuple[str, ...]:
    """What a sentence says, in its order. "Don't" stays as it is: no term is left of it."""
    parts = plain_words(re.sub(_NEUTRAL_CJK, "", sentence))
    said = (term for part in _whole(parts) for term in ((part,) if part.endswith("'t") else terms(part)))
    return tuple(term for term in said if term not in NEUTRAL)


def _whole(parts: Iterable[str]) -> Iterator[str]:
    """The parts, with the characters of Chinese, Japanese and Korean that stand together as one."""
    run = ""
    for part in parts:
        if len(part) == 1 and not part.isascii():
            run += part
            continue
        yield from filter(None, (run, part))
        run = ""
    yield from filter(None, (run,))


def _subject(key: str, content: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a memory's key, and all its words that say something."""
    name = frozenset(terms(key.replace("_", " ")))
    return name, name | content_words(content)
