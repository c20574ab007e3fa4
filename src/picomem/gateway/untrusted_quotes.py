"""The untrusted text that a server quoted to its clients, recognised when a client stores it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import Any

from picomem.engine.agent_texts import keep_quotes, quotes_in_context, statements
from picomem.engine.engine import Engine
from picomem.light_dataclass import asdict
from picomem.operations.offer_origins import SpokenTexts, vouched
from picomem.records.kinds import Origin
from picomem.records.untrusted_fence import quoted_in
from picomem.text.terms import terms

_MOST_USERS = 256
_MOST_KEPT = 256  # quotes whose words are compared; some are always kept


class UntrustedQuotes:
    """The untrusted text that a server quoted to its client, or that another server quoted to the same user recently.

    The store keeps recent quotes (memory/untrusted_handouts.py), because a client may outlive a restart of its server.
    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._texts: dict[tuple[Origin, str], None] = {}
        self._unkept: dict[tuple[Origin, str], None] = {}  # what the store could not be told yet
        self._lock = Lock()

    def note(self, engine: Engine, told: Any, own: Iterable[str] = ()) -> None:
        """Record the quotes of a result. `own` are the client's own texts, which the result may repeat."""
        sent = {term for text in own for term in terms(text)}
        quotes = (quote for text in texts_in(told) for quote in quoted_in(text))
        quoted = [quote for quote in quotes if not sent.issuperset(_words(quote[1]))]
        with self._lock:
            self._texts |= dict.fromkeys(quoted)
            for oldest in list(self._texts)[:-_MOST_KEPT]:
                del self._texts[oldest]
            unkept = list(dict.fromkeys((*self._unkept, *quoted)))[-_MOST_KEPT:]
            self._unkept = {}
        if not keep_quotes(engine, unkept):
            with self._lock:
                self._unkept = dict.fromkeys(unkept) | self._unkept

    def spoken(self, engine: Engine, arguments: Any) -> SpokenTexts | None:
        """Return the untrusted text that the client may have read before it stores these arguments, if any."""
        with self._lock:
            texts = list(self._texts)
        others = [(origin, frozenset(terms(text))) for origin, text in texts]
        others += quotes_in_context(engine, " ".join(texts_in(arguments)))
        return SpokenTexts((statements(engine),), tuple(others)) if others else None

    def vouched(self, engine: Engine, request: Any) -> tuple[Any, str]:
        """Return the request with the origin of its text, and a remark about that origin for the client."""
        return vouched(request, self.spoken(engine, asdict(request)), engine)


class UntrustedQuotesByUser:
    """`UntrustedQuotes` for each user of a server.

    Only users who asked recently are in memory; the store keeps the quotes of the others. Not safe for threads.
    """

    def __init__(self) -> None:
        self._users: dict[str, UntrustedQuotes] = {}

    def of(self, user: str) -> UntrustedQuotes:
        """The texts that were returned to this user's clients."""
        quotes = self._users.pop(user, None) or UntrustedQuotes()
        self._users[user] = quotes
        if len(self._users) > _MOST_USERS:
            del self._users[next(iter(self._users))]
        return quotes


def _words(quote: str) -> Iterable[str]:
    """The terms of a quote; of a key those of its parts, as a key is made of words that stand in the content."""
    return terms(quote.replace("_", " "))


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, but for the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from texts_in(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from texts_in(member)
