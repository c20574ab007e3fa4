"""Finds newer statements on the subjects of those among the hits: they stand first, and the older ones are marked.

“Tom does the reviews” and, a month later, “Priya took over from Tom” share little, and a question often fits the older
one alone. So the rare words of a statement lead to what was stated after it: memories, and sentences of other sessions
that seem worth knowing too (`Episode.suggested`). The most alike of them stands right before it, whether or not the
question found it, and the older one is marked. A wrong pair costs an order and a mark, never a text, for nothing is
stored of it. Of two memories, only those are a pair that `remember` linked and that no person has kept side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from picomem.coded_text import all_of
from picomem.errors import Corrupt, StoreError
from picomem.light_dataclass import replace
from picomem.recall.final_scores import rescored
from picomem.recall.hits import episode_hit
from picomem.recall.legs import RecallState
from picomem.recall.lexical_search import Corpus, match_statement
from picomem.recall.memory_hits import admitted, as_hit
from picomem.recall.question import statement
from picomem.recall.rank import best_by_words
from picomem.recall.recency import OUTDATED
from picomem.records.episode import Episode, suggested_spans
from picomem.records.hit import Hit
from picomem.records.kinds import Origin
from picomem.records.memory import Memory
from picomem.store import row_counts
from picomem.store.tables import episodes, memories, memory_lineage
from picomem.text.likeness import SAME_SUBJECT, subject_likeness
from picomem.text.terms import terms

_FITS = 0.5  # of the older one's score; a newer one that fits the question so well needs half of the likeness
_STATES = 0.15  # estimate of a newer sentence that the question does not fit
_MOST_OLDER = 3  # statements of which a newer one is looked for
_COMMON = 500  # a word of more memories, or episodes, says too little for what it costs
_MOST_READ = 16  # memories, and episodes, those that have most of a statement's words
_USUAL = 3  # episodes that are taken to hold a word of the newer statement alone: to count them takes too long
_REASON = "newer than a hit on the same subject"


class _Later(NamedTuple):
    """What was stated later than an older hit: where, in which words, and how surely it is a statement (0–1)."""

    record: Episode | Memory
    text: str
    estimate: float


def with_newer_statements(state: RecallState, ranked: Sequence[Hit]) -> list[Hit]:
    """The hits with newer statements before the older ones of the same subject, and a mark on these. Where no session
    has been read, the links between memories say all."""
    best = sorted((hit for hit in ranked if hit.id in state.stated and not hit.remark), key=lambda hit: -hit.score)
    if not best or not state.episodes:
        return list(ranked)
    by_id = {hit.id: hit for hit in ranked}
    try:
        totals = {"memory": row_counts.memories_written(state.tx, state.scope).searchable, "episode": state.episodes}
        corpora = [Corpus(state.tx, state.scope, source, total) for source, total in totals.items()]
        newer = {older.id: hit for older in best[:_MOST_OLDER] if (hit := _newer_than(older, state, corpora, by_id))}
    except StoreError as error:  # of full text, without which the question itself was answered too
        state.legs["newer statements"] = f"failed: {error}"
        return list(ranked)
    for older_id, hit in newer.items():
        older, first = by_id[older_id], by_id.get(hit.id, hit)
        by_id[first.id] = rescored(first, max(first.score, older.score))
        older = rescored(older, round(older.score * 0.999, 4))
        by_id[older_id] = replace(older, why=all_of(older.why, OUTDATED), remark=OUTDATED)
    return list(by_id.values())


def _newer_than(older: Hit, state: RecallState, corpora: Sequence[Corpus], ranked: Mapping[str, Hit]) -> Hit | None:
    """The hit, new or among the ranked ones, of the statement that most likely replaces an older one. Of a turn whose
    memory was archived, by a merge too, `recency` knows more."""
    made = [memory for memory, _ in memory_lineage.made_from_episodes(state.tx, state.scope, [older.id])]
    if made and all(memory.archived for memory in made):
        return None
    words = statement(state.stated[older.id])
    among_memories, among_episodes = (match_statement(corpus, words, _COMMON) for corpus in corpora)
    said = corpora[-1]
    rarity, unknown = said.rarities(words.terms, words, among_episodes.counts), said.rarity(_USUAL)
    docs = [best_by_words(matches.totals, _MOST_READ) for matches in (among_memories, among_episodes)]
    fitting = {hit.id for hit in ranked.values() if hit.score >= _FITS * older.score}
    fitting |= {memory_id for memory_id, episode_id in state.taken_from.items() if episode_id in fitting}
    weighed: list[tuple[float, _Later]] = []
    for later in _later(older, state, *docs):
        likeness = subject_likeness(words.terms, terms(later.text), lambda term: rarity.get(term, unknown))
        fits = later.record.id in fitting
        if likeness >= (SAME_SUBJECT / 2 if fits else SAME_SUBJECT) and (fits or later.estimate >= _STATES):
            weighed.append((likeness * (SAME_SUBJECT + later.estimate), later))
    for _, later in sorted(weighed, key=lambda entry: (-entry[0], entry[1].record.id)):
        if hit := _hit_of(later.record, older, state):
            return ranked.get(state.taken_from.get(hit.id, ""), hit)
    return None


def _later(older: Hit, state: RecallState, of_memories: Sequence[int], of_episodes: Sequence[int]) -> Iterator[_Later]:
    since, filters = older.at, state.wanted.filters
    if since is None:
        return
    known = _memories_of(older, state)
    for memory in admitted(state, memories.by_docs(state.tx, state.scope, of_memories, [])):
        is_pair = not known or any(memory.id in one.contradicts or one.id in memory.contradicts for one in known)
        if is_pair and memory.valid_from > since and memory.origin is Origin.USER:
            yield _Later(memory, memory.content, 1.0)
    for episode in episodes.by_docs(state.tx, state.scope, of_episodes, state.damaged):
        is_theirs = episode.role == "user" and episode.origin is Origin.USER and filters.admits_episode(episode)
        if is_theirs and (episode.started_at or since) > since:
            for span in suggested_spans(episode.suggested):
                yield _Later(episode, episode.preview[span.start : span.end], span.estimate)


def _memories_of(hit: Hit, state: RecallState) -> list[Memory]:
    """The memory that a hit is, or those that were taken from it."""
    return [memory for memory in state.listed if hit.id in (memory.id, state.taken_from.get(memory.id))]


def _hit_of(record: Episode | Memory, older: Hit, state: RecallState) -> Hit | None:
    """A later statement as a hit with the score of an older one, if it is of the same project, of another session, and
    may be handed out."""
    if isinstance(record, Memory):
        hit = as_hit(state, record, older.score, _REASON)
    elif state.allowed is not None and record.transcript_id not in state.allowed:
        return None
    elif memory_lineage.made_from_episodes(state.tx, state.scope, [record.id]):
        return None  # a person decided on what is stated there
    else:
        try:
            transcript = state.transcript(record.transcript_id)
        except Corrupt:
            state.damaged.append(record.transcript_id)
            return None
        hit = episode_hit(record, transcript, older.score, _REASON)
    is_elsewhere = bool(older.project and hit.project) and hit.project != older.project
    is_same_session = bool(older.transcript) and hit.transcript == older.transcript
    return None if is_elsewhere or is_same_session or hit.abandoned or hit.id == older.id else hit
