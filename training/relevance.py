"""Fits what the prompt hook injects (picomem/injection) to the prompts of data/injection*.jsonl.

    python -m training.relevance             writes the weights into the package
    python -m training.relevance --validate  prints how many prompts get something at each threshold, by weights that
                                             were fitted without them: a tenfold cross-validation, and each developer's
                                             prompts by weights from the others'; writes nothing

There are two functions: how useful a hit is (hit_usefulness.py), which orders the hits, and how likely the best of them
help with a prompt (relevance.py). The second is fitted to hits in an order that the first made without having seen
them. The same prompts give the same bytes. The weights of `python -m training` must be there already.
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

from picomem.injection.context_block import HEAD_TOKENS, LINE_TOKENS
from picomem.injection.hit_usefulness import hit_signals, usefulness
from picomem.injection.prompt_context import AgentPrompt, candidates
from picomem.injection.relevance import WEIGHTS, relevance_signals
from picomem.light_dataclass import dataclass
from picomem.records.hit import Answer, Hit
from picomem.settings import HookSettings
from training.injection_sets import FITTED_TO, InjectionStore

_FOLDS = 10
_PENALTY = 3.0  # of squared weights, of signals that were brought to the same spread
_STEPS = 50
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
    """A prompt, and its hits in the order of recall; `developer` is the number of its set."""

    text: str
    answer: Answer
    answerable: bool
    developer: int
    hits: list[ObservedHit]


def observe(paths: Sequence[Path] = FITTED_TO) -> list[ObservedPrompt]:
    """Give each prompt of the sets to recall as the hook does; a prompt without any hit is left out."""
    return [prompt for number, path in enumerate(paths) for prompt in _observe_set(path, number)]


def _observe_set(path: Path, developer: int) -> list[ObservedPrompt]:
    with tempfile.TemporaryDirectory(prefix="picomem-training-") as folder:
        store = InjectionStore(path, Path(folder))
        try:
            observed = []
            for prompt in store.prompts:
                answer, hits = candidates(store.engine(prompt.project), AgentPrompt(prompt.text))
                if hits:
                    signals = hit_signals(prompt.text, hits)
                    of_hits = [
                        ObservedHit(hit, of_hit, store.helps(hit, prompt))
                        for hit, of_hit in zip(hits, signals, strict=True)
                    ]
                    observed.append(ObservedPrompt(prompt.text, answer, bool(prompt.answers), developer, of_hits))
            return observed
        finally:
            store.close()


def logistic(rows: Sequence[dict[str, float]], labels: Sequence[bool]) -> Weights:
    """The weights of a logistic regression, by Newton's steps, and the bias."""
    names = sorted(rows[0])
    signals = np.array([[row[name] for name in names] for row in rows])
    target = np.array(labels, float)
    spread = np.maximum(signals.std(axis=0), 1e-6)
    inputs = np.hstack([(signals - signals.mean(axis=0)) / spread, np.ones((len(rows), 1))])
    penalty = np.diag([_PENALTY] * len(names) + [1e-6])
    fitted = np.zeros(len(names) + 1)
    for _ in range(_STEPS):
        shares = 1 / (1 + np.exp(-inputs @ fitted))
        slope = inputs.T @ (shares - target) + penalty @ fitted
        curve = (inputs.T * (shares * (1 - shares))) @ inputs + penalty
        fitted -= np.linalg.solve(curve, slope)
    weights = {name: round(float(value), 3) for name, value in zip(names, fitted[:-1] / spread, strict=True)}
    return {"bias": round(float(fitted[-1] - (fitted[:-1] / spread) @ signals.mean(axis=0)), 3)} | weights


def fit(prompts: Sequence[ObservedPrompt]) -> dict[str, Weights]:
    """The weights of both functions."""
    rows: list[dict[str, float]] = []
    for fold, chosen in _folds(prompts):
        of_hits = _fit_hits(prompt for prompt, own in zip(prompts, chosen, strict=True) if own != fold)
        rows += [_prompt_signals(prompt, of_hits) for prompt, own in zip(prompts, chosen, strict=True) if own == fold]
    labels = [
        prompt.answerable
        for fold, chosen in _folds(prompts)
        for prompt, own in zip(prompts, chosen, strict=True)
        if own == fold
    ]
    return {"hit": _fit_hits(prompts), "prompt": logistic(rows, labels)}


def _fit_hits(prompts: Iterable[ObservedPrompt]) -> Weights:
    """A prompt without an answer says nothing of which hit is the better one."""
    hits = [hit for prompt in prompts if prompt.answerable for hit in prompt.hits]
    return logistic([hit.signals for hit in hits], [hit.helps for hit in hits])


def _folds(prompts: Sequence[ObservedPrompt]) -> list[tuple[int, list[int]]]:
    chosen = [number % _FOLDS for number in range(len(prompts))]
    random.Random(0).shuffle(chosen)
    return [(fold, chosen) for fold in range(_FOLDS)]


def _ordered(prompt: ObservedPrompt, weights: Weights) -> list[ObservedHit]:
    return sorted(prompt.hits, key=lambda hit: -usefulness(hit.signals, weights))


def _prompt_signals(prompt: ObservedPrompt, of_hits: Weights) -> dict[str, float]:
    return relevance_signals(prompt.text, prompt.answer, [hit.hit for hit in _ordered(prompt, of_hits)])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a prompt would get: how sure that is to help, and whether it does."""

    answerable: bool
    relevance: float
    helps: bool


def judged(weights: dict[str, Weights], prompt: ObservedPrompt) -> Outcome:
    """What a prompt gets by these weights."""
    room, helps = _BUDGET - HEAD_TOKENS, False
    for hit in _ordered(prompt, weights["hit"]):
        cost = LINE_TOKENS + hit.hit.tokens
        if cost <= room:
            room -= cost
            helps = helps or hit.helps
    logit = usefulness(_prompt_signals(prompt, weights["hit"]), weights["prompt"])
    return Outcome(prompt.answerable, float(1 / (1 + np.exp(-logit))), helps)


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
    lines = [f"{len(known)} prompts with an answer, {len(others)} without; those that had no hit are left out"]
    for threshold in (0.0, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8):
        useful = np.mean([outcome.relevance >= threshold and outcome.helps for outcome in known])
        useless = np.mean([outcome.relevance >= threshold for outcome in others])
        lines.append(f"  at {threshold:.2f}: useful {useful:.3f}, useless {useless:.3f}")
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
        sys.stdout.write(f"by the other developer: {report(validated(prompts, developers))}\n")
        return 0
    chosen.to.write_text(json.dumps(fit(prompts)) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
