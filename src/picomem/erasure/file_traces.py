"""Removes the traces of a purge after its transaction: in files beside the database, and in the database's own bytes.

This step uses only the state of the database (tombstones, exports), so the next run finishes what a killed run began,
and repeating a step does no harm. Until everything is done, the database records that it is not.

    snapshots and copies of transcripts without purged text → exports rebuilt → file and log rewritten → the mark is
    removed

An export that was edited since, or that cannot be written, is reported and left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from picomem.clock import Micros
from picomem.errors import InvalidInput, NotFound
from picomem.index_page.page import HEAD
from picomem.memory.lease import Heartbeat, Lease
from picomem.paths import is_regular, read_regular, spares_of, status_of, write_whole
from picomem.records.ids import content_hash
from picomem.records.scope import Scope
from picomem.sessions.picobot_snapshot import NAME as SNAPSHOT
from picomem.sessions.picobot_snapshot import without_purged
from picomem.store.connector import Connector, Transaction
from picomem.store.files.database_files import holds_content
from picomem.store.tables import exported_files, tombstones
from picomem.store.tables.exported_files import WHOLE, Export

_LARGEST = 16 << 20  # bytes of an exported page, and of what somebody wrote into it

MakePage = Callable[[Scope, int], str]  # the index page of a scope, with so many tokens
WriteAgain = Callable[[Export], str]  # writes an export of everything anew; the digest of its bytes


def export(connector: Connector, scope: Scope, path: Path, page: str, budget: int, now: Micros) -> None:
    """Write an index page to a file and remember where, so that a purge finds it. Raises InvalidInput.

    The place is noted before the file is written, so a process that is killed in between leaves no page that nobody
    knows of; an export that fails leaves the note as it was. A store that cannot be written cannot be purged either.
    """
    place = str(path.absolute())
    if connector.read_only:
        return write_whole(path, page)
    with connector.write(scope) as tx:
        before = exported_files.at(tx, scope, place)
        exported_files.put(tx, Export(place, scope, budget, content_hash(page), now))
    try:
        write_whole(path, page)
    except InvalidInput:
        with connector.write(scope) as tx:
            if before is None:
                exported_files.forget(tx, scope, place)
            else:
                exported_files.put(tx, before)
        raise


def finish(
    connector: Connector,
    scope: Scope,
    make_page: MakePage,
    write_again: WriteAgain,
    now: Micros,
    remove_copies: Callable[[], None],
    wait_seconds: float,
    lease: Lease,
) -> list[str]:
    """Remove all traces, and give the lease back; what had to be left, a sentence each. Raises StoreError, and may be
    run again then."""
    with connector.read() as tx:
        begun = tombstones.marks(tx, scope)
    everything = tombstones.is_of_everything(begun)
    left = []
    with Heartbeat(connector, lease):  # exports and readers may take longer than a lease lasts
        for folder in {path.parent for path in connector.maintenance.files()}:
            left += without_purged(connector, folder, scope.user if everything else "")
        remove_copies()
        left += _exports(connector, scope, make_page, write_again, now, forget=everything)
        connector.maintenance.leave_no_trace(wait_seconds, scope)
    with connector.write(scope) as tx:
        tombstones.end(tx, scope, begun)
        lease.give_back(tx)
    return left


def files_to_scan(tx: Transaction, connector: Connector, scope: Scope, data_folder: Path) -> list[Path]:
    """The database, whatever lies beside it under its name, the exports; and all of the data folder, if it lies there.

    A database elsewhere may stand among files that are none of ours. The index of a log holds no content.
    """
    files = dict.fromkeys(connector.maintenance.files())
    for path in list(files)[:1]:
        beside = path.parent.iterdir()
        if path.parent.resolve() == data_folder.resolve():
            beside = path.parent.rglob("*")
        else:
            beside = (file for file in beside if file.name.startswith((path.name, f".{path.name}", SNAPSHOT)))
        files |= dict.fromkeys(sorted(file for file in beside if _is_to_be_read(file)))
    exported = (Path(export.path) for export in exported_files.every(tx, scope))
    return list(files | dict.fromkeys(path for path in exported if _is_to_be_read(path)))


def _is_to_be_read(path: Path) -> bool:
    try:
        return is_regular(path) and holds_content(path)
    except InvalidInput:
        return os.access(path, os.F_OK)  # it exists and cannot be read: the scan says so


def _exports(
    connector: Connector, scope: Scope, make_page: MakePage, write_again: WriteAgain, now: Micros, *, forget: bool
) -> list[str]:
    left = []
    with connector.read() as tx:
        known = exported_files.every(tx, scope)
    for exported in known:
        path = Path(exported.path)
        digest = ""
        try:
            _remove_spares(path)
            there = status_of(path) is not None
            if there and exported.budget == WHOLE:
                digest = write_again(exported)
            elif there:
                page = make_page(exported.scope, exported.budget)
                _rewrite(path, exported.content_hash, page)
                digest = content_hash(page)
        except (InvalidInput, NotFound, UnicodeError) as error:
            left.append(f"{error} Look whether it holds what was purged.")
            continue
        with connector.write(scope) as tx:
            if forget or not there:
                exported_files.forget(tx, scope, exported.path)
            else:
                exported_files.put(tx, exported._replace(content_hash=digest, exported_at=now))
    return left


def _remove_spares(path: Path) -> None:
    """Remove what a process that was killed while it wrote the page left beside it."""
    with suppress(OSError):  # nothing was written where nobody can look
        for spare in spares_of(path):
            spare.unlink()


def _rewrite(path: Path, written: str, page: str) -> None:
    """Write a page where it was written before. Raises InvalidInput for a file that is another's by now."""
    now = read_regular(path, most=_LARGEST).decode()
    if content_hash(now) != written and not now.startswith(HEAD):
        raise InvalidInput(f"{path} is no longer an index page and was left as it is.")
    if now != page:
        write_whole(path, page)
