"""Verifies the record of changes of a user, and the signed heads of it (store/chain_links.py).

A head is a line of JSON: whose record, up to which row, its link, the last turn before it, and when; with an Ed25519
signature under a key that is made from the store's. So nobody who lacks that key makes one, and who has the public key
alone can check where it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from picomem.clock import Micros, iso, parse_iso
from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import dataclass
from picomem.records.scope import Scope
from picomem.store.chain_links import Broken, BrokenKind, ChainKey
from picomem.store.connector import Transaction
from picomem.store.tables import change_chain
from picomem.store.tables.change_chain import ChainState, Place

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Head = dict[str, Any]  # as it is printed
_FORMAT = "picomem head 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenChange:
    """The first change that is not as it was written: its number in the record, and its id and time, or of one that is
    gone those of the next."""

    seq: int
    kind: BrokenKind
    id: str = ""
    at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCheck:
    """What is known of a record. `whole` is None where it cannot be verified, and `problem` says why. `changes` counts
    those that were verified, the first of `since`; `begins_because` is the reason of the turn before them, if any.
    `heads` counts the heads that were compared, `older_heads` those from before the record began anew or was restored.
    """

    whole: bool | None
    changes: int = 0
    since: Micros | None = None
    begins_because: str = ""
    broken: BrokenChange | None = None
    heads: int = 0
    older_heads: int = 0
    problem: str = ""


def verify(tx: Transaction, scope: Scope, heads: list[Head]) -> RecordCheck:
    """Verify a user's record from its beginning, and against heads. Raises InvalidInput for a forged head."""
    key = change_chain.key_file(tx).find()
    last = change_chain.last_place(tx, scope)
    if last is None and not heads:
        return RecordCheck(whole=True)
    if key is None or (last is not None and not change_chain.goes_on(tx, scope, key, last)):
        has = "the key of the record is not there" if key is None else "the record was linked with another key"
        return RecordCheck(
            whole=None,
            problem=f"Its links cannot be checked, because {has}; put it back as {change_chain.key_file(tx).path}, "
            "or the next change begins the record anew.",
        )
    state = change_chain.walk(tx, scope, key)
    broken, older = state.broken, 0
    for head in heads:
        told = _compare(tx, scope, key, state, head)
        older += told == "older"
        if isinstance(told, Broken) and (broken is None or told.seq < broken.seq):
            broken = told
    begins = state.begins
    first = change_chain.first_from(tx, scope, (begins.seq if begins else 0) + 1)
    return RecordCheck(
        whole=broken is None,
        changes=state.last.seq - (begins.seq if begins else 0),
        since=begins.at if begins else first.at if first else None,
        begins_because=begins.reason if begins else "",
        broken=None if broken is None else _named(tx, scope, broken),
        heads=len(heads),
        older_heads=older,
    )


def _compare(tx: Transaction, scope: Scope, key: ChainKey, state: ChainState, head: Head) -> Broken | str:
    """Compare a record with a head: the first row that is not the head's, or "older" where the rows of the head need
    not be there any more, or else ""."""
    check_signature(head)
    if head["public_key"] != _public_key(key):
        is_of_before = any(turn.reason in ("key", "moved") for turn in state.turns)
        return "older" if is_of_before else Broken(head["seq"], "cut off")
    names = [turn.name for turn in state.turns]
    known = names.index(head["turn"]) + 1 if head["turn"] in names else 0
    if head["turn"] and not known:  # a backup from before that turn may have been restored
        replaced = (turn.at for turn in state.turns if turn.reason in ("restored", "moved"))
        return "older" if max(replaced, default=0) > parse_iso(head["at"]) else Broken(head["seq"], "cut off")
    if any(turn.reason != "restored" or turn.seq < head["seq"] for turn in state.turns[known:]):
        return "older"
    begins = state.begins
    if begins is not None and head["seq"] == begins.seq:
        return "" if head["link"] == begins.link else Broken(head["seq"], "cut off")
    row = change_chain.first_from(tx, scope, head["seq"])
    if head["seq"] == 0 or (row is not None and (row.seq, row.link) == (head["seq"], head["link"])):
        return ""
    return Broken(min(head["seq"], state.last.seq + 1), "cut off")


