"""The engine that runs the rules of `secret_rules` over a text, and returns the position and the rule of each secret.

Scanning goes from cheap to expensive: one pass for the literals of all rules at once, then the patterns of the rules
whose literals stand in the text, then the check of `secret_checks` on each match (is the value code, a placeholder, a
word?). RE2 finds literals and matches, in a time linear in the text. Where it has no wheel, and for a few brief texts
of a process that need not load it, Python's `re` does, which sees only windows around the literals. `re` reads the
groups of a match in both cases: RE2's wrapper takes five times as long.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from picomem.policy.secret_checks import CHECKS, Span
from picomem.policy.secret_rules import LONG_RUN, RUN, Rule, load_rules

Hit = tuple[int, int, int]  # start and end of a secret, in characters, and the place of its rule
_WINDOW_BEFORE, _WINDOW_AFTER = 160, 4096  # characters around a literal that Python's `re` looks at
_AUTOMATON_BYTES = 32_000_000  # the most that RE2 keeps of a pattern's states; beyond, RE2 rebuilds them
_RUN = rf"[\w.\\%-]{{{LONG_RUN}}}"  # with the signs of an escape before it
_MANY, _CLOSE = 256, 128  # matches, and the bytes from one to the next below which they stand close together
_BRIEF = 2_000  # characters: in a longer text RE2 is faster, the loading of it included
_COMBINATIONS = 4096  # of literals in a text whose rules are remembered
_SCANS_WITHOUT_RE2 = 50  # of brief texts with a literal of a rule: of more, RE2 is faster, the loading of it included


class Scanner:
    """All rules, ready to be run. Safe to share between threads. `re2`: to test one engine."""

    def __init__(self, *, re2: bool | None = None) -> None:
        self._brief_scans = _SCANS_WITHOUT_RE2 if re2 is None else 0
        self._may_load = re2 is not False
        self._rules = load_rules()
        self._parts: dict[str, int] = {}  # by its literals each part of a rule's needs, as one bit
        self._gates: dict[str, int] = {}  # by the literal the bits of the parts that it is of
        self._needed: dict[int, list[tuple[int, int]]] = {}  # by its first part the rules, and all bits that each needs
        for rank, rule in enumerate(self._rules):
            bits = [self._bit(part) for part in rule.needs]
            self._needed.setdefault(bits[0], []).append((rank, sum(set(bits))))
        self._ranks_of = functools.lru_cache(_COMBINATIONS)(self._find_ranks)

    def _bit(self, part: tuple[str, ...]) -> int:
        key = " ".join(part)
        if key not in self._parts:
            self._parts[key] = bit = 1 << len(self._parts)
            for gate in part:
                self._gates[gate] = self._gates.get(gate, 0) | bit
        return self._parts[key]

    def scan(self, text: str) -> list[Hit]:
        """Every hit in the text."""
        loaded = self._re2 if self._may_load and not self._is_brief(text) else None
        if loaded:
            data = text.encode("utf-8", "replace")  # a lone surrogate, which has no encoding, becomes `?`
            bits, find = loaded.bits_of(data), functools.partial(loaded.find, text, data)
            bits |= self._gates[RUN] if _has_run(text) else 0
        else:
            lowered = _lowered(text)
            bits = functools.reduce(int.__or__, (self._gates[gate] for gate in self._literals(text, lowered)), 0)
            find = functools.partial(_find_in_windows, text, lowered)
            if bits and self._brief_scans:
                self._brief_scans -= 1
        return [(*span, rank) for rank in self._ranks_of(bits) for span in find(self._rules[rank])]

    def _find_ranks(self, bits: int) -> list[int]:
        """The rules of whose needs all bits are set."""
        ranks: list[int] = []
        left = bits
        while left:
            bit = left & -left
            left -= bit
            ranks += [rank for rank, needed in self._needed.get(bit, ()) if needed & bits == needed]
        return ranks

    def find(self, rule: Rule, text: str) -> Iterator[Span]:
        """The secrets that one rule finds in a text, whatever literals are in it."""
        if self._may_load and (loaded := self._re2):
            return loaded.find(text, text.encode("utf-8", "replace"), rule)
        return _find_in_windows(text, _lowered(text), rule)

    @property
    def has_loaded_re2(self) -> bool:
        """Return whether a text made this scanner load RE2."""
        return self.__dict__.get("_re2") is not None

    def _is_brief(self, text: str) -> bool:
        """Return whether RE2 is not worth its loading, and means the same as `re`.

        They differ in what they take for the other case of a letter beyond ASCII and for a blank, and in whether a text
        ends before its last line feed.
        """
        if not self._brief_scans or len(text) > _BRIEF or self.has_loaded_re2:
            return False
        return text.isascii() and "\v" not in text and not text.endswith("\n")

    def _literals(self, text: str, lowered: str) -> Iterator[str]:
        for gate in self._gates:
            if _has_run(text) if gate == RUN else gate in (lowered if gate == gate.lower() else text):
                yield gate

    @functools.cached_property
    def _re2(self) -> _Linear | None:
        try:
            return _Linear(self._gates)
        except ImportError:
            return None


class _Linear:
    """Google's RE2: time linear in the text whatever the pattern."""

    def __init__(self, gates: dict[str, int]) -> None:
        import re2

        self._re2: Any = re2
        self._bits = [bits for gate, bits in gates.items() if gate != RUN]
        self._set: Any = re2.Set.SearchSet(self._options())
        for gate in gates:
            if gate != RUN:  # would multiply the states of the automaton
                self._set.Add(("(?i)" if gate == gate.lower() else "") + re2.escape(gate))
        self._set.Compile()
        self._finders: dict[str, Any] = {}

    def _options(self) -> Any:
        options = self._re2.Options()
        options.never_capture = True  # RE2 finds a regex without its groups several times as fast
        options.max_mem = _AUTOMATON_BYTES
        return options

    def bits_of(self, data: bytes) -> int:
        """The bits of the literals in a text."""
        bits = 0
        for place in self._set.Match(data) or ():
            bits |= self._bits[place]
        return bits

    def find(self, text: str, data: bytes, rule: Rule) -> Iterator[Span]:
        """The secrets that a rule finds."""
        check = CHECKS[rule.check]
        if not rule.within:
            for match in self._matches(rule.pattern, text, data):
                if span := check(text, match):
                    yield span
            return
        for region in self._matches(rule.within, text, data):
            part = region[0]
            for match in self._matches(rule.pattern, part, part.encode("utf-8", "replace")):
                if span := check(part, match):
                    yield region.start() + span[0], region.start() + span[1]

    def _matches(self, pattern: str, text: str, data: bytes) -> Iterator[re.Match[str]]:
        finder = self._finders.get(pattern)
        if finder is None:
            finder = self._finders[pattern] = self._re2.compile(pattern, self._options())
        place = byte = begun = 0  # a place in characters and in bytes, and where the latest matches began
        for count, match in enumerate(finder.finditer(data), 1):
            start = match.start()
            place += start - byte if len(data) == len(text) else len(data[byte:start].decode())
            byte = start
            # The engines differ in what they take for the other case of a letter beyond ASCII.
            whole = _compiled(pattern).match(text, place) or _compiled(pattern, re.UNICODE).match(text, place)
            if whole is not None:
                yield whole
            if count % _MANY == 0:
                if whole and byte - begun < _MANY * _CLOSE:  # RE2's wrapper takes microseconds for a match
                    yield from _compiled(pattern).finditer(text, whole.end())
                    return
                begun = byte


