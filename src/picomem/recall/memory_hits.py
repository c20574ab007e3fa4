"""What recall finds among memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from picomem.clock import Micros
from picomem.coded_text import all_of
from picomem.errors import Corrupt
from picomem.recall import rank
from picomem.recall.confidence import LOOKED
from picomem.recall.final_scores import weight_of_memories
from picomem.recall.hits import SaidIn, citation, memory_hit, message_citation, why
from picomem.recall.legs import NOTHING_NEAR, RecallState, shares
from picomem.recall.lexical_search import WordMatches
from picomem.recall.rank import Signals
from picomem.recall.recency import OUTDATED, newer_first
from picomem.records.hit import Hit
from picomem.records.kinds import Decision, Source
from picomem.records.memory import Memory, Parent, doubted_pairs
from picomem.records.scope import Scope
from picomem.store import row_counts
from picomem.store.connector import Transaction
from picomem.store.tables import audit, episodes, memories, memory_lineage

_IMPORTANCE = 0.15  # what an importance of 1 adds to a memory that fits the question perfectly
_MADE = (Source.SESSION, Source.CONSOLIDATION)  # from what was said, by picomem itself
_ALWAYS = 2**62  # behind all times: what is believed now, whatever the clock says
_VERSIONS = 32  # of a memory, the latest, among whose sources it is looked where it was said
_WIDER = 4  # times as many more are read at most where the filters leave too few
_SPARE = 8  # more than are probably needed, so that one more reading is mostly enough
_SAYS_THE_SAME = Decision.MERGE.value  # why a memory was archived whose words are not outdated


def memory_hits(state: RecallState) -> list[Hit]:
    """The memories that answer the question, the best first."""
    if state.wanted.filters.known_at is None and state.wanted.filters.valid_at is None:
        total = row_counts.memories_written(state.tx, state.scope).searchable
        words, near = state.words("memory", total), state.near("memory", total)
        records = _candidates(state, words.totals, near.nearest)
    else:
        (words, records), near = _earlier_words(state), NOTHING_NEAR
    signals = Signals(totals=words.totals, words=words.parts(records))
    state.add_meaning(signals, near, {doc: memory.tokens for doc, memory in records.items()})
    fusion = state.fused(records, signals, words)
    scores = {doc: score + _IMPORTANCE * records[doc].importance for doc, score in fusion.scores.items()}
    scores, remarks = newer_first(scores, records, signals.words)
    order = shares(scores, signals, words)
    matching = (entry for entry in order if entry[0] in signals.words or entry[0] in signals.similar)
    ranked = list(islice(matching, max(state.wanted.limit, LOOKED)))
    weight = state.memory_weight = weight_of_memories([share for _, share in ranked])
    listed = [doc for doc, _ in ranked[: state.wanted.limit]]
    links = memory_lineage.latest_sources(state.tx, state.scope, listed, _VERSIONS, state.damaged)
    hits = [
        memory_hit(
            records[doc],
            round(weight * share, 4),
            all_of(_reason(state, records[doc], signals, words), *filter(None, [remarks.get(doc)])),
            context=state.wanted.include_context,
            said_in=_said_in(state, records[doc], links.get(records[doc].id, ())),
            remark=remarks.get(doc, ""),
            parts=state.parts(doc, round(weight * share, 4), fusion, signals),
        )
        for doc, share in ranked[: state.wanted.limit]
    ]
    for newer, older in doubted_pairs(records[doc] for doc, _ in ranked[: state.wanted.limit]):
        if remarks.get(older.doc) == OUTDATED and older.id in state.taken_from:
            state.replaced_by[state.taken_from[older.id]] = newer.id
    state.listed = [records[doc] for doc, _ in ranked[: state.wanted.limit]]
    for doc, _ in ranked[: state.wanted.limit]:
        state.note_matched(records[doc].id, doc, signals.evidence(doc), words)
        memory = records[doc]
        state.stated |= dict.fromkeys((memory.id, state.taken_from.get(memory.id, memory.id)), memory.content)
    best = [doc for doc, _ in ranked[:LOOKED]]
    state.weigh(best, signals, words, statements={doc: records[doc].content for doc in best})
    return hits


def as_hit(state: RecallState, memory: Memory, score: float, reason: str) -> Hit:
    """A memory that the question itself did not find, as a hit."""
    links = memory_lineage.latest_sources(state.tx, state.scope, [memory.doc], _VERSIONS, state.damaged)
    said_in = _said_in(state, memory, links.get(memory.id, ()))
    return memory_hit(memory, score, reason, context=state.wanted.include_context, said_in=said_in)


def _candidates(state: RecallState, totals: Mapping[int, float], nearest: Collection[int]) -> dict[int, Memory]:
    """Read the memories that may answer: those that the words like best, and the nearest. More are read only as long as
    the filters leave out so many that too few remain."""
    kept: dict[int, Memory] = {}
    known: set[int] = set()
    count = rank.CANDIDATES
    while True:
        best = rank.best_by_words(totals, count)
        docs = [doc for doc in dict.fromkeys([*best, *nearest]) if doc not in known]
        known.update(docs)
        docs = _possible(state, docs) if count > rank.CANDIDATES else docs
        read = memories.by_docs(state.tx, state.scope, docs, state.damaged) if docs else []
        kept |= {memory.doc: memory for memory in admitted(state, read)}
        admitted_count = sum(doc in totals for doc in kept)
        if count >= len(totals) or admitted_count >= rank.CANDIDATES:
            return kept
        # As many more as the filters will probably leave what is missing of.
        missing = rank.CANDIDATES - admitted_count
        count += min(_WIDER * count, missing * count // max(admitted_count, 1) + _SPARE)


def _possible(state: RecallState, docs: Sequence[int]) -> list[int]:
    """The numbers without those of memories that the filters leave out."""
    filters, scope = state.wanted.filters, state.scope
    heads = memories.heads(state.tx, scope, docs) if docs else []
    left_out = {head.doc for head in heads if not filters.may_admit(head, scope)}
    return [doc for doc in docs if doc not in left_out]


def admitted(state: RecallState, read: Iterable[Memory]) -> list[Memory]:
    """The memories that may answer, by the filters of the recall."""
    filters = state.wanted.filters
    wanted = [memory for memory in read if filters.admits_memory(memory, state.scope, state.now)]
    return wanted if filters.include_captured else without_captured(state.tx, state.scope, wanted, state.damaged)


def without_captured(tx: Transaction, scope: Scope, read: Sequence[Memory], damaged: list[str]) -> list[Memory]:
    """The memories that no past session says: others who read the answer may not read the session. One of which the
    lineage is damaged is left out, because nobody knows where it was said."""
    lost: list[str] = []
    links = memory_lineage.links_of_each(tx, scope, [memory.id for memory in read], lost)
    said = {id_ for id_, parents in links.items() if any(_is_said(link.parent) for link in parents)} | set(lost)
    damaged += lost
    return [memory for memory in read if memory.id not in said and memory.source not in _MADE]


def _is_said(parent: Parent) -> bool:
    return (parent.kind, parent.role) == ("episode", "source")


def _earlier_words(state: RecallState) -> tuple[WordMatches, dict[int, Memory]]:
    """Match the words of what was believed, or true, at the time that is asked about, which neither full text nor
    vectors have."""
    from picomem.recall.earlier_words import EarlierWords  # noqa: PLC0415 - few questions need it

    filters = state.wanted.filters
    known_at = _ALWAYS if filters.known_at is None else filters.known_at
    true_at = known_at if filters.valid_at is None else filters.valid_at
    believed = memories.at(state.tx, state.scope, known_at, true_at, state.damaged)
    records = {memory.doc: memory for memory in admitted(state, believed)}
    words = state.words("memory", len(records), EarlierWords(list(records.values())))
    state.legs["memories by vector"] = "off: only what holds now has vectors"
    return words, {doc: records[doc] for doc in rank.best_by_words(words.totals, rank.CANDIDATES)}


def note_archived(state: RecallState, episode_ids: Sequence[str]) -> None:
    """Note which of the episodes made a statement that was archived or ended since, as by a review, beside a newer one
    that recall lists. The link between the two stands on whichever was learned later."""
    if not state.listed:
        return
    for older, made_from in memory_lineage.made_from_episodes(state.tx, state.scope, episode_ids):
        newer = next((memory for memory in state.listed if _may_replace(memory, older, state.now)), None)
        if newer is not None and _was_outdated(state, older):
            for episode_id in made_from:
                state.replaced_by.setdefault(episode_id, newer.id)


def _may_replace(newer: Memory, older: Memory, now: Micros) -> bool:
    is_linked = older.id in newer.contradicts or newer.id in older.contradicts
    return is_linked and (older.archived or older.over(now)) and older.valid_from <= newer.valid_from


def _was_outdated(state: RecallState, gone: Memory) -> bool:
    if not gone.archived:
        return True
    closed_by = memories.closer(state.tx, gone)
    change = audit.change(state.tx, state.scope, closed_by) if closed_by else None
    return change is not None and change.decision != _SAYS_THE_SAME


def _reason(state: RecallState, memory: Memory, signals: Signals, words: WordMatches) -> str:
    text = f"{memory.content}\n{memory.key}"
    return why(memory.doc, signals.evidence(memory.doc), words, state.question.written_words, text)


def _said_in(state: RecallState, memory: Memory, links: Sequence[memory_lineage.VersionLink]) -> SaidIn:
    """Return where a memory was said if it was taken from a transcript, or nowhere. Keeps the episode, and those in
    which a statement was made that it has replaced."""
    links = [link for link in links if link.parent.kind != "memory"]
    earlier = {link.version for link in links if link.version < memory.version}
    rows = {row.version: row for row in memories.versions_of_numbers(state.tx, state.scope, memory.id, earlier)}
    before = [row.version for row in rows.values() if row.content != memory.content]
    first = max(before, default=0) + 1  # from here on these words are repeated
    said_in: SaidIn | None = None
    for link in sorted(links, key=lambda link: (link.version < first, abs(link.version - first))):
        version = rows.get(link.version)
        if version is not None and version.valid_from < memory.valid_from:
            if link.parent.kind == "episode":
                state.replaced_by[link.parent.id] = memory.id
        elif said_in is None:
            said_in = _place(state, memory.id, link.parent)
    return said_in or SaidIn()


def _place(state: RecallState, memory_id: str, parent: Parent) -> SaidIn | None:
    if parent.kind == "message":
        from picomem.store.tables import session_rows  # noqa: PLC0415 - few stores have conversations

        said = session_rows.message_by_id(state.tx, state.scope, parent.id)
        return SaidIn(message_citation(said)) if said is not None else None
    try:
        episode = episodes.episode(state.tx, state.scope, parent.id)
        if episode is None:
            return None
        state.taken_from[memory_id] = episode.id
        transcript = state.transcript(episode.transcript_id)
    except Corrupt as error:
        state.damaged.append(str(error.data.get("id", parent.id)))  # without one, a page of the file is damaged
        return None
    turns = (episode.first_turn, episode.last_turn)
    return SaidIn(citation(episode, transcript), transcript.path, turns)
