"""Whether one hit helps with a prompt, and which of several helps most. Pure.

Recall ranks what was said by how well it fits the words of a question. Beside a prompt there is room for a few entries,
so what was settled goes before what was only asked, and what an agent answered before the question. A logistic function
weighs such signals; `python -m training.relevance` fits its weights (relevance.json).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import fsum, log1p

from picomem.recall.answer_kinds import lacks_kind
from picomem.records.hit import Hit
from picomem.text.synonyms import held_terms, synonyms
from picomem.text.terms import query_terms

_SHORT = 45  # tokens of a hit, with the 30 of its date and id
_SETTLED = frozenset(("decision", "preference", "instruction"))
_QUESTION_ENDS = ("?", "？", "吗", "呢", "么")


def hit_signals(prompt: str, hits: Sequence[Hit]) -> list[dict[str, float]]:
    """The signals of each hit, by name; the hits in the order of recall."""
    asked = tuple(query_terms(prompt))
    others = synonyms(prompt, asked)
    held = [held_terms(asked, others, hit.text) for hit in hits]
    spread = {term: sum(term in of_hit for of_hit in held) for term in asked}
    best = sorted((hit.score for hit in hits), reverse=True)[:2]
    scores: dict[tuple[str, int], float] = {}
    for hit in hits:
        if hit.source == "episode" and hit.transcript and hit.turns:
            said = (hit.transcript, hit.turns[1])
            scores[said] = max(scores.get(said, 0.0), hit.score)  # of the passages of a long turn the best counts
    return [
        {
            "score": hit.score,
            "lead": hit.score - (best[1] if hit.score == best[0] and len(best) > 1 else best[0] if best[1:] else 0.0),
            "place": 1 / (1 + place),
            "in memory": float(hit.source == "memory"),
            "settled": float(hit.kind in _SETTLED),
            "by an agent": float(hit.role == "assistant"),
            "follows": _followed(hit, scores),
            "only asks": float(hit.role == "user" and hit.text.rstrip(" \"')”’").endswith(_QUESTION_ENDS)),
            "lacks": float(lacks_kind(prompt, hit.text)),
            "pairs": log1p(sum(one in held[place] and other in held[place] for one, other in pairwise(asked))),
            "alone in": fsum(1 / spread[term] for term in held[place]) / max(1, len(asked)),  # in any order
            "short": float(hit.tokens < _SHORT),
            "size": log1p(hit.tokens),
        }
        for place, hit in enumerate(hits)
    ]


def _followed(hit: Hit, scores: Mapping[tuple[str, int], float]) -> float:
    """Return the score of the hit that this one comes right behind, as an answer comes behind what it answers."""
    return scores.get((hit.transcript, hit.turns[0] - 1), 0.0) if hit.source == "episode" and hit.turns else 0.0


def usefulness(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return how much speaks for a hit with these signals: a logit."""
    return weights["bias"] + sum(weights[name] * value for name, value in signals.items())
