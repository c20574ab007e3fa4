"""Seals a store, opens it for good, and gives it another key. The engine's store must not be open yet."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from picomem.coded_text import CodedText, Command
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NoStore, StoreError, Unsupported
from picomem.ingest.source import ENDING
from picomem.ingest.transcript_copies import copies_folder
from picomem.light_dataclass import dataclass, field
from picomem.paths import named_path
from picomem.records.scope import Scope
from picomem.settings_tables import StoreSettings
from picomem.store import row_counts
from picomem.store.connector import EVERYONE, Connector, Transaction
from picomem.store.files import daily_copies, file_checks, store_keys
from picomem.store.files.replacing import kept_stores
from picomem.store.files.resealing import reseal
from picomem.store.files.sealed_files import is_sealed, key_of
from picomem.store.tables import exported_files, session_rows, users

Progress = Callable[[int, int, str], None]


@dataclass(slots=True, kw_only=True)
class Sealing:
    """`state` is "sealed", "plain" or "rekeyed", and `changed` whether it is so only now. `key` is where the key is.
    `others` are stores beside this one, kept by a restore, that got the same; `plain` names files that hold text of the
    store unencrypted and stay as they are. `warnings` says what could not be done, and what else to do."""

    store: str
    state: str
    changed: bool
    key: str = ""
    others: list[str] = field(default_factory=list)
    daily_copies_removed: bool = False
    plain: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def seal(engine: Engine, progress: Progress | None) -> Sealing:
    """Seal the store, and the stores that were kept beside it, with the key in the place that the settings name, which
    gets one if it has none. Raises InvalidInput where nobody named a place, and StoreError."""
    path, open_store = _file_of(engine)
    key = key_of(path)
    place = store_keys.place_of(path, key)
    if not (key or place.read()):
        _keep(place, [store_keys.new_key()])
    sealing = Sealing(store=str(path), state="sealed", changed=not key, key=place.name)
    key = key or place.read()[0]
    if sealing.changed:
        _write_anew(path, key, progress)
    _finish(sealing, path, key, open_store, [kept for kept in kept_stores(path) if not is_sealed(kept)])
    return sealing


def unseal(engine: Engine, progress: Progress | None) -> Sealing:
    """Write the store in plain; its key stays where it is, for backups. Raises StoreError."""
    path, open_store = _file_of(engine)
    key = key_of(path)
    sealing = Sealing(store=str(path), state="plain", changed=bool(key))
    if key:
        sealing.key = store_keys.place_of(path, key).name
        _write_anew(path, "", progress)
    _finish(sealing, path, "", open_store, [])
    return sealing


def change_key(engine: Engine, new_key_file: str, progress: Progress | None) -> Sealing:
    """Give a sealed store, and the stores kept beside it, another key: the one in a file, or else a random one in the
    place of the old one. Raises InvalidInput, Unsupported where only a person can change that place, and StoreError."""
    path, open_store = _file_of(engine)
    if not is_sealed(path):
        raise InvalidInput(f"{path} is not sealed; `picomem encrypt` seals it.")
    old = key_of(path)
    place = store_keys.place_of(path, old)
    others = [kept for kept in kept_stores(path) if is_sealed(kept)]
    sealing = Sealing(store=str(path), state="rekeyed", changed=True, key=place.name)
    if new_key_file:
        new = store_keys.key_in_file(named_path(new_key_file))
        sealing.key = f"the key file {new_key_file}"
        store_keys.choose(path, StoreSettings(key=f"{new} {old}"))  # for the rest of this process
        _write_anew(path, new, progress)
        _finish(sealing, path, new, open_store, others)
        return sealing
    new = store_keys.new_key()
    _keep(place, [new, old])
    _write_anew(path, new, progress)
    _finish(sealing, path, new, open_store, others)
    if not sealing.warnings:
        _keep(place, [new])
    return sealing


def check_destroyable(engine: Engine) -> None:
    """Raise InvalidInput where the key of the engine's store cannot be destroyed from here."""
    if engine._close is None:
        raise InvalidInput("The key of a store that others have open is destroyed at the terminal alone.")
    if not engine._context.connector.maintenance.is_sealed():
        raise InvalidInput("This store is not sealed, so it has no key; leave out --destroy-key.")


def destroy_key(engine: Engine) -> str:
    """Replace the key of a store in which nobody has anything any more, after a purge, so that nothing can read what
    disks and backups still have of it; what was done, in a sentence. The engine's store is closed afterwards."""
    with engine._context.connector.read() as tx:
        remain = [scope.user for scope in users.scopes(tx) if _has_anything(tx, scope)]
    if remain:
        return f"The key was kept, because {len(remain):,} others still have memory in the store."
    engine._context.connector.close()
    try:
        done = change_key(engine, "", None)
    except (InvalidInput, StoreError, Unsupported) as error:
        return f"The key was not destroyed: {error}"
    return f"The key was destroyed, in {done.key}: nobody can read earlier copies of the store any more."


def _has_anything(tx: Transaction, scope: Scope) -> bool:
    return bool(
        row_counts.memories_written(tx, scope).versions
        or row_counts.episodes(tx, scope)
        or session_rows.count(tx, scope)
    )


def _keep(place: store_keys.KeyPlace, keys: list[str]) -> None:
    try:
        place.keep(keys)
    except Unsupported as error:
        raise Unsupported(f"{error} Write the new key to a file, and name it with --new-key-file.") from error
    if place.read() != keys:
        raise InvalidInput(f"The key was not kept by {place.name}, so nothing was changed; keep it in another place.")


def _file_of(engine: Engine) -> tuple[Path, Callable[[Path], Connector]]:
    open_store = engine._context.resources.open_store
    if open_store is None:
        raise Unsupported("This store is on a server, which encrypts its disks itself; picomem seals files alone.")
    path = Path(os.path.realpath(engine._context.connector.name))
    if not path.exists():
        raise NoStore(
            CodedText("failure.no_store_at", place=str(path), remember=Command("remember"), ingest=Command("ingest"))
        )
    return path, open_store


def _write_anew(path: Path, key: str, progress: Progress | None) -> None:
    size = path.stat().st_size
    reseal(path, key, (lambda done: progress(min(done, size), size, path.name)) if progress else lambda _: None)


def _finish(
    sealing: Sealing, path: Path, key: str, open_store: Callable[[Path], Connector], others: list[Path]
) -> None:
    """Do the same to the stores that picomem keeps beside, and look what else holds the text."""
    plain: list[Path] = []
    for other in others:
        try:
            reseal(other, key)
            sealing.others.append(str(other))
        except StoreError as error:
            sealing.warnings.append(str(error))
            plain += [] if is_sealed(other) else [other]
    sealing.daily_copies_removed = daily_copies.remove(path)
    with closing(open_store(path)) as connector:
        if sealing.daily_copies_removed:
            with connector.write(EVERYONE) as tx:
                file_checks.make_due(tx)
        with connector.read() as tx:
            exports = {Path(export.path) for scope in users.scopes(tx) for export in exported_files.every(tx, scope)}
        copies = copies_folder(connector)
    with suppress(OSError):
        plain += sorted(export for export in exports if export.exists())
        plain += sorted(copies.rglob(f"*{ENDING}")) if copies else []
    sealing.plain = [str(file) for file in plain] if key else []
