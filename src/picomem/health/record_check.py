"""Verifies the record of changes of a user, and the signed heads of it (store/chain_links.py).

A head is a line of JSON: whose record, when, and for each chain up to which row, its link and the last turn before it;
with an Ed25519 signature under a key that is made from the store's. So nobody who lacks that key makes one, and the
public key alone shows where it comes from.
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
from picomem.store.tables.chains import CHAINS, CHANGES, HANDOUTS, Chain, ChainPlace, ChainState, key_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Head = dict[str, Any]  # as it is printed
_FORMAT = "picomem head 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRow:
    """The first row that is not as it was written: of which record, "changes" or "handouts", its number there, and its
    id and time, or of one that is gone those of the next."""

    record: str
    seq: int
    kind: BrokenKind
    id: str = ""
    at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCheck:
    """What is known of a record. `whole` is None where it cannot be verified, and `problem` says why. `changes` counts
    those that were verified, the first of `since`; `begins_because` is the reason of the turn before them, if any.
    `handouts` counts the verified rows of what was handed out. `heads` counts the heads that were compared,
    `older_heads` those from before the record began anew or was restored."""

    whole: bool | None
    changes: int = 0
    since: Micros | None = None
    begins_because: str = ""
    handouts: int = 0
    broken: BrokenRow | None = None
    heads: int = 0
    older_heads: int = 0
    problem: str = ""


def verify(tx: Transaction, scope: Scope, heads: list[Head]) -> RecordCheck:
    """Verify a user's record from its beginning, and against heads. Raises InvalidInput for a forged head."""
    key = key_file(tx).find()
    lasts = {chain: last for chain in CHAINS if (last := chain.last(tx, scope)) is not None}
    if not lasts and not heads:
        return RecordCheck(whole=True)
    if key is None or not all(chain.goes_on(tx, scope, key, last) for chain, last in lasts.items()):
        has = "the key of the record is not there" if key is None else "the record was linked with another key"
        return RecordCheck(
            whole=None,
            problem=f"Its links cannot be checked, because {has}; put it back as {key_file(tx).path}, "
            "or the next change begins the record anew.",
        )
    states = {chain: chain.walk(tx, scope, key) for chain in CHAINS}
    broken = [_named(tx, scope, chain, state.broken) for chain, state in states.items() if state.broken]
    older = 0
    for head in heads:
        told = [_compare(tx, scope, key, chain, states[chain], head) for chain in CHAINS]
        older += told[0] == "older"
        broken += [_named(tx, scope, chain, one) for chain, one in zip(CHAINS, told) if isinstance(one, Broken)]
    begins = states[CHANGES].begins
    first = CHANGES.first_from(tx, scope, (begins.seq if begins else 0) + 1)
    return RecordCheck(
        whole=not broken,
        changes=_count(states[CHANGES]),
        since=begins.at if begins else first.at if first else None,
        begins_because=begins.reason if begins else "",
        handouts=_count(states[HANDOUTS]),
        broken=min(broken, key=lambda row: (row.record, row.seq), default=None),
        heads=len(heads),
        older_heads=older,
    )


def _count(state: ChainState) -> int:
    return state.last.seq - (state.begins.seq if state.begins else 0)


def _compare(tx: Transaction, scope: Scope, key: ChainKey, chain: Chain, state: ChainState, head: Head) -> Broken | str:
    """Compare a chain with a head: the first row that is not the head's, or "older" where the rows of the head need not
    be there any more, or else ""."""
    check_signature(head)
    seq, link, last_turn = (head[chain.name][name] for name in ("seq", "link", "turn"))
    if not seq:
        return ""  # nothing was there yet
    turns = [turn for turn in state.turns if turn.reason != "expired"]
    names = [turn.name for turn in turns]
    known = names.index(last_turn) + 1 if last_turn in names else 0
    is_of_another_key = head["public_key"] != _public_key(key)
    if is_of_another_key or (last_turn and not known):
        # A head from behind a turn that is not there is of a store that was replaced since.
        is_replaced = any(turn.reason != "erased" and turn.at > parse_iso(head["at"]) for turn in turns)
        is_of_before = is_of_another_key and any(not key.made(turn.link) for turn in state.turns)
        return "older" if is_replaced or is_of_before else Broken(seq, "cut off")
    first = state.begins.seq if state.begins else 0
    if seq < first or any(turn.reason != "restored" or turn.seq < seq for turn in turns[known:]):
        return "older"
    if seq == first:
        return "" if state.begins is None or link == state.begins.link else Broken(seq, "cut off")
    row = chain.first_from(tx, scope, seq)
    is_there = row is not None and (row.seq, row.link) == (seq, link)
    return "" if is_there else Broken(min(seq, state.last.seq + 1), "cut off")


def _named(tx: Transaction, scope: Scope, chain: Chain, broken: Broken) -> BrokenRow:
    row = chain.first_from(tx, scope, broken.seq)
    about = {} if row is None else {"id": row.id, "at": row.at}
    return BrokenRow(record=chain.name, seq=broken.seq, kind=broken.kind, **about)


def signed(tx: Transaction, scope: Scope, now: Micros) -> Head:
    """The head of a user's record as it is now. Raises NotFound without a record or its key."""
    key = key_file(tx).find()
    head: Head = {"head": _FORMAT, "user": scope.user, "at": iso(now)}
    for chain in CHAINS:
        last, turns = chain.last(tx, scope), [turn for turn in chain.turns(tx, scope) if turn.reason != "expired"]
        if chain is CHANGES and last is None:
            raise NotFound("Nothing was recorded yet, so the record has no head.")
        if key is None or (last is not None and not chain.goes_on(tx, scope, key, last)):
            raise NotFound(f"The key of the record is not there; put it back as {key_file(tx).path}.")
        last = last or ChainPlace(0, "")
        head[chain.name] = {"seq": last.seq, "link": last.link, "turn": turns[-1].name if turns else ""}
    assert key is not None
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
    rest = text.lstrip()
    while rest:
        try:
            head, end = json.JSONDecoder().raw_decode(rest)
            is_head = _is_head(head)
        except (KeyError, TypeError, ValueError):
            head, end, is_head = {}, 0, False
        if not is_head:
            raise InvalidInput(f"“{rest[:60]}” is no head of a record; name a file that `picomem audit head` made.")
        yield head
        rest = rest[end:].lstrip()


def _is_head(head: Mapping[str, Any]) -> bool:
    """Return whether it has all values. Raises KeyError and TypeError."""
    places = [head[chain.name] for chain in CHAINS]
    texts = [head[name] for name in ("user", "at", "public_key", "signature")]
    texts += [place[name] for place in places for name in ("link", "turn")]
    numbers = [place["seq"] for place in places]
    return head["head"] == _FORMAT and {*map(type, texts)} == {str} and {*map(type, numbers)} == {int}


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
