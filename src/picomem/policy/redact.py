"""Redaction: secrets leave a text before it is stored, and a short keyed fingerprint takes their place.

    text → cut at placeholders → segments → scan → cut at findings → smaller segments → scan … → quiet

A text is scanned segment by segment, and every finding cuts its segment in two, which are scanned again on
their own. So the pieces that remain hold no finding by themselves; and since a placeholder cuts a text in
the same places, redacting a redacted text finds nothing. That makes idempotence a property of the
construction, not of the rules. A secret that was found once is replaced wherever else it stands in the same
text.

This is best effort: no detector finds every secret. What a secret looks like is in `secret_rules`; a rule's
pattern is run by `secret_scanners`, and what matched is looked at by `secret_checks`.
"""

from __future__ import annotations

import re

from picomem.errors import InvalidInput
from picomem.policy.secret_checks import Span
from picomem.policy.secret_rules import RULES
from picomem.policy.secret_scanners import Scanner, default_scanner
from picomem.values import dataclass

_PLACEHOLDER = r"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{8}\]"
_ECHO_MIN = 8  # a shorter secret may be an ordinary word elsewhere
_ECHO_MAX = 200  # distinct secrets searched for in the rest of a text: keeps the work linear


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret: its rule, its place in the input (characters), its keyed fingerprint (8 hex digits)."""

    rule: str
    start: int
    end: int
    fingerprint: str

    @property
    def mark(self) -> str:
        """What stands in its place."""
        return f"[redacted:{self.rule}:{self.fingerprint}]"


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what was taken out of it, in order."""

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
            finding = Finding(rule, start, end, self._fingerprint(text[start:end]))
            pieces += (text[last:start], finding.mark)
            findings.append(finding)
            last = end
        return Redacted("".join((*pieces, text[last:])), tuple(findings))

    def _fingerprint(self, secret: str) -> str:
        """The first 32 bits of HMAC-SHA256 (RFC 2104): equal secrets can be linked, and none read back."""
        import hmac  # loads OpenSSL, which most texts do not need

        return hmac.digest(self._key, secret.encode("utf-8", "surrogatepass"), "sha256").hex()[:8]

    def _find(self, text: str) -> list[tuple[int, int, str]]:
        """Non-overlapping (start, end, rule), in order."""
        waiting = _between([m.span() for m in re.finditer(_PLACEHOLDER, text)], 0, len(text))
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
