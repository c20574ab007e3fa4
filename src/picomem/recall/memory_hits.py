"""What recall finds among memories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from picomem.clock import Micros
from picomem.errors import Corrupt
from picomem.recall.confidence import LOOKED
from picomem.recall.hits import SaidIn, citation, memory_hit, message_citation, why
from picomem.recall.legs import Looking, shares
from picomem.recall.lexical_search import WordMatches
from picomem.recall.rank import Signals
from picomem.recall.recency import OUTDATED, newer_first
from picomem.records.hit import Hit
from picomem.records.memory import Memory, Parent, doubted_pairs
from picomem.store import episodes, memories, session_rows

_IMPORTANCE = 0.15  # what an importance of 1 adds to a memory that fits the question perfectly
_DURABLE = 1.1  # the weight of a memory beside an episode that fits as well: it was meant to last


def memory_hits(looking: Looking) -> list[Hit]:
    """The memories that answer the question, the best first."""
    total, lost = memories.count(looking.tx, looking.scope)
    looking.damaged += [f"memory {number} of those that are not there" for number in range(lost)]
    words = looking.words("memory", total)
    near = looking.near("memory", total)
    docs = list(dict.fromkeys([*words.totals, *near.nearest]))
    known = memories.by_docs(looking.tx, looking.scope, docs, looking.damaged) if docs else []
    filters = looking.wanted.filters
    records = {memory.doc: memory for memory in known if filters.admits_memory(memory, looking.scope, looking.now)}
    signals = Signals(totals=words.totals, words=words.parts(records))
    looking.add_meaning(signals, near, {doc: memory.tokens for doc, memory in records.items()})
    fusion = looking.fused(records, signals, words)
    scores = {doc: score + _IMPORTANCE * records[doc].importance for doc, score in fusion.scores.items()}
    scores, remarks = newer_first(scores, records, signals.words)
    ranked = list(islice(shares(scores, signals, words), max(looking.wanted.limit, LOOKED)))
    weight = durable([share for _, share in ranked])
    listed = [records[doc].id for doc, _ in ranked[: looking.wanted.limit]]
    parents = memories.parents_of_each(looking.tx, looking.scope, listed)
    hits = [
        memory_hit(
            records[doc],
            round(weight * share, 4),
            "; ".join(filter(None, [_reason(looking, records[doc], signals, words), remarks.get(doc)])),
            context=looking.wanted.include_context,
            said_in=_said_in(looking, records[doc], parents[records[doc].id]),
            remark=remarks.get(doc, ""),
            parts=looking.parts(doc, round(weight * share, 4), fusion, signals),
        )
        for doc, share in ranked[: looking.wanted.limit]
    ]
    for newer, older in doubted_pairs(records[doc] for doc, _ in ranked[: looking.wanted.limit]):
        if remarks.get(older.doc) == OUTDATED and older.id in looking.taken_from:
            looking.replaced_by[looking.taken_from[older.id]] = newer.id
    for doc, _ in ranked[: looking.wanted.limit]:
        looking.note_matched(records[doc].id, doc, signals.evidence(doc), words)
    best = [doc for doc, _ in ranked[:LOOKED]]
    looking.weigh(best, signals, words, statements={doc: records[doc].content for doc in best})
    return hits


def _reason(looking: Looking, memory: Memory, signals: Signals, words: WordMatches) -> str:
    return why(memory.doc, signals.evidence(memory.doc), words, looking.question.words, memory.content)


def durable(fits: Sequence[float]) -> float:
    """What the shares of memories are multiplied with beside those of episodes: as much as leaves the best within 1, so
    that different shares stay different."""
    return min(_DURABLE, 1 / max(fits, default=1.0)) if any(fits) else 1.0


def _said_in(looking: Looking, memory: Memory, parents: Sequence[memories.VersionParent]) -> SaidIn:
    """Return where a memory was said if it was taken from a transcript, or nowhere. Keeps the episode, and those in
    which a statement was made that it has replaced."""
    # A recall of what was believed at another time may have an earlier version.
    said = [(parent, version) for parent, version in parents if parent.kind != "memory" and version <= memory.version]
    began: dict[int, Micros] = {}
    if any(version < memory.version for _, version in said):
        began = {row.version: row.valid_from for row in memories.versions(looking.tx, looking.scope, memory.id)}
    said_in: SaidIn | None = None
    for parent, version in sorted(said, key=lambda entry: -entry[1]):
        if began.get(version, memory.valid_from) < memory.valid_from:
            if parent.kind == "episode":
                looking.replaced_by[parent.id] = memory.id
        elif said_in is None:
            said_in = _place(looking, memory.id, parent)
    return said_in or SaidIn()


def _place(looking: Looking, memory_id: str, parent: Parent) -> SaidIn | None:
    if parent.kind == "message":
        said = session_rows.message_by_id(looking.tx, looking.scope, parent.id)
        return SaidIn(message_citation(said)) if said is not None else None
    try:
        episode = episodes.episode(looking.tx, looking.scope, parent.id)
        if episode is None:
            return None
        looking.taken_from[memory_id] = episode.id
        transcript = looking.transcript(episode.transcript_id)
    except Corrupt as error:
        looking.damaged.append(str(error.data["id"]))
        return None
    turns = (episode.first_turn, episode.last_turn)
    return SaidIn(citation(episode, transcript), transcript.path if transcript else "", turns)
