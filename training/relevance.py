"""Fits what the prompt hook injects (picomem/injection/relevance.py) to the prompts of data/injection.jsonl.

    python -m training.relevance             writes the weights into the package
    python -m training.relevance --validate  prints, from a tenfold cross-validation, how many prompts get something
                                             at each threshold; writes nothing

The same prompts give the same bytes. The weights of `python -m training` must be there already.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from picomem.injection.prompt_context import AgentPrompt, recalled
from picomem.injection.relevance import WEIGHTS, relevance_signals
from picomem.light_dataclass import dataclass
from training.injection_sets import CHOSEN_ON, InjectionStore

_FOLDS = 10
_PENALTY = 3.0  # of squared weights, of signals that were brought to the same spread
_STEPS = 50


@dataclass(frozen=True, slots=True)
class Seen:
    """A prompt: its signals, whether the store has an answer, and whether a hit is one."""

    signals: dict[str, float]
    answerable: bool
    helped: bool


def observe(path: Path = CHOSEN_ON) -> list[Seen]:
    """Give each prompt of a set to recall as the hook does; a prompt without any hit is left out."""
    with tempfile.TemporaryDirectory(prefix="picomem-training-") as folder:
        store = InjectionStore(path, Path(folder))
        try:
            made = []
            for prompt in store.prompts:
                answer, hits = recalled(store.engine(prompt.project), AgentPrompt(prompt.text))
                if hits:
                    signals = relevance_signals(prompt.text, answer, hits)
                    made.append(Seen(signals, bool(prompt.answers), any(store.helps(hit, prompt) for hit in hits)))
            return made
        finally:
            store.close()


def fit(seen: Sequence[Seen]) -> dict[str, float]:
    """The weights of a logistic regression for prompts with an answer, by Newton's steps, and the bias."""
    names = sorted(seen[0].signals)
    signals = np.array([[row.signals[name] for name in names] for row in seen])
    target = np.array([float(row.answerable) for row in seen])
    spread = np.maximum(signals.std(axis=0), 1e-6)
    inputs = np.hstack([(signals - signals.mean(axis=0)) / spread, np.ones((len(seen), 1))])
    penalty = np.diag([_PENALTY] * len(names) + [1e-6])
    fitted = np.zeros(len(names) + 1)
    for _ in range(_STEPS):
        shares = 1 / (1 + np.exp(-inputs @ fitted))
        slope = inputs.T @ (shares - target) + penalty @ fitted
        curve = (inputs.T * (shares * (1 - shares))) @ inputs + penalty
        fitted -= np.linalg.solve(curve, slope)
    weights = {name: round(float(value), 3) for name, value in zip(names, fitted[:-1] / spread, strict=True)}
    return {"bias": round(float(fitted[-1] - (fitted[:-1] / spread) @ signals.mean(axis=0)), 3)} | weights


def judged(weights: dict[str, float], row: Seen) -> float:
    logit = weights["bias"] + sum(weights[name] * value for name, value in row.signals.items())
    return float(1 / (1 + np.exp(-logit)))


def validated(seen: Sequence[Seen]) -> list[float]:
    """How relevant each prompt's hits are by weights that were fitted without that prompt."""
    folds = [number % _FOLDS for number in range(len(seen))]
    random.Random(0).shuffle(folds)
    shares = [0.0] * len(seen)
    for fold in range(_FOLDS):
        weights = fit([row for row, own in zip(seen, folds, strict=True) if own != fold])
        for place, (row, own) in enumerate(zip(seen, folds, strict=True)):
            if own == fold:
                shares[place] = judged(weights, row)
    return shares


def report(seen: Sequence[Seen]) -> str:
    shares = validated(seen)
    known = [(share, row.helped) for share, row in zip(shares, seen, strict=True) if row.answerable]
    others = [share for share, row in zip(shares, seen, strict=True) if not row.answerable]
    lines = [f"{len(known)} prompts with an answer, {len(others)} without; those that had no hit are left out"]
    for threshold in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8):
        useful = np.mean([share >= threshold and helped for share, helped in known])
        useless = np.mean([share >= threshold for share in others])
        lines.append(f"  at {threshold:.2f}: useful {useful:.3f}, useless {useless:.3f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.relevance", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--validate", action="store_true", help="cross-validation; writes nothing")
    parser.add_argument("--to", type=Path, default=WEIGHTS, help="where the weights are written")
    chosen = parser.parse_args(arguments)
    seen = observe()
    if chosen.validate:
        sys.stdout.write(report(seen) + "\n")
        return 0
    chosen.to.write_text(json.dumps(fit(seen)) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
