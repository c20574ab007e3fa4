"""How sure recall is that it has an answer, from the best of what it found.

The confidence is a share, 0–1: of questions with so much of it, about that many have some of their answer among the
first five hits (docs/benchmarks.md, “Knowing when nothing is known”). A logistic function weighs three signs. Its
weights stand in confidence.json; `python -m training.confidence` fits them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from math import exp
from pathlib import Path

from picomem.recall.rank import Evidence, covered, fit
from picomem.records.hit import Signs

WEIGHTS = Path(__file__).with_name("confidence.json")
SIGNS = ("fit", "lead", "unheard")  # the fields of Signs
FIRST = 3  # the hit that fits best may stand behind one that the talk around it lifted
LOOKED = 20  # how far down the words of a named speaker are looked for


def read_signs(
    best: Sequence[Evidence], idf: Mapping[str, float], unheard: Collection[str], named: Collection[str] = ()
) -> Signs | None:
    """The signs of an answer in the best hits, in their order, to a question whose terms weigh `idf`; None of no hits.

    `unheard` are those terms that occur nowhere, `named` those that name a speaker: what that one said is marked as
    `own`, and seldom holds the name.
    """
    if not best:
        return None
    about = {term: weight for term, weight in idf.items() if term not in named}
    looked = best[:LOOKED]
    theirs = [evidence for evidence in looked if evidence.own] if named else []
    lead = _most(theirs, about) - _most([evidence for evidence in looked if not evidence.own], about) if theirs else 0.0
    total = sum(about.values())
    return Signs(
        fit=max(fit(evidence, about) for evidence in theirs or best[:FIRST]),
        lead=lead,
        unheard=sum(weight for term, weight in about.items() if term in unheard) / total if total else 0.0,
    )


def confidence(signs: Signs) -> float:
    """How likely an answer with these signs holds what was asked for."""
    weights = _weights()
    logit = weights["bias"] + sum(weights[name] * getattr(signs, name) for name in SIGNS)
    return round(1 / (1 + exp(-logit)), 4)


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, float]:
    return json.loads(WEIGHTS.read_bytes())


def _most(evidence: Sequence[Evidence], about: Mapping[str, float]) -> float:
    return max((covered(hit.words, about) for hit in evidence), default=0.0)
