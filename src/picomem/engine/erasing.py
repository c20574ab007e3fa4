"""Permanent erasure: purge, scrub, and the removal of the traces that both leave in the files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import CallerContext
from picomem.engine.current_index_page import index_page
from picomem.erasure import file_traces
from picomem.erasure.plan import (
    Choice,
    Plan,
    PurgeInventory,
    choice,
    load_checked_inventory,
    load_inventory,
    may_remain,
    plan,
)
from picomem.erasure.proof import Finder, Scan, erased_finder, scan, telling
from picomem.erasure.purge import Erased, Planned, Purged, erase, planned
from picomem.erasure.scrub import Scrubbed, scrub
from picomem.errors import Conflict, NotFound, StoreError
from picomem.memory.lease import PURGING, Lease, purge_seconds
from picomem.paths import data_dir, named_path
from picomem.records.scope import Scope
from picomem.store.connector import Transaction, erasing
from picomem.store.tables import contact_rows, tombstones, user_entries, users
from picomem.store.tables.exported_files import Export
from picomem.transfer.export_file import write_again

_SCRUB_WAITS = 5.0  # seconds for others who read
_PAUSE_SECONDS = 0.1  # between two scans, while another process purges
_DOCTOR = Command("doctor")
_DAMAGED_LINKS = CodedText("warning.damaged_links", command=_DOCTOR)
_DAMAGED_INDEX = CodedText("warning.damaged_index", command=Command("doctor", repair=True))


class Eraser:
    """Erases in one user's memory."""

    def __init__(self, context: CallerContext) -> None:
        self._context = context

    def plan(self, session: str, older_than: int | None, everything: bool) -> Planned:
        """The plan of a purge; nothing is written. Raises as `purge` does."""
        missed = self._missed()
        with self._context.connector.read() as tx:
            holdings = self._inventory(tx, everything)
            chosen = self._choice(tx, holdings, session, older_than, everything)
            made = plan(holdings, chosen)
            left = (*missed, *self._may_remain(tx, holdings, made))
            return planned(tx, self._context.scope, holdings, chosen, made, left)

    def _missed(self) -> tuple[str, ...]:
        """Sentences about rows that may be missed, because an index lacks them or a machine of the store does not
        answer. It takes long, so nobody is kept out of the store meanwhile."""
        maintenance = self._context.connector.maintenance
        damaged = (_DAMAGED_INDEX,) if maintenance.has_damaged_index() else ()
        silent = tuple(maintenance.silent_machines())
        return (*damaged, *((CodedText("warning.silent_machines", machines=silent),) if silent else ()))

    def _inventory(self, tx: Transaction, everything: bool) -> PurgeInventory:
        # A purge of everything follows no links, so it need not check them.
        return (load_inventory if everything else load_checked_inventory)(tx, self._context.scope)

    def _choice(
        self, tx: Transaction, holdings: PurgeInventory, session: str, older_than: int | None, everything: bool
    ) -> Choice:
        """The selection; a NotFound says so if it may be damaged rows that name the session."""
        scope, now = self._context.scope, self._context.clock()
        try:
            return choice(tx, scope, session, older_than, everything, now)
        except NotFound as error:
            if not may_remain(holdings, Plan()):
                raise
            raise NotFound(f"{error} {_DAMAGED_LINKS}") from error

    def _may_remain(self, tx: Transaction, holdings: PurgeInventory, made: Plan) -> tuple[str, ...]:
        """A sentence about each kind of damaged rows that a plan may miss."""
        damaged = (_DAMAGED_LINKS,) if may_remain(holdings, made) else ()
        if self._context.connector.maintenance.silent_machines():  # where damaged rows cannot be looked for
            return damaged
        return (*_perhaps_of_user(tx, self._context.scope), *damaged)

    def purge(
        self,
        session: str,
        older_than: int | None,
        everything: bool,
        wait_seconds: float,
        permits: Callable[[Planned], bool] | None = None,
    ) -> Purged:
        """Do what `Engine.purge` says."""
        lease, missed = self._lease(), self._missed()
        is_begun, erased, damaged = self._context.deleting(
            lambda: self._erase(session, older_than, everything, permits, lease, missed)
        )
        if not is_begun:
            return Purged(counts={}, change_id="", scan=None, left=damaged, may_remain=bool(damaged))
        if erased is not None:
            logging.getLogger("picomem").info(
                "purge %s by %s: %s", erased.change.id, self._context.caller.signature, erased.counts
            )
        self._context.settle()
        self._context.resources.drop_returned_texts(self._context.scope.user)
        self._context.kept_sessions = None
        return self._without_traces(erased, wait_seconds, lease, damaged)

    def _erase(
        self,
        session: str,
        older_than: int | None,
        everything: bool,
        permits: Callable[[Planned], bool] | None,
        lease: Lease,
        missed: tuple[str, ...],
    ) -> tuple[bool, Erased | None, tuple[str, ...]]:
        """The transaction of a purge: whether there are traces to remove, what this run erased, and sentences about
        damaged rows that it may have missed."""
        with self._context.connector.write(
            erasing(self._context.connector, self._context.scope, contact_rows.SCOPE)
        ) as tx:
            is_begun = bool(tombstones.marks(tx, self._context.scope))
            if is_begun and not session and older_than is None and not everything:
                lease.acquire(tx)
                return True, None, missed
            holdings = self._inventory(tx, everything)
            try:
                chosen = self._choice(tx, holdings, session, older_than, everything)
            except NotFound:
                if not is_begun:
                    raise
                chosen = Choice()  # it went before; what is left of it is to be done
            made = plan(holdings, chosen)
            damaged = (*missed, *self._may_remain(tx, holdings, made))
            if permits is not None and not permits(planned(tx, self._context.scope, holdings, chosen, made, damaged)):
                raise Conflict("Nothing was purged: what would go has changed since; look at the dry run again.")
            for name in user_entries.HANDED_OUT:
                user_entries.remove(tx, self._context.scope, name)
            if made.empty:
                return is_begun, None, damaged
            erased = erase(tx, self._context.writer("purge"), self._context.scope, holdings, chosen, made)
            lease.acquire(tx)
            return True, erased, damaged

    def _lease(self) -> Lease:
        """A lease that shows other processes that a purge is running and did not stop halfway."""
        seconds = purge_seconds(self._context.connector.maintenance.size())
        return Lease(scope=self._context.scope, name=PURGING, clock=self._context.clock, seconds=seconds)

    def _without_traces(
        self, erased: Erased | None, wait_seconds: float, lease: Lease, damaged: Sequence[str] = ()
    ) -> Purged:
        left, unfinished, scanned = [], "", None
        try:
            left = self._context.deleting(
                lambda: file_traces.finish(
                    self._context.connector,
                    self._context.scope,
                    lambda owner, budget: index_page(self._context, owner, budget).text,
                    self._write_again,
                    self._context.clock(),
                    lambda: self._remove_copies(erased.texts if erased else ()),
                    wait_seconds,
                    lease,
                )
            )
        except StoreError as error:
            unfinished = error.message
            with suppress(StoreError), self._context.connector.write(self._context.scope) as tx:
                lease.give_back(tx)
        if erased is not None:
            folder = named_path(self._context.settings.data.dir) if self._context.settings.data.dir else data_dir()
            scanned, tells = self._scanned(erased.texts, folder, 0.0 if unfinished else wait_seconds)
            notes = self._context.notes()
            left += [
                CodedText("warning.note_has_words", path=str(path))
                for path in (notes.holding(tells.found_in) if notes else ())
            ]
        return Purged(
            counts=erased.counts if erased else {},
            change_id=erased.change.id if erased else "",
            scan=scanned,
            copies=erased.copies if erased else {},
            links=tuple(erased.links) if erased else (),
            left=(*left, *damaged),
            may_remain=bool(damaged),
            out_of_reach=self._context.connector.maintenance.copies_out_of_reach(),
            unfinished=unfinished,
            finished=not unfinished,
        )

    def _remove_copies(self, texts: Sequence[str]) -> None:
        """Remove what was erased from the kept copies of transcripts: of erased ones everything, and from those that
        stay each record that repeats erased words."""
        copies = self._context.copies()
        copies.remove_purged()
        if texts and copies.paths():
            with self._context.connector.read() as tx:
                finder = erased_finder(tx, users.scopes(tx), self._context.scope, texts)
            copies.remove_matching(finder.found_in)

    def _write_again(self, exported: Export) -> str:
        clean = self._context.cleaner().shown_text
        return write_again(self._context.connector, exported, clean, self._context.clock())

    def _scanned(self, texts: Sequence[str], folder: Path, wait_seconds: float) -> tuple[Scan, Finder]:
        """Scan the files for these texts; return what remains, and the patterns for a search in notes.

        Two sessions may have the same folder or the same first words. Those of one that another process purges at this
        time stand in no row any more, and still in the files. So while another purge is under way, what was found is
        looked for again.
        """
        until = monotonic() + wait_seconds
        is_last = False
        while True:
            with self._context.connector.read() as tx:
                scopes = users.scopes(tx)
                files = file_traces.files_to_scan(tx, self._context.connector, self._context.scope, folder)
                copies = self._context.copies().paths()
                scanned = scan(tx, scopes, self._context.scope, texts, files, copies)
                if scanned.clean or is_last:
                    return scanned, telling(tx, self._context.scope, texts)
                is_last = monotonic() > until or not any(tombstones.is_begun(tx, scope) for scope in scopes)
            if not is_last:
                sleep(_PAUSE_SECONDS)

    def scrub(self, dry_run: bool) -> Scrubbed:
        """Do what `Engine.scrub` says."""
        made_by = self._context.vectors()
        vectors_of = made_by.store_text if made_by else None
        done = scrub(
            self._context.connector,
            self._context.scope,
            self._context.redactor(),
            dry_run=dry_run,
            store_vector=vectors_of,
        )
        self._context.settle()
        self._scrub_copies(done, dry_run=dry_run)
        if done.changed and not dry_run:
            lease = self._lease()
            with suppress(StoreError), self._context.connector.write(self._context.scope) as tx:
                lease.acquire(tx)
            rest = self._without_traces(None, _SCRUB_WAITS, lease)
            done.left, done.out_of_reach, done.unfinished = list(rest.left), rest.out_of_reach, rest.unfinished
        return done

    def _scrub_copies(self, done: Scrubbed, *, dry_run: bool) -> None:
        """Redact the kept copies of transcripts; their records count as rows."""
        redactor = self._context.redactor()

        def redact(text: str) -> str:
            result = redactor.redact(text)
            for finding in result.findings:
                done.findings[finding.rule] = done.findings.get(finding.rule, 0) + 1
            return result.text

        copies = self._context.copies().redact_again(redact, dry_run=dry_run)
        done.rows += copies.records
        done.changed += copies.changed
        done.damaged += copies.damaged


def _perhaps_of_user(tx: Transaction, scope: Scope) -> tuple[str, ...]:
    """A sentence about rows that a purge does not find because their user id is damaged, if there are any."""
    if not users.perhaps_damaged(tx, scope):
        return ()
    return (CodedText("warning.damaged_rows_stay", command=_DOCTOR),)
