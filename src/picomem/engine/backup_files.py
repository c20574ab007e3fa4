"""Backs up a whole store, and restores a backup.

A backup is checked in a copy: every row against its hash, full text, references, the file. The same copy becomes the
store. Before that, it is compared with the current store: entries that were purged since the backup, and tokens and
grants that were revoked since, must not come back silently.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from picomem.clock import Micros, file_stamp
from picomem.coded_text import CodedText, Command
from picomem.engine.authorization import granted_in, permit_only
from picomem.engine.engine import Engine
from picomem.erasure.later_purges import LaterPurge, later_purges, purge_again, purge_ids
from picomem.errors import Conflict, Corrupt, InvalidInput, NotFound, Sealed, StoreError
from picomem.health.doctor import Diagnosis, examine
from picomem.light_dataclass import dataclass, field, replace
from picomem.paths import is_folder, make_private_dir, status_of
from picomem.records.channel_message import Contact
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.files.copying import copy_backup
from picomem.store.files.replacing import remove_store, replace_store
from picomem.store.files.sealed_files import is_sealed, key_of
from picomem.store.tables import access_tokens, contact_rows, meta, users
from picomem.store.tables.chains import CHAINS

Purged = Literal["", "again", "kept"]  # what becomes of what was purged since the backup
_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A copy of the whole store: where it lies, how large it is, and when it was made."""

    path: Path
    bytes: int
    at: Micros


@dataclass(slots=True, kw_only=True)
class Restored:
    """The result of a restore, or of its dry run. `kept` is where the store lies that stood there before; `erased`
    counts what was purged again; `compared` says whether there was a store to compare the backup with, and `trouble`
    why it could not be read."""

    store: Path
    diagnosis: Diagnosis
    kept: Path | None = None
    is_restored: bool = False
    compared: bool = False
    trouble: str = ""
    later: list[LaterPurge] = field(default_factory=list)
    purges: frozenset[str] = frozenset()  # all that the store knew of when they were compared
    erased: dict[str, int] = field(default_factory=dict)
    access_taken_back: int = 0


def back_up(engine: Engine, target: Path) -> Backup:
    """Copy the whole store, of all users, to a new file, or to a file with the time in its name in a folder.

    Others may write meanwhile; the copy holds what was committed when it began. Raises InvalidInput and StoreError.
    """
    connector, at = engine._context.connector, engine.now()
    if is_folder(target):
        target /= f"picomem-{file_stamp(at)}.db"
    connector.maintenance.copy_to(target)
    return Backup(path=target, bytes=target.stat().st_size, at=at)


def examine_backup(engine: Engine, source: Path) -> Diagnosis:
    """Check a backup: the file, every row and all derived data. Nothing is changed, and the store is not opened."""
    with _copied(engine, source, None) as copy:
        return _examined(engine, copy)


def restore(
    engine: Engine, source: Path, *, dry_run: bool = False, purged: Purged = "", despite_damage: bool = False
) -> Restored:
    """Put a backup in the place of the store, which is kept beside it. The engine's store is closed afterwards.

    Raises Corrupt for a damaged backup, unless it is to be restored `despite_damage`, and Conflict where something was
    purged since the backup and `purged` does not say what becomes of that.
    """
    store = Path(os.path.realpath(engine._context.connector.name))
    source_status, store_status = status_of(source), status_of(store)
    if source_status is None:
        raise NotFound(f"There is no file {source}.")
    if store_status is not None and os.path.samestat(source_status, store_status):
        raise InvalidInput(f"{source} is the store itself; name a backup of it.")
    if not dry_run:
        make_private_dir(store.parent)
    with _copied(engine, source, None if dry_run else store) as copy:
        restored = Restored(store=store, diagnosis=_examined(engine, copy))
        if not restored.diagnosis.healthy and not despite_damage and not dry_run:
            first = restored.diagnosis.findings[0].problem
            raise Corrupt(
                CodedText(
                    "failure.damaged_backup", path=str(source), problem=first, command=Command("restore", verify=True)
                )
            )
        if store_status is not None:
            _compare(engine, copy, restored, purged, dry_run=dry_run)
        if dry_run:
            return restored
        _record(engine, copy, restored)
        copy.close()
        restored.kept = replace_store(
            store, Path(copy.name), file_stamp(engine.now()), lambda: _check_unchanged(engine, restored)
        )
        restored.is_restored = True
    return restored


@contextmanager
def _copied(engine: Engine, source: Path, store: Path | None) -> Iterator[Connector]:
    """A copy of the backup, open: beside the store where it is to become that, and elsewhere in a folder of its own."""
    open_store = engine._context.resources.open_store
    if open_store is None:
        raise InvalidInput("This store is not a file, so picomem neither backs it up nor restores it.")
    with TemporaryDirectory(prefix="picomem-restore-") as folder:
        path = store.with_name(f".{store.name}.{os.getpid()}") if store else Path(folder, "backup.db")
        connector: Connector | None = None
        try:
            remove_store(path)
            copy_backup(source, path, _key_of(store))
            connector = open_store(path)
            yield connector
        finally:
            if connector is not None:
                connector.close()
            remove_store(path)


