"""What recall finds among memories."""

from __future__ import annotations

from picomem.errors import Corrupt
from picomem.recall.hits import citation, memory_hit, message_citation, why
from picomem.recall.looking import Looking, absolute, known
from picomem.recall.rank import Evidence
from picomem.records.hit import Hit
from picomem.records.memory import Memory
from picomem.store import episodes, memories, sessions

_IMPORTANCE = 0.15  # what an importance of 1 adds to a memory that fits the question perfectly
_DURABLE = 1.1  # the weight of a memory beside an episode that fits as well: it was meant to last


def memory_hits(looking: Looking) -> list[Hit]:
    """The memories that answer the question, the best first."""
    total = int((looking.tx.one("count_memory_docs", user=looking.scope.user) or (0,))[0])
    words = looking.words("memory", total)
    near = looking.near("memory", total)
    evidence: dict[int, Evidence] = {}
    records: dict[int, Memory] = {}
    docs = list(dict.fromkeys([*words.totals, *near.nearest]))
    parts = words.parts(docs)
    for memory in memories.by_docs(looking.tx, looking.scope, docs, looking.damaged) if docs else []:
        if looking.wanted.filters.admits_memory(memory, looking.scope, looking.now):
            records[memory.doc] = memory
            evidence[memory.doc] = Evidence(words=parts.get(memory.doc, {}))
    looking.add_meaning(evidence, near, {doc: memory.tokens for doc, memory in records.items()})
    order = looking.fused(evidence, words)
    for doc in order:
        evidence[doc].score += _IMPORTANCE * records[doc].importance
    order.sort(key=lambda doc: (-evidence[doc].score, -doc))
    scores = absolute(order, evidence, words)
    scores = {doc: round(min(1.0, _DURABLE * score), 4) for doc, score in scores.items()}
    kept = known(order, scores)
    hits = [
        memory_hit(
            records[doc],
            scores[doc],
            why(doc, evidence[doc], words),
            context=looking.wanted.include_context,
            citation=_said_in(looking, records[doc]),
        )
        for doc in kept[: looking.wanted.limit]
    ]
    looking.weigh([evidence[doc] for doc in kept], words)
    return hits


def _said_in(looking: Looking, memory: Memory) -> str:
    """Where a memory was said, if it was taken from a transcript; empty if it was given to us."""
    for parent, _ in memories.parents_of(looking.tx, looking.scope, memory.id):
        if parent.kind == "message":
            said = sessions.message_by_id(looking.tx, looking.scope, parent.id)
            if said is not None:
                return message_citation(said)
        try:
            episode = episodes.episode(looking.tx, looking.scope, parent.id) if parent.kind == "episode" else None
        except Corrupt:
            looking.damaged.append(parent.id)
            continue
        if episode is not None:
            return citation(episode, looking.transcript(episode.transcript_id))
    return ""
