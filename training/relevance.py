"""Fits what the prompt hook injects (picomem/injection) to the prompts of data/injection*.jsonl.

    python -m training.relevance             writes the weights into the package
    python -m training.relevance --validate  prints how many prompts get something at each threshold, by weights that
                                             were fitted without them: a tenfold cross-validation, and each developer's
                                             prompts by weights from the others'; writes nothing

There are two functions: how useful a hit is (`usefulness`), which orders the hits, and how likely the best of them
help with a prompt (relevance.py). The second is fitted to hits in an order that the first made without having seen
them. One of its signals is the classifier of prompts (training/tasks.py), which is trained on the same prompts; each
developer's are judged by weights that were trained without them. The same prompts give the same weights, to within a
few thousandths.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from picomem.injection.prompt_context import HEAD_TOKENS, LINE_TOKENS, AgentPrompt, candidates
from picomem.injection.relevance import WEIGHTS, hit_signals, observe_prompt, relevance_signals, usefulness
from picomem.light_dataclass import dataclass
from picomem.records.hit import Answer, Hit
from picomem.settings_tables import HookSettings
from training.fitting import predict, table
from training.injection_sets import FITTED_TO, InjectionStore, Prompt
from training.tasks import Task, fit_without, recollection

_FOLDS = 10
_PENALTY = 3.0  # of squared weights, of signals that were brought to the same spread
_STEPS = 50
# How much prompts count in the second function, by their kind and whether they have an answer; others count 1. An order
# that needs something of the past does not say so, and an entry beside a near miss, of whose subject memory has
# something, is less bad than one beside a prompt that asks nothing of memory.
_COUNTED = {("order", True): 0.3, ("near-miss", False): 0.3}
_BUDGET = HookSettings().token_budget

Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class ObservedHit:
    """A hit, its signals, and whether it helps."""

    hit: Hit
    signals: dict[str, float]
    helps: bool


@dataclass(frozen=True, slots=True)
class ObservedPrompt:
    """A prompt, and its hits in the order of recall; `developer` is the number of its set, and `recollects` the
    classifier's logit that it asks for something of their past."""

    text: str
    kind: str
    recollects: float
    answer: Answer
    answerable: bool
    developer: int
    hits: list[ObservedHit]


def observe() -> list[ObservedPrompt]:
    """Give each prompt of the sets to recall as the hook does."""
    task = recollection()
    return [prompt for developer, path in enumerate(FITTED_TO) for prompt in _observe_set(path, developer, task)]


def _observe_set(path: Path, developer: int, task: Task) -> list[ObservedPrompt]:
    with tempfile.TemporaryDirectory(prefix="picomem-training-") as folder:
        store = InjectionStore(path, Path(folder))
        try:
            observed = []
            for prompt, recollects in zip(store.prompts, recollections(store.prompts, developer, task), strict=True):
                typed = AgentPrompt(prompt.text)
                answer, hits = candidates(store.engine(prompt.project), typed)
                signals = hit_signals(typed.asked, hits)
                of_hits = [
                    ObservedHit(hit, of_hit, store.helps(hit, prompt))
                    for hit, of_hit in zip(hits, signals, strict=True)
                ]
                observed.append(
                    ObservedPrompt(
                        text=typed.asked,
                        kind=prompt.kind,
                        recollects=recollects,
                        answer=answer,
                        answerable=bool(prompt.answers),
                        developer=developer,
                        hits=of_hits,
                    )
                )
            return observed
        finally:
            store.close()


def recollections(prompts: Sequence[Prompt], developer: int, task: Task) -> list[float]:
    """The logit of each prompt that it asks for something of the past, by weights that were trained without any of its
    developer's."""
    seen = table(
        [observe_prompt(AgentPrompt(prompt.text).asked) for prompt in prompts], task.plan.buckets, task.examples.names
    )
    shares = predict(fit_without(task, task.writers, developer), seen)
    return [float(logit) for logit in np.log(shares[:, 1] / shares[:, 0])]


def logistic(rows: Sequence[dict[str, float]], labels: Sequence[bool], counted: Sequence[float]) -> Weights:
    """The weights of a logistic regression, by Newton's steps, and the bias; `counted` says how much each row does."""
    names = sorted(rows[0])
    signals = np.array([[row[name] for name in names] for row in rows])
    target, weight = np.array(labels, float), np.array(counted)
    spread = np.maximum(signals.std(axis=0), 1e-6)
    inputs = np.hstack([(signals - signals.mean(axis=0)) / spread, np.ones((len(rows), 1))])
    penalty = np.diag([_PENALTY] * len(names) + [1e-6])
    fitted = np.zeros(len(names) + 1)
    for _ in range(_STEPS):
        shares = 1 / (1 + np.exp(-inputs @ fitted))
        slope = inputs.T @ (weight * (shares - target)) + penalty @ fitted
        curve = (inputs.T * (weight * shares * (1 - shares))) @ inputs + penalty
        fitted -= np.linalg.solve(curve, slope)
    weights = {name: round(float(value), 3) for name, value in zip(names, fitted[:-1] / spread, strict=True)}
    return {"bias": round(float(fitted[-1] - (fitted[:-1] / spread) @ signals.mean(axis=0)), 3)} | weights


