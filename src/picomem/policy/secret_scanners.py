"""The engines that run the rules of `secret_rules` over one text, and return the position and the rule of each match.

Scanning goes from cheap to expensive: one pass for the literals of all rules at once (`gates`), then the patterns of
the rules whose literal was found, then the named check of `secret_checks` on each match (is the value code, a
placeholder, a word?). Two engines run the patterns: RE2, linear in the text, and Python's `re` where RE2 has no
wheel, which sees only windows around the literals. Positions are counted in characters, though RE2 reads bytes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain, islice
from typing import Any, Protocol

from picomem.policy.secret_checks import CHECKS, Groups, Span
from picomem.policy.secret_rule import LONG_RUN, Rule
from picomem.policy.secret_rules import RULES

_WINDOW_BEFORE, _WINDOW_AFTER = 160, 4096  # characters around a literal that Python's `re` looks at
_MANY, _CLOSE = 256, 128  # matches, and the bytes from one to the next below which they stand close together
_ALIKE = 4096  # verdicts on matches that are remembered within one text
_NEAR = 100  # characters: more than a check reads before or behind a short match
_AUTOMATON_BYTES = 32_000_000  # the most that RE2 keeps of a pattern's states; beyond, RE2 rebuilds them
_RUN = rf"[\w.\\%-]{{{LONG_RUN},}}"  # with the signs of an escape before it
_SHORT = 20_000  # characters: in a longer text RE2 is faster at finding literals, the making of it included
_BRIEF = 2_000  # characters: in a longer text RE2 is faster, the making of it included
_SCANS_WITHOUT_ENGINE = 50  # of brief texts with a literal of a rule: of more, RE2 is faster, the making of it included
_LONG = 200_000  # characters: a longer text holds most literals by chance, so its rules are searched for together
_SAMPLE = 32_000  # bytes of such a text that show which rules match often
_GROUPS = 32  # regexes of several rules that are kept
_TOGETHER = 8  # rules: of more, RE2 may need more states than it has room for


class Scanner(Protocol):
    """An engine with all rules ready. Safe to share between threads."""

    def scan(self, text: str) -> list[tuple[int, int, int]]:
        """Every hit in the text: start, end (characters), the rule's place in RULES."""
        ...

    def is_quiet(self, lines: str) -> bool:
        """Return whether no rule matches in any of the lines, read each by itself. May say no where that is so."""
        ...

    def view(self, text: str) -> View:
        """The text made ready for this engine."""
        ...


class View(Protocol):
    """A text made ready for one engine."""

    @property
    def text(self) -> str: ...

    def matches(self, pattern: str) -> Iterator[Groups]:
        """The groups of every match, from left to right."""
        ...


def secrets_of(rule: Rule, view: View, reader: Callable[[str], View]) -> Iterable[Span]:
    """The secrets that one rule sees, after its check; `reader` makes a view of a part of the text."""
    if rule.within:
        return _inside(rule, view, reader)
    return _checked(view.text, view.matches(rule.pattern), CHECKS[rule.check])


def _inside(rule: Rule, view: View, reader: Callable[[str], View]) -> Iterator[Span]:
    """The secrets of a rule that counts only within some regions."""
    for low, high in [groups.span(0) for groups in view.matches(rule.within)]:
        part = reader(view.text[low:high])
        for start, end in _checked(part.text, part.matches(rule.pattern), CHECKS[rule.check]):
            yield low + start, low + end


def _checked(text: str, matches: Iterator[Groups], check: Callable[[str, Groups], Span | None]) -> Iterable[Span]:
    """Run the check on each match, of which there are mostly none."""
    first = next(matches, None)
    return () if first is None else _verdicts(text, chain((first,), matches), check)


