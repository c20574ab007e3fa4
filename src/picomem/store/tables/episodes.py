"""Transcripts and their episodes: rows in, records out. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.light_dataclass import replace
from picomem.records.episode import Episode, Transcript
from picomem.records.kinds import Origin, known
from picomem.records.scope import Scope
from picomem.store import row_counts, row_hash, search
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import readable
from picomem.store.search import Document
from picomem.store.sql_access import sql
from picomem.store.tables import episode_events, vector_rows
from picomem.store.tables.memories import id_range, unique_id
from picomem.store.tables.memory_rows import missing, names_in
from picomem.store.tables.transcript_rows import reader_values, transcript
from picomem.store.unchecked_rows import Stored, stored

_LATEST = 2**62  # a time after all others
_USER, _DOC = (row_hash.COLUMNS["episodes"].index(name) for name in ("user_id", "doc"))
_MOST_WITH_ACTIONS = 200  # episodes of one transcript whose actions are read to list its files


def has_episodes(tx: Transaction, scope: Scope, transcript_id: str) -> bool:
    """Return whether a transcript has an episode."""
    return sql(tx).one("an_episode_of_transcript", user=scope.user, transcript=transcript_id) is not None


def insert(tx: Transaction, scope: Scope, episode: Episode) -> Episode:
    """Store an episode and its full-text entry."""
    return insert_all(tx, scope, [episode])[0]


def insert_all(tx: Transaction, scope: Scope, fresh: Sequence[Episode]) -> list[Episode]:
    """Store episodes and their full-text entries, in order."""
    if not fresh:
        return []
    added = [replace(new, doc=doc) for doc, new in enumerate(fresh, sql(tx).next_docs(scope, len(fresh)))]
    rows = ({"user": scope.user, "doc": new.doc, **_values(new)} for new in added)
    sql(tx).run_many("insert_episode", rows)
    search.of(tx).add(scope, "episode", map(document, added))
    row_counts.add_episodes(tx, scope, len(added))
    return added


def renew(tx: Transaction, scope: Scope, old: Episode, new: Episode) -> Episode:
    """Let an episode that was still growing, or whose transcript moved, stand for its span as it is now."""
    new = replace(new, id=old.id, doc=old.doc, created_at=old.created_at, tags=old.tags)
    sql(tx).run("replace_episode", user=scope.user, **_values(new))
    if text_of(old) != text_of(new):
        reindex(tx, scope, old, new)
        # Of every model: the caller stores its own anew, and another's would stand for words that are gone.
        vector_rows.remove(tx, scope, "episode", old.doc)
    return new


def rewrite_preview(tx: Transaction, scope: Scope, episode: Episode) -> None:
    """Store another preview for an episode, without touching full text (see `renew`)."""
    episode_events.remove(tx, scope, episode.doc)  # it was of the words before
    sql(tx).run(
        "rewrite_episode_preview",
        user=scope.user,
        id=episode.id,
        preview=episode.preview,
        tokens=episode.tokens,
        actions=episode.actions,
        outcomes=episode.outcomes,
        suggested=episode.suggested,
    )


def rewrite_text(tx: Transaction, scope: Scope, episode: Episode) -> None:
    """Store other words for an episode, without touching full text."""
    episode_events.remove(tx, scope, episode.doc)
    sql(tx).run(
        "rewrite_episode_text",
        user=scope.user,
        suggested=episode.suggested,
        id=episode.id,
        preview=episode.preview,
        summary=episode.summary,
        actions=episode.actions,
        outcomes=episode.outcomes,
        tokens=episode.tokens,
        tags=packed_tags(episode.tags),
    )


def set_tags(tx: Transaction, scope: Scope, old: Episode, tags: Sequence[str]) -> Episode:
    """Give an episode these tags in place of those that it has; they are searched like its words."""
    new = replace(old, tags=tuple(tags))
    sql(tx).run("tag_episode", user=scope.user, id=old.id, tags=packed_tags(new.tags))
    reindex(tx, scope, old, new)
    return new


def reindex(tx: Transaction, scope: Scope, old: Episode, new: Episode) -> None:
    """Take the old text of an episode out of full text and put the new one in."""
    index = search.of(tx)
    index.remove(scope, "episode", [document(old)])
    index.add(scope, "episode", [document(replace(new, doc=old.doc))])


def delete(tx: Transaction, scope: Scope, episode: Episode) -> None:
    """Remove an episode with what was derived from it."""
    search.of(tx).remove(scope, "episode", [document(episode)])
    vector_rows.remove(tx, scope, "episode", episode.doc)
    if sql(tx).run("delete_episode", user=scope.user, id=episode.id):
        row_counts.add_episodes(tx, scope, -1)


def stored_episodes(tx: Transaction, scope: Scope) -> Iterator[Stored[Episode]]:
    """Every episode of the user, by id."""
    return stored("episodes", _record, sql(tx).all("all_episodes", user=scope.user))


def of_transcript(tx: Transaction, scope: Scope, transcript_id: str, damaged: list[str]) -> list[Episode]:
    """The episodes of a transcript in their order; the ids of damaged rows are put on `damaged`."""
    return _whole(sql(tx).all("episodes_of_transcript", user=scope.user, transcript_id=transcript_id), scope, damaged)


def old_timeline_entries(tx: Transaction, scope: Scope, before: Micros) -> list[Episode]:
    """Timeline entries that were made before a time; of a damaged row nobody knows when that was."""
    return _whole(sql(tx).all("old_timeline_entries", user=scope.user, before=before), scope, [])


def by_identity(tx: Transaction, scope: Scope, identity: str) -> Episode | None:
    """The episode of an identity, damaged or not: its transcript is being read, and says what it holds."""
    row = sql(tx).one("episode_by_identity", user=scope.user, identity=identity)
    return None if row is None else unchecked(row)


def unknown_identities(tx: Transaction, scope: Scope, identities: Iterable[str]) -> set[str]:
    """The identities that no episode has."""
    asked = list(identities)
    known = sql(tx).all("known_identities", user=scope.user, identities=json.dumps(asked))
    return set(asked).difference(row[0] for row in known)


def said_by_relatives(
    tx: Transaction, scope: Scope, transcript: Transcript, times: Iterable[Micros]
) -> dict[Micros, list[Episode]]:
    """The episodes that begin at some moments, by their moment: those of other transcripts of the same session, of its
    parent, and of what works for it. They are damaged or not, as in `by_identity`."""
    rows = sql(tx).all(
        "episodes_said_by_relatives",
        user=scope.user,
        host=transcript.host,
        transcript=transcript.id,
        session=transcript.session,
        parent=transcript.parent_session or transcript.session,
        times=json.dumps(sorted(times)),
    )
    by_time: dict[Micros, list[Episode]] = {}
    for episode in map(unchecked, rows):
        by_time.setdefault(episode.started_at or 0, []).append(episode)
    return by_time


def by_docs(tx: Transaction, scope: Scope, docs: Iterable[int], damaged: list[str]) -> list[Episode]:
    """The episodes that match their hash. `damaged` gets the ids of the others, and each number that the index has
    and the table lacks."""
    asked = list(docs)
    rows = _by_docs(tx, scope, asked)
    damaged += missing("episode", asked, (row[_DOC] for row in rows))
    return _whole(rows, scope, damaged)


def has_docs(tx: Transaction, scope: Scope, docs: Iterable[int]) -> bool:
    """Return whether an episode, damaged or not, has one of the numbers."""
    return bool(_by_docs(tx, scope, list(docs)))


def _by_docs(tx: Transaction, scope: Scope, docs: list[int]) -> list[Row]:
    return sql(tx).all("episodes_by_doc", user=scope.user, docs=json.dumps(docs))


def episode(tx: Transaction, scope: Scope, episode_id: str) -> Episode | None:
    row = sql(tx).one("episode", user=scope.user, id=episode_id)
    return None if row is None else from_row(row)


def find_id(tx: Transaction, scope: Scope, prefix: str) -> str:
    return unique_id(sql(tx).all("episode_ids_like", user=scope.user, **id_range(prefix)), prefix, "episode")


class TimelinePlace(NamedTuple):
    """The place of an episode in the timeline; `started_at` is None where nobody knows when it took place."""

    started_at: Micros | None
    first_turn: int
    part: int
    id: str


class TimelinePage(NamedTuple):
    """Episodes, latest first; `last` is the place of the last one if there are more behind it."""

    episodes: list[Episode]
    last: TimelinePlace | None


def timeline(
    tx: Transaction,
    scope: Scope,
    since: Micros | None,
    until: Micros | None,
    limit: int,
    damaged: list[str],
    after: TimelinePlace | None = None,
    tag: str = "",
) -> TimelinePage:
    """The scope's episodes that began in [since, until), and with a tag, from the one behind `after`, latest first.

    Those that do not match their hash are left out, and their ids are put on `damaged`.
    """
    whose = {**reader_values(scope), "tag": tag, "tag_in_json": json.dumps(tag, ensure_ascii=False)}
    top = TimelinePlace(_LATEST if until is None else until, -1, -1, "")
    rows: list[Row] = []
    if after is None or after.started_at is not None:
        start = after or top
        earliest = -_LATEST if since is None else since
        statement = "timeline_of_session" if scope.session else "timeline"
        rows = sql(tx).all(statement, **whose, **start._asdict(), since=earliest, limit=limit + 1)
    if len(rows) <= limit and since is None and until is None:
        start = after if after and after.started_at is None else top._replace(first_turn=_LATEST)
        place = {"first_turn": start.first_turn, "part": start.part, "id": start.id}
        rows += sql(tx).all("timeline_undated", **whose, **place, limit=limit + 1 - len(rows))
    page = rows[:limit]
    last = None
    if len(rows) > limit:
        ended = unchecked(page[-1])
        last = TimelinePlace(ended.started_at, ended.first_turn, ended.part, ended.id)
    return TimelinePage(_whole(page, scope, damaged), last)


def count_by_time(tx: Transaction, scope: Scope, since: Micros, until: Micros, slot: Micros) -> dict[Micros, int]:
    """Return how many episodes of the scope began in [since, until), by the beginning of each span of `slot`
    microseconds that has some."""
    whose = reader_values(scope)
    rows = sql(tx).all("episodes_by_slot", **whose, since=since, until=until, slot=slot)
    return {number * slot: count for number, count in rows}


class InTranscript(NamedTuple):
    """An episode, and the transcript that it points into."""

    episode: Episode
    transcript: Transcript


def suggested(tx: Transaction, scope: Scope, limit: int) -> list[InTranscript]:
    """The scope's episodes that hold a sentence which seems worth remembering, the latest first, with their
    transcripts. Damaged rows are left out."""
    rows = sql(tx).all("suggested_episodes", **reader_values(scope), limit=limit)
    read = _whole(rows, scope, [])
    ids = {episode.transcript_id for episode in read}
    by_id = {id_: record for id_ in ids if (record := transcript(tx, scope, id_)) is not None}
    return [InTranscript(episode, by_id[episode.transcript_id]) for episode in read if episode.transcript_id in by_id]


class NearbyEpisodes(NamedTuple):
    """The ids of episodes before and after one in its transcript, in the order of the transcript."""

    before: list[str]
    after: list[str]


def ids_around(tx: Transaction, scope: Scope, episode: Episode, limit: int) -> NearbyEpisodes:
    """At most `limit` episodes of the same transcript and category whose turns come before an episode's, and as many
    whose turns come after."""
    place = {"user": scope.user, "transcript": episode.transcript_id, "category": episode.category, "limit": limit}
    before = sql(tx).all("episodes_before_turn", **place, turn=episode.first_turn)
    after = sql(tx).all("episodes_after_turn", **place, turn=episode.last_turn)
    return NearbyEpisodes([str(row[0]) for row in reversed(before)], [str(row[0]) for row in after])


def first_request(tx: Transaction, scope: Scope, transcript_id: str) -> Episode | None:
    """The first episode of a transcript in which a person speaks; None where there is none, or it is damaged."""
    rows = sql(tx).all("first_request", user=scope.user, transcript=transcript_id)
    return next(iter(_whole(rows, scope, [])), None)


def end_of_session(tx: Transaction, scope: Scope, transcript_id: str, limit: int) -> list[Episode]:
    """The last episodes of a transcript, the last one first; damaged ones are left out."""
    return _whole(sql(tx).all("end_of_session", user=scope.user, transcript=transcript_id, limit=limit), scope, [])


def latest_actions(tx: Transaction, scope: Scope, transcript_id: str) -> list[str]:
    """The actions of the latest episodes of a transcript that have some, latest first."""
    rows = sql(tx).all("latest_actions", user=scope.user, transcript=transcript_id, limit=_MOST_WITH_ACTIONS)
    return [str(row[0]) for row in rows]


def text_of(episode: Episode) -> str:
    """The text for full text."""
    return "\n".join(filter(None, (episode.preview, episode.summary, episode.actions, episode.outcomes)))


def meaning_of(episode: Episode) -> str:
    """The text of a vector: the words, or if there are none the actions, or what came of them."""
    return "\n".join(filter(None, (episode.preview, episode.summary))) or episode.actions or episode.outcomes


def document(episode: Episode) -> Document:
    """An episode as full text indexes it."""
    return Document(episode.doc, "\n".join((text_of(episode), *episode.tags)))


def _whole(rows: list[Row], scope: Scope, damaged: list[str]) -> list[Episode]:
    """The rows that match their hash and are the user's, as records; the ids of the others are put on `damaged`."""
    whole = [is_whole(row) and row[_USER] == scope.user for row in rows]
    damaged += [str(row[0]) for row, good in zip(rows, whole, strict=True) if not good]
    return [_record(row) for row, good in zip(rows, whole, strict=True) if good]


