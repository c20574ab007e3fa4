"""Made-up prose for measuring speed: the same from the same seed, and with the frequencies of real text.

What recall costs depends on how long the lists of occurrences are, so the frequencies matter and the meaning does not:

- Two words of five are English function words, which neither index is asked for.
- The others are 20,000 made-up words by Zipf and Mandelbrot's law, 1 / (rank + 30): the function words hold the ranks
  before them, and the commonest of them is one word in two hundred, as "time" or "people" are.
- A talk keeps coming back to a topic, a dozen of 3,000 words of their own: these tell one talk from another.
- Texts are of log-normal length, 35 words in the middle, at most what a preview holds.

A question is made of words of one text, taken as they come: so common words are asked for as often as they are said.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random

from picomem.ingest.episode_packing import LONGEST_PREVIEW
from question_sets.fts5_baseline import STOP_WORDS

_WORDS = 20_000
_TOPICAL_WORDS = 3_000
_TOPIC = 12
_SHIFT = 30  # of Mandelbrot's law: the function words stand before
_FUNCTION_SHARE = 0.4
_EVERY = 7  # one word in so many is of the topic
_SENTENCE = 12
_MIDDLING, _SPREAD = 35, 0.8  # words of a text: e^(ln 35 ± 0.8)
_QUESTION = 5  # words of a question that are not function words
_LEAD = ("what did we say about", "where is it that", "why was there", "who had")


class Prose:
    """A source of texts. Everything follows from `seed` and from the order of the calls."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        made = made_up_words(Random(seed), _WORDS + _TOPICAL_WORDS)
        self._topical = made[_WORDS:]
        functions = sorted(STOP_WORDS)
        weights = [1 / (rank + _SHIFT) for rank in range(1, _WORDS + 1)]
        share = _FUNCTION_SHARE / (1 - _FUNCTION_SHARE) * sum(weights) / len(functions)
        self._words = functions + made[:_WORDS]
        self._functions = len(functions)
        self._cumulated = list(accumulate([share] * len(functions) + weights))

    def topic(self) -> list[str]:
        """The words that a talk keeps coming back to."""
        return self.random.sample(self._topical, _TOPIC)

    def text(self, topic: list[str], words: int | None = None) -> str:
        """Sentences about a topic: of that many words, or else of a usual length that fits a preview."""
        count = words or max(3, min(400, int(self.random.lognormvariate(0, _SPREAD) * _MIDDLING)))
        said = self.random.choices(self._words, cum_weights=self._cumulated, k=count)
        said[3::_EVERY] = self.random.choices(topic, k=len(said[3::_EVERY]))
        said[_SENTENCE - 1 :: _SENTENCE] = [f"{word}." for word in said[_SENTENCE - 1 :: _SENTENCE]]
        text = " ".join(said)
        return text if words else text[:LONGEST_PREVIEW].rsplit(" ", 1)[0]

    def commonest(self, count: int) -> list[str]:
        """The words that are said most, function words left out."""
        return self._words[self._functions : self._functions + count]

    def question(self, text: str) -> str:
        """A question that is about words of this text."""
        told = [word for word in dict.fromkeys(text.replace(".", "").split()) if word not in STOP_WORDS]
        chosen = self.random.sample(told, min(_QUESTION, len(told)))
        return f"{self.random.choice(_LEAD)} {' '.join(chosen)}?"


class FewWords(Prose):
    """Texts of eight of twenty words: each word is common, as where one kind of thing is noted again and again."""

    def text(self, topic: list[str], words: int | None = None) -> str:
        del topic, words
        return " ".join(self.random.sample(self.commonest(20), 8))


def made_up_words(random: Random, count: int) -> list[str]:
    """Different words of two to four syllables, each with a consonant at its end: so none is the name of a month."""
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = (random.choice("bdfgklmnprstvz") + random.choice("aeiou") for _ in range(random.randint(2, 4)))
        words["".join(syllables) + random.choice("bkmnprtx")] = None
    return list(words)
