"""The queue of stretches of transcripts that are stored together.

A transaction costs the same for ten rows as for a thousand, so the content of many small files is stored at once. A
stretch stays whole: its episodes and its cursor are in one transaction, whichever other stretches it contains. After
a kill only the content of the queue is read again, at most half a second of reading. Waiting blocks nobody, because
the transaction begins when everything is ready and ends after a moment (see `storing`).
"""

from __future__ import annotations

import time

from picomem.errors import PicomemError
from picomem.ingest.batch import Maker
from picomem.ingest.discovery import FoundTranscript
from picomem.ingest.report import Report
from picomem.ingest.storing import Stretch, StretchOutcome, Writing

BATCH_PIECES = 400
BATCH_FILES = 400
BATCH_BYTES = 16 << 20
BATCH_SECONDS = 0.5  # that something waits


class Queue:
    """Takes stretches in order and stores them in order; counts what was stored in `report`.

    `overtaken` are the files that another process has read on in meanwhile: nothing of the stretch was stored, and the
    file is to be read again.
    """

    def __init__(self, writing: Writing, maker: Maker, report: Report) -> None:
        self.overtaken: list[FoundTranscript] = []
        self._writing = writing
        self._maker = maker
        self._report = report
        self._waiting: list[Stretch] = []
        self._pieces = 0
        self._bytes = 0
        self._since = 0.0

    def add(self, stretch: Stretch) -> None:
        """Let a stretch wait. No other stretch of the same reading may wait already."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(stretch)
        self._pieces += len(stretch.batch.pieces)
        self._bytes += stretch.report.bytes

    def is_due(self) -> bool:
        """Return whether as much waits as a transaction should store."""
        return bool(self._waiting) and (
            self._pieces >= BATCH_PIECES
            or self._bytes >= BATCH_BYTES
            or len(self._waiting) >= BATCH_FILES
            or time.monotonic() - self._since >= BATCH_SECONDS
        )

    def store(self) -> None:
        """Store all that waits. Raises only what stops everything (a full disk, a locked store)."""
        if not self._waiting:
            return
        batches = [stretch.batch for stretch in self._waiting]
        prepared = self._maker.prepared(batches)
        self._maker.suggest(batches)
        self._maker.date_events(batches)
        for stretch, outcome in self._writing.commit(self._waiting, prepared, self._report):
            if outcome is StretchOutcome.OVERTAKEN:
                self.overtaken.append(stretch.found)
            elif isinstance(outcome, PicomemError):
                self._report.fail(stretch.found.path, outcome)
        self._waiting, self._pieces, self._bytes = [], 0, 0
