"""The rules of redaction, and the words of its checks, read from `secret_rules.txt`, whose head explains the format."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from picomem.light_dataclass import dataclass

_FILE = Path(__file__).with_name("secret_rules.txt")
_LITERAL = r"(?:[^\\\[\](){}.*+?|^$<]|\\[^\w\s])*"  # what begins a token, as its pattern spells it
_WRAPPERS = {
    "": "{}",
    # A word boundary, an escape as it stands in JSON (`\n`), or a percent-escape.
    "token": r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{{2}})(?P<secret>{})",
    "lone": r"(?:^|[^\w/+.-]|\\[nrt])(?P<secret>{})",
}
RUN = "RUN"  # in place of a literal: a run of `LONG_RUN` characters
LONG_RUN = 51  # of letters, digits, `_`, `-` and `.`; few words are that long


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. A text in which no literal of one of the parts of `needs` stands holds none."""

    id: str
    needs: tuple[tuple[str, ...], ...]
    pattern: str
    check: str
    within: str = ""


@functools.cache
def load_rules() -> tuple[Rule, ...]:
    """Every rule, the most telling first: where two find the same place, its name is used."""
    shapes = dict(_entries()["shapes"])
    expand = functools.partial(re.compile("<([A-Z]+)>").sub, lambda name: shapes[name[1]])
    for name in shapes:
        shapes[name] = expand(shapes[name])
    rules: list[Rule] = []
    for section, entries in _entries().items():
        if section in ("shapes", "words"):
            continue
        check, _, wrapper = section.partition(" ")
        for name, text in entries:
            gates, pattern = "", expand(text) if "<" in text else text
            if pattern.startswith("{"):
                gates, pattern = pattern[1:].split("} ", 1)
            elif begun := re.match(_LITERAL, pattern):
                gates = begun[0].replace("\\", "").replace(" ", "␣")
            pattern, _, within = pattern.partition("within ")
            rules.append(Rule(name, _parts(gates), _WRAPPERS[wrapper].format(pattern), check, within))
    return tuple(rules)


@functools.cache
def words_of(name: str) -> frozenset[str]:
    """The words of this name."""
    return frozenset(dict(_entries()["words"])[name].split())


@functools.cache
def _entries() -> dict[str, list[tuple[str, str]]]:
    """The entries of each section: a name, and the text behind it."""
    sections: dict[str, list[tuple[str, str]]] = {}
    entries: list[tuple[str, str]] = []
    first = other = ""  # what joins the lines of an entry
    for line in _FILE.read_text("utf-8").replace("\n    ", "\r").split("\n"):
        if line.startswith("["):
            sections[line[1:-1]] = entries = []
            first, other = {"[shapes]": ("", ""), "[words]": (" ", " ")}.get(line, (" ", ""))
        elif line and not line.startswith("#"):
            name, _, text = line.replace("\r", first, 1).replace("\r", other).partition(" ")
            entries.append((name, text))
    return sections


def _parts(gates: str) -> tuple[tuple[str, ...], ...]:
    parts = (part.split() for part in gates.split(" & "))
    return tuple(tuple(_unescape(gate) if "␣" in gate or "\\" in gate else gate for gate in part) for part in parts)


def _unescape(gate: str) -> str:
    return gate.replace("␣", " ").replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
