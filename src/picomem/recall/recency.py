"""Of two statements that may contradict each other the newer one stands first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import combinations

from picomem.coded_text import CodedText, all_of
from picomem.light_dataclass import replace
from picomem.recall.final_scores import rescored
from picomem.records.hit import Hit
from picomem.records.kinds import Kind
from picomem.records.memory import Memory, doubted_pairs

CLOSE = 0.25  # of the score: two statements that fit so nearly alike
FAR = 0.7  # an older one that fits so much better was asked for itself
OUTDATED = CodedText("why.outdated")
_MOST_DECISIONS = 60


def newer_first(
    scores: Mapping[int, float], records: Mapping[int, Memory], words: Mapping[int, Mapping[str, float]]
) -> tuple[dict[int, float], dict[int, str]]:
    """The scores of memories by their document, with a newer statement right before the older one that it may
    contradict, and of two decisions that answer the same words as well, the later first; and a remark on those that
    are older. `words` are those of the question that each document holds."""
    weighed = dict(scores)
    remarks: dict[int, str] = {}
    docs = {records[doc].id: doc for doc in weighed}
    for newer, older in _oldest_first(doubted_pairs(records[doc] for doc in weighed)):
        first, second = docs[newer.id], docs[older.id]
        remarks[second] = OUTDATED
        best = max(weighed.values())
        if weighed[first] <= weighed[second] <= weighed[first] + FAR * best:
            weighed[first], weighed[second] = weighed[second], min(weighed[first], weighed[second] * 0.999)
    decisions = [doc for doc in weighed if records[doc].kind is Kind.DECISION and len(words.get(doc, ())) > 1]
    decisions = nlargest(_MOST_DECISIONS, decisions, key=weighed.__getitem__)  # each is compared with each
    decisions.sort(key=lambda doc: (records[doc].valid_from, doc))
    for earlier, later in combinations(decisions, 2):
        alike = weighed[later] < weighed[earlier] <= weighed[later] * (1 + CLOSE)
        if alike and words[earlier].keys() <= words[later].keys():
            weighed[earlier], weighed[later] = weighed[later], weighed[earlier]
    return weighed, remarks


def replaced_last(hits: Sequence[Hit], replaced_by: Mapping[str, str], taken_from: Mapping[str, str]) -> list[Hit]:
    """The hits, with the episodes marked in which a statement was made that a memory has replaced, and that memory
    before them; both where the memory fits the question too.

    `replaced_by` has the memories by the ids of such episodes, `taken_from` the episodes from which memories were
    taken: one that fits better stands for its memory.
    """
    by_id = {hit.id: hit for hit in hits}
    best = max((hit.score for hit in hits), default=0.0)
    for episode_id, memory_id in replaced_by.items():
        older = by_id.get(episode_id)
        newer = by_id.get(memory_id) or by_id.get(taken_from.get(memory_id, ""))
        if older is None or newer is None or older.score > newer.score + FAR * best:
            continue  # something else in it was asked for
        if newer.score <= older.score:
            by_id[newer.id] = rescored(newer, older.score)
            older = rescored(older, round(newer.score * 0.999, 4))
        by_id[episode_id] = replace(older, why=all_of(older.why, OUTDATED), remark=OUTDATED)
    return [by_id[hit.id] for hit in hits]


def _oldest_first(pairs: Sequence[tuple[Memory, Memory]]) -> list[tuple[Memory, Memory]]:
    """In this order a chain of statements ends with the newest one first."""
    return sorted(pairs, key=lambda pair: (pair[0].valid_from, pair[1].valid_from))
