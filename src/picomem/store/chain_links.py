"""The chain over the record of changes, by which an edit of the record from outside is seen. Pure.

    sealed = H(salt, content)                                   32 hexadecimal digits; `salt` is random
    link   = id of the key, HMAC(key, previous link, sealed, facts)       8 and 32 hexadecimal digits

(`facts` and `sealed` are the leaf of a row. H is BLAKE2b, and the HMAC is its keyed form.) The first link of a user
follows one that is made of their id. Each user has a chain of their own, whose last link is read under that user's
lock.

- **Facts** never change: who did what, when, in which run, and what it undoes. **Content** can go: reason, candidate,
  which memory and versions, and the request. A purge or a scrub that changes it drops the salt, so that nobody can try
  out what was said, and puts an HMAC of what it left in the salt's place. Facts, `sealed` and `link` stay, and so the
  chain is whole behind an erasure. A row that was edited before gets no such HMAC: it stays broken.
- **Turns** are the recorded reasons for which the chain does not run from the first row to the last. They are one entry
  of the user under an HMAC. `erased`: the rows up to there are gone, because a purge took everything. `expired`:
  retention took them; only the last such turn is kept. `moved`: the rows up to there came from another store, which
  can verify them. `key`: they were linked with another key. In these the chain begins behind that row. `restored`: a
  backup took the place of the store there, so the later rows of that time are no more. The chain goes on.
- A **head** is the last link at a time, signed and copied elsewhere: without one, rows that were cut off at the end are
  not missed.

What it shows, and what not: see docs/audit.md. The key lies outside of the database (chain_key.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from picomem.blake2b import blake2b
from picomem.clock import Micros

BrokenKind = Literal["changed", "removed", "inserted", "reordered", "cut off", "beginning"]
TurnReason = Literal["erased", "expired", "moved", "key", "restored"]
Row = tuple[Any, ...]
_DIGEST = 16  # bytes
_DIGITS = 32  # of a digest, and of a salt
_LEFT = "="  # begins what stands in the place of a salt once the content was changed


class ChainKey(NamedTuple):
    """The key of a store's chains, and the digits by which a link names it."""

    secret: bytes
    id: str

    @classmethod
    def of(cls, secret: bytes) -> ChainKey:
        return cls(secret, blake2b(b"chain key", key=secret, digest_size=4).hexdigest())

    def mac(self, text: str) -> str:
        return blake2b(text.encode(), key=self.secret, digest_size=_DIGEST).hexdigest()

    def made(self, link: str) -> bool:
        """Return whether a link was made with this key."""
        return link.startswith(self.id)


class ChainTurn(NamedTuple):
    """A place where a chain begins anew, or went on with fewer rows. `seq` and `link` are those of the last row."""

    seq: int
    link: str
    at: Micros
    reason: TurnReason

    @property
    def name(self) -> str:
        """How a head names it."""
        return f"{self.reason} {self.seq} {self.at}"


class Broken(NamedTuple):
    """The first row that is not as it was written."""

    seq: int
    kind: BrokenKind


def facts(values: Mapping[str, Any]) -> str:
    """What of a change never changes, as the statement `chain_rows` gives it. No text has two meanings: the first
    number tells how long the last part is, and no other part holds a space."""
    words = (values[name] for name in ("id", "run", "at", "verb", "decision", "undoes"))
    return " ".join((str(len(values["actor"])), *map(str, words), values["actor"]))


def content(values: Mapping[str, Any]) -> str:
    """What of a change can go, as the statement `chain_rows` gives it; the first three numbers tell how long the last
    three parts are."""
    reason, candidate, key = values["reason"], values["candidate"], values["idempotency_key"]
    before, after = ("-" if values[name] is None else values[name] for name in ("before", "after"))
    request = "-" if values["request_hash"] is None else f"={values['request_hash']}"
    lengths = f"{len(reason)} {len(candidate)} {-1 if key is None else len(key)}"
    about = f"{values['memory_id']} {before} {after} {values['content_hash']} {request}"
    return f"{lengths} {about} {reason}{candidate}{key or ''}"


def new_salt() -> str:
    return os.urandom(_DIGEST).hex()


