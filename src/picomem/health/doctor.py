"""The doctor: checks the file and every row, explains, and repairs.

Rows are the truth, and only a copy of the store brings a damaged one back (store/files/daily_copies.py). Full text,
vectors and the tables' indexes are derived and can always be rebuilt from the rows; an episode is derived from its
transcript and is read again from there if the transcript is still the same. A damaged memory is kept as it reads now,
and a change records that. A change, a transcript's record, a session or a message is reported and left as it is; a
summary is removed, because it can be created again. (A cursor beyond the end of a file is no damage: the file was
truncated, and the next ingest notices it.)"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt, DiskFull, FilesMoved, InvalidInput, Locked, ReadOnly, StoreError
from picomem.ingest.episode_packing import cut
from picomem.ingest.transcript_pointer import open_episode
from picomem.light_dataclass import dataclass, field, replace
from picomem.memory import lease
from picomem.memory.remember import Writer
from picomem.policy.redact import Redactor
from picomem.records.episode import Episode
from picomem.records.scope import Scope
from picomem.store import doc_numbers, full_text, row_checks, row_counts, search
from picomem.store.connector import Connector, Transaction
from picomem.store.files import file_checks
from picomem.store.tables import (
    episodes,
    index_page_rows,
    memories,
    memory_rows,
    meta,
    note_rows,
    session_rows,
    tombstones,
    transcript_rows,
    user_entries,
    users,
    vector_rows,
)
from picomem.text.terms import VERSION

_COUNTED = {"changes", "transcripts", "sessions", "messages", "consolidations"}  # tables; others are counted apart


@dataclass(slots=True)
class Finding:
    """One thing that is wrong: what, what it means, and whether it was repaired."""

    check: str
    problem: str
    repaired: bool = False


@dataclass(slots=True)
class Diagnosis:
    """`checked` counts rows by table; a store without findings is healthy."""

    checked: dict[str, int] = field(default_factory=dict)
    indexed_versions: int = 0  # of memories: those that full text has
    findings: list[Finding] = field(default_factory=list)
    waiting: list[tuple[Scope, Finding]] = field(default_factory=list)  # whose rows have no vectors yet
    running: list[str] = field(default_factory=list)  # work of other processes, a sentence each; no damage
    restore_with: str = ""  # the command that restores the newest whole copy, where something is wrong
    reworded: set[str] = field(default_factory=set)  # sources whose rows were changed by a repair

    @property
    def healthy(self) -> bool:
        return all(finding.repaired for finding in self.findings)

    def unreadable(self, error: StoreError) -> None:
        """Nothing more can be read than was found until now, and a repair was rolled back."""
        for finding in self.findings:
            finding.repaired = False
        said = error.__cause__ or error
        self.add("file", f"not all rows can be read ({said}), and no repair brings them back; put a copy in its place")

    def add(self, check: str, problem: str, repaired: bool = False) -> None:
        self.findings.append(Finding(check, problem, repaired))


def examine(
    connector: Connector,
    model: str,
    redactor: Callable[[], Redactor],
    writer: Writer,
    *,
    repair: bool,
    progress: Callable[[int, int, str], None] | None = None,
) -> Diagnosis:
    """Examine the whole file, and the vectors of a model ("none": of none). `progress` is told how many parts are done
    of how many: the file, each user, and full text.

    With `repair` it writes, in one transaction; without, it only reads. Missing vectors take longer than a
    transaction may: who calls makes them for those that the diagnosis says are waiting.
    """
    result = Diagnosis()
    left_alone: list[str] = []
    try:
        problems = connector.maintenance.integrity()
        left_alone = connector.maintenance.left_alone() if problems else []
        for problem in problems:
            result.add("schema" if problem in left_alone else "file", problem)
        with connector.maintenance.repair() if repair else connector.read() as tx:
            _examine_rows(tx, connector, model, redactor, writer, result, repair, progress or _unheard)
        left = set(connector.maintenance.integrity()) if repair and result.findings else set()
    except (FilesMoved, Locked, ReadOnly, DiskFull):
        raise
    except StoreError as error:
        # A derived table that is gone keeps rows from being read until a repair makes it again.
        if repair or not result.findings or left_alone:
            result.unreadable(error)
        return result
    if repair:
        for finding in result.findings:  # what was wrong with an index is mended with it
            if finding.check == "file" and finding.problem not in left:
                finding.problem, finding.repaired = f"{finding.problem}: this was put right", True
    return result


def _examine_rows(
    tx: Transaction,
    connector: Connector,
    model: str,
    redactor: Callable[[], Redactor],
    writer: Writer,
    result: Diagnosis,
    repair: bool,
    progress: Callable[[int, int, str], None],
) -> None:
    if repair:
        if result.findings:  # an index that disagrees with its table is derived, like full text
            row_checks.rebuild_indexes(tx)
        file_checks.settle(tx)
    users = _users(tx, result)
    _check_meta(tx, result, repair)
    _check_doc_numbers(tx, users, result, repair)
    parts = len(users) + 2
    for done, user in enumerate(users, 1):
        progress(done, parts, "users")
        _check_marks(tx, user, result, repair)
        _check_memories(tx, user, writer, result, repair)
        _check_episodes(tx, user, redactor, result, repair)
        _check_tables(tx, user, result)
        _check_summaries(tx, user, result, repair)
        _check_holdings(tx, user, result, repair)
        _check_pages(tx, user, result, repair)
        if model != "none":
            _check_vectors(tx, user, model, result, repair)
    for user in users:
        if not tombstones.is_begun(tx, user):
            continue
        name = user.user
        if lease.is_held(tx, user, lease.PURGING, writer.now):
            result.running.append(CodedText("warning.purge_running", whose=name))
            continue
        result.add(
            "purge",
            CodedText("failure.purge_begun", user=name, command=Command("purge", user=name)),
        )
    progress(parts - 1, parts, "full text")
    # Last, because full text is compared with the rows that were counted and rewritten above; notes before words, whose
    # repair sets the analyser's version that both compare with.
    _check_notes(tx, connector, users, result, repair)
    _check_words(tx, connector, users, result, repair)


def _unheard(_done: int, _total: int, _part: str) -> None:
    """Drop the progress: nobody follows it."""


def _users(tx: Transaction, result: Diagnosis) -> list[Scope]:
    """Everybody who has rows. A damaged id may be none."""
    scopes = []
    for user in users.stored(tx):
        try:
            scope = Scope(user.id)
        except InvalidInput:
            scope = None
        if scope is not None and user.is_valid_text:
            scopes.append(scope)
        else:
            result.add("row", f"rows belong to a user whose id is damaged and reads {user.id[:80]!r}")
    return scopes


def _check_meta(tx: Transaction, result: Diagnosis, repair: bool) -> None:
    """Check the entries about the file itself. The version of the analyser can be made again; the key that secrets and
    tombstones are hashed with cannot."""
    entries = meta.entries(tx)
    for name, text, is_whole in entries:
        if is_whole:
            continue
        if repair and name == meta.REDACTION_KEY:
            meta.put(tx, name, text if meta.is_key(text) else os.urandom(32).hex())
        elif repair:
            meta.delete(tx, name)
        said = "; what was purged may come back when its transcript is read again" if name == meta.REDACTION_KEY else ""
        result.add("row", f"the entry “{name}” of the store does not match its hash{said}", repair)
    names = [entry.name for entry in entries]
    if meta.REDACTION_KEY not in names:
        if repair:
            meta.put(tx, meta.REDACTION_KEY, os.urandom(32).hex())
        result.add("row", "the key of the store is gone; what was purged may come back when it is read again", repair)


def _check_doc_numbers(tx: Transaction, users: list[Scope], result: Diagnosis, repair: bool) -> None:
    """The counters of the search index. One that is damaged or gone cannot be made again, because numbers may have been
    given out to what was deleted since; a repair gives the user a range of numbers that nobody had."""
    taken = {user: doc_numbers.highest_taken(tx, user) for user in users}
    counters = {user: doc_numbers.whole_last(tx, user) for user in users}
    highest = max([*taken.values(), *(last for last in counters.values() if last is not None)], default=0)
    for user, last in counters.items():
        if last is None and (doc_numbers.is_there(tx, user) or taken[user] > 0):
            said = f"the counter of the search index of {user.user} is damaged or gone"
        elif last is not None and last < taken[user]:
            said = f"the counter of the search index of {user.user} stands at {last}, and {taken[user]} is taken"
        else:
            continue
        if repair:
            highest = doc_numbers.next_range(highest)
            doc_numbers.put(tx, user, highest)
        result.add("count", said, repair)


def _check_marks(tx: Transaction, scope: Scope, result: Diagnosis, repair: bool) -> None:
    """A purge that is not finished stays so; other entries are taken anew."""
    for name in user_entries.damaged(tx, scope):
        if repair and name == user_entries.PURGE:
            user_entries.put(tx, scope, name, "some")
        elif repair:
            user_entries.remove(tx, scope, name)
        result.add("row", f"the entry “{name}” of {scope.user} does not match its hash", repair)


def _terms_version(tx: Transaction) -> str | None:
    with suppress(Corrupt):
        return meta.value(tx, "terms_version")
    return None


def _check_memories(tx: Transaction, scope: Scope, writer: Writer, result: Diagnosis, repair: bool) -> None:
    for version in memories.stored_versions(tx, scope):
        _count(result, "memories")
        memory = version.record
        if memory.searchable:
            result.indexed_versions += 1
        if version.is_whole:
            continue
        result.add(
            "row",
            f"memory {memory.key} ({memory.id} version {memory.version}) does not match its hash; a repair keeps it as "
            "it reads now. If that is wrong, revise it.",
            repair and row_checks.keep_as_it_reads(tx, version),
        )
        if result.findings[-1].repaired:
            # Full text and the vector were made from the text before it was damaged; they follow the row.
            writer.vouch(tx, memory)
            result.reworded.add("memory")
            vector_rows.remove(tx, scope, "memory", memory.doc)


def _check_pages(tx: Transaction, scope: Scope, result: Diagnosis, repair: bool) -> None:
    """A damaged page is never shown (it is made anew), so a repair only takes it away."""
    damaged = index_page_rows.count_damaged(tx, scope)
    if not damaged:
        return
    result.add("index page", f"{damaged} kept index pages of {scope.user} do not match their hash", repair)
    if repair:
        index_page_rows.forget(tx, scope)


def _check_episodes(
    tx: Transaction, scope: Scope, redactor: Callable[[], Redactor], result: Diagnosis, repair: bool
) -> None:
    for episode, is_whole, _ in episodes.stored_episodes(tx, scope):
        _count(result, "episodes")
        if is_whole:
            continue
        result.add(
            "row",
            f"episode {episode.id} does not match its hash",
            repair and _is_read_again(tx, scope, episode, redactor),
        )
        if result.findings[-1].repaired:
            result.reworded.add("episode")
            vector_rows.remove(tx, scope, "episode", episode.doc)


def _check_tables(tx: Transaction, scope: Scope, result: Diagnosis) -> None:
    """Check what exists nowhere else, and what records how things were: damaged rows are reported, and left out of
    every answer."""
    for table in row_checks.check_tables(tx, scope):
        if table.name in _COUNTED:
            result.checked[table.name] = result.checked.get(table.name, 0) + table.rows
        result.findings += [Finding("row", f"{name} does not match its hash") for name in table.damaged]
    result.findings += [Finding("reference", problem) for problem in row_checks.dangling_references(tx, scope)]


def _check_summaries(tx: Transaction, scope: Scope, result: Diagnosis, repair: bool) -> None:
    """A summary can be made again, so a repair takes a damaged one away."""
    for session_id in session_rows.covered(tx, scope):
        if session_rows.summary(tx, scope, session_id) is None:
            if repair:
                session_rows.delete_summary(tx, scope, session_id)
            result.add("row", f"the summary of session {session_id} does not match its hash", repair)


def _check_holdings(tx: Transaction, scope: Scope, result: Diagnosis, repair: bool) -> None:
    if memory_rows.count_missing(tx, scope):
        there, written = row_counts.memories(tx, scope)
        if repair:
            row_counts.set_memories(tx, scope, there)
        result.add(
            "count",
            f"{written.versions} versions of memories of {scope.user} were stored, {written.believed} of them "
            f"believed, and {there.versions} are there, {there.believed} of them believed; a repair counts anew, and "
            "only a copy brings back what is lost",
            repair,
        )
    kept, counted = row_counts.episodes(tx, scope), row_counts.episodes_in_table(tx, scope)
    if kept == counted:
        return
    if repair:
        row_counts.set_episodes(tx, scope, counted)
    result.add("count", f"{kept} episodes of {scope.user} are on the books, and {counted} are there", repair)


def _is_read_again(tx: Transaction, scope: Scope, episode: Episode, redactor: Callable[[], Redactor]) -> bool:
    """Make the preview of an episode again from its transcript; whether the row matches its hash then."""
    try:
        transcript = transcript_rows.transcript(tx, scope, episode.transcript_id)
    except Corrupt:
        return False  # the pointer itself may be what is damaged
    opened = open_episode(episode, transcript, redactor(), whole=True)
    if opened.state != "open" or not opened.turns or episode.part:
        return False
    said = "\n".join(turn.text for turn in opened.turns if turn.text)
    actions = dict.fromkeys(action for turn in opened.turns for action in turn.actions)
    outcomes = dict.fromkeys(line for turn in opened.turns for line in turn.outcomes)
    fresh = replace(episode, preview=next(cut(said), ""), actions="\n".join(actions), outcomes="\n".join(outcomes))
    episodes.rewrite_preview(tx, scope, fresh)
    damaged: list[str] = []
    episodes.by_docs(tx, scope, [episode.doc], damaged)
    return not damaged


def _check_vectors(tx: Transaction, scope: Scope, model: str, result: Diagnosis, repair: bool) -> None:
    for source in vector_rows.SOURCES:
        orphans = vector_rows.count_orphans(tx, scope, source)
        if orphans:
            if repair:
                vector_rows.delete_orphans(tx, scope, source)
            result.add("vectors", f"{orphans} vectors ({source}) of {scope.user} have no row", repair)
        waiting = vector_rows.count_missing(tx, scope, source, model)
        if waiting:
            result.add("vectors", f"{waiting} rows ({source}) of {scope.user} have no vector of {model}")
            result.waiting.append((scope, result.findings[-1]))


def _check_notes(tx: Transaction, connector: Connector, users: list[Scope], result: Diagnosis, repair: bool) -> None:
    """Notes are files, and all that is kept of them is derived: a repair lets them be read again when next searched."""
    sections = [section for user in users for section in note_rows.stored_sections(tx, user)]
    result.checked["notes"] = len(sections)
    damaged = sum(not section.is_whole for section in sections)
    held, words_problem = _words_state(tx, connector, "note")
    version = _terms_version(tx)
    damaged += sum(note_rows.count_damaged_files(tx, user) for user in users)
    problem = words_problem or (
        f"{damaged} sections of notes do not match their hash"
        if damaged
        else f"the index of notes holds {held} sections, the table {len(sections)}"
        if held != len(sections)
        else "the index of notes was made by another version of the analyser"
        if sections and version != VERSION
        else ""
    )
    if problem and repair:
        note_rows.clear(tx, users)
    if problem:
        result.add("notes", problem, repair)


def _check_words(tx: Transaction, connector: Connector, users: list[Scope], result: Diagnosis, repair: bool) -> None:
    stale = _terms_version(tx) != VERSION
    for source, table in (("memory", "memories"), ("episode", "episodes")):
        held, problem = _words_state(tx, connector, source)
        rows = result.indexed_versions if source == "memory" else result.checked.get(table, 0)
        problem = problem or (
            f"the index of {table} holds {held} rows, and {rows} belong into it" if held != rows else ""
        )
        if stale and not problem:
            problem = f"the index of {table} was made by another version of the analyser"
        if not problem and source not in result.reworded and not full_text.holds_the_words(tx, users, source):
            problem = f"the index of {table} holds other words than the rows"
        if repair and (problem or source in result.reworded):
            full_text.rebuild(tx, users, source)
        if not problem:
            continue
        result.add("full text", problem, repair)
    if repair and stale:
        meta.put(tx, "terms_version", VERSION)


def _words_state(tx: Transaction, connector: Connector, source: str) -> tuple[int, str]:
    """How many documents full text holds of a source, and what is wrong with it by its own check."""
    try:
        return search.of(tx).size(source), connector.maintenance.words_integrity(source)
    except Corrupt:
        return 0, f"the full-text index of the {source} rows is gone or cannot be read"


def _count(result: Diagnosis, table: str) -> None:
    result.checked[table] = result.checked.get(table, 0) + 1
