"""The plan of a purge: everything that it erases, from a user's rows and their lineage. Pure.

The user selects a session, an age, or everything. The selected rows are erased, together with everything that was
derived from them, directly or indirectly:

- a session: its transcripts, those of its sub-agents, its messages, its summary, and the sessions that were forked
  from it, because they begin with a copy of it;
- an age: all older episodes and messages; a conversation that continued later keeps its later messages. A transcript
  or a session is erased if nothing of it is left and it was last active before that time;
- everything: all rows of the user.

A version of a memory is erased if one of its sources is, even if other sources said the same, because nobody can tell
which source its words came from. The version that replaced it stays if it has its own source and its own words
(`carries`). Statements that a person made themselves have no erased source, so they stay. A session that merely
repeated the statement is not a source of the stored words, so it does not keep them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from picomem.clock import DAY, Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import InvalidInput, NotFound
from picomem.light_dataclass import dataclass, field, replace
from picomem.records.scope import Scope
from picomem.store import retention_rows
from picomem.store.connector import Transaction
from picomem.store.retention_rows import (
    DamagedRow,
    EpisodeAge,
    Link,
    MessageAge,
    Node,
    RefusalAge,
    SessionAge,
    TranscriptAge,
    VersionText,
)
from picomem.store.tables import access_tokens, contact_rows, session_rows, user_entries
from picomem.store.tables.session_names import Place, find_session


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeInventory:
    """The rows of a user, as far as a plan needs them. `covered` is the last message that each summary covers; `tokens`
    are those of programs, `grants` permissions, and `senders` the ids by which channels know the user. `damaged` rows
    are not looked for where everything is purged."""

    transcripts: Sequence[TranscriptAge]
    episodes: Sequence[EpisodeAge]
    sessions: Sequence[SessionAge]
    messages: Sequence[MessageAge]
    covered: Mapping[str, int]
    versions: Sequence[VersionText]
    refusals: Sequence[RefusalAge]
    links: Sequence[Link]
    tokens: Sequence[str] = ()
    grants: Sequence[str] = ()
    senders: Sequence[str] = ()
    damaged: Sequence[DamagedRow] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The selection to erase: these sessions, entries older than `before`, or everything."""

    sessions: frozenset[str] = frozenset()
    before: Micros | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The rows that a purge deletes. `trimmed` are transcripts and `shortened` sessions that stay and lose
    something; `refusals` changes that hold a refused text; `versions` are of memories. Only a purge of everything takes
    `tokens`, `grants` and `senders`."""

    everything: bool = False
    transcripts: frozenset[str] = frozenset()
    trimmed: frozenset[str] = frozenset()
    episodes: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    shortened: frozenset[str] = frozenset()
    messages: frozenset[tuple[str, int]] = frozenset()
    summaries: frozenset[str] = frozenset()
    versions: frozenset[tuple[str, int]] = frozenset()
    refusals: frozenset[str] = frozenset()
    tokens: frozenset[str] = frozenset()
    grants: frozenset[str] = frozenset()
    senders: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether nothing goes."""
        return not any(getattr(self, name) for name in self.__slots__)


@dataclass(slots=True)
class _PurgeSelection:
    transcripts: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    nodes: set[Node] = field(default_factory=set)


def plan(held: PurgeInventory, choice: Choice) -> Plan:
    """The plan for a choice."""
    if choice.everything:
        return _everything(held)
    going = _PurgeSelection()
    if choice.before is not None:
        _older(held, choice.before, going)
    else:
        _of_sessions(held, choice.sessions, going)
    nodes = _with_descendants(going.nodes, held)
    episodes = _ids(nodes, "episode")
    messages = _ids(nodes, "message")
    gone_messages = frozenset((message.session, message.seq) for message in held.messages if message.id in messages)
    refusals = _ids(nodes, "change") & {refusal.id for refusal in held.refusals}
    return Plan(
        transcripts=frozenset(going.transcripts),
        trimmed=frozenset(episode.transcript for episode in held.episodes if episode.id in episodes)
        - going.transcripts,
        episodes=episodes,
        sessions=frozenset(going.sessions),
        shortened=frozenset(session for session, _ in gone_messages) - going.sessions,
        messages=gone_messages,
        summaries=_ids(nodes, "summary") & held.covered.keys(),
        versions=frozenset((id_, version) for kind, id_, version in nodes if kind == "memory"),
        refusals=frozenset(refusals),
    )


