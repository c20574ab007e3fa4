"""The labelled lines, as examples: the observations of each line, and its class. A line break stands as \\n.

a*.txt   a sentence of a user: `+` durable, `-` not; a message of several is parted by `//`, each with its sign; a
         language may stand before the sign: `de+`
d*.txt   prompts that ask nothing of memory, under the name of their pattern (`## order, polite`)
e*.txt   a memory, a question that it answers, and one that it leaves open: `statement|answered|left open`
f*.txt   a prompt to a coding agent: `+` asks for something of this person's past, `-` does not

The files of one ending (`a13_office.txt`, `a14_private.txt`) are of one writer.
"""

from __future__ import annotations

import re
from pathlib import Path

from picomem.light_dataclass import dataclass

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Message:
    """A user's message: its sentences, each with whether it is durable."""

    sentences: tuple[tuple[str, bool], ...]
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


def _lines(folder: Path, names: str) -> list[tuple[str, str]]:
    return [
        (path.name, line.strip())
        for path in sorted(folder.glob(names))
        for line in path.read_text("utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