def fit(prompts: Sequence[ObservedPrompt]) -> dict[str, Weights]:
    """The weights of both functions, from the prompts that have any hit."""
    prompts = [prompt for prompt in prompts if prompt.hits]
    rows: list[dict[str, float]] = []
    judged_prompts: list[ObservedPrompt] = []
    for fold, chosen in _folds(prompts):
        of_hits = _fit_hits(prompt for prompt, own in zip(prompts, chosen, strict=True) if own != fold)
        of_fold = [prompt for prompt, own in zip(prompts, chosen, strict=True) if own == fold]
        rows += [_prompt_signals(prompt, of_hits) for prompt in of_fold]
        judged_prompts += of_fold
    labels = [prompt.answerable for prompt in judged_prompts]
    counted = [_counted(prompt) for prompt in judged_prompts]
    return {"hit": _fit_hits(prompts), "prompt": logistic(rows, labels, counted)}


def _counted(prompt: ObservedPrompt) -> float:
    return _COUNTED.get((prompt.kind, prompt.answerable), 1.0)


def _fit_hits(prompts: Iterable[ObservedPrompt]) -> Weights:
    """A prompt without an answer says nothing of which hit is the better one."""
    hits = [hit for prompt in prompts if prompt.answerable for hit in prompt.hits]
    return logistic([hit.signals for hit in hits], [hit.helps for hit in hits], [1.0] * len(hits))


def _folds(prompts: Sequence[ObservedPrompt]) -> list[tuple[int, list[int]]]:
    chosen = [number % _FOLDS for number in range(len(prompts))]
    random.Random(0).shuffle(chosen)
    return [(fold, chosen) for fold in range(_FOLDS)]


def _ordered(prompt: ObservedPrompt, weights: Weights) -> list[ObservedHit]:
    return sorted(prompt.hits, key=lambda hit: -usefulness(hit.signals, weights))


def _prompt_signals(prompt: ObservedPrompt, of_hits: Weights) -> dict[str, float]:
    ordered = [hit.hit for hit in _ordered(prompt, of_hits)]
    return relevance_signals(prompt.text, prompt.recollects, prompt.answer, ordered)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a prompt would get: how sure that is to help, and whether it does."""

    kind: str
    answerable: bool
    relevance: float
    helps: bool


def judged(weights: dict[str, Weights], prompt: ObservedPrompt) -> Outcome:
    """What a prompt gets by these weights."""
    if not prompt.hits:
        return Outcome(prompt.kind, prompt.answerable, 0.0, helps=False)
    room, helps = _BUDGET - HEAD_TOKENS, False
    for hit in _ordered(prompt, weights["hit"]):
        cost = LINE_TOKENS + hit.hit.tokens
        if cost <= room:
            room -= cost
            helps = helps or hit.helps
    logit = usefulness(_prompt_signals(prompt, weights["hit"]), weights["prompt"])
    return Outcome(prompt.kind, prompt.answerable, float(1 / (1 + np.exp(-logit))), helps)


def validated(prompts: Sequence[ObservedPrompt], chosen: Sequence[int]) -> list[Outcome]:
    """What each prompt gets by weights that were fitted without its part; `chosen` says which part it is of."""
    outcomes: list[Outcome] = []
    for part in sorted(set(chosen)):
        weights = fit([prompt for prompt, own in zip(prompts, chosen, strict=True) if own != part])
        outcomes += [judged(weights, prompt) for prompt, own in zip(prompts, chosen, strict=True) if own == part]
    return outcomes


def report(outcomes: Sequence[Outcome]) -> str:
    known = [outcome for outcome in outcomes if outcome.answerable]
    others = [outcome for outcome in outcomes if not outcome.answerable]
    groups = {
        "useful of questions": [outcome for outcome in known if outcome.kind != "order"],
        "of orders": [outcome for outcome in known if outcome.kind == "order"],
        "useless beside near misses": [outcome for outcome in others if outcome.kind == "near-miss"],
        "beside others": [outcome for outcome in others if outcome.kind != "near-miss"],
    }
    lines = [f"{len(known)} prompts with an answer, {len(others)} without"]
    for threshold in np.arange(0.05, 1.0, 0.05):
        shares = {
            name: np.mean([row.relevance >= threshold and (row.helps or not row.answerable) for row in rows])
            for name, rows in groups.items()
        }
        lines.append(f"  at {threshold:.2f}: " + ", ".join(f"{name} {share:.3f}" for name, share in shares.items()))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.relevance", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--validate", action="store_true", help="cross-validation; writes nothing")
    parser.add_argument("--to", type=Path, default=WEIGHTS, help="where the weights are written")
    chosen = parser.parse_args(arguments)
    prompts = observe()
    if chosen.validate:
        _, folds = _folds(prompts)[0]
        sys.stdout.write(f"tenfold: {report(validated(prompts, folds))}\n")
        developers = [prompt.developer for prompt in prompts]
        sys.stdout.write(f"developer by developer: {report(validated(prompts, developers))}\n")
        return 0
    chosen.to.write_text(json.dumps(fit(prompts)) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
