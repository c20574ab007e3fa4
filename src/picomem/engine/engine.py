"""The engine: returned by `picomem.open()` and `Runtime.engine()`, and called by every surface.

It is synchronous and makes no decisions: each verb reads its arguments, opens a transaction if one is needed, and
calls the responsible package. The verbs that ask are in reads.py, those that change memory in writes.py; erasing and
upkeep are here. All of them hold a `CallerContext` (caller_context.py: the caller, and the resources of the process).
Functions that only the rest of picomem needs take an engine as an argument. They stand beside this module by what they
are about: past_sessions.py, stored_memories.py, transcripts.py, agent_texts.py, agent_support.py, audience.py and more.

A module that only some verbs need is imported by those verbs: a recall in a hook must not wait for the readers of
transcripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING

from picomem.engine.reads import EngineReads
from picomem.engine.writes import EngineWrites
from picomem.errors import Conflict, EmbedderFailed, InvalidInput, StoreError
from picomem.records.caller import PURGE, READ, WRITE, needs
from picomem.records.scope import Scope
from picomem.records.session import Loaded

if TYPE_CHECKING:
    from picomem.engine.erasing import Eraser
    from picomem.erasure.purge import Planned, Purged
    from picomem.erasure.scrub import Scrubbed
    from picomem.health.doctor import Diagnosis
    from picomem.index_page.page import IndexPage
    from picomem.ingest.discovery import TranscriptFolder
    from picomem.ingest.report import IngestProgress, Report
    from picomem.memory.vectors import Embedded
    from picomem.sessions.context_window import ContextWindow


class Engine(EngineReads, EngineWrites):
    """The memory of one user. Every method that takes times takes UTC microseconds or ISO 8601 text.

    `Runtime.engine` makes it. Safe to share between threads.
    """

    def acting_as(self, actor: str = "", *, message: str = "", said: str = "", agent: bool = False) -> Engine:
        """The same open memory for another actor, whose name stands on what it changes, or for ours. It needs no
        closing.

        `said` is what a person says to an agent, and `message` the id under which it is stored, if it is: what is
        changed now was made from that. With `agent` the actor is no person: it forgets nothing that a person stated or
        pinned, unless the person asks for that in `said`, or without it in their turns of the last day that were
        ingested. What it stores has the origin agent unless another is given, and stays below critical. An agent's
        engine makes agents' engines only.
        """
        return Engine(self._context.acting_as(actor, message, said, agent), self._close)

    @needs(WRITE)
    def ingest(
        self,
        transcripts: str | Path | Iterable[str | Path | TranscriptFolder],
        *,
        progress: Callable[[IngestProgress], None] | None = None,
    ) -> Report:
        """Read what is new in these transcripts, files or folders, or in a single one; see ingest/ingest.py."""
        from picomem.engine.transcripts import read_transcripts  # noqa: PLC0415 - a recall does not need it

        return read_transcripts(self, transcripts, progress)

    @needs(READ)
    def context(self, question: str) -> ContextWindow:
        """The memory part of a prompt for a question: the index page and the relevant memories."""
        from picomem.engine.agent_support import window_around  # noqa: PLC0415 - a recall does not need it

        return window_around(self, Loaded(), question)

    # Erasing and upkeep

    @needs(PURGE)
    def purge_plan(self, *, session: str = "", older_than: int | None = None, everything: bool = False) -> Planned:
        """The plan of a purge; nothing is written. Raises as `purge` does."""
        return self._eraser().plan(session, older_than, everything)

    @needs(PURGE)
    def purge(
        self,
        *,
        session: str = "",
        older_than: int | None = None,
        everything: bool = False,
        wait_seconds: float = 30.0,
        permits: Callable[[Planned], bool] | None = None,
    ) -> Purged:
        """Erase for good: a session (its id, or the beginning of it), what is older than so many days, or everything of
        this user; with all that was made of it, and no trace left in the files; see erasure/purge.py.

        It waits for others who use the file, so long at most; what is still to be done then is said, and done by the
        next call, without a choice or with one. `permits` is asked in the transaction that erases. Raises InvalidInput
        for no choice or two, NotFound, and Conflict for a plan that is not permitted.
        """
        return self._eraser().purge(session, older_than, everything, wait_seconds, permits)

    @needs(WRITE)
    def scrub(self, *, dry_run: bool = False) -> Scrubbed:
        """Redact what is stored already, with the rules of today, and leave no trace of it in the files.

        Where another program is reading, the last is done by the next `purge`, without a choice or with one.
        """
        return self._eraser().scrub(dry_run)

    @needs(WRITE)
    def tidy(self, *, when_due: bool = False) -> dict[str, int]:
        """Archive expired memories (O19) and remove timeline entries past their retention (A14). Once a day, also make
        a verified copy of the store (docs/backups.md). The head of the record goes where `[audit]` says.

        With `when_due` only if the last time is `retention.cleanup_interval_secs` ago; writers call it like this,
        and no daemon is needed.
        """
        from picomem.erasure import retention  # noqa: PLC0415 - a recall does not need it

        if when_due:
            with self._context.connector.read() as tx:
                if not retention.is_due(tx, self.scope, self.settings, self._context.clock()):
                    return dict(retention.NOTHING)
        most_bytes = self.settings.data.daily_copy_mb * 1_000_000
        self._context.connector.maintenance.copy_daily(self._context.clock(), most_bytes)
        with self._context.connector.write(self.scope) as tx:
            counts = retention.tidy(tx, self.scope, self.settings, self._context.writer("expire"))
        if self.settings.audit.head_file or self.settings.audit.head_command:
            from picomem.engine.record_chain import copy_head  # noqa: PLC0415 - a recall does not need it

            copy_head(self)
        return counts

    @needs(WRITE)
    def embed(
        self,
        *,
        progress: Callable[[int, int, str], None] | None = None,
        afresh: bool = False,
        remove: bool = True,
        wait: bool = True,
        stop: Event | None = None,
    ) -> Embedded:
        """Make the vectors that are missing, then remove those of other models; see memory/vectors.py.

        Raises InvalidInput without an embedder, EmbedderFailed, and Conflict where another process is at it.
        """
        from picomem.memory.vectors import EmbedMissing  # noqa: PLC0415 - a recall does not need it

        made_by = self._context.vectors()
        if trouble := self._context.embedder_trouble:
            raise EmbedderFailed(trouble)
        if made_by is None:
            raise InvalidInput(
                "recall.embedder is none, so there are no vectors to create; set it to static or to another embedder."
            )
        return EmbedMissing(self._context.connector, self.scope, made_by, self._context.clock, stop).run(
            progress, afresh=afresh, remove=remove, wait=wait
        )

    @needs(READ)
    def export_index(self, path: Path, *, budget: int | None = None, scope: Scope | None = None) -> IndexPage:
        """Write the always-loaded page to a file, and remember where, for a purge. Raises InvalidInput."""
        from picomem.erasure import file_traces  # noqa: PLC0415 - a recall does not need it

        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{path} is not valid UTF-8; name another file for the page.") from None
        page = self.index(budget=budget, scope=scope)
        file_traces.export(
            self._context.connector, self._context.owner(scope), path, page.text, page.budget, self._context.clock()
        )
        return page

    @needs(WRITE)
    def doctor(self, *, repair: bool = False, progress: Callable[[int, int, str], None] | None = None) -> Diagnosis:
        """Check the file, every row's hash, what is derived, and the kept copies of transcripts; with `repair`, rebuild
        what is derived. `progress` is told how many parts are done, of how many, and which comes."""
        from picomem.health.doctor import examine  # noqa: PLC0415 - a recall does not need it
        from picomem.ingest.transcript_copies import copy_problems  # noqa: PLC0415 - a recall does not need it
        from picomem.memory.vectors import EmbedMissing  # noqa: PLC0415 - a recall does not need it

        writer = self._context.writer("doctor")
        diagnosis = examine(
            self._context.connector,
            self.embedder_name,
            self._context.redactor,
            writer,
            repair=repair,
            progress=progress,
        )
        with suppress(StoreError):  # what cannot be read was reported
            for problem in copy_problems(self._context.connector):
                diagnosis.add("copy", problem)
        if not diagnosis.healthy:
            diagnosis.restore_with = self._context.connector.maintenance.restore_command()
        made_by = self._context.vectors()
        if repair and made_by is not None:
            for scope, finding in diagnosis.waiting:
                with suppress(EmbedderFailed, Conflict):
                    finding.repaired = (
                        not EmbedMissing(self._context.connector, scope, made_by, self._context.clock)
                        .run(remove=False)
                        .waiting
                    )
        return diagnosis

    def _eraser(self) -> Eraser:
        from picomem.engine.erasing import Eraser  # noqa: PLC0415 - a recall does not need it

        return Eraser(self._context)

    def close(self) -> None:
        """Close the store, where it was opened for this engine alone; the engine of a `Runtime` leaves it open."""
        if self._close is not None:
            self._close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
