"""Redaction: replaces the secrets in a text by a short keyed fingerprint before it is stored.

    text → cut at placeholders → segments → scan → cut at findings → smaller segments → scan … → quiet

A text is scanned segment by segment, and every finding cuts its segment in two, which are scanned again separately.
So the remaining pieces contain no finding; and since a placeholder cuts a text in the same places, redacting a
redacted text finds nothing. Idempotence is therefore a property of the construction, not of the rules. A secret that
was found once is replaced everywhere in the same text.

The scan sees the text as it reads (`text/visible_text.py`): an invisible character or a continued line inside a
secret hides nothing. The text around it keeps its characters.

This is best effort: no detector finds every secret. `secret_rules.txt` describes secrets; `secret_scanner` runs its
patterns, and `secret_checks` examines the matches.
"""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from picomem.coded_text import CodedText
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.models.embedder import Embedder
from picomem.policy.secret_checks import Span
from picomem.policy.secret_rules import load_rules
from picomem.policy.secret_scanner import Hit, Scanner, default_scanner
from picomem.records.scope import Scope
from picomem.text.storable import plain
from picomem.text.visible_text import VisibleText, spelled_in_tags

if TYPE_CHECKING:
    import numpy as np


# Tokens that a layout has broken over lines: the width of a terminal, the indentation of Markdown, a quoted mail.
#
# A pattern sees a token only in one piece. So where a line ends in characters of a token, and the next one begins with
# characters that are no word, no name and no number, the lines are read once more without the break. The rules decide
# about the rest, as everywhere. (The end of a token may read like a word. It counts as one after a whole secret.)

_SIGNS = "_+/.~-"  # of a token, beside letters and digits
_TOKEN = r"[\w+/.~-]"
# What assigns or calls something is no token.
_REST = rf"{_TOKEN}{{2,}}+={{0,2}}+(?![\w=:(\[<])"
_LINE_START = " \t>│┃|"  # indentation, the marks of quoted mail, the border of a box
_LINE_END = " \t\r│┃"
_MARGIN = 80  # characters at the beginning of a line that are no text
_BEGUN = rf"\n(?<=[\w+/.~{_LINE_END}-]\n)[{_LINE_START}]{{0,{_MARGIN}}}+(?P<rest>{_REST})"
_DRAWN = r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]"
_SHORTEST = 16  # characters of a token that is looked for across a break
_LONGEST = 4096  # characters that are read without their breaks at once


class JoinedLines(NamedTuple):
    """A piece of a text without some of its breaks, and where they stand in the text as written."""

    text: str
    start: int
    breaks: tuple[Span, ...]
    may_end_in_word: bool

    def span(self, start: int, end: int) -> Span | None:
        """The span, as written, of one of the reading that goes across a break; None for any other."""
        first, last = self._place(start), self._place(end - 1) + 1
        return (first, last) if any(first < low and high < last for low, high in self.breaks) else None

    def _place(self, place: int) -> int:
        at = self.start + place
        for low, high in self.breaks:
            if at < low:
                break
            at += high - low
        return at


class _Break(NamedTuple):
    """A place where a line ends inside of what may be a token: the gap, and the end of what goes on behind it."""

    start: int
    end: int
    rest: int
    is_drawn: bool


def hits_across_breaks(text: str, hits: Sequence[Hit], scan: Callable[[str], list[Hit]]) -> Iterator[Hit]:
    """The hits that go across a break of lines, beside those that `scan` finds in the text as written."""
    starts, ends = {start for start, _, _ in hits}, {end for _, end, _ in hits}
    for run in joined_lines(text):
        # A secret of its own may begin in the next line, or end in this one.
        if starts.isdisjoint(end for _, end in run.breaks) and not (run.may_end_in_word and run.breaks[-1][0] in ends):
            for start, end, rule in scan(run.text):
                if span := run.span(start, end):
                    yield (*span, rule)


