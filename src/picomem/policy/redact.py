"""Redaction: secrets leave a text before it is stored, and a short keyed fingerprint takes their place.

    text → cut at placeholders → segments → scan → cut at findings → smaller segments → scan … → quiet

A text is scanned segment by segment, and every finding cuts its segment in two, which are scanned again on
their own. So the pieces that remain hold no finding by themselves; and since a placeholder cuts a text in
the same places, redacting a redacted text finds nothing. That makes idempotence a property of the
construction, not of the rules.

Scanning goes from cheap to dear: one pass for the literals of all rules at once (`gates`), then the patterns
of the rules whose literal was seen, then the named check on what matched (is the value code, a placeholder,
a word?). Two engines run the patterns: RE2, linear in the text, and Python's `re` where RE2 has no wheel,
which sees only windows around the literals. A secret that was found once is replaced wherever else it stands
in the same text.

This is best effort: no detector finds every secret. The rules are in `secret_rules`.
"""

from __future__ import annotations

import binascii
import functools
import hmac
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol

from picomem.errors import InvalidInput
from picomem.policy.secret_rules import (
    CODE_TYPES,
    NEUTRAL_BEFORE,
    NEUTRAL_REST,
    NOT_SAID,
    RULES,
    SESSION_NAMES,
    VOCABULARY,
    Rule,
)

_PLACEHOLDER = r"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{8}\]"
_ECHO_MIN = 8  # a shorter secret may be an ordinary word elsewhere
_ECHO_MAX = 200  # distinct secrets searched for in the rest of a text: keeps the work linear
_WINDOW_BEFORE, _WINDOW_AFTER = 160, 4096  # characters around a literal that Python's `re` looks at

Span = tuple[int, int]
_ABSENT: Span = (-1, -1)


class Groups(Protocol):
    """The named groups that took part in a match, as spans of characters; the whole match is `""`."""

    def get(self, name: str, /) -> Span | None: ...

    def __getitem__(self, name: str, /) -> Span: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret: its rule, its place in the input (characters), its keyed fingerprint (8 hex digits)."""

    rule: str
    start: int
    end: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Redacted:
    text: str
    findings: tuple[Finding, ...]


class Redactor:
    """Replaces secrets by `[redacted:<rule>:<fingerprint>]`. Safe to share between threads."""

    def __init__(self, key: bytes, *, scanner: Scanner | None = None) -> None:
        """`key`: the store's own 32 random bytes (InvalidInput under 16). `scanner`: to test one engine."""
        if len(key) < 16:
            raise InvalidInput("The redaction key must be at least 16 bytes; use 32 random ones.")
        self._key = key
        self._scanner = scanner or default_scanner()

    def redact(self, text: str) -> Redacted:
        """The text without the secrets that were found in it, and where they were."""
        found = self._find(text)
        if not found:
            return Redacted(text, ())
        pieces: list[str] = []
        findings: list[Finding] = []
        last = 0
        for start, end, rule in found:
            mark = self._fingerprint(text[start:end])
            pieces += (text[last:start], f"[redacted:{rule}:{mark}]")
            findings.append(Finding(rule, start, end, mark))
            last = end
        return Redacted("".join((*pieces, text[last:])), tuple(findings))

    def _fingerprint(self, secret: str) -> str:
        """The first 32 bits of HMAC-SHA256 (RFC 2104): equal secrets can be linked, and none read back."""
        return hmac.digest(self._key, secret.encode("utf-8", "surrogatepass"), "sha256").hex()[:8]

    def _find(self, text: str) -> list[tuple[int, int, str]]:
        """Non-overlapping (start, end, rule), in order."""
        waiting = _between([m.span() for m in _regex(_PLACEHOLDER).finditer(text)], 0, len(text))
        quiet: list[Span] = []
        found: list[tuple[int, int, str]] = []
        known: dict[str, str] = {}
        while waiting:
            fresh: dict[str, str] = {}
            while waiting:
                low, high = waiting.pop()
                hits = _merged(self._scanner.scan(text[low:high]))
                if not hits:
                    quiet.append((low, high))
                for start, end, rule in hits:
                    found.append((low + start, low + end, rule))
                    fresh.setdefault(text[low + start : low + end], rule)
                if hits:
                    waiting += _between([(low + s, low + e) for s, e, _ in hits], low, high)
            new = {s: r for s, r in fresh.items() if s not in known and _echoes(s)}
            new = dict(list(new.items())[: max(0, _ECHO_MAX - len(known))])
            known |= new
            quiet, waiting = self._echo(text, quiet, new, found)
        return sorted(found)

    @staticmethod
    def _echo(
        text: str, quiet: list[Span], secrets: dict[str, str], found: list[tuple[int, int, str]]
    ) -> tuple[list[Span], list[Span]]:
        """Marks the other places of known secrets; the segments still quiet, and those that were cut anew."""
        if not secrets:
            return quiet, []
        any_secret = re.compile("|".join(map(re.escape, sorted(secrets, key=len, reverse=True))))
        still: list[Span] = []
        cut: list[Span] = []
        for low, high in quiet:
            if not any(text.find(secret, low, high) >= 0 for secret in secrets):
                still.append((low, high))
                continue
            spans = [m.span() for m in any_secret.finditer(text, low, high)]
            found += [(start, end, secrets[text[start:end]]) for start, end in spans]
            cut += _between(spans, low, high)
        return still, cut


