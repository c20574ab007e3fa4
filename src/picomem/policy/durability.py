"""Finds the sentences of a user's message that are worth knowing later. Pure, except for the weights that it reads.

A request ("remember that …") is explicit, and `requests` finds it. Most durable facts are mentioned in passing: "we
went with Svelte for the portal". For each sentence of the person's own words a small classifier estimates how likely
it is to last (docs/classifiers.md). Likely sentences are kept; those that are not certain become candidates.
"""

from __future__ import annotations

import re

from picomem.light_dataclass import replace
from picomem.models.classifier import Judged, Observed, load
from picomem.policy.requests import Candidate, find_requests, kind_of, own_sentences, statement
from picomem.policy.sentence_signals import observe
from picomem.records.kinds import Kind
from picomem.text.memory_keys import suggest_key
from picomem.text.terms import STOP_WORDS, is_cjk, terms

# Chosen from the validation (`python -m training --by-writer`), not from the sets that measure.
LEAST = 0.75  # of what is kept: a wrong candidate costs more than one that is missed
SURE = 0.9  # from here on a sentence is kept as a memory at once: at one durable sentence in ten most are right
_DOUBTED = 0.003  # a request that is no outright one is dropped below this
_LONGEST = 500
_FEWEST_TERMS = 2
# So many words without a single small one are a list, a name of files or noise, in any of these languages.
_FEWEST_OF_A_LIST = 8
_SMALL_WORDS = STOP_WORDS | frozenset(
    """never always every only use keep put ask tell run der die das den dem ein eine und ist sind im in am zu mit für
    auf bei nicht kein keine wir ich el la los las un una y es son en de del al con por para que no le les des du et
    est sont dans à pour avec pas ne je nous on o os as um uma e é são do da em com il lo gli di che non per""".split()
)
_WORD = re.compile(r"[^\W_]+")
_IMPORTANCE = {Kind.INSTRUCTION: 0.7, Kind.DECISION: 0.65, Kind.PREFERENCE: 0.65}
_OTHER_IMPORTANCE = 0.5
_LEANS = (
    r"(?i)^(?:(?:and|but|so|that|it|it's|its|this|they|he|she|there|because|since|otherwise|then|we got|was|works?)\b|"
    r"(?:所以|因为|这|它|他|她|否则|不然|但|而且))"
)


def judge_sentence(sentence: str) -> Judged:
    """Return the probability that a sentence is durable."""
    return _judge(observe(sentence))


def _judge(observed: Observed) -> Judged:
    return load("durable").judge(observed, "durable")


def find_durable(text: str) -> list[Candidate]:
    """The durable parts of a message: explicit requests, and sentences that are likely to last."""
    requests: list[Candidate] = []
    for request in find_requests(text):
        if request.outright:
            requests.append(request)
            continue
        judged = judge_sentence(text[request.start : request.end])
        if judged.shares["durable"] >= _DOUBTED:
            share = judged.shares["durable"]
            requests.append(replace(request, likely=1.0 if share >= LEAST else share, reasons=judged.reasons))
    taken = [(request.start, request.end) for request in requests]
    kept: list[Candidate] = []
    for start, end, said in own_sentences(text):
        if any(start < last and first < end for first, last in taken) or not _can_stand(said):
            continue
        observed = observe(said)
        judged = _judge(observed)
        share = judged.shares["durable"]
        if share < LEAST or _is_order_for_now(observed):
            continue
        if kept and kept[-1].end >= start - 2 and re.match(_LEANS, said):
            # It leans on the sentence before, so the two are one statement.
            before = kept[-1]
            content = statement(text[before.start : end])
            if len(content) <= _LONGEST:
                kept[-1] = replace(before, content=content, end=end)
                continue
        content = statement(said)
        kind = kind_of(content)
        kept.append(
            Candidate(
                content=content,
                kind=kind,
                key=suggest_key(content, kind.value),
                importance=_IMPORTANCE.get(kind, _OTHER_IMPORTANCE),
                start=start,
                end=end,
                cue="",
                outright=False,
                likely=share,
                reasons=judged.reasons,
            )
        )
    return sorted([*requests, *kept], key=lambda candidate: candidate.start)


def _is_order_for_now(sentence: Observed) -> bool:
    """Return whether a sentence orders one piece of work ("Websearch how …") and sets no rule."""
    return "begins with an order" in sentence.signals and "is a standing order" not in sentence.signals


def _can_stand(said: str) -> bool:
    """Return whether a sentence has words enough to mean something by itself."""
    if "[redacted:" in said:  # nobody asked to keep a secret's place
        return False
    if is_cjk(said):
        return len(re.findall(r"[\u3400-\u9fff\u3040-\u30ff]", said)) >= 5
    words = _WORD.findall(said.casefold())
    if len(words) >= _FEWEST_OF_A_LIST and not any(word in _SMALL_WORDS for word in words):
        return False
    return len(said) <= _LONGEST and len(terms(said)) >= _FEWEST_TERMS and len(said.split()) >= 3
