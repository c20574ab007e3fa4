"""Entries about the store itself: one text by name. After the store was created, only a repair writes to them, a move
into an empty store, and the daily check of the file."""

from __future__ import annotations

from typing import NamedTuple

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.store.connector import Transaction
from picomem.store.row_hash import is_whole
from picomem.store.sql_access import sql

REDACTION_KEY = "redaction_key"  # what fingerprints and tombstones are hashed with
FILE_CHECK = "file_check"  # see file_checks.py


def value(tx: Transaction, name: str) -> str | None:
    """The text of that name; None where there is none. Raises Corrupt where it does not match its hash."""
    row = sql(tx).one("meta", name=name)
    if row is None:
        return None
    if not is_whole("meta", row):
        raise Corrupt(CodedText("failure.damaged_entry", name=name, command=Command("doctor", repair=True)))
    return str(row[1])


def put(tx: Transaction, name: str, text: str) -> None:
    """Store a text under a name, in place of the one before."""
    sql(tx).run("set_meta", name=name, value=text)


class MetaEntry(NamedTuple):
    """A text by its name, and whether its row matches its hash."""

    name: str
    text: str
    is_whole: bool


def entries(tx: Transaction) -> list[MetaEntry]:
    """Every text, damaged or not, by name."""
    return [MetaEntry(str(row[0]), str(row[1]), is_whole("meta", row)) for row in sql(tx).all("all_meta")]


def delete(tx: Transaction, name: str) -> None:
    """Delete the text of that name."""
    sql(tx).run("delete_meta", name=name)


def key(tx: Transaction) -> bytes:
    """The key of the store. Raises Corrupt."""
    return bytes.fromhex(_required(tx, REDACTION_KEY))


def redaction_key(tx: Transaction) -> bytes:
    """The key of the fingerprints that take the place of secrets. Where it is damaged another one serves: secrets are
    found without a key, and only equal ones are no longer seen to be equal. (Tombstones do need the very key.)"""
    try:
        return key(tx)
    except Corrupt:
        return bytes(32)


def is_key(text: str) -> bool:
    """Return whether a text can be the key of a store."""
    return len(text) == 64 and all(digit in "0123456789abcdef" for digit in text)


def _required(tx: Transaction, name: str) -> str:
    stored = value(tx, name)
    if stored is None:
        raise Corrupt(CodedText("failure.lost_entry", name=name, command=Command("doctor", repair=True)))
    return stored
