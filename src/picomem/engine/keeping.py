"""The engine looks after the store: purge, retention, redaction by today's rules, vectors, health."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from picomem.engine.conversing import Conversing
from picomem.errors import Conflict, EmbedderFailed, InvalidInput, NotFound, StoreError
from picomem.records.scope import Scope

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from picomem.erasure.purge import Erased, Planned, Purged
    from picomem.erasure.scrub import Scrubbed
    from picomem.memory.doctor import Diagnosis
    from picomem.memory.embed import Embedded
    from picomem.memory.index import IndexPage


_SCRUB_WAITS = 5.0  # seconds for others who read


class Keeping(Conversing):
    """What a person or a timer asks for, and no agent."""

    def purge_plan(self, *, session: str = "", older_than: int | None = None, everything: bool = False) -> Planned:
        """What `purge` would erase; nothing is written. Raises as `purge` does."""
        from picomem.erasure.inventory import choice, held
        from picomem.erasure.purge import planned

        with self._connector.read() as tx:
            found = held(tx, self.scope)
            chosen = choice(found, session, older_than, everything, self._clock())
            return planned(tx, self.scope, found, chosen)

    def purge(
        self,
        *,
        session: str = "",
        older_than: int | None = None,
        everything: bool = False,
        wait_seconds: float = 30.0,
    ) -> Purged:
        """Erase for good: a session (its id, or the beginning of it), what is older than so many days, or everything of
        this user; with all that was made of it, and no trace left in the files; see erasure/purge.py.

        It waits for others who use the file, so long at most; what is still to be done then is said, and done by the
        next call, without a choice or with one. Raises InvalidInput for no choice or two, and NotFound.
        """
        import logging

        from picomem.erasure.purge import Purged

        is_begun, erased = self._deleting(lambda: self._erase(session, older_than, everything))
        if not is_begun:
            return Purged(counts={}, change_id="", scan=None)
        if erased is not None:
            logging.getLogger("picomem").info(
                "purge %s by %s: %s", erased.change.id, self.caller.signature, erased.counts
            )
        self._settle()
        self._resources.drop_handed_out(self.scope.user)
        self._kept_sessions = None
        return self._without_traces(erased, wait_seconds)

    def _erase(self, session: str, older_than: int | None, everything: bool) -> tuple[bool, Erased | None]:
        """The transaction of a purge: whether there are traces to remove, and what this run erased."""
        from picomem.erasure.inventory import choice, held
        from picomem.erasure.plan import Choice, plan
        from picomem.erasure.purge import erase
        from picomem.store import tombstones

        with self._connector.write() as tx:
            is_begun = bool(tombstones.marks(tx, self.scope))
            if is_begun and not session and older_than is None and not everything:
                return True, None
            found = held(tx, self.scope)
            try:
                chosen = choice(found, session, older_than, everything, self._clock())
            except NotFound:
                if not is_begun:
                    raise
                chosen = Choice()  # it went before; what is left of it is to be done
            made = plan(found, chosen)
            if made.empty:
                return is_begun, None
            return True, erase(tx, self._writer("purge"), self.scope, found, chosen, made)

    def _without_traces(self, erased: Erased | None, wait_seconds: float) -> Purged:

        from picomem.erasure import traces
        from picomem.erasure.proof import scan, telling
        from picomem.erasure.purge import Purged
        from picomem.paths import data_dir, named_path

        left, unfinished, scanned = [], "", None
        try:
            left = self._deleting(
                lambda: traces.finish(
                    self._connector,
                    self.scope,
                    lambda owner, budget: self.index(budget=budget, scope=owner).text,
                    self._clock(),
                    wait_seconds,
                )
            )
        except StoreError as error:
            unfinished = str(error)
        if erased is not None:
            folder = named_path(self.settings.data.dir) if self.settings.data.dir else data_dir()
            with self._connector.read() as tx:
                users = [Scope(user) for (user,) in tx.all("users")]
                files = traces.files_to_scan(tx, self._connector, self.scope, folder)
                scanned = scan(tx, users, self.scope, erased.texts, files)
                tells = telling(tx, self.scope, erased.texts)
            notes = self._notes()
            left += [
                f"{path} is a note of yours, and has words of what was purged; edit it if they are to go as well."
                for path in (notes.holding(tells.found_in) if notes else ())
            ]
        return Purged(
            counts=erased.counts if erased else {},
            change_id=erased.change.id if erased else "",
            scan=scanned,
            left=tuple(left),
            unfinished=unfinished,
            finished=not unfinished,
        )

    def tidy(self, *, when_due: bool = False) -> dict[str, int]:
        """Archive expired memories (O19) and remove timeline entries past their retention (A14).

        With `when_due` only if the last time is `retention.cleanup_interval_secs` ago; whoever writes calls it so,
        and no daemon is needed.
        """
        from picomem.erasure import retention

        if when_due:
            with self._connector.read() as tx:
                if not retention.is_due(tx, self.scope, self.settings, self._clock()):
                    return dict(retention.NOTHING)
        with self._connector.write() as tx:
            return retention.tidy(tx, self.scope, self.settings, self._writer("expire"))

    def scrub(self, *, dry_run: bool = False) -> Scrubbed:
        """Redact what is stored already, with the rules of today, and leave no trace of it in the files.

        Where another program is reading, the last is done by the next `purge`, without a choice or with one.
        """
        from picomem.erasure.scrub import scrub

        made_by = self._vectors()
        vectors_of = made_by.store_text if made_by else None
        done = scrub(self._connector, self.scope, self._redactor(), dry_run=dry_run, store_vector=vectors_of)
        self._settle()
        if done.changed and not dry_run:
            rest = self._without_traces(None, _SCRUB_WAITS)
            done.left, done.unfinished = list(rest.left), rest.unfinished
        return done

    def embed(
        self,
        *,
        progress: Callable[[int, int, str], None] | None = None,
        afresh: bool = False,
        remove: bool = True,
        wait: bool = True,
        stop: Event | None = None,
    ) -> Embedded:
        """Make the vectors that are missing, then remove those of other models; see memory/embed.py.

        Raises InvalidInput without an embedder, EmbedderFailed, and Conflict where another process is at it.
        """
        from picomem.memory.embed import Embed

        made_by = self._vectors()
        if self._resources.no_embedder is not None:
            raise self._resources.no_embedder
        if made_by is None:
            raise InvalidInput("recall.embedder is none, so there are no vectors to make; set it to static or another.")
        return Embed(self._connector, self.scope, made_by, self._clock, stop).run(
            progress, afresh=afresh, remove=remove, wait=wait
        )

    def missing_vectors(self) -> int:
        """How many rows have no vector of the embedder."""
        from picomem.memory.embed import missing

        with self._connector.read() as tx:
            return missing(tx, self.scope, self.embedder_name)

    def reach(self) -> object:
        """A value that differs once a row was stored, or a vector rewritten or taken out, by whatever process."""
        from picomem.memory.embed import reach

        with self._connector.read() as tx:
            return reach(tx, self.scope, self.embedder_name)

    def export_index(self, path: Path, *, budget: int | None = None, scope: Scope | None = None) -> IndexPage:
        """Write the always-loaded page to a file, and remember where, for a purge. Raises InvalidInput."""
        from picomem.erasure import traces

        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{path} is no name in UTF-8; name another file for the page.") from None
        page = self.index(budget=budget, scope=scope)
        traces.export(self._connector, self._owner(scope), path, page.text, page.budget, self._clock())
        return page

    def doctor(self, *, repair: bool = False) -> Diagnosis:
        """Check the file, every row's hash, and what is derived; with `repair`, rebuild what is derived."""
        from picomem.memory.doctor import examine

        writer = self._writer("doctor")
        found = examine(self._connector, self.embedder_name, self._redactor, writer, repair=repair)
        made_by = self._vectors()
        if repair and made_by is not None:
            from picomem.memory.embed import Embed

            for scope, finding in found.waiting:
                with suppress(EmbedderFailed, Conflict):
                    finding.repaired = not Embed(self._connector, scope, made_by, self._clock).run(remove=False).waiting
        return found