def carries(child: VersionText, parent: VersionText) -> bool:
    """Return whether a version has its words from the version that it replaced, and not from a source of its own."""
    return child.content == parent.content or bool(child.context and child.context == parent.context)


def _everything(held: PurgeInventory) -> Plan:
    return Plan(
        everything=True,
        transcripts=frozenset(transcript.id for transcript in held.transcripts),
        episodes=frozenset(episode.id for episode in held.episodes),
        sessions=frozenset(session.id for session in held.sessions),
        messages=frozenset((message.session, message.seq) for message in held.messages),
        summaries=frozenset(held.covered),
        versions=frozenset((version.id, version.version) for version in held.versions),
        refusals=frozenset(refusal.id for refusal in held.refusals),
        tokens=frozenset(held.tokens),
        grants=frozenset(held.grants),
        senders=frozenset(held.senders),
    )


def _of_sessions(held: PurgeInventory, chosen: Iterable[str], going: _PurgeSelection) -> None:
    begun: defaultdict[str, set[str]] = defaultdict(set)  # session → those that it set to work, or that it begins
    for transcript in held.transcripts:
        begun[transcript.parent_session].add(transcript.session)
    for session in held.sessions:
        begun[session.forked_from].add(session.id)
    names, waiting = set(), [name for name in chosen if name]
    while waiting:
        name = waiting.pop()
        if name and name not in names:
            names.add(name)
            waiting += begun[name]
    going.sessions |= {session.id for session in held.sessions if session.id in names}
    going.transcripts |= {transcript.id for transcript in held.transcripts if transcript.session in names}
    going.nodes |= {("episode", episode.id, 0) for episode in held.episodes if episode.transcript in going.transcripts}
    going.nodes |= {("message", message.id, 0) for message in held.messages if message.session in names}
    going.nodes |= {("summary", name, 0) for name in names}
    going.nodes |= {("memory", version.id, version.version) for version in held.versions if version.session in names}


def _older(held: PurgeInventory, before: Micros, going: _PurgeSelection) -> None:
    old = {("episode", episode.id, 0) for episode in held.episodes if episode.at < before}
    left = {episode.transcript for episode in held.episodes if episode.at >= before}
    going.transcripts |= {
        transcript.id for transcript in held.transcripts if transcript.at < before and transcript.id not in left
    }
    gone = [message for message in held.messages if message.at < before]
    talking = {message.session for message in held.messages if message.at >= before}
    going.sessions |= {session.id for session in held.sessions if session.at < before and session.id not in talking}
    going.nodes |= old | {("message", message.id, 0) for message in gone}
    going.nodes |= {("change", refusal.id, 0) for refusal in held.refusals if refusal.at < before}
    first = {}
    for message in gone:
        first.setdefault(message.session, message.seq)
    going.nodes |= {("summary", name, 0) for name, seq in held.covered.items() if first.get(name, seq + 1) <= seq}
    going.nodes |= {("summary", name, 0) for name in going.sessions}


def _with_descendants(roots: Iterable[Node], held: PurgeInventory) -> set[Node]:
    """These nodes and everything derived from them, directly or indirectly."""
    linked = {node for link in held.links for node in (link.child, link.parent)}
    versions: dict[Node, VersionText] = {
        node: version for version in held.versions if (node := ("memory", version.id, version.version)) in linked
    }
    children: defaultdict[Node, list[Link]] = defaultdict(list)
    for link in held.links:
        children[link.parent].append(link)
    gone: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in gone:
            gone.add(node)
            waiting += [link.child for link in children[node] if _made_of(link, versions)]
    return gone


def _made_of(link: Link, versions: Mapping[Node, VersionText]) -> bool:
    if link.role == "repeated":
        return False
    child, parent = versions.get(link.child), versions.get(link.parent)
    return link.parent[0] != "memory" or (child is not None and parent is not None and carries(child, parent))


