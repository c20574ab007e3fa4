"""The doctor: checks the file and every row, explains, and repairs.

Rows are the truth. Where a single bit of a row flipped, the row's hash tells which one, and a repair turns it back
(store/mending.py). Full text, vectors and the tables' indexes are derived and can always be rebuilt from the rows; an
episode is derived from its transcript and is read again from there if the transcript is still the same. A memory with
more damage than one bit cannot be rebuilt from anything: it is kept as it reads now, and a change says so. A change, a
transcript's record, a session or a message with more damage is reported and left as it is; a summary is removed,
because it can be made again. (A cursor beyond the end of a file is no damage: the file was cut, and the next ingest
sees it.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

from picomem.errors import Corrupt, DiskFull, InvalidInput, Locked, ReadOnly, StoreError
from picomem.ingest.pointer import open_episode
from picomem.memory.remember import Writer
from picomem.policy.redact import Redactor
from picomem.records.episode import Episode
from picomem.records.scope import Scope
from picomem.store import (
    consolidations,
    doc_numbers,
    episodes,
    marks,
    memories,
    meta,
    notes,
    search,
    sessions,
    tombstones,
    vectors,
)
from picomem.store.connector import Connector, RepairTransaction, Row, Transaction
from picomem.store.legible import decoded, legible
from picomem.store.mending import mended
from picomem.store.row_hash import COLUMNS, KEYS, is_whole, row_hash
from picomem.text.terms import VERSION, indexed, owner_token
from picomem.values import dataclass, field, replace

_MOST_MENDED = 200  # rows of a table; more of them are no single flipped bits
_ROW_NAMES = {
    "meta": "the entry",
    "user_marks": "the entry",
    "doc_ranges": "the counter of the search index",
    "memories": "memory",
    "changes": "change",
    "lineage": "the record of what was made from what:",
    "transcripts": "transcript",
    "episodes": "episode",
    "index_pages": "the index page",
    "sessions": "session",
    "messages": "message",
    "session_summaries": "the summary of session",
    "consolidations": "the record of consolidation",
    "spending": "the cost of day",
    "note_files": "the record of the note",
    "note_sections": "the section of a note",
    "tombstones": "tombstone",
    "exports": "the record of the exported page",
}


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
    findings: list[Finding] = field(default_factory=list)
    waiting: list[tuple[Scope, Finding]] = field(default_factory=list)  # whose rows have no vectors yet
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
) -> Diagnosis:
    """Examine the whole file, and the vectors of a model ("none": of none).

    With `repair` it writes, in one transaction; without, it only reads. Missing vectors take longer than a
    transaction may: who calls makes them for those that the diagnosis says are waiting.
    """
    result = Diagnosis()
    try:
        for problem in connector.maintenance.integrity():
            result.add("file", problem)
        with connector.maintenance.repair() if repair else connector.maintenance.examine() as tx:
            _examine_rows(tx, connector, model, redactor, writer, result, repair)
        left = set(connector.maintenance.integrity()) if repair and result.findings else set()
    except (Locked, ReadOnly, DiskFull):
        raise
    except StoreError as error:
        result.unreadable(error)
        return result
    if repair:
        for finding in result.findings:  # what was wrong with an index is mended with it
            finding.repaired = finding.repaired or (finding.check == "file" and finding.problem not in left)
    return result


def _examine_rows(
    tx: RepairTransaction,
    connector: Connector,
    model: str,
    redactor: Callable[[], Redactor],
    writer: Writer,
    result: Diagnosis,
    repair: bool,
) -> None:
    if repair:
        if result.findings:  # an index that disagrees with its table is derived, like full text
            tx.rebuild_indexes()
        _mend(tx, result)
    users = _users(tx, result)
    _check_meta(tx, users, result, repair)
    _check_doc_numbers(tx, users, result, repair)
    for user in users:
        _check_marks(tx, user, result, repair)
        _check_owned(tx, user, result)
        _check_memories(tx, user, writer, result, repair)
        _check_changes(tx, user, result)
        _check_transcripts(tx, user, result)
        _check_episodes(tx, user, redactor, result, repair)
        _check_conversations(tx, user, result, repair)
        _check_holdings(tx, user, result, repair)
        _check_references(tx, user, result)
        _check_pages(tx, user, result, repair)
        if model != "none":
            _check_vectors(tx, user, model, result, repair)
    for name in (user.user for user in users if tombstones.is_begun(tx, user)):
        result.add(
            "purge",
            f"a purge of {name} was begun and is not finished; if none runs now, `picomem purge --user {name}` "
            "finishes it",
        )
    _check_notes(tx, connector, users, result, repair)
    _check_words(tx, connector, users, result, repair)


def _users(tx: Transaction, result: Diagnosis) -> list[Scope]:
    """Everybody who has rows. A damaged id may be none."""
    users = []
    for (user,) in tx.all("users"):
        try:
            users.append(Scope(user))
        except InvalidInput:
            result.add("row", f"rows belong to a user whose id is damaged and reads {user[:80]!r}")
    return users


def _mend(tx: RepairTransaction, result: Diagnosis) -> None:
    """Turn back every bit that flipped alone in its row."""
    for table in COLUMNS:
        damaged = [row for row in tx.undecoded(table) if not is_whole(table, decoded(row))]
        for row in damaged[:_MOST_MENDED]:
            whole = mended(table, row)
            with suppress(StoreError):  # the key that it had was given to another row since
                if whole is not None and tx.restore(table, row, whole):
                    result.add("row", f"a bit of {_named(table, whole)} had flipped; it is as it was stored", True)


def _keep_as_it_reads(tx: RepairTransaction, row: Row) -> bool:
    """Give a damaged memory plain values where it cannot be read, and the hash of what it says then."""
    values = legible("memories", row)[:-1]
    with suppress(StoreError):
        return tx.restore("memories", row, (*values, row_hash("memories", values))) > 0
    return False


def _named(table: str, row: Row) -> str:
    """A row as a sentence names it."""
    key = [str(row[COLUMNS[table].index(name)]) for name in KEYS[table] if name != "user_id"]
    return f"{_ROW_NAMES.get(table, table)} {' '.join(key)}"


def _check_meta(tx: Transaction, users: list[Scope], result: Diagnosis, repair: bool) -> None:
    """What the file says of itself. The version of the analyser and the first number of the search index can be made
    again; the key that secrets and tombstones are hashed with cannot."""
    rows = tx.all("all_meta")
    for row in rows:
        if is_whole("meta", row):
            continue
        name, text = str(row[0]), str(row[1])
        if repair and name == meta.REDACTION_KEY:
            meta.put(tx, name, text if meta.is_key(text) else os.urandom(32).hex())
        elif repair:
            tx.run("delete_meta", name=name)
        said = "; what was purged may come back when its transcript is read again" if name == meta.REDACTION_KEY else ""
        result.add("row", f"the entry “{name}” of the store does not match its hash{said}", repair)
    names = [row[0] for row in rows]
    if meta.REDACTION_KEY not in names:
        if repair:
            meta.put(tx, meta.REDACTION_KEY, os.urandom(32).hex())
        result.add("row", "the key of the store is gone; what was purged may come back when it is read again", repair)
    if meta.DOCS_BEFORE_RANGES not in names:
        result.add("row", "the first number of the search index is gone", repair)
    if repair and tx.one("meta", name=meta.DOCS_BEFORE_RANGES) is None:
        taken = (doc_numbers.highest_taken(tx, user) for user in users)
        meta.put(tx, meta.DOCS_BEFORE_RANGES, str(max(filter(doc_numbers.in_first_range, taken), default=0)))


def _check_doc_numbers(tx: Transaction, users: list[Scope], result: Diagnosis, repair: bool) -> None:
    """The counters of the search index. One that is damaged or gone cannot be made again, because numbers may have been
    given out to what was deleted since; a repair gives the user a range of numbers that nobody had."""
    taken = {user: doc_numbers.highest_taken(tx, user) for user in users}
    counters = {user: doc_numbers.whole_last(tx, user) for user in users}
    try:
        before_ranges = meta.docs_before_ranges(tx)
    except Corrupt:
        before_ranges = max(taken.values(), default=0)  # reported above
    highest = max([*taken.values(), *(last for last in counters.values() if last is not None)], default=0)
    for user, last in counters.items():
        if last is None and (doc_numbers.is_there(tx, user) or taken[user] > before_ranges):
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
    for name in marks.damaged(tx, scope):
        if repair and name == marks.PURGE:
            marks.put(tx, scope, name, "some")
        elif repair:
            marks.remove(tx, scope, name)
        result.add("row", f"the entry “{name}” of {scope.user} does not match its hash", repair)


def _check_owned(tx: Transaction, scope: Scope, result: Diagnosis) -> None:
    """Rows that no other check looks at."""
    for name, table in _OWNED.items():
        for row in tx.all(name, user=scope.user):
            if not is_whole(table, row):
                result.add("row", f"{_named(table, row)} does not match its hash")


_OWNED = {"all_lineage": "lineage", "all_tombstones": "tombstones", "exports": "exports", "all_spending": "spending"}


def _terms_version(tx: Transaction) -> str | None:
    with suppress(Corrupt):
        return meta.value(tx, "terms_version")
    return None


def _check_memories(tx: RepairTransaction, scope: Scope, writer: Writer, result: Diagnosis, repair: bool) -> None:
    for row in tx.all("all_memories", user=scope.user):
        _count(result, "memories")
        memory = memories.unchecked(row)
        if memories.is_whole(row):
            continue
        result.add(
            "row",
            f"memory {memory.key} ({memory.id} version {memory.version}) does not match its hash; a repair restores it "
            "where one bit flipped, and otherwise keeps it as it reads now. If that is wrong, revise it.",
            repair and _keep_as_it_reads(tx, row),
        )
        if result.findings[-1].repaired:
            # Full text and the vector were made from the text before it was damaged; they follow the row.
            writer.vouch(tx, memory)
            result.reworded.add("memory")
            vectors.remove(tx, scope, "memory", memory.doc)


def _check_changes(tx: Transaction, scope: Scope, result: Diagnosis) -> None:
    """The audit trail is what happened: a damaged row of it is told, and never made to fit."""
    for row in tx.all("whole_changes", user=scope.user):
        _count(result, "changes")
        if not is_whole("changes", row):
            result.add("row", f"change {row[0]} does not match its hash: it reads otherwise than it was recorded")


def _check_transcripts(tx: Transaction, scope: Scope, result: Diagnosis) -> None:
    for row in tx.all("transcripts", user=scope.user):
        _count(result, "transcripts")
        found = episodes.unchecked_transcript(row)
        wrong = [
            said
            for said, is_so in (
                ("does not match its hash", not episodes.is_whole_transcript(row)),
                ("has a place to read on from that lies before its beginning", found.cursor < 0),
                ("counts fewer than no turns or bytes", found.turns < 0 or found.size < 0 or found.generation < 1),
                (
                    "ends before it begins",
                    found.started_at is not None and (found.ended_at or found.started_at) < found.started_at,
                ),
            )
            if is_so
        ]
        result.findings += [Finding("row", f"transcript {found.id} ({found.path}) {said}") for said in wrong]


def _check_references(tx: Transaction, scope: Scope, result: Diagnosis) -> None:
    """Rows that point at a row that is not there, and values that cannot be."""
    for name, said in _REFERENCES.items():
        for (found,) in tx.all(name, user=scope.user):
            result.add("reference", said.format(found))


_REFERENCES = {
    "memories_without_change": "memory {} has a version that no change tells of",
    "closed_without_change": "memory {} has a version that was closed by a change that is not there",
    "changes_without_memory": "change {} is about a memory that is not there",
    "lineage_without_child": "a record of what memory {} was made from belongs to no version of it",
    "memories_with_impossible_times": "memory {} has a version that ends before it begins",
    "episodes_with_impossible_place": "episode {} lies at an impossible place of its transcript",
}


def _check_pages(tx: Transaction, scope: Scope, result: Diagnosis, repair: bool) -> None:
    """A damaged page is never shown (it is made anew), so a repair only takes it away."""
    damaged = [row for row in tx.all("all_index_pages", user=scope.user) if not is_whole("index_pages", row)]
    if not damaged:
        return
    result.add("index page", f"{len(damaged)} kept index pages of {scope.user} do not match their hash", repair)
    if repair:
        tx.run("forget_index_pages", user=scope.user)


def _check_episodes(
    tx: Transaction, scope: Scope, redactor: Callable[[], Redactor], result: Diagnosis, repair: bool
) -> None:
    for row in tx.all("all_episodes", user=scope.user):
        _count(result, "episodes")
        episode = episodes.unchecked(row)
        if episodes.is_whole(row):
            continue
        fresh = _read_again(tx, scope, episode, redactor) if repair else None
        result.add("row", f"episode {episode.id} does not match its hash", fresh is not None)
        if fresh is not None:
            episodes.rewrite_preview(tx, scope, fresh)
            result.reworded.add("episode")
            vectors.remove(tx, scope, "episode", episode.doc)


def _check_conversations(tx: Transaction, scope: Scope, result: Diagnosis, repair: bool) -> None:
    """What was said is told nowhere else, so a damaged message is told and left out of the prompt; a summary can be
    made again, so a repair takes it away."""
    covered = dict(tx.all("summaries_covered", user=scope.user))
    for (session_id,) in tx.all("session_ids", user=scope.user):
        _count(result, "sessions")
        try:
            sessions.session(tx, scope, session_id)
        except Corrupt:
            result.add("row", f"session {session_id} does not match its hash: it reads otherwise than it was stored")
        loaded = sessions.messages_after(tx, scope, session_id, 0)
        result.checked["messages"] = result.checked.get("messages", 0) + len(loaded.messages) + len(loaded.damaged)
        for seq in loaded.damaged:
            result.add("row", f"message {seq} of session {session_id} does not match its hash and is left out")
        if session_id in covered and sessions.summary(tx, scope, session_id) is None:
            if repair:
                tx.run("purge_summary", user=scope.user, session_id=session_id)
            result.add("row", f"the summary of session {session_id} does not match its hash", repair)
    for row in tx.all("all_consolidations", user=scope.user):
        _count(result, "consolidations")
        if not consolidations.is_whole(row):
            result.add("row", f"the record of consolidation {row[0]} does not match its hash; it cannot be undone")


def _check_holdings(tx: Transaction, scope: Scope, result: Diagnosis, repair: bool) -> None:
    if memories.count_missing(tx, scope):
        there, believed = tx.one("counted_memories", user=scope.user) or (0, 0)
        written, held = tx.one("held_memories", user=scope.user) or (0, 0)
        if repair:
            tx.run("recount_memories", user=scope.user, memories=there, believed=believed)
        result.add(
            "count",
            f"{written} versions of memories of {scope.user} were stored, {held} of them believed, and {there} are "
            f"there, {believed} of them believed; a repair counts anew, and only a copy brings back what is lost",
            repair,
        )
    kept, counted = ((tx.one(name, user=scope.user) or (0,))[0] for name in ("count_episodes", "counted_episodes"))
    if kept == counted:
        return
    if repair:
        tx.run("recount_episodes", user=scope.user, episodes=counted)
    result.add("count", f"{kept} episodes of {scope.user} are on the books, and {counted} are there", repair)


def _read_again(tx: Transaction, scope: Scope, episode: Episode, redactor: Callable[[], Redactor]) -> Episode | None:
    """The episode with its preview made again from the transcript, where that gives the same span."""
    try:
        transcript = episodes.transcript(tx, scope, episode.transcript_id)
    except Corrupt:
        return None  # the pointer itself may be what is damaged
    # What is asked is whether the messages are there, so the damaged preview must not decide it.
    opened = open_episode(replace(episode, preview=""), transcript, redactor())
    if opened.state != "open" or not opened.turns or episode.part:
        return None
    return replace(episode, preview="\n".join(turn.text for turn in opened.turns)[:1500])


def _check_vectors(tx: Transaction, scope: Scope, model: str, result: Diagnosis, repair: bool) -> None:
    for source in vectors.SOURCES:
        orphans = int((tx.one(f"count_{source}_orphans", user=scope.user) or (0,))[0])
        if orphans:
            if repair:
                tx.run(f"delete_{source}_orphans", user=scope.user)
            result.add("vectors", f"{orphans} vectors ({source}) of {scope.user} have no row", repair)
        waiting = vectors.count_missing(tx, scope, source, model)
        if waiting:
            result.add("vectors", f"{waiting} rows ({source}) of {scope.user} have no vector of {model}")
            result.waiting.append((scope, result.findings[-1]))


def _check_notes(tx: Transaction, connector: Connector, users: list[Scope], result: Diagnosis, repair: bool) -> None:
    """Notes are files, and all that is kept of them is derived: a repair lets them be read again when next searched."""
    rows = [row for user in users for row in tx.all("all_note_sections", user=user.user)]
    result.checked["notes"] = len(rows)
    damaged = sum(not notes.is_whole(row) for row in rows)
    held = int((tx.one("note_words_size") or (0,))[0])
    version = _terms_version(tx)
    damaged += sum(not is_whole("note_files", row) for user in users for row in tx.all("note_files", user=user.user))
    problem = connector.maintenance.words_integrity("note") or (
        f"{damaged} sections of notes do not match their hash"
        if damaged
        else f"the index of notes holds {held} sections, the table {len(rows)}"
        if held != len(rows)
        else "the index of notes was made by another version of the analyser"
        if rows and version != VERSION
        else ""
    )
    if problem and repair:
        notes.clear(tx, users)
    if problem:
        result.add("notes", problem, repair)


def _check_words(
    tx: RepairTransaction, connector: Connector, users: list[Scope], result: Diagnosis, repair: bool
) -> None:
    stale = _terms_version(tx) != VERSION
    for source, table in (("memory", "memories"), ("episode", "episodes")):
        held = int((tx.one(f"{source}_words_size") or (0,))[0])
        rows = result.checked.get(table, 0)
        problem = connector.maintenance.words_integrity(source) or (
            f"the index of {table} holds {held} rows, the table {rows}" if held != rows else ""
        )
        if stale and not problem:
            problem = f"the index of {table} was made by another version of the analyser"
        if not problem and source not in result.reworded and not _holds_the_words(tx, users, source):
            problem = f"the index of {table} holds other words than the rows"
        if repair and (problem or source in result.reworded):
            rebuild_words(tx, users, source)
        if not problem:
            continue
        result.add("full text", problem, repair)
    if repair and stale:
        meta.put(tx, "terms_version", VERSION)


def _holds_the_words(tx: RepairTransaction, users: list[Scope], source: str) -> bool:
    """Whether full text is what the rows make. The database's own check sees neither a word that became another nor a
    wrong place.

    Each word with its place counts into one sum, so that neither side is kept in memory.
    """
    fields = ("name", "body") if source == "memory" else ("body",)
    expected, rows, sizes = 0, 0, [0] * len(fields)
    for scope in users:
        for doc, texts in _worded(tx, scope, source):
            rows += 1
            for column, name in enumerate(fields):
                words = texts[name].split()
                sizes[column] += len(words)
                expected += hash((doc, column, len(words)))
                expected += sum(hash((word, doc, name, place)) for place, word in enumerate(words))
    held = sum(map(hash, tx.indexed_words(source)))
    return held == expected and (not rows or search.totals(tx, source) == [rows, *sizes])


def _worded(tx: Transaction, scope: Scope, source: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row of a user as full text takes it: its number, and its fields."""
    if source == "memory":
        for row in tx.all("all_memories", user=scope.user):
            memory = memories.unchecked(row)
            yield memory.doc, memories.words(memory)
    else:
        owner = owner_token(scope.user)
        for row in tx.all("all_episodes", user=scope.user):
            episode = episodes.unchecked(row)
            yield episode.doc, {"body": indexed(episodes.text_of(episode), owner)}


def rebuild_words(tx: Transaction, users: list[Scope], source: str) -> None:
    """Make a full-text index again from the rows."""
    tx.run(f"{source}_words_clear")
    for scope in users:
        for doc, texts in _worded(tx, scope, source):
            tx.run(f"{source}_words_add", doc=doc, **texts)


def _count(result: Diagnosis, table: str) -> None:
    result.checked[table] = result.checked.get(table, 0) + 1
