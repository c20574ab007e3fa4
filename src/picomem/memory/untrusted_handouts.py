"""Untrusted text that servers gave to agents recently, kept across restarts of a server.

A client that has read a page stores the page in its own words. A server that was restarted in between would not know.
So each user's store keeps the origin, the time and a keyed digest of each word of every quote, but never the words. A
limited number of quotes is kept, for a day. A purge removes them all, because a digest does not show whose words it
was made of.

After a restart, nobody knows whether the client still has a quote in its context. So a quote of the last half-hour
taints everything that the user has not stated, as within one process, and an older one taints only text that shares
half of its words with it.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable

from picomem.blake2b import blake2b
from picomem.clock import DAY, MINUTE, Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.light_dataclass import dataclass
from picomem.provenance.statements import content_words
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import meta, user_entries
from picomem.text.terms import terms

_MOST = 32  # quotes
_MOST_WORDS = 200  # of a quote
_DIGEST = 5  # bytes: of 6,400 words a false match has a chance of 1 in 10^8 a word
_RECENT = 30 * MINUTE
_LIKE = 0.5  # of a text's words in an older quote
_REFRESHED = MINUTE  # a quote that was kept within this time is not written again

Quote = tuple[Origin, str]


@dataclass(frozen=True, slots=True)
class StoredQuote:
    """A quote as it is kept."""

    at: Micros
    origin: Origin
    digests: frozenset[bytes]


def keep(tx: Transaction, scope: Scope, quotes: Iterable[Quote], now: Micros) -> None:
    """Keep quotes that go out now. Raises Corrupt where the record is damaged."""
    key = meta.redaction_key(tx)
    fresh = [StoredQuote(now, origin, _digests(key, sorted(set(terms(text)))[:_MOST_WORDS])) for origin, text in quotes]
    known = load(tx, scope, now)
    lately = {(quote.origin, quote.digests) for quote in known if quote.at > now - _REFRESHED}
    if all((quote.origin, quote.digests) in lately for quote in fresh):
        return
    again = {(quote.origin, quote.digests) for quote in fresh}
    kept = [*(quote for quote in known if (quote.origin, quote.digests) not in again), *fresh][-_MOST:]
    stored = [[quote.at, quote.origin.value, b64encode(b"".join(sorted(quote.digests))).decode()] for quote in kept]
    user_entries.put(tx, scope, user_entries.HANDED_OVER, json.dumps(stored))


def load(tx: Transaction, scope: Scope, now: Micros) -> list[StoredQuote]:
    """The quotes of the last day, the latest last. Raises Corrupt where the record is damaged."""
    stored = user_entries.value(tx, scope, user_entries.HANDED_OVER)
    try:
        rows = [] if stored is None else json.loads(stored)
        kept = [StoredQuote(int(at), Origin(origin), _unpacked(packed)) for at, origin, packed in rows]
    except (TypeError, ValueError) as error:
        raise Corrupt(CodedText("failure.damaged_handouts", command=Command("doctor", repair=True))) from error
    return [quote for quote in kept if quote.at > now - DAY]


def in_context(
    tx: Transaction, kept: Iterable[StoredQuote], text: str, now: Micros
) -> list[tuple[Origin, frozenset[str]]]:
    """Return the quotes that may be in an agent's context when it stores `text`, each with the words in common.

    These are the recent quotes, and those that have half of the text's words.
    """
    key = meta.redaction_key(tx)
    words = {_digest(key, word): word for word in content_words(text)}
    overlaps = [(quote, frozenset(words[digest] for digest in quote.digests & words.keys())) for quote in kept]
    return [
        (quote.origin, shared)
        for quote, shared in overlaps
        if quote.at > now - _RECENT or (words and len(shared) >= _LIKE * len(words))
    ]


def _digests(key: bytes, words: Iterable[str]) -> frozenset[bytes]:
    return frozenset(_digest(key, word) for word in words)


def _digest(key: bytes, word: str) -> bytes:
    return blake2b(word.encode("utf-8", "surrogatepass"), key=key, digest_size=_DIGEST).digest()


def _unpacked(packed: str) -> frozenset[bytes]:
    data = b64decode(packed, validate=True)
    return frozenset(data[at : at + _DIGEST] for at in range(0, len(data), _DIGEST))
