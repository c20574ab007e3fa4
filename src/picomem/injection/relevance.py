"""Whether what memory has helps with a prompt, 0–1: what is put beside a prompt unasked must be worth its tokens. Pure.

The confidence of recall is made for questions: it says how likely an answer is among the hits, and the score of a hit
depends on how much is stored. Most prompts are no questions. An order to an agent shares words with what was said of
the same code, and needs none of it. So the prompt is judged first, by a classifier of its own (prompt_signals.py): does
it ask for something of this person's past? Then the hits: how much of the prompt do they hold, and do they lack the
kind of answer that it asks for? A logistic function weighs these signals. Its weights stand in
relevance.json; `python -m training.relevance` fits them, and docs/hooks.md shows how they err.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp, log1p
from pathlib import Path

from picomem.injection.prompt_signals import observe_prompt
from picomem.models.classifier import linear_logit
from picomem.records.hit import Answer, Hit
from picomem.text.terms import query_terms, terms

WEIGHTS = Path(__file__).with_name("relevance.json")
_BEST = 3  # hits that are looked at
_MOST = 6.0  # of a logit, either way
_LONG = 300  # characters


def relevance(prompt: str, answer: Answer, hits: Sequence[Hit]) -> float:
    """How likely one of these hits, the best first, helps with a prompt that recall was asked with."""
    if not hits:
        return 0.0
    weights = _weights()
    logit = weights["bias"] + sum(
        weights[name] * value for name, value in relevance_signals(prompt, answer, hits).items()
    )
    return round(1 / (1 + exp(-logit)), 4)


def relevance_signals(prompt: str, answer: Answer, hits: Sequence[Hit]) -> dict[str, float]:
    """The signals of a prompt and its hits, by name."""
    asked = frozenset(query_terms(prompt))
    held = [asked & frozenset(terms(hit.text)) for hit in hits[:_BEST]]
    recollection = linear_logit("recollection", observe_prompt(prompt))
    return {
        "recollection": max(-_MOST, min(_MOST, recollection)),
        "fit": answer.signs.fit if answer.signs else 0.0,
        "lacks": answer.signs.lacks if answer.signs else 0.0,
        "held": len(frozenset().union(*held)) / max(1, len(asked)),
        "shared": log1p(sum(map(len, held))),
        "words": log1p(len(asked)),
        "one word": float(len(asked) <= 1),
        "lines": float(prompt.count("\n") > 1),
        "long": float(len(prompt) > _LONG),
    }


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, float]:
    return json.loads(WEIGHTS.read_bytes())
