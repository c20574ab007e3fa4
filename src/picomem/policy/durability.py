"""Finds the sentences of a user's message that look worth remembering. Pure, except for the weights that it reads.

An explicit request ("remember that …") becomes a memory, and `provenance/requests.py` finds it. Most of what lasts is
said in passing: "we went with Svelte for the portal". For each sentence of the person's own words a small classifier
estimates how likely it is to last (training/README.md). On real sessions it is right about half of the time, so what
it finds is a suggestion (memory/suggestions.py), and never a memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from picomem.light_dataclass import dataclass
from picomem.models.classifier import Observed, load
from picomem.models.static_embedder import StaticEmbedder
from picomem.provenance.requests import Candidate, own_sentences
from picomem.records.episode import SuggestedSpan
from picomem.records.transcript import Turn
from picomem.text.late_pattern import late_pattern
from picomem.text.terms import is_cjk, terms

if TYPE_CHECKING:
    import numpy as np

# Signals of a sentence that can be seen without understanding it; a classifier decides from them. Pure.
#
# A signal is a number with a name that a person can read. Eight describe the form of a sentence, in seven languages:
# more of them, sixty in all, estimated real sentences no better (`python -m training --by-writer`). In addition there
# are the words, which a classifier hashes, and the static vector.

_LONGEST_READ = 600  # characters that are read

# `^` is the beginning of the sentence after words of politeness.
_CUES = {
    name: late_pattern(pattern, re.IGNORECASE)
    for name, pattern in (
        ("trails off", r"(?:…|\.\.\.)\s*$"),
        ("asks a question", r"[?？][\s\"'”’)]*$|[吗呢么]\s*[?？。]?$"),
        ("holds a quotation", r"[\"“”「」『』«»„]|(?<!\w)'[^']{3,}'(?!\w)"),
        (
            "names a number",
            r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b|[一二三四五六七八九十百千万两]",
        ),
        (
            "begins with we",
            r"^(?:we|we're|we've|we'd|we'll)\b|^(?:我们|咱们|本公司)|^(?:wir|nosotros|nous|on|nós|a gente)\b",
        ),
        (
            "says my or our",
            r"\b(?:my|our|mine|ours)\b|我的|我们|我家|咱们|咱|我司|"
            r"\b(?:mein\w*|unser\w*|uns|mi|mis|nuestr\w+|mon|ma|mes|notre|nos|meu|minha|nosso|nossa)\b|私の|うち|弊社",
        ),
        (
            "says how a thing is",
            r"\b(?:is|are|runs?|uses?|lives?|has|have|needs?|takes?|goes|go|starts?|ends?|expires?|costs?|returns?|"
            r"supports?|speaks?|means|contains|stays?|lies|sits|closes|opens|happens?)\b",
        ),
        (
            "says always, never or every",
            r"\b(?:always|never|every|each|whenever|any time|anytime|as a rule|by default|in general|usually|normally|"
            r"without exception|at all times|all (?:our|my|the)|nobody|no one|everybody|everyone|nothing)\b|"
            r"每|总是|始终|一律|从不|从来|永远|一直|任何|所有|全部|平时|通常|一般|统一|都|"
            r"\b(?:immer|nie|niemals|jede[rsnm]?|grundsätzlich|siempre|nunca|cada|jamás|toujours|jamais|chaque|"
            r"sempre|todo)\b|いつも|必ず|毎|絶対",
        ),
    )
}
_POLITE = late_pattern(
    r"(?:(?:please|pls|and|also|oh|ok|okay|hey|hi|hello|so|but|well|btw|by the way|actually|yes|yeah|no|great|thanks|"
    r"one more thing|another thing|just|fyi|ps|heads up|for the record|quick note|note|reminder|important|hm+|ah|ugh)"
    r"\b[\s,.:!;—–-]*|(?:另外|对了|顺便(?:说一下|提一下)?|好的?|嗯|还有|那么|哦|补充一下|提醒一下)[\s，,。：:！!、]*){0,4}",
    re.IGNORECASE,
)
_CLAUSE = late_pattern(r"[,;:，；：、]")
_SIGN = late_pattern(r"[{}()\[\];=<>$\\|&*@#+~^%_/]")
_WORD = late_pattern(r"[\u3040-\u30ff\u3400-\u9fff]+|[^\W_]+(?:['’-][^\W_]+)*")
_NUMBER = late_pattern(r"\d+")


@cache
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()


def observe(sentences: Iterable[str]) -> list[Observed]:
    """What can be seen of each sentence."""
    texts = [" ".join(sentence[:_LONGEST_READ].split()).replace("’", "'") for sentence in sentences]
    return [_observe(text, meaning) for text, meaning in zip(texts, _embedder().embed(texts), strict=True)]


def _observe(text: str, meaning: np.ndarray) -> Observed:
    begins = _POLITE.match(text)
    body = text[begins.end() :] if begins and begins.end() < len(text) else text
    signals = {name: 1.0 for name, pattern in _CUES.items() if pattern.search(body)}
    size = len(terms(text))
    signals["~length"] = min(size, 40) / 10
    signals["~short"] = float(size <= 3)
    signals["~long"] = float(size >= 25)
    signals["~clauses"] = min(len(_CLAUSE.findall(text)), 5) / 2
    signals["~signs"] = min(1.0, 4 * len(_SIGN.findall(text)) / max(1, len(text)))
    signals["~digits"] = min(1.0, 3 * sum(map(str.isdigit, text)) / max(1, len(text)))
    return Observed(signals, list(_words(body)), meaning)


def _words(text: str) -> Iterator[str]:
    """Words and pairs of them to be hashed: as they are written, with the first ones marked."""
    folded = text.casefold()
    parts = _WORD.findall(folded)
    before = "^"
    for part in parts:
        if is_cjk(part):
            for size in (1, 2, 3):
                for at in range(len(part) - size + 1):
                    yield f"w:{part[at : at + size]}"
            yield f"f:{before}{part[:2]}"
            before = part[-1]
            continue
        word = _NUMBER.sub("0", part)
        yield f"w:{word}"
        yield f"b:{before} {word}"
        if len(word) > 5:
            yield f"p:{word[:4]}"
            yield f"s:{word[-3:]}"
        before = word
    yield f"e:{before}"


LEAST = 0.05  # estimate of what is kept: nine of ten sentences that last have it, and a third of the others
_LONGEST = 500
_FEWEST_TERMS = 2
_FEWEST_WORDS = 3
_FEWEST_CJK = 5  # characters


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """A sentence of a user's, its place in their turn, and the question of a form that it answers."""

    start: int
    end: int
    text: str
    question: str