def joined_lines(text: str) -> Iterator[JoinedLines]:
    """Every run that may be a broken token, with what stands before it in its line."""
    tail = re.compile(rf"{_TOKEN}{{{_SHORTEST}}}")
    for chain in _chains(text):
        first = chain[0].start
        line = max(text.rfind("\n", 0, first) + 1, first - _LONGEST)
        edges = [line, *(edge for part in chain for edge in part[:2]), chain[-1].rest]
        run = "".join(text[low:high] for low, high in zip(edges[::2], edges[1::2], strict=True))
        if tail.fullmatch(run.rstrip("=")[-_SHORTEST:]):
            yield JoinedLines(run, line, tuple(part[:2] for part in chain), not chain[-1].is_drawn)


def _chains(text: str) -> Iterator[list[_Break]]:
    """The breaks inside of tokens; those of one token together, as long as that is not too long."""
    drawn = re.compile(_DRAWN).search
    chain: list[_Break] = []
    for part in _breaks(text):
        if chain and (chain[-1].rest != part.start or part.start - chain[0].start > _LONGEST):
            yield chain
            chain = []
        if part.is_drawn or chain or drawn(text, max(0, part.start - _SHORTEST), part.start):
            chain.append(part)
        if chain and not part.is_drawn:
            yield chain
            chain = []
    if chain:
        yield chain


def _breaks(text: str) -> Iterator[_Break]:
    drawn = re.compile(_DRAWN).search
    for begun in re.finditer(_BEGUN, text):
        end = begun.start()
        if text[end - 1 : end] in _LINE_END:
            line = text.rfind("\n", 0, end) + 1
            end = line + len(text[line:end].rstrip(_LINE_END))
        ahead = text[max(0, end - _SHORTEST) : end]
        if not ahead or not (ahead[-1].isalnum() or ahead[-1] in _SIGNS):
            continue
        low, high = begun.span("rest")
        begins = len(ahead) - 1 - max(ahead.rfind(" "), ahead.rfind("\n"))
        if begins + max(high - low, _length_of_word(text[low : low + _SHORTEST])) >= _SHORTEST:
            yield _Break(end, low, high, drawn(text, low, high) is not None)


def _length_of_word(text: str) -> int:
    return len(text.partition("\n")[0].partition(" ")[0])


_MARK_START = "[redacted:"
_PLACEHOLDER = r"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{8}\]"
_ECHO_MIN = 8  # a shorter secret may be an ordinary word elsewhere
_ECHO_MAX = 200  # distinct secrets searched for in the rest of a text: keeps the work linear
_ECHO_WORK = 100_000_000  # characters searched for them, all in all
_SHORT_SEGMENT = 64  # characters: many secrets in a row leave the same few behind between them


