"""The labelled lines, as examples: the observations of each line, and its class. A line break stands as \\n.

a*.txt   a sentence of a user: `+` durable, `-` not; a message of several is parted by `//`, each with its sign; a
         language may stand before the sign: `de+`
b*.txt   an old and a new statement: `S|old|new` supersede, `D` duplicate, `R` refine, `I` independent
c*.txt   what an agent offers: `+` worth keeping, `-` not
d*.txt   prompts that ask nothing of memory, under the name of their pattern (`## order, polite`)
e*.txt   a memory, a question that it answers, and one that it leaves open: `statement|answered|left open`
f*.txt   a prompt to a coding agent: `+` asks for something of this person's past, `-` does not

The files of one ending (`a13_office.txt`, `b12_office.txt`, `c10_office.txt`) are of one writer.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from math import log
from pathlib import Path

from picomem.light_dataclass import dataclass
from picomem.memory.likeness import Relation, compare
from picomem.memory.pair_signals import observe_pair
from picomem.text.terms import terms

DATA = Path(__file__).parent / "data"
_COMPARED = 8  # memories that an offer is compared with
RELATIONS = {"S": "supersede", "D": "duplicate", "R": "refine", "I": "independent"}


@dataclass(frozen=True, slots=True)
class Message:
    """A user's message: its sentences, each with whether it is durable."""

    sentences: tuple[tuple[str, bool], ...]
    file: str


@dataclass(frozen=True, slots=True)
class Pair:
    old: str
    new: str
    relation: str
    file: str


@dataclass(frozen=True, slots=True)
class Offered:
    text: str
    worth: bool
    file: str


@dataclass(frozen=True, slots=True)
class LabelledPrompt:
    text: str
    recollects: bool
    file: str


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    answered: str
    left_open: str
    file: str


def messages(folder: Path = DATA) -> list[Message]:
    parsed: list[Message] = []
    for name, line in _lines(folder, "a*.txt"):
        parts = [re.match(r"(?:[a-z]{2})?([+-])(.*)", part.strip()) for part in line.split(" // ")]
        sentences = tuple((part[2].strip(), part[1] == "+") for part in parts if part)
        if len(sentences) != len(parts):
            raise ValueError(f"{name}: {line}")
        parsed.append(Message(sentences, name))
    return parsed


def pairs(folder: Path = DATA) -> list[Pair]:
    parsed: list[Pair] = []
    for name, line in _lines(folder, "b*.txt"):
        label, old, new = line.split("|")
        parsed.append(Pair(old.strip(), new.strip(), RELATIONS[label], name))
    return parsed


def offers(folder: Path = DATA) -> list[Offered]:
    offered: list[Offered] = []
    for name, line in _lines(folder, "c*.txt"):
        match = re.match(r"(?:[a-z]{2})?([+-])(.*)", line)
        if match is None:
            raise ValueError(f"{name}: {line}")
        offered.append(Offered(match[2].strip().replace("\\n", "\n"), match[1] == "+", name))
    return offered


def labelled_prompts(folder: Path = DATA) -> list[LabelledPrompt]:
    return [
        LabelledPrompt(line[1:].replace("\\n", "\n"), line.startswith("+"), name)
        for name, line in _lines(folder, "f*.txt")
    ]


def prompts(folder: Path = DATA) -> list[Prompt]:
    parsed: list[Prompt] = []
    for path in sorted(folder.glob("d*.txt")):
        pattern = ""
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("## "):
                pattern = f"{path.stem}, {line[3:]}"
            elif pattern and line.strip():
                parsed.append(Prompt(line.strip().replace("\\n", "\n"), pattern))
    return parsed


def statements(folder: Path = DATA) -> list[Statement]:
    parsed: list[Statement] = []
    for name, line in _lines(folder, "e*.txt"):
        text, answered, left_open = line.split("|")
        parsed.append(Statement(text, answered, left_open, name))
    return parsed


def strangers(known: list[Pair], count: int, seed: int = 7) -> list[Pair]:
    """Pairs of two lines that have nothing to do with each other but a word: in a store of hundreds most are so."""
    chance = random.Random(seed)
    texts = [(pair.old, pair.new) for pair in known]
    by_word: dict[str, list[int]] = {}
    for number, both in enumerate(texts):
        for word in set(re.findall(r"[^\W\d_]{3,}|[\u3400-\u9fff]", " ".join(both).casefold())):
            by_word.setdefault(word, []).append(number)
    shared = sorted(word for word, numbers in by_word.items() if 1 < len(numbers) < 400)
    made: list[Pair] = []
    while len(made) < count:
        one, other = chance.sample(by_word[chance.choice(shared)], 2)
        made.append(Pair(texts[one][chance.randrange(2)], texts[other][1], "independent", "strangers"))
    return made


def lookalikes(known: list[Pair], count: int, seed: int = 11) -> list[Pair]:
    """Pairs of a statement and one of the eight most similar statements of other pairs, by their words: what a new
    statement is compared with in a store of hundreds.

    They are labelled independent. Pairs that are likely to be a change or a repetition are left out: those with nearly
    the same words, and those about the same subject.
    """
    chance = random.Random(seed)
    texts = [(text, number) for number, pair in enumerate(known) for text in (pair.old, pair.new)]
    words = [frozenset(terms(text)) for text, _ in texts]
    places_by_word: dict[str, list[int]] = {}
    for place, of_text in enumerate(words):
        for word in of_text:
            places_by_word.setdefault(word, []).append(place)
    made: list[Pair] = []
    while len(made) < count:
        place = chance.randrange(len(texts))
        scores: defaultdict[int, float] = defaultdict(float)
        for word in sorted(words[place]):
            places = places_by_word[word]
            for other in places:
                scores[other] += log(len(texts) / len(places))
        ranked = sorted(scores, key=lambda other: (-scores[other] / (8 + len(words[other])), other))
        nearest = [other for other in ranked[: 4 * _COMPARED] if texts[other][1] != texts[place][1]][:_COMPARED]
        if not nearest:
            continue
        old, new = texts[chance.choice(nearest)][0], texts[place][0]
        has_one_subject = "they have the same subject" in observe_pair(old, new).signals
        if compare(new, old).relation in (Relation.NEAR, Relation.OTHER) and not has_one_subject:
            made.append(Pair(old, new, "independent", "lookalikes"))
    return made


def _lines(folder: Path, names: str) -> list[tuple[str, str]]:
    return [
        (path.name, line.strip())
        for path in sorted(folder.glob(names))
        for line in path.read_text("utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