def _echoes(secret: str) -> bool:
    return len(secret) >= _ECHO_MIN and any(c.isdigit() for c in secret)


def _between(spans: list[Span], low: int, high: int) -> list[Span]:
    """What is left of low..high when the spans, in order, are taken out."""
    edges = [low, *(edge for span in spans for edge in span), high]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]


def _merged(hits: list[tuple[int, int, int]]) -> list[tuple[int, int, str]]:
    """Overlapping hits (start, end, rank) become one, under the name of the lowest rank."""
    merged: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(hits):
        if merged and start < merged[-1][1]:
            before = merged.pop()
            start, end, rank = before[0], max(end, before[1]), min(rank, before[2])
        merged.append((start, end, rank))
    return [(start, end, RULES[rank].id) for start, end, rank in merged]


# --- engines ----------------------------------------------------------------------------------------------


class Scanner(Protocol):
    def scan(self, text: str) -> list[tuple[int, int, int]]:
        """Every hit in the text: start, end (characters), the rule's place in RULES."""
        ...

    def view(self, text: str) -> View: ...


class View(Protocol):
    """A text made ready for one engine."""

    @property
    def text(self) -> str: ...

    def matches(self, pattern: str) -> Iterator[Groups]:
        """The groups of every match, from left to right."""
        ...


def secrets_of(rule: Rule, view: View, reader: Callable[[str], View]) -> Iterator[Span]:
    """The secrets that one rule sees, after its check; `reader` makes a view of a part of the text."""
    check = _CHECKS[rule.check]
    if not rule.within:
        regions = [(0, view)]
    else:
        spans = [groups[""] for groups in view.matches(rule.within)]
        regions = [(low, reader(view.text[low:high])) for low, high in spans]
    for offset, part in regions:
        for groups in part.matches(rule.pattern):
            span = check(part.text, groups)
            if span and span[0] < span[1]:
                yield offset + span[0], offset + span[1]


class LinearScanner:
    """Google's RE2: time linear in the text whatever the pattern."""

    def __init__(self) -> None:
        import re2

        self._compile = re2.compile
        self._set: Any = re2.Set.SearchSet()
        self._ranks: list[tuple[int, ...]] = []
        for gate, ranks in _ranks_by_gate().items():
            self._set.Add("(?i)" + re2.escape(gate))
            self._ranks.append(ranks)
        self._set.Compile()
        self._compiled: dict[str, tuple[Any, dict[str, int]]] = {}

    def scan(self, text: str) -> list[tuple[int, int, int]]:
        view = self.view(text)
        seen = self._set.Match(view.data) or ()
        ranks = sorted({rank for gate in seen for rank in self._ranks[gate]})
        return [(*span, rank) for rank in ranks for span in secrets_of(RULES[rank], view, self.view)]

    def view(self, text: str) -> _Utf8View:
        return _Utf8View(text, self)

    def compiled(self, pattern: str) -> tuple[Any, dict[str, int]]:
        """The regex and its groups' names; RE2 works the names out anew whenever it is asked."""
        found = self._compiled.get(pattern)
        if found is None:
            regex = self._compile(pattern)
            found = self._compiled[pattern] = regex, {"": 0, **regex.groupindex}
        return found


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
        regex, numbers = self._scanner.compiled(pattern)
        return (_Utf8Groups(match, numbers, self) for match in regex.finditer(self.data))

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

    def __init__(self, match: Any, numbers: dict[str, int], view: _Utf8View) -> None:
        self._match, self._numbers, self._view = match, numbers, view

    def get(self, name: str) -> Span | None:
        number = self._numbers.get(name)
        span = self._match.span(number) if number is not None else _ABSENT
        if span[0] < 0:
            return None
        return span if self._view.ascii else (self._view.place(span[0]), self._view.place(span[1]))

    def __getitem__(self, name: str) -> Span:
        span = self.get(name)
        if span is None:
            raise KeyError(name)
        return span