class SecretFinding(NamedTuple):
    """One secret: its rule, its place in the input (characters), its keyed fingerprint (8 hex digits)."""

    rule: str
    start: int
    end: int
    fingerprint: str

    @property
    def mark(self) -> str:
        """The placeholder that replaces it."""
        return _mark(self.rule, self.fingerprint)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what was taken out of it, in order."""

    text: str
    secrets: tuple[tuple[str, int, int, str], ...]
    """The fields of each finding: plain tuples, of which a hostile text has hundreds of thousands."""

    @property
    def findings(self) -> tuple[SecretFinding, ...]:
        """What was taken out."""
        return tuple(map(SecretFinding._make, self.secrets))


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
        secrets, readings = self._find(text) if text else ([], {})
        if not secrets:
            return Redacted(text, ())
        fingerprints: dict[str, str] = {}
        fingerprint_of = self._fingerprint_of
        pieces: list[str] = []
        taken: list[tuple[str, int, int, str]] = []
        last = 0
        for start, end, rule in secrets:
            secret = readings.get(start) or text[start:end]
            fingerprint = fingerprints.get(secret)
            if fingerprint is None:
                fingerprint = fingerprints[secret] = fingerprint_of(secret)
            pieces.append(text[last:start])
            pieces.append(_mark(rule, fingerprint))
            taken.append((rule, start, end, fingerprint))
            last = end
        pieces.append(text[last:])
        return Redacted("".join(pieces), tuple(taken))

    @functools.cached_property
    def _fingerprint_of(self) -> Callable[[str], str]:
        """The first 32 bits of HMAC-SHA256 (RFC 2104): equal secrets can be linked, and none read back."""
        import hmac  # noqa: PLC0415 - it loads OpenSSL, which most texts do not need

        copy_begun = hmac.new(self._key, digestmod="sha256").copy

        def fingerprint_of(secret: str) -> str:
            begun = copy_begun()
            begun.update(secret.encode("utf-8", "surrogatepass"))
            return begun.hexdigest()[:8]

        return fingerprint_of

    def _find(self, text: str) -> tuple[list[tuple[int, int, str]], dict[int, str]]:
        """Non-overlapping (start, end, rule), in order; and by its start each secret that does not read as written."""
        reading = VisibleText(text)
        shown = reading.text
        findings: list[tuple[int, int, str]] = []
        readings: dict[int, str] = {}
        spelled_at: list[int] = []  # in order
        for start, end, spelled in spelled_in_tags(text) if shown is not text else ():
            if hits := self._secrets(spelled, []):
                findings.append((start, end, hits[0][2]))
                readings[start] = spelled
                spelled_at.append(reading.place(start))
        cuts = [(place, place) for place in spelled_at]
        cuts += [
            (low, high)
            for low, high in (map(re.Match.span, re.finditer(_PLACEHOLDER, shown)) if _MARK_START in shown else ())
            if bisect_right(spelled_at, low) == bisect_left(spelled_at, high)
        ]
        secrets = self._secrets(shown, sorted(cuts))
        if shown is text:
            findings += secrets
        else:
            for low, high, rule in secrets:
                start, end = reading.span(low, high)
                findings.append((start, end, rule))
                readings[start] = shown[low:high]
        findings.sort()
        return findings, readings

    def _hits(self, segment: str) -> list[Hit]:
        """Every hit, also in tokens that a layout has broken over lines."""
        hits = self._scanner.scan(segment)
        if "\n" in segment:
            hits += hits_across_breaks(segment, tuple(hits), self._scanner.scan)
        return hits

    def _secrets(self, text: str, cuts: list[Span]) -> list[tuple[int, int, str]]:
        """(start, end, rule) of the secrets in a text that is cut at some spans already, in no order."""
        waiting = _between(cuts, 0, len(text))
        quiet: list[Span] = []
        findings: list[tuple[int, int, str]] = []
        known: dict[str, str] = {}
        most = max(1, min(_ECHO_MAX, _ECHO_WORK // (len(text) + 1)))
        scanned: dict[str, list[tuple[int, int, int]]] = {}  # of short segments, which may return
        while waiting:
            fresh: dict[str, str] = {}
            while waiting:
                low, high = waiting.pop()
                segment = text[low:high]
                hits = scanned.get(segment)
                if hits is None:
                    hits = self._hits(segment)
                    if high - low <= _SHORT_SEGMENT:
                        scanned[segment] = hits
                if not hits:
                    quiet.append((low, high))
                    continue
                placed = _merged(hits, low)
                findings += placed
                for start, end, rule in placed:
                    if len(known) + len(fresh) >= most:
                        break
                    if (secret := text[start:end]) not in known and _echoes(secret):
                        fresh.setdefault(secret, rule)
                waiting += _between(placed, low, high)
            known |= fresh
            quiet, waiting = _echo(text, quiet, fresh, findings)
        return findings


def _mark(rule: str, fingerprint: str) -> str:
    """The placeholder that replaces a secret."""
    return f"[redacted:{rule}:{fingerprint}]"


def check_ids(scope: Scope, actor: str = "") -> Scope:
    """The scope, fit to be stored. An id is never redacted, because it says whose a row is.

    Raises InvalidInput where an id looks like a secret.
    """
    redactor = Redactor(bytes(32))  # only asked whether it finds something
    ids = {"user": scope.user, "agent": scope.agent, "project": scope.project, "session": scope.session, "actor": actor}
    for name, value in ids.items():
        if value and redactor.redact(value).findings:
            raise InvalidInput(CodedText("reason.id_is_secret", name=name))
    return scope


def _echo(
    text: str, quiet: list[Span], secrets: dict[str, str], findings: list[tuple[int, int, str]]
) -> tuple[list[Span], list[Span]]:
    """Marks the other places of known secrets; the segments still quiet, and those that were cut anew."""
    taken = {start for start, _, _ in findings}
    places = sorted(
        (start, start + len(secret)) for secret in secrets for start in _places(text, secret) if start not in taken
    )
    if not places:
        return quiet, []
    still: list[Span] = []
    cut: list[Span] = []
    starts = [start for start, _ in places]
    for low, high in quiet:
        spans: list[Span] = []
        last = low
        for start, end in places[bisect_left(starts, low) : bisect_left(starts, high)]:
            if last <= start and end <= high:
                spans.append((start, end))
                last = end
        if not spans:
            still.append((low, high))
            continue
        findings += [(start, end, secrets[text[start:end]]) for start, end in spans]
        cut += _between(spans, low, high)
    return still, cut


def _places(text: str, secret: str) -> Iterator[int]:
    """The positions of a secret in a text."""
    at = text.find(secret)
    while at >= 0:
        yield at
        at = text.find(secret, at + len(secret))


def _echoes(secret: str) -> bool:
    return len(secret) >= _ECHO_MIN and any(c.isdigit() for c in secret)


def _between(spans: Sequence[Span | tuple[int, int, str]], low: int, high: int) -> list[Span]:
    """The rest of low..high without the spans, which are in order."""
    gaps = zip([low, *[span[1] for span in spans]], [*[span[0] for span in spans], high], strict=True)
    return [gap for gap in gaps if gap[0] < gap[1]]


def _merged(hits: list[tuple[int, int, int]], low: int) -> list[tuple[int, int, str]]:
    """Overlapping hits (start, end, rank) of a segment at `low` become one, under the name of the lowest rank."""
    merged: list[tuple[int, int, str]] = []
    start, end, rank = 0, 0, len(load_rules())
    for hit in sorted(hits):
        if hit[0] < end:
            end, rank = max(end, hit[1]), min(rank, hit[2])
            continue
        if end:
            merged.append((low + start, low + end, load_rules()[rank].id))
        start, end, rank = hit
    merged.append((low + start, low + end, load_rules()[rank].id))
    return merged


class RedactedEmbedder:
    """An embedder that is shown redacted text only: for one that is not local."""

    def __init__(self, embedder: Embedder, redactor: Callable[[], Redactor]) -> None:
        self.name = embedder.name
        self.local = embedder.local
        self.reads_sentences = embedder.reads_sentences
        self._embedder = embedder
        self._redactor = redactor

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Like the embedder's method, for the redacted texts."""
        redact = self._redactor().redact
        return self._embedder.embed([redact(text).text for text in texts])

    def embed_question(self, text: str) -> np.ndarray:
        """Like the embedder's method, for the redacted question."""
        return self._embedder.embed_question(self._redactor().redact(text).text)

    def trust(self, text: str) -> float:
        """Like the embedder's method; the text stays here."""
        return self._embedder.trust(text)


# Redacts JSON: the arguments of a tool call, or a record of a transcript. Pure.
#
# The text is JSON, and must be JSON afterwards. So each text in it is redacted by itself, where a key of many lines is
# not hidden behind escapes, and then the whole, where a name beside a value says that it is a password. What that
# breaks, as a secret that is a bare number does, is kept as the text of one argument.

Redact = Callable[[str], str]


def redact_json(text: str, redact: Redact) -> str:
    """The JSON as it may be stored. What is no JSON (models write such, too) is redacted as a text."""
    try:
        given = json.loads(text)
        redacted = _redacted(given, redact)
    except (ValueError, RecursionError):
        return redact(plain(text))
    # What holds no secret keeps the bytes that the model wrote.
    safe = redact(plain(text if redacted == given else json.dumps(redacted, ensure_ascii=False)))
    try:
        json.loads(safe)
    except ValueError:
        return json.dumps({"redacted": safe}, ensure_ascii=False)
    return safe


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        text = plain(value)
        safe = redact(text)
        return value if safe == text else safe
    if isinstance(value, list):
        return [_redacted(item, redact) for item in value]
    if isinstance(value, dict):
        return {_redacted(name, redact): _redacted(item, redact) for name, item in value.items()}
    return value