def may_remain(held: PurgeInventory, made: Plan) -> bool:
    """Return whether a damaged row that the plan does not take may belong to what it takes. A plan follows ids from row
    to row, and nobody knows which of them is damaged, so what it misses is not erased by a guess."""
    if made.everything:
        return False
    transcripts = {transcript.id for transcript in held.transcripts}
    return any(not _is_taken(row.table, row.columns, made) for row in held.damaged) or any(
        episode.transcript not in transcripts and episode.id not in made.episodes  # one of the two ids is damaged
        for episode in held.episodes
    )


def _is_taken(table: str, columns: Mapping[str, Any], made: Plan) -> bool:
    if table == "lineage":
        return False
    if table == "changes":
        return columns["id"] in made.refusals or not (columns["reason"] or columns["candidate"])
    if table == "messages":
        return (columns["session_id"], columns["seq"]) in made.messages
    if table == "memories":
        return (columns["id"], columns["version"]) in made.versions
    if table == "consolidations":
        return columns["session_id"] in made.sessions | made.shortened | made.summaries
    if table == "transcript_consolidations":
        return columns["transcript_id"] in made.transcripts | made.trimmed
    if table == "session_summaries":
        return columns["session_id"] in made.summaries
    taken = {"transcripts": made.transcripts, "episodes": made.episodes, "sessions": made.sessions}
    return columns["id"] in taken[table]


def _ids(nodes: Iterable[Node], kind: str) -> frozenset[str]:
    return frozenset(id_ for of, id_, _ in nodes if of == kind)


# Loads a user's rows for purge planning and resolves the user's selection.

_LONGEST_AGE = 36_500  # days


def load_inventory(tx: Transaction, scope: Scope) -> PurgeInventory:
    """All rows that a plan needs. Damaged rows are read as they are: they are erased like the others."""
    return PurgeInventory(
        transcripts=retention_rows.transcripts(tx, scope),
        episodes=retention_rows.episodes(tx, scope),
        sessions=retention_rows.sessions(tx, scope),
        messages=retention_rows.messages(tx, scope),
        covered=session_rows.covered(tx, scope),
        versions=retention_rows.versions(tx, scope),
        refusals=retention_rows.refusals(tx, scope),
        links=retention_rows.links(tx, scope),
        tokens=[token.id for token in access_tokens.unchecked(tx, scope) if token.opens_api],
        grants=(user_entries.value(tx, scope, user_entries.GRANTED) or "").split(),
        senders=[sender.native_id for sender in contact_rows.unchecked_of_person(tx, scope.user)],
    )


def load_checked_inventory(tx: Transaction, scope: Scope) -> PurgeInventory:
    """All rows that a plan needs, and the damaged ones that it may miss."""
    return replace(load_inventory(tx, scope), damaged=retention_rows.damaged(tx, scope))


def choice(
    tx: Transaction, scope: Scope, session: str, older_than: int | None, everything: bool, now: Micros
) -> Choice:
    """Resolve a selection: a session (its id, or the beginning of it), an age in days, or everything.

    Raises InvalidInput unless it is one of them, and NotFound for a session that is not there, or several.
    """
    if (session != "") + (older_than is not None) + everything != 1:
        raise InvalidInput(
            "Choose what to erase: a session, everything older than a number of days, or everything; exactly one."
        )
    if older_than is not None:
        if not 1 <= older_than <= _LONGEST_AGE:
            raise InvalidInput(f"The age is {older_than}; it must be a number of days, at least 1.")
        return Choice(before=now - older_than * DAY)
    if everything:
        return Choice(everything=True)
    named = find_session(tx, scope, session, Place.CONVERSATIONS | Place.TRANSCRIPTS | Place.MEMORIES)
    if not named:
        raise NotFound(
            CodedText(
                "failure.no_session_or_transcript",
                name=session[:80],
                sessions=Command("sessions"),
                timeline=Command("timeline", json=True),
            )
        )
    return Choice(sessions=frozenset([named]))