def _verdicts(text: str, matches: Iterator[Groups], check: Callable[[str, Groups], Span | None]) -> Iterator[Span]:
    """Of many matches the check is asked once for those that read alike, as long as such are frequent: where nearly
    every match reads differently, to compare them is half of the work."""
    for groups in islice(matches, _MANY):
        if span := check(text, groups):
            yield span
    verdicts: dict[str, Span | None] = {}  # by a match and its surroundings, relative to the match; for this text alone
    last = len(text) - _NEAR
    gain = _ALIKE
    for groups in matches:
        low, high = groups.span(0)
        if low < _NEAR or high > last or high - low > _NEAR:
            if span := check(text, groups):
                yield span
            continue
        alike = text[low - _NEAR : high + _NEAR]
        if alike in verdicts:
            gain += 1
            if verdict := verdicts[alike]:
                yield low + verdict[0], low + verdict[1]
            continue
        gain -= 1
        span = check(text, groups)
        if len(verdicts) < _ALIKE:
            verdicts[alike] = (span[0] - low, span[1] - low) if span else None
        if span:
            yield span
        if not gain:
            break
    for groups in matches:
        if span := check(text, groups):
            yield span


class LinearScanner:
    """Google's RE2: time linear in the text whatever the pattern."""

    def __init__(self) -> None:
        import re2

        self._re2: Any = re2
        literal = re2.Options()
        literal.literal = True
        literal.case_sensitive = False
        self._set: Any = re2.Set.SearchSet(literal)
        self._ranks: list[tuple[int, ...]] = []
        self._ungated = _ungated_ranks()
        for gate, ranks in _ranks_by_gate().items():
            self._set.Add(gate)
            self._ranks.append(ranks)
        self._set.Compile()
        self._finders: dict[str, Any] = {}
        self._compiled: dict[str, tuple[Any, dict[str | int, int]]] = {}
        self._finder_of_any = functools.lru_cache(_GROUPS)(self._compile_finder_of_any)

    def scan(self, text: str) -> list[tuple[int, int, int]]:
        view = self.view(text)
        return [
            (start, end, rank) for rank in self._gated(view) for start, end in secrets_of(RULES[rank], view, self.view)
        ]

    def is_quiet(self, lines: str) -> bool:
        view = self.view(lines)
        # What begins or ends with its text must do so with its line.
        return not any(self.finder("(?m)" + _region(rank)).search(view.data) for rank in self._gated(view))

    def _gated(self, view: _Utf8View) -> list[int]:
        """The ranks of the rules whose literal stands in the text."""
        ranks = {rank for gate in self._set.Match(view.data) or () for rank in self._ranks[gate]}
        if len(view.text) >= LONG_RUN:
            ranks.update(self._ungated)
        return sorted(ranks if len(view.text) < _LONG else self._matching(view, ranks))

    def _matching(self, view: _Utf8View, ranks: set[int]) -> Iterator[int]:
        """The rules of a long text, without those of which one search for several says that none of them matches."""
        sample = view.data[:_SAMPLE]
        silent: list[int] = []
        for rank in ranks:
            if self.finder(_region(rank)).search(sample):
                yield rank
            else:
                silent.append(rank)
        for low in range(0, len(silent), _TOGETHER):
            together = silent[low : low + _TOGETHER]
            if self._finder_of_any(tuple(together)).search(view.data):
                yield from together

    def view(self, text: str) -> _Utf8View:
        return _Utf8View(text, self)

    def finder(self, pattern: str) -> Any:
        """The regex without its groups, which RE2 finds several times as fast."""
        finder = self._finders.get(pattern)
        if finder is None:
            finder = self._finders[pattern] = self._compile_finder(pattern)
        return finder

    def _compile_finder(self, pattern: str) -> Any:
        options = self._re2.Options()
        options.never_capture = True
        options.max_mem = _AUTOMATON_BYTES
        return self._re2.compile(pattern, options)

    def _compile_finder_of_any(self, ranks: tuple[int, ...]) -> Any:
        """One regex that matches where that of any of the rules does."""
        patterns = (re.sub(r"\(\?P<\w+>", "(?:", _region(rank)) for rank in ranks)
        return self._compile_finder("|".join(f"(?:{pattern})" for pattern in patterns))

    def compiled(self, pattern: str) -> tuple[Any, dict[str | int, int]]:
        """The regex and its groups' names; RE2 works the names out anew whenever it is asked."""
        compiled = self._compiled.get(pattern)
        if compiled is None:
            regex = self._re2.compile(pattern)
            compiled = self._compiled[pattern] = regex, {0: 0, **regex.groupindex}
        return compiled


