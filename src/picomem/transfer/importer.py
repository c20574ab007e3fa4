"""Imports the entries of other programs: in batches, one transaction each, all in one run that `undo` takes back.

A format (transfer/formats/) reads its file and offers its entries one by one. The importer redacts each entry, asks the
gate, stores the entry and counts the outcome. So a process that is killed has stored whole batches, and the next run
continues: the importer recognises an entry that it stored before by its identity, and does not offer it again.

A dry run does the same and rolls each batch back. It may count an entry as new that a real run would recognise, if two
entries of different batches say nearly the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import tzinfo
from pathlib import Path
from time import monotonic
from typing import Any

from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.history.undo import note_transcripts
from picomem.ingest.format import NAMELESS
from picomem.ingest.report import Report
from picomem.light_dataclass import dataclass, field, replace
from picomem.memory.decide import Offer
from picomem.memory.remember import Remembered, Writer
from picomem.memory.text_cleaning import Cleaner
from picomem.policy.content_kind import kind_of
from picomem.policy.redact import Redactor
from picomem.records.ids import content_hash
from picomem.records.kinds import Decision, Kind, Origin, Source
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction, rolled_back
from picomem.store.tables import audit, transcript_rows
from picomem.store.tables.tombstones import Tombstones
from picomem.text.memory_keys import suggest_key
from picomem.text.storable import plain
from picomem.transfer.foreign_files import check_size

BATCH_ENTRIES = 100
BATCH_SECONDS = 0.2  # a batch of costly entries ends earlier, so that other processes can write
MOST_UNREADABLE = 100_000
_MOST_PROBLEMS = 20
_LONGEST_NAME = 64
_MOST_TAGS = 16

Telling = Callable[[int, int, str], None]  # bytes done, bytes in all, the file


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedEntry:
    """An entry of another program. `identity` is its id there, or stands for it; `place` says where it was read. `at`
    is since when it holds. It is an agent's where nothing says who wrote it: hosts let their agents write. With a
    `path` it is kept in these very words, which are cleaned already; see `Offer`."""

    identity: str
    place: str
    content: str
    context: str = ""
    kind: Kind | None = None
    key: str = ""
    importance: float | None = None
    tags: tuple[str, ...] = ()
    origin: Origin = Origin.AGENT
    at: Micros | None = None
    project: str = ""
    agent: str = ""
    path: str = ""


@dataclass(slots=True)
class ImportReport:
    """The outcome of an import: `new` ones, those that `changed` a memory, those that are `known` or were `purged` here
    before, the `refused` and the `unreadable` ones by reason. `episodes` and `turns` are those of conversations.
    `passed_over` counts what is no memory and no message. `problems` names the first entries that were refused or could
    not be read, `warnings` says what else there is to know; `users` are those of an import for several of them."""

    new: int = 0
    changed: int = 0
    known: int = 0
    purged: int = 0
    differing: int = 0
    sessions: int = 0
    messages: int = 0
    turns: int = 0
    episodes: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)

    def tell(self, problem: str) -> None:
        """Keep a problem for the report, if it is among the first."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)


Step = Callable[[Transaction, Writer], None]