class WindowScanner:
    """Python's `re`, where RE2 cannot be installed: only windows around the literals are searched."""

    def scan(self, text: str) -> list[tuple[int, int, int]]:
        lowered = text.lower()
        if len(lowered) != len(text):  # a few capitals grow in lower case; places must stay the same
            lowered = "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
        hits: list[tuple[int, int, int]] = []
        for rank, rule in enumerate(RULES):
            for low, high in _windows(lowered, rule.gates):
                spans = secrets_of(rule, self.view(text[low:high]), self.view)
                hits += [(low + start, low + end, rank) for start, end in spans]
        return hits

    def view(self, text: str) -> _PlainView:
        return _PlainView(text)


class _PlainView:
    def __init__(self, text: str) -> None:
        self.text = text

    def matches(self, pattern: str) -> Iterator[Groups]:
        regex = _compiled(pattern)
        for match in regex.finditer(self.text):
            groups = {name: match.span(name) for name in regex.groupindex if match.start(name) >= 0}
            yield {"": match.span(), **groups}


@functools.cache
def default_scanner() -> Scanner:
    """One scanner a process, made when it is first needed."""
    try:
        return LinearScanner()
    except ImportError:
        return WindowScanner()


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A rule's pattern with the meaning that RE2 gives it: the classes are ASCII."""
    return re.compile(pattern, re.ASCII)


@functools.cache
def _regex(pattern: str) -> re.Pattern[str]:
    """Compiled when first used: two dozen patterns would cost a hook's start ten milliseconds."""
    return re.compile(pattern)


def _ranks_by_gate() -> dict[str, tuple[int, ...]]:
    ranks: dict[str, tuple[int, ...]] = {}
    for rank, rule in enumerate(RULES):
        for gate in rule.gates:
            ranks[gate] = (*ranks.get(gate, ()), rank)
    return ranks


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


# --- checks: pure functions that look at one match and give the secret's place, or None --------------------

_KEY_CHARACTERS = string.ascii_letters + string.digits + "_.-"
_PIECE = r"[A-Za-z0-9]{8,}"
_RUN_OR_SIGN = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]"
_RUN = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_CONSONANTS = r"(?i)[bcdfghjklmnpqrstvwxz]+"
_TEMPLATE = (
    r"\$\{|\$\(|\{\{|\}\}|%\(|^%[sdr]$|^%\w+%$|<[^>]*>|\*{3}|\.{3}|…|•|^\$[A-Za-z_]\w*$|^\$env:|(?i:x{5})|\[redacted|REDACTED"
    r"|^[{<\[].*[}>\]]$|#\{|^@\w+@$|^__\w+__$"
)
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_HASH = (
    r"(?i)(?:sha\d+|md5|base64|bcrypt|argon2\w*|pbkdf2|scrypt|utf-?8|aes|rsa|hs256|rs256)\b"
    r"|\$(?:2[aby]|argon2\w*|\d)\$"
)
_IDENTIFIER = r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*[.?!]?"
_CJK = "[\u2e80-\uffef]"
_LINE_ENDS = r"(?:\\+[nr]|\s)+$"
_PEM_LINES = (
    r"[A-Za-z0-9+/=]{16,}(?:(?:[\s\"'+>|,:;→\\.]|\\[nrt]|[0-9]{1,4}[\t→|:])+[A-Za-z0-9+/=]{16,})*"
    r"(?:(?:\s|\\n)+[A-Za-z0-9+/=]{1,15}\s*$)?"
)
_REFERENCE = r"!\w+$|(?:\./|~/|/)[\w./-]+$|(?:arn|projects|vault|op|ref)[:/+]"
_OPERATORS = r"[+*?|=!]|.*[|+]"
_CALL = r"[\w.]+[(\[]"
_MEASURE = r"\d+-(?:char|digit|byte|bit|day|hour)"
_WITH = r"(?i)\b(?:with|using|and) (?:the )?$"
_OWNER = r"(?i)\b(?:my|our|his|her|their|wi-?fi|guest|new)\W*$"
_QUALITY = r"(?:ed|ing|able|ible|ly|ful|less)$"
_SENTENCE_END = r"[.!]*\s*(?:\n|$)"
_OPENERS = frozenset("([{<")
_SIGILS = frozenset("$%/@*|")
_LONG_KEYS = frozenset({"password", "passwd", "apikey", "token", "secret", "pwd"})
_VALUE_GROUPS = ("bare", "double", "secret", "value", "single", "tick")