def seal(salt: str, content: str) -> str:
    return blake2b((salt + content).encode(), digest_size=_DIGEST).hexdigest()


def beginning(key: ChainKey, chain: str, user: str) -> str:
    """What the first link of a chain follows."""
    return key.id + key.mac(f"{chain} of {user}")


def link(key: ChainKey, previous: str, sealed: str, facts: str) -> str:
    return key.id + key.mac(previous + sealed + facts)


def left(key: ChainKey, link: str, content: str) -> str:
    """What takes the place of the salt when content is changed."""
    return _LEFT + key.mac(f"left {link} {content}")


def is_sealed(key: ChainKey, salt: str, sealed: str, link: str, content: str) -> bool:
    """Return whether the content of a row is what was written, or what a purge or a scrub left of it."""
    if salt.startswith(_LEFT):
        return len(sealed) == _DIGITS and salt == left(key, link, content)
    return len(salt) == _DIGITS and seal(salt, content) == sealed


class Walk:
    """Follows a chain from row to row, in any number of pages, up to the first that is not as it was written."""

    def __init__(self, key: ChainKey, seq: int, previous: str) -> None:
        """It begins behind the row `seq`, whose link is `previous`."""
        self.key = key
        self.seq, self.link = seq, previous

    def pass_over(self, rows: Iterable[Row]) -> BrokenKind | None:
        """Go on over rows, given as `chain_rows` does; what is wrong with the one behind `self.seq`, if anything."""
        seq, previous, (secret, key_id) = self.seq, self.link, self.key
        wrong: BrokenKind | None = None
        # The calls are written out here, because each costs a tenth of what a row may.
        for number, salt, sealed, stored, told, said in rows:
            if number != seq + 1:
                wrong = "removed" if number > seq else "inserted"
                break
            mac = blake2b(f"{previous}{sealed}{told}".encode(), key=secret, digest_size=_DIGEST)
            if stored != key_id + mac.hexdigest() or (
                (len(salt) != _DIGITS or sealed != blake2b(f"{salt}{said}".encode(), digest_size=_DIGEST).hexdigest())
                and not is_sealed(self.key, salt, sealed, stored, said)
            ):
                wrong = "changed"
                break
            seq, previous = number, stored
        self.seq, self.link = seq, previous
        return wrong

    def kind_of_break(self, rows: Sequence[Row]) -> BrokenKind:
        """Which of the other kinds it is that a row is not as it was written: `rows` are it and all behind it."""
        (_, salt, sealed, stored, told, said), behind = rows[0], rows[1:]
        if not is_sealed(self.key, salt, sealed, stored, said):
            return "changed"
        if any(stored == link(self.key, other[3], sealed, told) for other in behind):
            return "reordered"
        if behind and behind[0][3] == link(self.key, self.link, behind[0][2], behind[0][4]):
            return "inserted"
        return "changed"


def turns_text(key: ChainKey, user: str, chain: str, turns: Sequence[ChainTurn], *, is_whole: bool = True) -> str:
    """The turns as they are stored. Those that were not whole before do not become so."""
    mac = key.mac(f"{chain} turns of {user} {json.dumps(turns)}") if is_whole else ""
    return json.dumps({"mac": mac, "turns": turns})


def turns_of(text: str | None) -> tuple[ChainTurn, ...]:
    """The turns of a stored text, unchecked; none where it cannot be read."""
    try:
        turns = tuple(ChainTurn(*turn) for turn in json.loads(text or "{}").get("turns", ()))
        return turns if all(tuple(map(type, turn)) == (int, str, int, str) for turn in turns) else ()
    except (AttributeError, TypeError, ValueError):
        return ()


def is_whole_text(key: ChainKey, user: str, chain: str, text: str | None) -> bool:
    """Return whether the turns are stored as they were written."""
    return text is None or text == turns_text(key, user, chain, turns_of(text))


def begin(turns: Sequence[ChainTurn]) -> ChainTurn | None:
    """The turn behind which a chain begins; None where it begins with the first row."""
    return max(
        (turn for turn in turns if turn.reason != "restored"), key=lambda turn: (turn.seq, turn.at), default=None
    )