@dataclass(slots=True, kw_only=True)
class Importer:
    """One import into a user's memory. Every entry that a format hands over goes through it.

    `settle` is called after each batch, for what must not be done in its transaction. `ingest` reads a
    transcript of a format in this run. `form` is the name of the format, `place` the path of the file or folder.
    """

    connector: Connector
    scope: Scope
    make_writer: Callable[[], Writer]
    run: str
    redactor: Callable[[], Redactor]
    cleaner: Cleaner
    now: Micros
    zone: tzinfo
    dry_run: bool
    settle: Callable[[], None]
    ingest: Callable[[Path, str], Report]
    progress: Telling | None = None
    form: str = ""
    place: str = ""
    report: ImportReport = field(default_factory=ImportReport)
    _waiting: list[Step] = field(default_factory=list)
    _since: float = field(default_factory=monotonic)
    _seen: set[str] = field(default_factory=set)  # identities of this run, which a dry run forgets with its batches
    _undone_by: dict[str, str] | None = None

    def offer(self, entry: ImportedEntry) -> None:
        """Take an entry in, with the batch that it belongs to."""
        self.add(lambda tx, writer: self._offer(tx, writer, entry))

    def add(self, step: Step) -> None:
        """Take in by a step of the format's own; it must not fail after it has written."""
        self._waiting.append(step)
        if len(self._waiting) >= BATCH_ENTRIES or monotonic() - self._since > BATCH_SECONDS:
            self.store()

    def unreadable(self, place: str, reason: str) -> None:
        """Count an entry that cannot be read, by its reason. Raises InvalidInput where there are so many that the file
        is none of this format: a packed file of a few KB may hold hundreds of millions."""
        self.report.unreadable[reason] += 1
        self.report.tell(f"{place}: {reason}.")
        if self.report.unreadable.total() > MOST_UNREADABLE:
            raise InvalidInput(
                f"More than {MOST_UNREADABLE:,} entries cannot be read, the last one because {reason}; is it another "
                f"file, or of another format than {self.form}? What stood before them was imported."
            )

    def records_of(self, holder: object, name: str, called: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects of a field that is a list, each with its place; what is none is counted as unreadable."""
        value = holder.get(name) if isinstance(holder, dict) else None
        if value is not None and not isinstance(value, list):
            self.unreadable(name, "it is no list")
            return
        for number, record in enumerate(value or (), 1):
            place = f"{called or name} {number}"
            if isinstance(record, dict):
                yield place, record
            else:
                self.unreadable(place, "it is no record")

    def refuse(self, place: str, reason: str) -> None:
        """Count an entry that may not be kept, by its reason."""
        self.report.refused[reason] += 1
        self.report.tell(f"{place}: {reason}")

    def done(self, read: int, total: int, what: str) -> None:
        """Tell how much of a file is read."""
        if self.progress is not None:
            self.progress(read, total, what)

    def done_with(self, number: int, count: int, path: Path) -> None:
        """Tell that so many of the entries of a file are read; they count as the same share of its bytes."""
        size = check_size(path)
        self.done(size * number // max(count, 1), size, str(path))

    def read_transcript(self, path: Path, form: str) -> None:
        """Ingest a file of conversations, and count what became of it. Raises InvalidInput where it cannot be read."""
        before = self.known_conversations(form)
        done = self.ingest(path, form)
        if done.problems:
            raise InvalidInput(done.problems[0])
        report, after = self.report, self.known_conversations(form)
        report.sessions = len(after.keys() - before.keys())
        report.messages = sum(max(0, turns - before.get(name, 0)) for name, turns in after.items())
        report.episodes = done.episodes
        report.new = done.decisions.get(Decision.ADD, 0)
        report.changed = done.decisions.get(Decision.SUPERSEDE, 0)
        report.known = done.decisions.get(Decision.MERGE, 0)
        report.passed_over.update(done.skipped)
        if report.sessions:
            with self.connector.write(self.scope) as tx:
                note_transcripts(tx, self.writer(), self.scope, self.place)

    def known_conversations(self, form: str) -> dict[str, int]:
        """How many messages of each conversation of a format are known, from whichever file they were read."""
        known: dict[str, int] = {}
        with self.connector.read() as tx:
            for transcript in transcript_rows.turns_of_host(tx, self.scope, form):
                name = conversation_name(transcript.session, Path(transcript.path))
                known[name] = max(known.get(name, 0), transcript.turns)
        return known

    def is_purged_conversation(self, form: str, session: str, path: Path) -> bool:
        """Return whether a conversation of a file was purged, so that it may not be read again."""
        with self.connector.read() as tx:
            return Tombstones(tx, self.scope).bars(form, session, str(path), check_size(path))

    def store(self) -> None:
        """Store the batch that waits."""
        steps, self._waiting = self._waiting, []
        if steps:
            transaction = rolled_back(self.connector, self.scope) if self.dry_run else self.connector.write(self.scope)
            with transaction as tx:
                writer = self.writer()
                for step in steps:
                    step(tx, writer)
            if not self.dry_run:
                self.settle()
        self._since = monotonic()

    def writer(self) -> Writer:
        """The author of this run's changes; a dry run makes no vectors, which it would only throw away."""
        writer = replace(self.make_writer(), run=self.run)
        return replace(writer, store_vector=None) if self.dry_run else writer

    def _offer(self, tx: Transaction, writer: Writer, entry: ImportedEntry) -> None:
        identity = self.identity_of(entry)
        if identity in self._seen:
            self.report.known += 1
            return
        self._seen.add(identity)
        if self._was_taken_in(tx, entry, identity):
            return
        try:
            offer = self._offer_of(entry)
        except InvalidInput as error:
            self.unreadable(entry.place, str(error).rstrip("."))
            return
        result = replace(writer, idempotency_key=identity).remember(tx, offer)
        self._count(entry, result)

    def clean(self, text: str) -> str:
        """A text as it may be stored: valid Unicode, without secrets; its spaces are its own."""
        return self.cleaner.shown_text(plain(text))

    def identity_of(self, entry: ImportedEntry) -> str:
        """Return the stable identity of an entry, by which a later import recognises it. An entry that was edited there
        is another."""
        return f"import:{self.form}:{content_hash(entry.identity, entry.content, entry.context)}"

    def _was_taken_in(self, tx: Transaction, entry: ImportedEntry, identity: str) -> bool:
        """Count an entry that an earlier run took in, and that was not taken back since."""
        if Tombstones(tx, self.scope).bars_memory(identity):
            self.report.purged += 1
            return True
        changes = audit.of_idempotency_key(tx, self.scope, identity)
        if not changes:
            return False
        if changes[-1].decision == Decision.REFUSE:
            self.refuse(entry.place, changes[-1].reason)
            return True
        if self._undone_by is None:
            self._undone_by = {undone: change for change, undone in audit.undoing(tx, self.scope, []).items()}
        last, taken_back = changes[-1].id, False
        while last in self._undone_by:
            last, taken_back = self._undone_by[last], not taken_back
        self.report.known += not taken_back
        return not taken_back

    def _offer_of(self, entry: ImportedEntry) -> Offer:
        """An entry as an offer; what comes with its text is shortened where it is too long. Raises InvalidInput."""
        content = entry.content if entry.path else self.cleaner.text(entry.content)
        kind = entry.kind or kind_of(content)
        tags = dict.fromkeys(" ".join(tag.split())[:_LONGEST_NAME] for tag in entry.tags)
        project, agent = (" ".join(self.cleaner.text(name).split())[:200] for name in (entry.project, entry.agent))
        return Offer(
            scope=self.cleaner.owner(self.scope.narrowed(project=project, agent=agent)),
            content=content,
            context=self.cleaner.text(entry.context),
            kind=kind,
            key=entry.key or suggest_key(content, kind.value),
            key_given=bool(entry.key),
            kind_given=entry.kind is not None,
            importance=0.5 if entry.importance is None else min(1.0, max(0.0, entry.importance)),
            importance_given=entry.importance is not None,
            tags=self.cleaner.names([tag for tag in tags if tag][:_MOST_TAGS], "tag"),
            origin=entry.origin,
            source=Source.MIGRATION,
            valid_from=None if entry.at is None else min(entry.at, self.now),  # clocks elsewhere may be wrong
            explicit=bool(entry.path),  # an agent kept it on purpose
            path=entry.path,
        )

    def _count(self, entry: ImportedEntry, result: Remembered) -> None:
        if result.decision is Decision.REFUSE:
            self.refuse(entry.place, result.reason)
        elif result.decision is Decision.ADD:
            self.report.new += 1
        elif result.memory is not None and result.memory.change_id == result.change_id:
            self.report.changed += 1
        else:
            self.report.known += 1


def conversation_name(session: str, path: Path) -> str:
    """The name of a conversation, by which it is recognised in another file. One without an id has a number there."""
    return f"{path}{session}" if session.startswith(NAMELESS) else session
