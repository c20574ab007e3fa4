"""The rows of contacts and pairings on channels. They belong to the directory (records/channel_message.py)."""

from __future__ import annotations

import json

from picomem.clock import Micros
from picomem.records.channel_message import DIRECTORY, Contact, Pairing
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import readable
from picomem.store.row_hash import by_name, is_whole, record_of, whole_rows
from picomem.store.sql_access import sql

SCOPE = Scope(DIRECTORY)


def put(tx: Transaction, contact: Contact) -> None:
    """Store a contact, in place of the one with that id."""
    sql(tx).run("put_contact", user=DIRECTORY, **{name: getattr(contact, name) for name in Contact.__slots__})


def of_id(tx: Transaction, channel: str, account: str, native_id: str) -> Contact | None:
    """The contact of an id, revoked or not; None where there is none, or its row is damaged."""
    row = sql(tx).one("contact", user=DIRECTORY, channel=channel, account=account, native_id=native_id)
    return _contact(row) if row is not None and is_whole("contacts", row) else None


def of_person(tx: Transaction, person: str) -> list[Contact]:
    """The contacts of a person on all channels, with the revoked ones; damaged ones are left out."""
    rows = sql(tx).all("contacts_of_person", user=DIRECTORY, person=person)
    return [_contact(row) for row in whole_rows("contacts", rows)]


def unchecked_of_person(tx: Transaction, person: str) -> list[Contact]:
    """The contacts of a person, the damaged ones as far as they can be read: for a purge, which deletes them all."""
    rows = sql(tx).all("contacts_of_person", user=DIRECTORY, person=person)
    return [_contact(readable("contacts", row)) for row in rows]


def every(tx: Transaction, damaged: list[str] | None = None) -> list[Contact]:
    """All contacts, by person, with the revoked ones; damaged ones are left out and put on `damaged`."""
    return [_contact(row) for row in whole_rows("contacts", sql(tx).all("contacts", user=DIRECTORY), damaged)]


def forget(tx: Transaction, person: str) -> int:
    """Delete the contacts of a person; how many there were."""
    return sql(tx).run("delete_contacts", user=DIRECTORY, person=person)


def put_pairing(tx: Transaction, pairing: Pairing) -> None:
    """Store a sender who waits to be accepted."""
    values = {name: getattr(pairing, name) for name in Pairing.__slots__}
    sql(tx).run("put_pairing", user=DIRECTORY, **{**values, "native_ids": json.dumps(pairing.native_ids)})


def pairings(tx: Transaction, damaged: list[str] | None = None) -> list[Pairing]:
    """The senders who wait, the first one first; damaged rows are left out and put on `damaged`."""
    return [_pairing(row) for row in whole_rows("pairings", sql(tx).all("pairings", user=DIRECTORY), damaged)]


def delete_pairing(tx: Transaction, code: str) -> None:
    """Delete a pairing."""
    sql(tx).run("delete_pairing", user=DIRECTORY, code=code)


def delete_expired(tx: Transaction, now: Micros) -> None:
    """Delete the pairings that have expired."""
    sql(tx).run("delete_expired_pairings", user=DIRECTORY, now=now)


def _contact(row: Row) -> Contact:
    values = by_name("contacts", row)
    return record_of(Contact, values)


def _pairing(row: Row) -> Pairing:
    values = by_name("pairings", row)
    return record_of(Pairing, values, native_ids=tuple(json.loads(values["native_ids"])))