def _value(groups: Groups) -> Span:
    return _written(groups)[1]


def _written(groups: Groups) -> tuple[str, Span]:
    """How the value is written (the group's name), and where."""
    for name in _VALUE_GROUPS:
        span = groups.get(name)
        if span is not None:
            return name, span
    raise KeyError("a rule without a group for its value")


def _is_blank(value: str) -> bool:
    """A placeholder, a template or a name: nothing that opens anything."""
    if len(set(value.lower()) - set("-_. ")) <= 2 or _regex(_TEMPLATE).search(value):
        return True
    words = [word.lower() for word in _regex(_WORD).findall(value)]
    return bool(words) and VOCABULARY.issuperset(words) and sum(map(str.isdigit, value)) <= 1


def _is_random(value: str) -> bool:
    """Drawn, not written: letters, capitals and digits change more often than in words and names."""
    if len(set(value)) < 6 or _is_blank(value):
        return False
    return _is_dense(value) or any(map(_is_drawn, _regex(_PIECE).findall(value)))


def _is_dense(value: str) -> bool:
    """Base64 that its own signs cut into short pieces: every kind of character, and few in a row."""
    if (
        len(value) < 16
        or "." in value
        or not (any(map(str.isdigit, value)) and value.lower() != value != value.upper())
    ):
        return False
    return len(value) / len(_regex(_RUN_OR_SIGN).findall(value)) < 2.0


def _is_drawn(piece: str) -> bool:
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(piece))
    if turns >= 3 and len(piece) >= 8:
        return True
    if len(piece) < 12:
        return False
    consonants = max(map(len, _regex(_CONSONANTS).findall(piece)), default=0)
    return len(piece) / len(_regex(_RUN).findall(piece)) < 2.4 or consonants >= (6 if len(piece) < 20 else 5)


def _plain(_text: str, groups: Groups) -> Span | None:
    return _value(groups)


def _varied(text: str, groups: Groups) -> Span | None:
    span = _value(groups)
    value = text[slice(*span)]
    return span if len(set(value)) >= 8 and not _regex(_TEMPLATE).search(value) else None


def _mixed(text: str, groups: Groups) -> Span | None:
    span = _value(groups)
    value = text[slice(*span)]
    return span if any(map(str.isdigit, value)) and _is_random(value) and not _regex(_UUID).fullmatch(value) else None


def _pem(text: str, groups: Groups) -> Span | None:
    start, end = groups["secret"]
    if not text.startswith("-----END", end):  # cut off: what follows the last line of the key is not the key
        lines = _regex(_PEM_LINES).match(text, start, end)
        end = lines.end() if lines else end
    body = _regex(_LINE_ENDS).sub("", text[start:end])
    return (start, start + len(body)) if len(set(body)) >= 8 else None


def _embedded(text: str, groups: Groups) -> Span | None:
    start, end = _value(groups)
    value = text[start:end]
    return None if len(value) < 3 or value[0] in "$%{<" or _is_blank(value) else (start, end)