def find_sentences(turn: Turn, requests: Iterable[Candidate]) -> list[OwnSentence]:
    """The sentences of a turn that mean something by themselves and that none of its requests contains."""
    taken = [(request.start, request.end) for request in requests]
    return [
        OwnSentence(start, end, said, turn.question_of(start, end))
        for start, end, said in own_sentences(turn.text)
        if not any(start < last and first < end for first, last in taken) and _can_stand(said)
    ]


def find_suggested(turns: Sequence[Sequence[OwnSentence]]) -> list[list[SuggestedSpan]]:
    """Those sentences of each turn that look worth remembering. An answer to a form is judged with its question."""
    observed = observe(f"{sentence.question} {sentence.text}".strip() for turn in turns for sentence in turn)
    estimates = iter(load("durable").probabilities(observed, "durable") if observed else ())
    return [
        [
            SuggestedSpan(sentence.start, sentence.end, estimate, sentence.question)
            for sentence, estimate in zip(turn, islice(estimates, len(turn)), strict=True)
            if estimate >= LEAST
        ]
        for turn in turns
    ]


def _can_stand(said: str) -> bool:
    """Return whether a sentence has words enough to mean something by itself, and lost no secret."""
    if "[redacted:" in said or len(said) > _LONGEST:
        return False
    if is_cjk(said):
        return len(re.findall(r"[\u3400-\u9fff\u3040-\u30ff]", said)) >= _FEWEST_CJK
    return len(said.split()) >= _FEWEST_WORDS and len(terms(said)) >= _FEWEST_TERMS