def _named(tx: Transaction, scope: Scope, broken: Broken) -> BrokenChange:
    row = change_chain.first_from(tx, scope, broken.seq)
    if row is None:
        return BrokenChange(seq=broken.seq, kind=broken.kind)
    return BrokenChange(seq=broken.seq, kind=broken.kind, id=row.id, at=row.at)


def current(tx: Transaction, scope: Scope, now: Micros) -> Head:
    """The head of a user's record as it is now, unsigned. Raises NotFound where there is nothing to sign."""
    last = change_chain.last_place(tx, scope)
    if last is None:
        raise NotFound("Nothing was recorded yet, so the record has no head.")
    turns = change_chain.turns(tx, scope)
    turn = turns[-1].name if turns else ""
    return {"head": _FORMAT, "user": scope.user, "seq": last.seq, "link": last.link, "turn": turn, "at": iso(now)}


def signed(tx: Transaction, scope: Scope, now: Micros) -> Head:
    """The head of a user's record as it is now. Raises NotFound without a record or its key."""
    head, key = current(tx, scope, now), change_chain.key_file(tx).find()
    if key is None or not change_chain.goes_on(tx, scope, key, Place(head["seq"], head["link"])):
        raise NotFound(f"The key of the record is not there; put it back as {change_chain.key_file(tx).path}.")
    head["public_key"] = _public_key(key)
    return {**head, "signature": _private_key(key).sign(_text(head)).hex()}


def line_of(head: Head) -> str:
    """A head as a line of a file of heads."""
    return json.dumps(head) + "\n"


def read_heads(text: str, user: str) -> list[Head]:
    """The heads of a user in a file of heads. Raises InvalidInput where there is none."""
    heads = [head for head in _parsed(text) if head["user"] == user]
    if not heads:
        raise InvalidInput(f"It holds no head of the record of {user}; name a file that `picomem audit head` made.")
    return heads


def _parsed(text: str) -> Iterator[Head]:
    kinds = {"user": str, "seq": int, "link": str, "turn": str, "at": str, "public_key": str, "signature": str}
    rest = text.lstrip()
    while rest:
        try:
            head, end = json.JSONDecoder().raw_decode(rest)
            is_head = head["head"] == _FORMAT and all(type(head[name]) is kind for name, kind in kinds.items())
        except (KeyError, TypeError, ValueError):
            head, end, is_head = {}, 0, False
        if not is_head:
            raise InvalidInput(f"“{rest[:60]}” is no head of a record; name a file that `picomem audit head` made.")
        yield head
        rest = rest[end:].lstrip()


def check_signature(head: Mapping[str, Any]) -> None:
    """Raise InvalidInput for a head that is not as it was signed."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only a head needs it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - only a head needs it

    unsigned = {name: value for name, value in head.items() if name != "signature"}
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(head["public_key"]))
        key.verify(bytes.fromhex(head["signature"]), _text(unsigned))
    except (InvalidSignature, ValueError) as error:
        raise InvalidInput(f"The head of {head['at'][:40]} is not as it was signed, so it shows nothing.") from error


def _text(head: Mapping[str, Any]) -> bytes:
    return json.dumps(head, sort_keys=True, separators=(",", ":")).encode()


def _private_key(key: ChainKey) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - only a head needs it

    seed = bytes.fromhex(key.mac("head") + key.mac("head, continued"))
    return ed25519.Ed25519PrivateKey.from_private_bytes(seed)


def _public_key(key: ChainKey) -> str:
    return _private_key(key).public_key().public_bytes_raw().hex()
