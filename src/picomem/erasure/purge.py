"""The transaction of a purge. `erasure/plan.py` decides what is erased; `file_traces.py` removes traces from the file's
free pages, its log and the files beside it.

One transaction deletes the rows with their full text and vectors, and leaves tombstones, so that the same transcript
does not bring them back. It also removes what remaining rows took from them (a key made of their words, a name among
related entries, the title of a conversation, the reason of a change), and marks the rest of the work as pending. A
change stays as a row that says when something was decided and by whom, but no longer what. The purge itself is one
change: who, when, and how many rows of each kind.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.coded_text import CodedText, stored_words
from picomem.erasure.plan import Choice, Plan, PurgeInventory
from picomem.erasure.remaining_memories import RemainingMemories, texts_of
from picomem.errors import Corrupt
from picomem.light_dataclass import dataclass, field, replace
from picomem.memory.remember import Writer
from picomem.records.memory import Change
from picomem.records.scope import Scope
from picomem.records.session import Session
from picomem.sessions.pairs import title_of
from picomem.store import full_text, row_counts
from picomem.store.connector import Transaction
from picomem.store.retention_rows import VersionText
from picomem.store.tables import (
    access_tokens,
    audit,
    channel_messages,
    consolidations,
    contact_rows,
    episodes,
    exported_files,
    handout_rows,
    index_page_rows,
    job_rows,
    leases,
    memories,
    memory_lineage,
    note_rows,
    session_rows,
    tombstones,
    transcript_rows,
    user_entries,
    users,
)
from picomem.store.tables.chains import CHANGES

if TYPE_CHECKING:
    from picomem.erasure.proof import Scan


@dataclass(slots=True)
class Erased:
    """The number of deleted rows of each kind, and their texts, which are kept only in memory, for the scan."""

    change: Change
    counts: dict[str, int]
    texts: list[str] = field(default_factory=list)
    copies: Mapping[str, int] = field(default_factory=dict)  # as in Planned
    links: list[str] = field(default_factory=list)  # as in Purged


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The preview of a purge. `memories` holds the newest version of each that goes; `partly` the keys of those of
    which other versions stay; `copies` the number of episodes that stay with the same words, by their session; `left`
    says that damaged rows may be the user's."""

    plan: Plan
    counts: dict[str, int]
    memories: tuple[VersionText, ...]
    partly: tuple[str, ...]
    sessions: tuple[tuple[str, str], ...]  # id and title
    transcripts: tuple[tuple[str, str], ...]  # session and path
    copies: Mapping[str, int]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """The result of a purge. `scan` is None where nothing was deleted (a purge was only finished); `left` names
    files that could not be rewritten, and damaged rows that may be the user's; `out_of_reach` says where copies stay
    that no purge reaches, empty if nowhere; `unfinished` says why it is to be run again, empty where it is done;
    `copies` is as in Planned; `links` are those of the changes in the record that no longer say what they did, and last
    that of the purge (see store/chain_links.py); `may_remain` says that damaged rows may hold what was to be erased."""

    counts: dict[str, int]
    change_id: str
    scan: Scan | None
    copies: Mapping[str, int] = field(default_factory=dict)
    left: tuple[str, ...] = ()
    out_of_reach: str = ""
    unfinished: str = ""
    finished: bool = False
    links: tuple[str, ...] = ()
    may_remain: bool = False


def planned(
    tx: Transaction, scope: Scope, holdings: PurgeInventory, chosen: Choice, made: Plan, left: tuple[str, ...]
) -> Planned:
    """The effect of a choice and of the plan made from it, for a preview."""
    going = [version for version in holdings.versions if (version.id, version.version) in made.versions]
    newest = {version.id: version for version in going}
    stays = {version.id for version in holdings.versions if (version.id, version.version) not in made.versions}
    titles = {session.id: session.title for session, *_ in session_rows.stored_sessions(tx, scope)}
    return Planned(
        plan=made,
        counts=counted(made),
        memories=tuple(newest.values()),
        partly=tuple(version.key for version in newest.values() if version.id in stays),
        sessions=tuple((session, titles.get(session, "")) for session in sorted(made.sessions)),
        transcripts=tuple(
            (transcript.session, transcript.path)
            for transcript in holdings.transcripts
            if transcript.id in made.transcripts
        ),
        copies=copies_that_stay(tx, scope, made) if chosen.sessions else {},
        left=left,
    )