def from_row(row: Row) -> Episode:
    """A row as a record. Raises Corrupt where the row does not match its hash."""
    if not is_whole(row):
        raise Corrupt(
            CodedText("failure.damaged_episode", name=str(row[0]), command=Command("doctor")),
            id=str(row[0]),
        )
    return _record(row)


def is_whole(row: Row) -> bool:
    """Return whether a row matches its hash."""
    return row_hash.is_whole("episodes", row)


def unchecked(row: Row) -> Episode:
    """A row as a record, whatever its hash says; what cannot be read in it gets a plain value."""
    return _record(readable("episodes", row))


def _record(row: Row) -> Episode:
    values = row_hash.by_name("episodes", row)
    return row_hash.record_of(
        Episode,
        values,
        start=values["start_offset"],
        end=values["end_offset"],
        origin=known(values["origin"], Origin.OTHER),
        tags=names_in(values["tags"] or "[]"),
    )


def packed_tags(tags: Sequence[str]) -> str | None:
    """Tags as a row keeps them."""
    return json.dumps(tags, ensure_ascii=False) if tags else None


def _values(episode: Episode) -> dict[str, object]:
    values = {name: getattr(episode, name) for name in Episode.__slots__ if name != "doc"}
    values["origin"], values["tags"] = episode.origin.value, packed_tags(episode.tags)
    return values