class _Utf8View:
    """RE2 reads UTF-8. A lone surrogate, which has no encoding, becomes `?`: one character stays one."""

    _STEP = 512
    _CONTINUATION = bytes(range(0x80, 0xC0))

    def __init__(self, text: str, scanner: LinearScanner) -> None:
        self.text = text
        self.data = text.encode("utf-8", "replace")
        self.ascii = len(self.data) == len(text)
        self._scanner = scanner
        self._sums: list[int] = []

    def matches(self, pattern: str) -> Iterator[Groups]:
        matches = self._scanner.finder(pattern).finditer(self.data)
        first = next(matches, None)
        return iter(()) if first is None else self._read(pattern, chain((first,), matches))

    def _read(self, pattern: str, matches: Iterator[Any]) -> Iterator[Groups]:
        """The groups of every match that RE2 found.

        RE2 searches fast, but its Python wrapper takes microseconds for a match, five times as long as Python's `re`.
        So `re` reads the groups of a match that RE2 found, and where matches stand close together it reads the rest.
        """
        start = end = 0
        for count, match in enumerate(matches, 1):
            yield self._groups(pattern, match.start(), match.end())
            if count % _MANY == 0:
                start, end = end, match.end()
                if end - start < _MANY * _CLOSE:
                    yield from _plain_matches(pattern, self.text, end if self.ascii else self.place(end))
                    return

    def _groups(self, pattern: str, start: int, end: int) -> Groups:
        """The groups of the match that stands at these bytes."""
        if end - start <= _WINDOW_AFTER:  # `re` needs memory for each repetition in a longer match
            groups = _compiled(pattern).match(self.text, start if self.ascii else self.place(start))
            if groups:
                return groups
        # The engines differ, too, in what they take for the other case of a letter, and for a blank.
        regex, numbers = self._scanner.compiled(pattern)
        return _Utf8Groups(regex.search(self.data, start), numbers, self)

    def place(self, byte: int) -> int:
        """From bytes to characters: how many bytes before it begin one, by blocks that are counted once."""
        if not self._sums:
            counts = [self._starts(at, at + self._STEP) for at in range(0, len(self.data), self._STEP)]
            self._sums = [0, *accumulate(counts)]
        block = byte // self._STEP
        return self._sums[block] + self._starts(block * self._STEP, byte)

    def _starts(self, low: int, high: int) -> int:
        return len(self.data[low:high].translate(None, self._CONTINUATION))


class _Utf8Groups:
    """Reads a group only when asked: hostile text makes thousands of matches that a check throws out."""

    __slots__ = ("_match", "_numbers", "_view")

    def __init__(self, match: Any, numbers: dict[str | int, int], view: _Utf8View) -> None:
        self._match, self._numbers, self._view = match, numbers, view

    @property
    def lastgroup(self) -> str | None:
        return self._match.lastgroup

    def span(self, group: str | int) -> Span:
        number = self._numbers.get(group)
        if number is None:
            raise IndexError(f"The pattern has no group {group}.")
        start, end = self._match.span(number)
        return (start, end) if self._view.ascii or start < 0 else (self._view.place(start), self._view.place(end))


class WindowScanner:
    """Python's `re`, where RE2 cannot be installed: only windows around the literals are searched."""

    def __init__(self) -> None:
        self._ranks = _ranks_by_gate()
        self._ungated = _ungated_ranks()

    def scan(self, text: str) -> list[tuple[int, int, int]]:
        lowered = text.lower()
        if len(lowered) != len(text):  # a few capitals grow in lower case; places must stay the same
            lowered = "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
        hits: list[tuple[int, int, int]] = []
        long_runs = _long_runs(text)
        gates = [gate for gate in self._ranks if gate in lowered]
        ranks = {rank for gate in gates for rank in self._ranks[gate]}
        for rank in sorted(ranks.union(self._ungated) if long_runs else ranks):
            rule = RULES[rank]
            windows = _windows(lowered, rule.gates) if rule.gates else long_runs
            for low, high in windows:
                spans = secrets_of(rule, self.view(text[low:high]), self.view)
                hits += [(low + start, low + end, rank) for start, end in spans]
        return hits

    def is_quiet(self, lines: str) -> bool:
        lowered = lines.lower()
        return not (any(gate in lowered for gate in self._ranks) or _long_runs(lines))

    def view(self, text: str) -> _PlainView:
        return _PlainView(text)