def _key_of(store: Path | None) -> str | None:
    """The key of the store whose place a backup takes, so that a plain backup does not open a sealed store for good."""
    if store is not None and is_sealed(store):
        with suppress(Sealed):
            return key_of(store)
    return None


def _examined(engine: Engine, copy: Connector) -> Diagnosis:
    context = engine._context
    return examine(copy, "none", context.redactor, context.writer("restore"), repair=False)


def _compare(engine: Engine, copy: Connector, restored: Restored, purged: Purged, *, dry_run: bool) -> None:
    """Find what was purged since the backup, and erase it from the copy where that is wanted; take back from it what
    was taken back since of tokens and grants."""
    try:
        with engine._context.connector.read() as now, copy.read() as then:
            if not _is_same_store(now, then):
                restored.trouble = "the backup is of another store"
                return
            restored.later = later_purges(now, then)
            restored.purges = purge_ids(now)
    except StoreError as error:
        restored.trouble = str(error)
        return
    restored.compared = True
    if dry_run:
        return
    if restored.later and not purged:
        raise Conflict(
            f"{len(restored.later)} times something was purged since the backup was made, and would be back; nothing "
            "was restored. Add --purge-again to erase it from the backup first, or --keep-purged to have it back."
        )
    _withdraw_access(engine, copy, restored)
    if restored.later and purged == "again":
        _purge_again(engine, copy, restored)


def _is_same_store(now: Transaction, then: Transaction) -> bool:
    return meta.key(now) == meta.key(then)


def _purge_again(engine: Engine, copy: Connector, restored: Restored) -> None:
    context = engine._context
    diagnosis = examine(context.connector, "none", context.redactor, context.writer("restore"), repair=False)
    if not diagnosis.healthy:
        raise Conflict(
            f"The store is damaged ({diagnosis.findings[0].problem}), so nobody can tell what of the backup was purged "
            "and what was lost; nothing was restored. Add --keep-purged, and purge again afterwards."
        )
    writer = context.writer("purge")
    with context.connector.read() as now:
        for scope in {purge.scope: None for purge in restored.later}:
            for name, count in purge_again(now, copy, scope, writer).items():
                restored.erased[name] = restored.erased.get(name, 0) + count
    copy.maintenance.leave_no_trace(_WAIT_SECONDS)


def _withdraw_access(engine: Engine, copy: Connector, restored: Restored) -> None:
    """A token that was revoked since, or went with a purge, opens nothing after a restore either, and an id of a
    channel that was revoked stands for nobody."""
    with engine._context.connector.read() as now, copy.read() as then:
        scopes = users.scopes(then)
        valid = {token.id for scope in scopes for token in access_tokens.every(now, scope) if token.revoked_at is None}
        granted = {scope: granted_in(now, scope) for scope in scopes}
        known = {_place(contact) for contact in contact_rows.every(now) if contact.revoked_at is None}
    for scope in scopes:
        with copy.write(scope) as tx:
            for token in access_tokens.every(tx, scope):
                if token.revoked_at is None and token.id not in valid:
                    access_tokens.revoke(tx, token, engine.now())
                    restored.access_taken_back += 1
            restored.access_taken_back += permit_only(tx, scope, granted[scope])
    with copy.write(contact_rows.SCOPE) as tx:
        for contact in contact_rows.every(tx):
            if contact.revoked_at is None and _place(contact) not in known:
                contact_rows.put(tx, replace(contact, revoked_at=engine.now()))
                restored.access_taken_back += 1


def _record(engine: Engine, copy: Connector, restored: Restored) -> None:
    """Note in the record of each user that what followed in the store is no more."""
    scopes: set[Scope] = set()
    for connector in (copy, *([engine._context.connector] if restored.compared else [])):
        with suppress(StoreError), connector.read() as tx:
            scopes |= set(users.scopes(tx))
    with suppress(StoreError):  # a damaged backup that is wanted as it is
        for scope in scopes:
            with copy.write(scope) as tx:
                for chain in CHAINS:
                    chain.turn(tx, scope, engine.now(), "restored")


def _place(contact: Contact) -> tuple[str, str, str, str]:
    return contact.channel, contact.account, contact.native_id, contact.person


def _check_unchanged(engine: Engine, restored: Restored) -> None:
    """Nothing was purged while the backup was made ready. The store is closed, because its files move next."""
    connector = engine._context.connector
    try:
        if restored.compared:
            with connector.read() as now:
                purges = purge_ids(now)
            if purges != restored.purges:
                raise Conflict("Something was purged meanwhile; nothing was restored. Run it again.")
    finally:
        connector.close()
