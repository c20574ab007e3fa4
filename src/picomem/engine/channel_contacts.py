"""Who writes on a channel: known people, and senders who wait for the owner to accept them.

A sender is known by the ids that the channel gives. Where one of them is known, the others become known with it, since
the channel vouches for all of them. An unknown sender gets a code, which the owner sees and the sender does not: the
owner accepts the sender with it. A code has 50 random bits, is valid for a day and once, and at most so many wait.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from picomem.clock import DAY
from picomem.engine.channel_log import Incoming
from picomem.engine.engine import Engine
from picomem.errors import NotFound
from picomem.records.channel_message import Contact, Pairing
from picomem.records.scope import Scope
from picomem.records.session import Channel
from picomem.sessions.channel_users import user_of
from picomem.store import contact_rows
from picomem.store.connector import Transaction
from picomem.text.inert_text import one_line
from picomem.text.storable import plain

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without letters that look like others
_CODE_LENGTH = 10
_MOST_WAITING = 50  # of an account
_LONGEST_NAME = 60


def person_of(engine: Engine, incoming: Incoming) -> str:
    """The user who sends a message; empty for an unknown sender."""
    connector = engine._context.connector
    with connector.read() as tx:
        people = [contact_rows.person_of(tx, incoming.channel, incoming.account, one) for one in incoming.native_ids]
    person = next((one for one in people if one), "")
    if person and not all(people):
        with connector.write(contact_rows.SCOPE) as tx:
            for native_id, known in zip(incoming.native_ids, people):
                if not known:
                    _put(tx, engine, incoming.channel, incoming.account, native_id, person)
    return person


def ask_to_pair(engine: Engine, incoming: Incoming) -> bool:
    """Let an unknown sender wait for the owner; whether they wait from now on, and not for some time already."""
    now = engine.now()
    with engine._context.connector.write(contact_rows.SCOPE) as tx:
        contact_rows.delete_expired(tx, now)
        waiting = [
            pairing
            for pairing in contact_rows.pairings(tx)
            if (pairing.channel, pairing.account) == (incoming.channel, incoming.account)
        ]
        if any(set(pairing.native_ids) & set(incoming.native_ids) for pairing in waiting):
            return False
        if len(waiting) >= _MOST_WAITING:
            return False
        name = engine._context.redactor().redact(plain(incoming.name)).text
        contact_rows.put_pairing(
            tx,
            Pairing(
                code="".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH)),
                channel=incoming.channel,
                account=incoming.account,
                native_ids=incoming.native_ids,
                name=one_line(name)[:_LONGEST_NAME],
                created_at=now,
                expires_at=now + DAY,
            ),
        )
    return True


def pairings(engine: Engine) -> list[Pairing]:
    """The senders who wait, without those whose codes have expired."""
    now = engine.now()
    with engine._context.connector.read() as tx:
        return [pairing for pairing in contact_rows.pairings(tx) if now < pairing.expires_at]


def every_contact(engine: Engine) -> list[Contact]:
    """All people who are known, with the ids of their channels."""
    with engine._context.connector.read() as tx:
        return contact_rows.every(tx)


def accept(engine: Engine, code: str, person: str) -> tuple[str, Pairing]:
    """Accept the sender with that code as a user; the user, and what was accepted. Without a `person` it is the user
    id that the channel gives (sessions/channel_users.py). Raises NotFound for a code that nobody waits with."""
    wanted = code.strip().upper().encode("utf-8", "replace")
    with engine._context.connector.write(contact_rows.SCOPE) as tx:
        waiting = [pairing for pairing in contact_rows.pairings(tx) if engine.now() < pairing.expires_at]
        pairing = next((one for one in waiting if secrets.compare_digest(one.code.encode(), wanted)), None)
        if pairing is None:
            raise NotFound("Nobody waits with that code; `picomem pair list` shows who waits.")
        user = Scope(person or default_user(pairing.channel, pairing.native_ids)).user
        for native_id in pairing.native_ids:
            _put(tx, engine, pairing.channel, pairing.account, native_id, user)
        contact_rows.delete_pairing(tx, pairing.code)
    return user, pairing


def revoke(engine: Engine, person: str) -> int:
    """Let a user write on no channel any more; how many ids were known. Raises NotFound where none was."""
    with engine._context.connector.write(contact_rows.SCOPE) as tx:
        count = contact_rows.forget(tx, person)
    if not count:
        raise NotFound(f"No channel knows {person[:64]}; `picomem pair list` shows who is known.")
    return count


def default_user(channel: str, native_ids: Sequence[str]) -> str:
    """The user id that the channel gives: by a phone number where there is one."""
    phone = next((one.partition(":")[2] for one in native_ids if one.startswith("phone:")), "")
    if channel == Channel.WHATSAPP and phone:
        return user_of(Channel.WHATSAPP, name=phone)
    return f"{channel}:{native_ids[0].partition(':')[2]}"


def _put(tx: Transaction, engine: Engine, channel: str, account: str, native_id: str, person: str) -> None:
    contact = Contact(channel=channel, account=account, native_id=native_id, person=person, created_at=engine.now())
    contact_rows.put(tx, contact)