def copies_that_stay(tx: Transaction, scope: Scope, plan: Plan) -> dict[str, int]:
    """Return how many episodes of other sessions hold the words of one that goes, by session."""
    going: set[str] = set()
    staying: list[tuple[str, str]] = []
    for episode, *_ in episodes.stored_episodes(tx, scope):
        words = tombstones.distinctive_words(episode.preview)
        if words and episode.id in plan.episodes:
            going.add(words)
        elif words:
            staying.append((words, episode.transcript_id))
    counts = Counter(transcript for words, transcript in staying if words in going)
    sessions = {
        transcript.id: transcript.session for transcript, *_ in transcript_rows.stored_transcripts(tx, scope) if counts
    }
    by_session = Counter[str]()
    for transcript, count in counts.items():
        by_session[sessions.get(transcript, "")] += count
    return {session: count for session, count in sorted(by_session.items()) if session}


def counted(plan: Plan) -> dict[str, int]:
    """Return how many of what a plan takes."""
    counts = {
        "transcripts": len(plan.transcripts),
        "episodes": len(plan.episodes),
        "sessions": len(plan.sessions),
        "messages": len(plan.messages),
        "summaries": len(plan.summaries),
        "memories": len({id_ for id_, _ in plan.versions}),
        "versions of memories": len(plan.versions),
        "refused texts": len(plan.refusals),
        "tokens": len(plan.tokens),
        "grants": len(plan.grants),
        "accepted senders": len(plan.senders),
    }
    return {name: count for name, count in counts.items() if count}


def in_words(counts: Mapping[str, int]) -> str:
    """The counts as a person says them."""
    return ", ".join(_counted(counts))


def _counted(counts: Mapping[str, int]) -> tuple[CodedText, ...]:
    whats = {CodedText(f"going.{name.replace(' ', '_')}", count=count): count for name, count in counts.items()}
    return tuple(CodedText("counts.count", count=count, what=what) for what, count in whats.items())


def _reason(counts: Mapping[str, int]) -> CodedText:
    return CodedText("reason.erased", counts=_counted(counts)) if counts else CodedText("reason.nothing_erased")


def erase(tx: Transaction, writer: Writer, scope: Scope, held: PurgeInventory, chosen: Choice, plan: Plan) -> Erased:
    """Delete what a plan names, in the caller's transaction."""
    until = writer.now if chosen.before is None else chosen.before
    copies = copies_that_stay(tx, scope, plan) if chosen.sessions else {}
    erased = _Erasing(tx, writer, scope, held, plan, until, forever=chosen.before is None).all()
    erased.copies = copies
    return erased


