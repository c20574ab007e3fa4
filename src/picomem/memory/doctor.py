"""The doctor: checks the file and every row, explains, and repairs what is derived.

Rows are the truth. Full text and vectors are derived and can always be rebuilt from them; an episode is derived
from its transcript and is read again from there if the transcript is still the same. A memory that does not match
its hash cannot be rebuilt from anything: it is kept as it reads now, its hash is made anew, and a change says so. A
change, a transcript's record, a session or a message that does not match is told and left as it is; a summary is taken
away, for it can be made again. (A cursor beyond the end of a file is no damage: the file was cut, and the next ingest
sees it.)
"""

from __future__ import annotations

from collections.abc import Callable

from picomem.errors import Corrupt, DiskFull, Locked, ReadOnly, StoreError
from picomem.ingest.pointer import open_episode
from picomem.memory.remember import Writer
from picomem.policy.redact import Redactor
from picomem.records.episode import Episode
from picomem.records.ids import content_hash
from picomem.records.scope import Scope
from picomem.store import consolidations, episodes, memories, notes, sessions, tombstones, vectors
from picomem.store.connector import Connector, Transaction
from picomem.text.terms import VERSION, indexed, owner_token
from picomem.values import dataclass, field, replace


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
        for problem in connector.integrity():
            result.add("file", problem)
        with connector.write(rebuilding=True) if repair else connector.read() as tx:
            _examine_rows(tx, connector, model, redactor, writer, result, repair)
        left = set(connector.integrity()) if repair and result.findings else set()
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
    tx: Transaction,
    connector: Connector,
    model: str,
    redactor: Callable[[], Redactor],
    writer: Writer,
    result: Diagnosis,
    repair: bool,
) -> None:
    users = [Scope(user) for (user,) in tx.all("users")]
    for user in users:
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
    for name in tombstones.all_begun(tx):
        result.add(
            "purge", f"a purge of {name} was begun and is not finished; `picomem purge --user {name}` finishes it"
        )
    _check_notes(tx, connector, users, result, repair)
    _check_words(tx, connector, users, result, repair)


def _check_memories(tx: Transaction, scope: Scope, writer: Writer, result: Diagnosis, repair: bool) -> None:
    for row in tx.all("all_memories", user=scope.user):
        _count(result, "memories")
        memory = memories.unchecked(row)
        if memories.row_hash(row) == row[25]:
            continue
        result.add(
            "row",
            f"memory {memory.key} ({memory.id} version {memory.version}) does not match its hash; it cannot be rebuilt "
            "from anything, so a repair keeps it as it reads now. If that is wrong, revise it.",
            repair,
        )
        if repair:
            # Full text and the vector were made from the text before it was damaged; they follow the row.
            writer.vouch(tx, memory)
            result.reworded.add("memory")
            vectors.remove(tx, scope, "memory", memory.doc)


def _check_changes(tx: Transaction, scope: Scope, result: Diagnosis) -> None:
    """The audit trail is what happened: a damaged row of it is told, and never made to fit."""
    for change_id, reason, candidate, stored in tx.all("all_changes", user=scope.user):
        _count(result, "changes")
        if content_hash(reason, candidate) != stored:
            result.add("row", f"change {change_id} does not match its hash: its reason or its text reads otherwise now")


def _check_transcripts(tx: Transaction, scope: Scope, result: Diagnosis) -> None:
    for row in tx.all("transcripts", user=scope.user):
        _count(result, "transcripts")
        found = episodes.unchecked_transcript(row)
        wrong = [
            said
            for said, is_so in (
                ("does not match its hash", episodes.transcript_hash(found) != row[21]),
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
    damaged = [page for page, stored in tx.all("all_index_pages", user=scope.user) if content_hash(page) != stored]
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
        if episodes.row_hash(episode) == row[21]:
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
    version = tx.one("meta", name="terms_version")
    problem = connector.words_integrity("note") or (
        f"{damaged} sections of notes do not match their hash"
        if damaged
        else f"the index of notes holds {held} sections, the table {len(rows)}"
        if held != len(rows)
        else "the index of notes was made by another version of the analyser"
        if rows and (version is None or version[0] != VERSION)
        else ""
    )
    if problem and repair:
        notes.clear(tx, users)
    if problem:
        result.add("notes", problem, repair)


def _check_words(tx: Transaction, connector: Connector, users: list[Scope], result: Diagnosis, repair: bool) -> None:
    version = tx.one("meta", name="terms_version")
    stale = version is None or version[0] != VERSION
    for source, table in (("memory", "memories"), ("episode", "episodes")):
        held = int((tx.one(f"{source}_words_size") or (0,))[0])
        rows = result.checked.get(table, 0)
        problem = connector.words_integrity(source) or (
            f"the index of {table} holds {held} rows, the table {rows}" if held != rows else ""
        )
        if stale and not problem:
            problem = f"the index of {table} was made by another version of the analyser"
        if repair and (problem or source in result.reworded):
            rebuild_words(tx, users, source)
        if not problem:
            continue
        result.add("full text", problem, repair)
    if repair and stale:
        tx.run("set_meta", name="terms_version", value=VERSION)


def rebuild_words(tx: Transaction, users: list[Scope], source: str) -> None:
    """Make a full-text index again from the rows."""
    tx.run(f"{source}_words_clear")
    for scope in users:
        if source == "memory":
            for row in tx.all("all_memories", user=scope.user):
                memory = memories.unchecked(row)
                tx.run("memory_words_add", doc=memory.doc, **memories.words(memory))
        else:
            owner = owner_token(scope.user)
            for row in tx.all("all_episodes", user=scope.user):
                episode = episodes.unchecked(row)
                tx.run("episode_words_add", doc=episode.doc, body=indexed(episodes.text_of(episode), owner))


def _count(result: Diagnosis, table: str) -> None:
    result.checked[table] = result.checked.get(table, 0) + 1
