"""Undo: reverses a change, or all changes of a run. Nothing is deleted, and an undo is itself a change.

The versions that a change opened and closed determine its effect (`version_history.py`), so one rule serves every
verb: the belief about the memory becomes what it was right before the change. A version that is no longer believed is
closed, and the version that it had replaced is opened again as a new version, known from now on. So "what did we
believe then" keeps its answer. Undoing an undo repeats the change. `undo_consolidation.py` reverses and repeats what
a consolidation did to its conversation.

If later changes build on a change, they are named and the undo is refused. A run is undone from its last change to its
first, in one transaction; if one of them cannot be undone, none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from picomem.clock import iso
from picomem.coded_text import CodedText, Command, code_of, value_of, word_of
from picomem.consolidation.undo_consolidation import CONSOLIDATED, REOPENED, check_latest, on_record, turn_back
from picomem.errors import Conflict, InvalidInput, NotFound, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.memory.decide import not_undone
from picomem.memory.remember import Writer
from picomem.memory.vectors import Vectors
from picomem.memory.version_history import IMPORTED, VersionHistory, statement_of, undone_by
from picomem.records.ids import new_id
from picomem.records.kinds import Decision
from picomem.records.memory import Change, Memory, Parent
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, consolidations, memories, transcript_rows
from picomem.store.tables.session_names import Place, find_session

# Records the conversations of an import. An undo of the import keeps them, because only a purge deletes them.
#
# Changes of the import's run record them; these changes concern no memory. Each conversation with PicoBot has its own
# change, written together with it. Transcripts have one change for the imported file, by which they are found again.

_TOOK_IN, _READ = "reason.taken_in", "reason.read"
_PURGE = Command("purge", session="ID")
_CONVERSATIONS_SHOWN = 5  # ids that a sentence names


def note_conversation(tx: Transaction, writer: Writer, scope: Scope, path: str) -> None:
    """Put on record that a run took in a conversation with PicoBot."""
    writer.record(tx, scope, IMPORTED, CodedText(_TOOK_IN, path=path))


def note_transcripts(tx: Transaction, writer: Writer, scope: Scope, path: str) -> None:
    """Put on record that a run read conversations in a file."""
    writer.record(tx, scope, IMPORTED, CodedText(_READ, path=path))


def conversations_left(tx: Transaction, scope: Scope, run: str) -> str:
    """Describe in a sentence which conversations an undo of a run leaves; empty if none."""
    return left_by(tx, scope, audit.of_run(tx, scope, run))


def left_by(tx: Transaction, scope: Scope, changes: Iterable[Change]) -> str:
    """The same for a run whose changes are known."""
    reasons = [change.reason for change in changes if change.decision == IMPORTED and not change.memory_id]
    taken_in = sum(code_of(reason) == _TOOK_IN for reason in reasons)
    if taken_in:
        commands = {"command": Command("sessions"), "further_command": _PURGE}
        return CodedText("warning.conversations_stay", count=taken_in, **commands)
    path = next((value_of(reason, "path") for reason in reasons if code_of(reason) == _READ), "")
    sessions = [transcript.session for transcript in transcript_rows.transcripts_at(tx, scope, path)] if path else []
    if not sessions:
        return ""
    listed = (*sessions[:_CONVERSATIONS_SHOWN], *(["…"] if len(sessions) > _CONVERSATIONS_SHOWN else []))
    return CodedText("warning.read_conversations_stay", path=path, sessions=listed, command=_PURGE)


_SHOWN = 5  # changes that a sentence names
_AT_ONCE = 50  # changes that are read
_UPKEEP = ("expire", "doctor", "purge")  # verbs
_TAG = "tag"  # what such a change replaced is not recorded
_NOTHING_TO_UNDO = {
    Decision.REFUSE: "stored nothing, so there is nothing to undo",
    "repair": "kept a damaged row as it read, and what it said before is not known; revise the memory instead",
    "purge": "erased for good; nothing brings that back",
    _TAG: "set the tags of an episode; set them again, or name the change that is to be undone",
}


@dataclass(frozen=True, slots=True)
class Undone:
    """One change that was undone: the change that did so, the memory's key, and what is believed of it now (None where
    it is archived)."""

    undone: Change
    change: Change
    key: str
    memory: Memory | None


def undo_named(
    tx: Transaction,
    writer: Writer,
    scope: Scope,
    name: str,
    reason: str,
    vectors: Vectors | None = None,
    *,
    by_agent: bool = False,
) -> list[Undone]:
    """Undo the change or the run of a name as `undo` does; or else all that a model made of the session of that name,
    in a run for each of its runs. Raises what `undo` raises."""
    try:
        return undo(tx, writer, scope, name, reason, vectors, by_agent=by_agent)
    except NotFound:
        runs = _distillings(tx, scope, name)
        if not runs:
            raise
    return [
        step
        for run in runs
        for step in undo(tx, replace(writer, run=new_id()), scope, run, reason, vectors, by_agent=by_agent)
    ]


def _distillings(tx: Transaction, scope: Scope, session: str) -> list[str]:
    """The runs that distilled a session of another program, the latest first, without those that were undone."""
    name = find_session(tx, scope, session, Place.TRANSCRIPTS)
    if not name:
        return []
    records = consolidations.of_transcript(tx, scope, transcript_rows.longest_transcript(tx, scope, name))
    made = [audit.change(tx, scope, record.change_id) for record in records]
    return [change.run for change in made if change is not None and change.decision == CONSOLIDATED]


def undo(
    tx: Transaction,
    writer: Writer,
    scope: Scope,
    name: str,
    reason: str,
    vectors: Vectors | None = None,
    *,
    by_agent: bool = False,
) -> list[Undone]:
    """Undo the change, or the run, that an id or the beginning of one means; what came of it, newest change first;
    nothing where all of a run was undone already.

    Raises NotFound, InvalidInput for what cannot be undone, Conflict where something stands in the way, and Refused
    where an agent would change what a person stated or pinned.
    """
    named = audit.named(tx, scope, name)
    undoes = audit.undoing(tx, scope)
    # The change that stands for a consolidation is about no memory: to undo it is to undo the run.
    consolidated = next((change for change in named if change.decision in (CONSOLIDATED, REOPENED)), None)
    if consolidated is not None:
        check_latest(tx, scope, consolidated, undoes)
        named = audit.of_run(tx, scope, consolidated.run)
    elif not any(change.memory_id for change in named) and (left := left_by(tx, scope, named)):
        raise InvalidInput(f"Run {name} stored no memory, so there is nothing to undo. {left}")
    elif len(named) == 1:
        return [_undo(tx, writer, scope, named[0], undoes, reason, by_agent=by_agent)]
    wrote = [change for change in named if _reason_against(tx, scope, change, undoes) == ""]
    if not wrote and consolidated is None:
        raise InvalidInput(f"Run {name} changed nothing, so there is nothing to undo.")
    done: list[Undone] = []
    for change in reversed(wrote):
        versions = _version_history(tx, scope, change.memory_id, undoes)
        if versions.in_force(change.id):  # else it was taken back by itself
            done.append(_undo(tx, writer, scope, change, undoes, reason, by_agent=by_agent))
            undoes[done[-1].change.id] = change.id
    if consolidated is not None and not (done or on_record(tx, scope, consolidated, undoes)):
        raise Conflict(f"Run {consolidated.run} cannot be undone: its conversation was purged since.")
    if consolidated is not None:
        turned = turn_back(tx, writer, scope, consolidated, reason, undoes, vectors)
        done.append(Undone(consolidated, turned, "", None))
    return done


def last_run(tx: Transaction, scope: Scope, actor: str) -> str:
    """The latest run of an actor's of which something can be undone, so that one undo after another goes further back:
    no undo, and no upkeep, which nobody asked for. It may be one of tags, which cannot be undone: better to
    say so than to undo what came before it. What an ingest, a hook, a job or an agent stored has other actors. Raises
    NotFound where there is none."""
    undoes = audit.undoing(tx, scope)
    undone = undone_by(undoes)
    before = ""
    while page := audit.latest(tx, scope, _AT_ONCE, before, []):
        for change in page:
            is_theirs = change.actor == actor and change.verb not in _UPKEEP
            asked = is_theirs and change.id not in undoes and change.id not in undone
            is_whole = change.decision in (CONSOLIDATED, _TAG)  # of which no memory says so
            if asked and (is_whole or not _reason_against(tx, scope, change, undoes)):
                return change.run
        before = page[-1].id
    raise NotFound(
        CodedText("failure.nothing_to_undo", actor=actor, changes=Command("changes"), undo=Command("undo", "ID"))
    )


def _undo(
    tx: Transaction,
    writer: Writer,
    scope: Scope,
    change: Change,
    undoes: dict[str, str],
    reason: str,
    *,
    by_agent: bool,
) -> Undone:
    against = _reason_against(tx, scope, change, undoes)
    if against:
        raise InvalidInput(f"Change {change.id} {against}.")
    history = _version_history(tx, scope, change.memory_id, undoes)
    _check_in_force(tx, scope, history, change)
    now, then = history.believed_now(), history.believed_before(change.id)
    closing, opening = differing(now, then), differing(then, now)
    if by_agent and (persons := [version for version in (*closing, *opening) if version.is_a_persons]):
        raise Refused(not_undone(persons[0], change.id))
    _check_key_is_free(tx, opening)
    key, latest = memories.key_of(tx, scope, change.memory_id), memories.last_version(tx, scope, change.memory_id)
    undoing = writer.record(
        tx,
        scope,
        "restore" if then else "archive",
        reason or CodedText("reason.taken_back", decision=word_of(change.decision), date=iso(change.at)[:10]),
        memory_id=change.memory_id,
        before=closing[-1].version if closing else None,
        after=latest + len(opening) if opening else None,
        undoes=change.id,
    )
    believe(tx, writer, closing, opening, latest, undoing.id)
    believed = memories.believed_versions(tx, scope, change.memory_id)
    return Undone(change, undoing, key, believed[-1] if believed else None)


def differing(some: Sequence[Memory], others: Sequence[Memory]) -> list[Memory]:
    """The versions whose content none of the others has."""
    known = set(map(statement_of, others))
    return [version for version in some if statement_of(version) not in known]


def believe(
    tx: Transaction, writer: Writer, closing: Sequence[Memory], opening: Sequence[Memory], latest: int, change_id: str
) -> None:
    """Close versions of a memory, and open others of it again, numbered on from `latest`; by a change."""
    for version in closing:
        memories.close(tx, version, writer.now, change_id)
    for number, version in enumerate(opening, latest + 1):
        again = replace(version, version=number, known_from=writer.now, known_to=None, change_id=change_id)
        parent = Parent(kind="memory", id=version.id, role="restored", version=version.version)
        writer.open_version(tx, again, [parent])


def _version_history(tx: Transaction, scope: Scope, memory_id: str, undoes: dict[str, str]) -> VersionHistory:
    versions = memories.versions(tx, scope, memory_id)
    arrivals = {
        change.id: change.after or 0
        for change in audit.of_memory(tx, scope, memory_id, [])
        if change.decision == IMPORTED and not audit.is_blank(change)
    }
    return VersionHistory(versions, memories.closers(tx, scope, memory_id), undoes, arrivals)


def _reason_against(tx: Transaction, scope: Scope, change: Change, undoes: dict[str, str]) -> str:
    """Explain why there is nothing to undo; empty if there is something."""
    if audit.is_blank(change):
        return "did something that was purged since, so it cannot be undone"
    if change.decision in _NOTHING_TO_UNDO:
        return f"is a {change.decision} and {_NOTHING_TO_UNDO[change.decision]}"
    if not change.memory_id or change.id not in _version_history(tx, scope, change.memory_id, undoes):
        return f"wrote nothing ({change.reason}), so there is nothing to undo"
    return ""


def _check_in_force(tx: Transaction, scope: Scope, history: VersionHistory, change: Change) -> None:
    """Raises Conflict where a change was undone already, or something was built on it since."""
    if not history.in_force(change.id):
        by = history.undone_by(change.id)
        raise Conflict(f"Change {change.id} was already undone by {by}; undo that change to restore it.", change_id=by)
    later = history.built_on(change.id)
    rows = [audit.change(tx, scope, change_id) for change_id in later]
    if any(row is not None and row.decision == "purge" for row in rows):
        raise Conflict(f"Change {change.id} cannot be undone: a later purge changed the memory.")
    if later:
        named = ", ".join(later[:_SHOWN]) + (f" and {len(later) - _SHOWN} more" if len(later) > _SHOWN else "")
        raise Conflict(
            f"Change {change.id} cannot be undone yet: later changes to the same memory build on it ({named}); undo "
            "those first, from the left.",
            change_id=later[0],
        )
    lacking = history.lacks(change.id)
    if lacking:
        by = history.undone_by(lacking[0])
        raise Conflict(
            f"Change {change.id} cannot be undone: a change that it builds on was undone by {by}; undo that first.",
            change_id=by,
        )


def _check_key_is_free(tx: Transaction, opening: Sequence[Memory]) -> None:
    """Raises Conflict where another memory has taken the key, or the path of the file, meanwhile."""
    for version in opening:
        holder = memories.holder(tx, version) if version.valid_to is None else None
        if holder is not None:
            taken = f"key “{version.key}”" if holder.key == version.key else f"path {version.path}"
            raise Conflict(
                f"Another memory has the {taken} now; undo the change that stored it ({holder.change_id}) "
                "or forget it first.",
                change_id=holder.change_id,
            )