@dataclass(slots=True)
class _Erasing:
    tx: Transaction
    writer: Writer
    scope: Scope
    held: PurgeInventory
    plan: Plan
    until: Micros  # what was said up to then in the words of what goes is a copy of it
    forever: bool  # whether what is said in these sessions later stays out as well
    texts: list[str] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)  # sources with a row whose full text was made from other words
    projects: set[str] = field(default_factory=set)  # in which transcripts and sessions that go were held

    def all(self) -> Erased:
        counts = counted(self.plan)
        links = [last.link for last in [CHANGES.last(self.tx, self.scope)] if last and self.plan.everything]
        changes = audit.every(self.tx, self.scope)
        self._bury(changes)
        self._sessions()
        self._episodes()
        if self.plan.everything:
            self._everything(changes)
        change = self.writer.record(self.tx, self.scope, "purge", _reason(counts))
        if not self.plan.everything:
            remains = RemainingMemories(
                self.tx, self.writer, self.scope, self.plan, self.projects - self._projects_that_stay()
            )
            self._note_damage("memory", remains.purge(changes, change.id))
            self.texts += remains.texts
            links += remains.links
        links += [last.link for last in [CHANGES.last(self.tx, self.scope)] if last]
        self._exports()
        for source in sorted(self.damaged):
            full_text.rebuild(self.tx, users.scopes(self.tx), source)
        index_page_rows.forget(self.tx, self.scope)
        job_rows.forget_errors(self.tx, self.scope)  # a model's error may quote what it was asked
        tombstones.begin(self.tx, self.scope, everything=self.plan.everything)
        return Erased(change, counts, self.texts, links=links)

    def _bury(self, changes: Iterable[Change]) -> None:
        grave = tombstones.Tombstones(self.tx, self.scope)
        for transcript in self.held.transcripts:
            if transcript.id in self.plan.transcripts:
                size = None if self.forever else transcript.size
                grave.put_transcript(transcript.host, transcript.session, transcript.path, size)
            elif transcript.id in self.plan.trimmed:
                grave.put_transcript(transcript.host, transcript.session, transcript.path, -1)
            if transcript.id in self.plan.transcripts | self.plan.trimmed:
                grave.put_title(transcript.title)
        for session in self.plan.sessions | self.plan.shortened:
            grave.put_transcript("picobot", session, "", None)
        for episode in self.held.episodes:
            if episode.id in self.plan.episodes:
                grave.put_episode(episode.identity)
        going = {memory_id for memory_id, _ in self.plan.versions}
        imported = {change.idempotency_key for change in changes if change.memory_id in going}
        for name in sorted(going | imported - {""}):
            grave.put_memory(name)

    def _episodes(self) -> None:
        """Episodes and the records of their transcripts."""
        grave = tombstones.Tombstones(self.tx, self.scope)
        for episode, is_whole, _ in episodes.stored_episodes(self.tx, self.scope):
            if episode.id in self.plan.episodes:
                self._note_damage("episode", is_whole)
                done = (*episode.actions.splitlines(), *episode.outcomes.splitlines())
                # A line of `suggested` is three numbers, which tell nothing, and perhaps a question.
                questions = [text for line in episode.suggested.splitlines() for text in line.split(" ", 3)[3:]]
                self.texts += [episode.preview, episode.summary, episode.key, *episode.tags, *done, *questions]
                said = episode.preview or episode.actions
                grave.put_words(said, episode.started_at, self.until, by_choice=self.forever)
                episodes.delete(self.tx, self.scope, episode)
                memory_lineage.purge_lineage(self.tx, self.scope, "episode", episode.id)
        for transcript, *_ in transcript_rows.stored_transcripts(self.tx, self.scope):
            if transcript.id in self.plan.transcripts:
                self.texts += [transcript.title, transcript.path, transcript.cwd, transcript.project]
                self.texts.append(transcript.repository)
                self.projects.add(transcript.project)
                transcript_rows.purge_transcript(self.tx, self.scope, transcript.id)
            elif transcript.id in self.plan.trimmed and transcript.title:
                self.texts.append(transcript.title)
                untitled = replace(transcript, title="", state=_untitled(transcript.state))
                transcript_rows.retell_transcript(self.tx, self.scope, untitled)

    def _sessions(self) -> None:
        """Conversations: their messages, summaries and titles."""
        titles = self._titles_by_first_message()
        self._messages()
        self._summaries()
        self._runs()
        for named, *_ in session_rows.stored_sessions(self.tx, self.scope):
            if named.id in self.plan.sessions:
                self.texts += [named.title, named.channel_id, named.project]
                self.projects.add(named.project)
                session_rows.delete(self.tx, self.scope, named.id)
        for session, old in titles.items():
            self._retitle(session, old)

    def _titles_by_first_message(self) -> dict[str, str]:
        """The titles of those sessions that lose messages and are called by what was said first in them."""
        titles: dict[str, str] = {}
        for session in self.plan.shortened:
            stored = self._session(session)
            loaded = session_rows.messages_after(self.tx, self.scope, session, 0)
            if stored is not None and stored.title == title_of(loaded.messages):
                titles[session] = stored.title
        return titles

    def _messages(self) -> None:
        gone: dict[str, list[int]] = {}
        grave = tombstones.Tombstones(self.tx, self.scope)
        said_at = {(message.session, message.seq): message.at for message in self.held.messages}
        for message, *_ in session_rows.stored_messages(self.tx, self.scope):
            if (message.session_id, message.seq) in self.plan.messages:
                gone.setdefault(message.session_id, []).append(message.seq)
                called = [message.tool_calls] if message.tool_calls != "[]" else []
                self.texts += [message.content, *called]
                grave.put_words(
                    message.content, said_at[message.session_id, message.seq], self.until, by_choice=self.forever
                )
                memory_lineage.purge_lineage(self.tx, self.scope, "message", message.id)
        for session, seqs in gone.items():
            session_rows.delete_messages(self.tx, self.scope, session, seqs)

    def _summaries(self) -> None:
        for summary, *_ in session_rows.stored_summaries(self.tx, self.scope):
            if summary.session_id in self.plan.summaries:
                self.texts.append(summary.text)
                session_rows.delete_summary(self.tx, self.scope, summary.session_id)
                memory_lineage.purge_lineage(self.tx, self.scope, "summary", summary.session_id)

    def _runs(self) -> None:
        """The texts of consolidations."""
        for run, *_ in consolidations.stored_runs(self.tx, self.scope):
            if run.session in self.plan.sessions | self.plan.shortened | self.plan.summaries:
                self.texts += run.texts
                consolidations.delete_of_session(self.tx, self.scope, run.session)
            elif run.transcript in self.plan.transcripts | self.plan.trimmed:
                # Of a transcript that stays it is still known how far it was consolidated.
                self.texts += run.texts
                consolidations.rewrite_text(self.tx, self.scope, run._replace(episodes="[]"))

    def _retitle(self, session: str, old: str) -> None:
        stored = self._session(session)
        left = session_rows.messages_after(self.tx, self.scope, session, 0)
        if stored is not None and title_of(left.messages) != old:
            self.texts.append(old)
            new = replace(stored, title=title_of(left.messages))
            text = session_rows.SessionText(new.id, new.scope.project, new.channel_id, new.title)
            session_rows.rewrite_text(self.tx, self.scope, text)

    def _everything(self, changes: Iterable[Change]) -> None:
        """Erases the rest of a user's data after their conversations."""
        for memory, is_whole, _ in memories.stored_versions(self.tx, self.scope):
            self._note_damage("memory", is_whole)
            self.texts += texts_of(memory)
            memories.purge_version(self.tx, memory)
        for change in changes:
            self.texts += [*stored_words(change.reason), change.candidate]
        for file in note_rows.files(self.tx, self.scope):
            note_rows.delete(self.tx, self.scope, file.root, file.path)
        audit.purge(self.tx, self.scope, self.writer.now)
        handout_rows.purge(self.tx, self.scope, self.writer.now)
        memory_lineage.purge_all_lineage(self.tx, self.scope)
        row_counts.purge(self.tx, self.scope)
        consolidations.delete_spending(self.tx, self.scope)
        leases.forget(self.tx, self.scope)
        job_rows.purge(self.tx, self.scope)
        user_entries.remove(self.tx, self.scope, user_entries.TIDIED)
        user_entries.remove(self.tx, self.scope, user_entries.GRANTED)
        access_tokens.purge(self.tx, self.scope)
        self.texts += channel_messages.purge(self.tx, self.scope)
        contact_rows.forget(self.tx, self.scope.user)

    def _exports(self) -> None:
        """Take exported pages out of a project in which nothing is held any more: the next page in such a file is
        that of no project."""
        held = {memory.scope.project for memory, *_ in memories.stored_versions(self.tx, self.scope)}
        for export in exported_files.every(self.tx, self.scope):
            if export.scope.project not in held | self._projects_that_stay():
                self.texts.append(export.scope.project)
                exported_files.put(self.tx, export._replace(scope=replace(export.scope, project="")))

    def _projects_that_stay(self) -> set[str]:
        """The projects of what is left, and none: what belongs to no project is told by nothing."""
        held = {transcript.project for transcript, *_ in transcript_rows.stored_transcripts(self.tx, self.scope)}
        return held | {session.project for session, *_ in session_rows.stored_sessions(self.tx, self.scope)} | {""}

    def _session(self, session: str) -> Session | None:
        """A session's record; None where it is damaged, or not there."""
        with suppress(Corrupt):
            return session_rows.session(self.tx, self.scope, session)
        return None

    def _note_damage(self, source: str, whole: bool) -> None:
        if not whole:
            self.damaged.add(source)


def _untitled(state: str) -> str:
    """A reader's state without the title that it found."""
    try:
        stored = json.loads(state)
    except ValueError:
        return "{}"
    info = stored.get("reader", {}).get("info") if isinstance(stored, dict) else None
    if isinstance(info, dict) and info.get("title"):
        info["title"] = ""
        return json.dumps(stored)
    return state