def _basic(text: str, groups: Groups) -> Span | None:
    """RFC 7617: Base64 of `user:password`."""
    start, end = groups["secret"]
    try:
        plain = binascii.a2b_base64(text[start:end])
    except binascii.Error:
        return None
    return (start, end) if b":" in plain[1:] and all(32 <= byte < 127 or byte >= 160 for byte in plain) else None


def _cookie(text: str, groups: Groups) -> Span | None:
    key, value = text[slice(*groups["key"])].lower(), text[slice(*groups["secret"])]
    secretive = any(name in key for name in SESSION_NAMES) and any(map(str.isdigit, value))
    kept = _is_blank(value) or not (secretive or (len(value) >= 20 and _is_random(value)))
    return None if kept else groups["secret"]


def _typed(text: str, groups: Groups) -> Span | None:
    """A password typed after a flag; in prose the word after `--token` is just a word."""
    start, end = _value(groups)
    value = text[start:end]
    key = text[slice(*(groups.get("key") or (0, 0)))].lower() or "pass"
    if _is_blank(value) or value[0] in "$%{<(|" or "://" in value or len(value) < 3:
        return None
    if _kind(key) != "password":
        nameless = _regex(_UUID).fullmatch(value) or _is_neutral(key, "")
        return (start, end) if len(value) >= 8 and _is_random(value) and not nameless else None
    if value.isalpha() and value.islower() and text[start - 1] not in "=\"'p":
        return None
    return None if value.startswith(("/", "./", "~/")) else (start, end)


def _paired(text: str, groups: Groups) -> Span | None:
    key, span = text[slice(*groups["key"])], groups["value"]
    return span if _is_worth(_kind(key), text[slice(*span)], True, True) else None


def _assigned(text: str, groups: Groups) -> Span | None:
    """`key = value` in any language: the whole key decides, how the value is written, what follows it."""
    way, (start, end) = _written(groups)
    key_start, key_end = groups["key"]
    ahead, key, middle = (
        text[max(0, key_start - 60) : key_start],
        text[key_start:key_end],
        text[key_end:start],
    )
    head = ahead[len(ahead.rstrip(_KEY_CHARACTERS)) :]
    rest = middle[: len(middle) - len(middle.lstrip(_KEY_CHARACTERS))]
    if not _starts_word(head, key) or _goes_on(key, rest) or _is_neutral(head, rest):
        return None
    quoted = way != "bare"
    if quoted:
        listed, comma, _ = middle.partition(",")
        if comma and not (any(quote in listed for quote in "\"'`") and _has_digit(text[start:end])):
            return None  # the next item of a list, or an argument after one that is no name
    else:
        end = start + len(text[start:end].rstrip(".:?*!"))
        if "," in middle or text[end : end + 1] in _OPENERS or text[start : start + 1] in _SIGILS:
            return None
    literal = quoted or (head + key + rest).isupper()
    return (start, end) if _is_worth(_kind(key), text[start:end], quoted, literal) else None


def _kind(key: str) -> str:
    """What the value may look like: a password may be a word, a token may be the UUID of something."""
    if re.search(r"(?i)pass|pw|senha|contrase|密|口令|парол", key):
        return "password"
    return "token" if key.lower().endswith("token") else "secret"


def _starts_word(head: str, key: str) -> bool:
    """`pass` is no key in `compass`, but in `DB_PASS` and `dbPass`; a long word may end a longer one."""
    if not key.isascii() or not head or not head[-1].isalpha():
        return True
    if key[0].isupper() and (head[-1].islower() or key.isupper()):
        return True
    return key.lower() in _LONG_KEYS and head[-1].islower() == key[0].islower()


def _goes_on(key: str, rest: str) -> bool:
    """`token` in `tokenizer`: the word is another one."""
    return bool(rest) and rest[0].isalpha() and rest[0].isupper() == key[-1].isupper()


def _is_neutral(head: str, rest: str) -> bool:
    after = [word.lower() for word in _regex(_WORD).findall(rest)] if rest else ()
    ahead = [word.lower() for word in _regex(_WORD).findall(head)][-3:] if head else ()
    return not NEUTRAL_REST.isdisjoint(after) or not NEUTRAL_BEFORE.isdisjoint(ahead)


