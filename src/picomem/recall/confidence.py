"""How sure recall is that it has an answer, from the best of what it found. Pure.

The confidence is a share, 0–1: of questions with so much of it, about that many have some of their answer among the
first five hits (measured; docs/benchmarks.md, “Knowing when nothing is known”). Three things speak, weighed by a
logistic function:

    fit      how much of the question one of the best hits holds by its words, or says in others. Where the question
             names a speaker, only what that one said counts
    lead     how much more of it that speaker said than anybody else did: “what did Ann paint?” is not answered by
             Ben, who paints
    unheard  the share of the question's weight in words that were never said by anybody

How far the first hit is ahead of the others, the whole talk around it and the number of words add nothing that holds
from one set to the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import exp

from picomem.recall.rank import Evidence, covered, fit

# Fitted once on three public sets, each with the same weight, and rounded.
_BIAS = -0.4
_FIT = 2.2
_LEAD = 1.0
_UNHEARD = -2.0
FIRST = 3  # the hit that fits best may stand behind one that the talk around it lifted
LOOKED = 20  # how far down the words of a named speaker are looked for


def confidence(
    best: Sequence[Evidence], idf: Mapping[str, float], unheard: Collection[str], named: Collection[str] = ()
) -> float:
    """How likely the best hits, in their order, answer a question whose terms weigh `idf`; 0 of none.

    `unheard` are those terms that occur nowhere, `named` those that name a speaker: what that one said is marked as
    `own`, and seldom holds the name.
    """
    if not best:
        return 0.0
    about = {term: weight for term, weight in idf.items() if term not in named}
    looked = best[:LOOKED]
    theirs = [evidence for evidence in looked if evidence.own] if named else []
    fits = max(fit(evidence, about) for evidence in theirs or best[:FIRST])
    lead = _most(theirs, about) - _most([evidence for evidence in looked if not evidence.own], about) if theirs else 0.0
    total = sum(about.values())
    never = sum(weight for term, weight in about.items() if term in unheard) / total if total else 0.0
    return round(1 / (1 + exp(-(_BIAS + _FIT * fits + _LEAD * lead + _UNHEARD * never))), 4)


def _most(evidence: Sequence[Evidence], about: Mapping[str, float]) -> float:
    return max((covered(hit.words, about) for hit in evidence), default=0.0)