class _PlainView:
    def __init__(self, text: str) -> None:
        self.text = text

    def matches(self, pattern: str) -> Iterator[Groups]:
        return _plain_matches(pattern, self.text, 0)


def _plain_matches(pattern: str, text: str, start: int) -> Iterator[Groups]:
    return _compiled(pattern).finditer(text, start)


class PatientScanner:
    """Makes an engine when a text needs one: most texts that a recall hands out are short and hold the literals of few
    rules, and loading RE2 takes longer than to compile the patterns of those for `re`.

    A process that goes on to scan short texts gets the engine after the first of them.
    """

    def __init__(self, engine: Callable[[], Scanner]) -> None:
        self._make = engine
        self._engine: Scanner | None = None
        self._windows = WindowScanner()
        self._scans_without = _SCANS_WITHOUT_ENGINE

    def scan(self, text: str) -> list[tuple[int, int, int]]:
        if self._engine is None and len(text) <= _SHORT and _is_read_alike(text):
            if self._windows.is_quiet(text):
                return []
            if len(text) <= _BRIEF and self._scans_without:
                self._scans_without -= 1
                return self._windows.scan(text)
        return self._made().scan(text)

    def is_quiet(self, lines: str) -> bool:
        return self._made().is_quiet(lines)

    def view(self, text: str) -> View:
        return self._made().view(text)

    def _made(self) -> Scanner:
        if self._engine is None:
            self._engine = self._make()
        return self._engine


def _is_read_alike(text: str) -> bool:
    """Return whether RE2 and `re` find the same in a text. They differ in what they take for the other case of a letter
    beyond ASCII and for a blank, and in whether a text ends before its last line feed."""
    return text.isascii() and "\v" not in text and not text.endswith("\n")


@functools.cache
def default_scanner() -> Scanner:
    """One scanner a process."""
    return PatientScanner(best_engine)


def best_engine() -> Scanner:
    """RE2 where it is installed."""
    try:
        return LinearScanner()
    except ImportError:
        return WindowScanner()


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A rule's pattern with the meaning that RE2 gives it: the classes are ASCII."""
    return re.compile(pattern, re.ASCII)


def _ranks_by_gate() -> dict[str, tuple[int, ...]]:
    ranks: dict[str, tuple[int, ...]] = {}
    for rank, rule in enumerate(RULES):
        for gate in rule.gates:
            ranks[gate] = (*ranks.get(gate, ()), rank)
    return ranks


def _ungated_ranks() -> tuple[int, ...]:
    return tuple(rank for rank, rule in enumerate(RULES) if not rule.gates)


def _region(rank: int) -> str:
    """The pattern without which a rule finds nothing."""
    return RULES[rank].within or RULES[rank].pattern


def _long_runs(text: str) -> list[Span]:
    """The runs in which a secret of a rule without gates may stand, with the character on either side."""
    if max(map(len, text.split()), default=0) < LONG_RUN:
        return []
    return [(max(0, run.start() - 1), run.end() + 1) for run in _compiled(_RUN).finditer(text)]


def _windows(lowered: str, gates: tuple[str, ...]) -> list[Span]:
    """The neighbourhoods of the literals, joined where they meet."""
    at = sorted(m.start() for gate in gates if gate in lowered for m in re.finditer(re.escape(gate), lowered))
    windows: list[Span] = []
    for place in at:
        low, high = max(0, place - _WINDOW_BEFORE), min(len(lowered), place + _WINDOW_AFTER)
        if windows and low <= windows[-1][1]:
            low = windows.pop()[0]
        windows.append((low, high))
    return windows