def _find_in_windows(text: str, lowered: str, rule: Rule) -> Iterator[Span]:
    check = CHECKS[rule.check]
    for low, high in _windows(text, lowered, rule.needs[0]):
        window = text[low:high]
        parts = (
            ((at.start(), at[0]) for at in _compiled(rule.within).finditer(window)) if rule.within else [(0, window)]
        )
        for start, part in parts:
            for match in _compiled(rule.pattern).finditer(part):
                if span := check(part, match):
                    yield low + start + span[0], low + start + span[1]


@functools.cache
def default_scanner() -> Scanner:
    """One scanner a process."""
    return Scanner()


@functools.cache
def _compiled(pattern: str, flags: int = re.ASCII) -> re.Pattern[str]:
    """A rule's pattern, mostly with the meaning that RE2 gives it: the classes are ASCII."""
    return re.compile(pattern, flags)


def _has_run(text: str) -> bool:
    return max(map(len, text.split()), default=0) >= LONG_RUN and re.search(_RUN, text, re.ASCII) is not None


def _lowered(text: str) -> str:
    """The text in lower case. A few capitals grow in it; places must stay the same."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


def _windows(text: str, lowered: str, gates: Iterable[str]) -> list[Span]:
    """The neighbourhoods of the literals, joined where they meet."""
    windows: list[Span] = []
    for place in sorted(place for gate in gates for place in _places(text, lowered, gate)):
        low, high = max(0, place - _WINDOW_BEFORE), min(len(text), place + _WINDOW_AFTER)
        if windows and low <= windows[-1][1]:
            low = windows.pop()[0]
        windows.append((low, high))
    return windows


def _places(text: str, lowered: str, gate: str) -> list[int]:
    searched = lowered if gate == gate.lower() else text
    if gate != RUN and gate not in searched:
        return []
    return [match.start() for match in re.finditer(_RUN if gate == RUN else re.escape(gate), searched, re.ASCII)]
