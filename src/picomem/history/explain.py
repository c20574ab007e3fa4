"""Explains an entry: what was decided about it, when, by whom and from which sources, according to the records."""

from __future__ import annotations

from collections.abc import Mapping

from picomem.coded_text import CodedText, Command
from picomem.errors import Ambiguous, Conflict, NotFound, Refused
from picomem.light_dataclass import dataclass, field
from picomem.memory.name_lookup import nearest_key, resolve
from picomem.memory.version_history import version_numbers
from picomem.recall.hits import citation, message_citation
from picomem.records.caller import READ_SESSIONS
from picomem.records.episode import BY_HOST, DENY, Episode, Transcript
from picomem.records.kinds import Origin
from picomem.records.memory import Change, Memory, Parent
from picomem.records.scope import Scope
from picomem.records.session import session_path
from picomem.store.connector import Transaction
from picomem.store.tables import audit, episodes, memories, memory_lineage, session_rows, transcript_rows

_WITHHELD = "a withheld session"
_NOT_READ = f"a past session, which needs the permission {READ_SESSIONS}"


@dataclass(frozen=True, slots=True)
class MemorySource:
    """One thing that a memory version was made from."""

    version: int
    parent: Parent
    text: str = ""
    citation: str = ""
    origin: Origin = Origin.OTHER


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is on record about one memory, one refusal or one episode: of a memory the latest changes and versions,
    oldest first. `left_out` counts the changes before them. `numbers` are the versions as people count them, by those
    in the changes and sources."""

    id: str
    what: str  # "memory", "change" or "episode"
    memory: Memory | None
    versions: tuple[Memory, ...]
    changes: tuple[Change, ...]
    sources: tuple[MemorySource, ...]
    episode: Episode | None = None
    transcript: Transcript | None = None
    left_out: int = 0
    numbers: Mapping[int, int] = field(default_factory=dict)


def explain(tx: Transaction, scope: Scope, name: str, limit: int, *, reads_sessions: bool = True) -> Explanation:
    """Explain the entry behind a memory's id or key, a change's id or an episode's id, by the latest `limit` changes
    and versions. Raises NotFound, and Ambiguous.

    Without `reads_sessions` the sources in past sessions have no text."""
    change = audit.change(tx, scope, name)
    if change is not None and not change.memory_id:
        return Explanation(change.id, "change", None, (), (change,), ())
    try:
        memory = resolve(tx, scope, change.memory_id if change else name, archived=True)
    except Ambiguous:
        raise
    except NotFound:
        return _episode(tx, scope, name)
    after = memories.last_version(tx, scope, memory.id) - limit
    versions = memories.versions_after(tx, scope, memory.id, after)
    changes, left_out = audit.latest_of_memory(tx, scope, memory.id, limit)
    opened = [change.after for change in changes if change.after is not None]
    links = memory_lineage.links_of(tx, scope, memory.id, after=after)
    sources = tuple(_source(tx, scope, link.parent, link.version, reads_sessions=reads_sessions) for link in links)
    return Explanation(
        memory.id,
        "memory",
        memory,
        tuple(versions),
        tuple(changes),
        sources,
        left_out=left_out,
        numbers=version_numbers(tx, scope, memory.id, versions, opened),
    )


def find_episode(tx: Transaction, scope: Scope, name: str) -> Episode:
    """The episode with this id, or the beginning of one. Raises NotFound, with a hint where it names a memory."""
    try:
        episode = episodes.episode(tx, scope, episodes.find_id(tx, scope, name))
    except NotFound:
        if _names_memory(tx, scope, name):
            hint = CodedText(
                "failure.memory_no_episode", name=name, history=Command("history", name), why=Command("why", name)
            )
            raise NotFound(hint) from None
        raise
    if episode is None:
        raise NotFound(f"There is no episode “{name[:80]}”.")
    return episode


def _names_memory(tx: Transaction, scope: Scope, name: str) -> bool:
    try:
        resolve(tx, scope, name, archived=True)
    except (Ambiguous, Conflict):  # several ids begin so, or several owners hold the key
        return True
    except NotFound:
        return False
    return True


def check_shown(transcript: Transcript | None) -> None:
    """Raise Refused for the transcript of a withheld session, of which nothing is returned."""
    if transcript is not None and transcript.send_policy == DENY:
        code = "failure.withheld_by_host" if transcript.policy_by == BY_HOST else "failure.withheld"
        raise Refused(CodedText(code, command=Command("withhold", help=True)))


def _episode(tx: Transaction, scope: Scope, name: str) -> Explanation:
    try:
        episode = find_episode(tx, scope, name)
    except Ambiguous:
        raise
    except NotFound as error:
        remedy = nearest_key(tx, scope, name) or CodedText("failure.changes_listed", command=Command("changes"))
        raise NotFound(CodedText("failure.no_entry", name=name[:80], remedy=remedy)) from error
    transcript = transcript_rows.transcript(tx, scope, episode.transcript_id)
    check_shown(transcript)
    return Explanation(episode.id, "episode", None, (), (), (), episode, transcript)


def _source(tx: Transaction, scope: Scope, parent: Parent, version: int, *, reads_sessions: bool) -> MemorySource:
    if parent.kind in ("message", "episode") and not reads_sessions:
        return MemorySource(version, parent, "", _NOT_READ)
    if parent.kind == "message":
        said = session_rows.message_by_id(tx, scope, parent.id)
        if said is None:
            return MemorySource(version, parent, "", "message gone")
        transcript = transcript_rows.transcript_at(tx, scope, session_path(said.session_id), said.session_id)
        if transcript is not None and transcript.send_policy == DENY:
            return MemorySource(version, parent, "", _WITHHELD, said.origin)
        return MemorySource(version, parent, said.content, message_citation(said), said.origin)
    if parent.kind != "episode":
        return MemorySource(version, parent)
    episode = episodes.episode(tx, scope, parent.id)
    if episode is None:
        return MemorySource(version, parent, "", "episode gone")
    transcript = transcript_rows.transcript(tx, scope, episode.transcript_id)
    if transcript is not None and transcript.send_policy == DENY:
        return MemorySource(version, parent, "", _WITHHELD, episode.origin)
    return MemorySource(version, parent, episode.preview, citation(episode, transcript), episode.origin)