def _is_worth(kind: str, value: str, quoted: bool, literal: bool) -> bool:
    """Is the value of a secret's key a secret? `literal`: the place says that it is text, not code."""
    if len(value) < 4 or _is_named(value) or value in CODE_TYPES:
        return False
    digits, letters = _has_digit(value), any(map(str.isalpha, value))
    symbols = any(not c.isalnum() and c not in "-_./:, ()" for c in value)
    if not quoted and ((value.isdigit() and len(value) < 6) or ("." in value and _regex(_IDENTIFIER).fullmatch(value))):
        return False
    if kind != "password":
        drawn = _is_random(value) or (quoted and digits and symbols and letters)
        return len(value) >= 8 and drawn and not any(map(str.isspace, value))
    if any(map(str.isspace, value)):
        return digits and len(value.split()) <= 4 and not value.endswith((".", ":", "?"))
    if _regex(_IDENTIFIER).fullmatch(value) and not literal:
        return digits and len(value) >= 6 and "." not in value and "_" not in value
    if digits or (symbols and letters and len(value) >= 6 and not _regex(_OPERATORS).match(value)):
        return True
    return literal and len(value) >= 5 and value.isalnum() and not value.isupper()


def _is_named(value: str) -> bool:
    """It says what or where the secret is: a template, a path, a hash; or has a rule of its own."""
    if "://" in value or value.startswith("-----BEGIN") or _is_blank(value):
        return True
    return bool(_regex(_HASH).match(value) or _regex(_REFERENCE).match(value))


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _spoken(text: str, groups: Groups) -> Span | None:
    """“my password is hunter2”: people say what a password is, and far more often what it is like."""
    start, end = groups["value"]
    value = _regex(_CJK).split(text[start:end], maxsplit=1)[0].rstrip(".,;:!?)*'\"]}")
    end = start + len(value)
    key_start, key_end = groups["key"]
    key, ahead = text[key_start:key_end].lower(), text[max(0, key_start - 14) : key_start]
    if len(value) < 4 or _is_named(value) or value.lower() in NOT_SAID:
        return None
    operator = text[slice(*(groups.get("op") or (0, 0)))].strip()
    quote = groups.get("quote") or (0, 0)
    if start > key_end and not operator and not _regex(_WITH).search(ahead):
        return None  # “password field”; but “with password hunter2” says it
    said = _is_pin(value, operator) if key.startswith("pin") else _is_said(key, value)
    if not said and key.startswith("pass") and operator.isalpha():
        after = text[end : end + 8]
        said = (
            value.isalpha()
            and not _regex(_QUALITY).search(value)
            and (quote[0] < quote[1] or bool(_regex(_OWNER).search(ahead) and _regex(_SENTENCE_END).match(after)))
        )
    return (start, end) if said and text[end : end + 1] not in _OPENERS else None


def _told(text: str, groups: Groups) -> Span | None:
    """A login told in passing (“bob / Summer2024!”): only what no ordinary word looks like."""
    start, end = groups["value"]
    value = text[start:end].rstrip(".,;:)")
    marks = _has_digit(value) + (value.lower() != value != value.upper()) + any(c in "@#$%^&*~+!?" for c in value)
    odd = marks >= 2 and any(map(str.isalpha, value)) and not _is_named(value)
    return (start, start + len(value)) if odd else None


def _is_pin(value: str, operator: str) -> bool:
    return value.isdigit() and len(value) <= 8 and operator != ""


def _is_said(key: str, value: str) -> bool:
    """What cannot be a word of the sentence: it holds digits, signs or capitals where words hold none."""
    if key.endswith(("key", "token", "secret")) and not key.startswith("wi"):
        return len(value) >= 8 and _is_random(value)
    if not any(map(str.isalpha, value)):
        return value.isdigit() and len(value) >= 5
    if _regex(_CALL).match(value) or _regex(_MEASURE).match(value):
        return False
    return _has_digit(value) or any(c in "@#$%^&*~+!?" for c in value)


_CHECKS: dict[str, Callable[[str, Groups], Span | None]] = {
    "": _plain,
    "varied": _varied,
    "mixed": _mixed,
    "pem": _pem,
    "embedded": _embedded,
    "basic": _basic,
    "cookie": _cookie,
    "typed": _typed,
    "paired": _paired,
    "assigned": _assigned,
    "spoken": _spoken,
    "told": _told,
}
