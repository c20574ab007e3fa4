"""Trains the classifiers of the write side from the labelled lines, and validates them.

    python -m training              writes the weights into the package
    python -m training --validate   five-fold cross-validation over the lines; writes nothing

The same lines give the same bytes. Thresholds are chosen from the validation, and stand beside the code that uses them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # sums are made in one order

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from picomem.injection.prompt_signals import observe_prompt
from picomem.light_dataclass import dataclass
from picomem.memory.pair_signals import observe_pair
from picomem.models.classifier import WEIGHTS, encode
from picomem.policy.offer_signals import observe_offer
from picomem.policy.sentence_signals import observe
from training.examples import DATA, labelled_prompts, lookalikes, messages, offers, pairs, strangers
from training.fitting import Plan, Table, fit, predict, table

STRANGERS = 1_500
LOOKALIKES = 6_000  # more than the written pairs: most statements in a store are independent
_MADE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Task:
    """What one classifier is trained on. Of the examples behind the first `counted` the validation says nothing: they
    were made, not written."""

    name: str
    plan: Plan
    examples: Table
    labels: np.ndarray
    weights: np.ndarray
    counted: int


def durable(folder: Path = DATA, part: int = 1) -> Task:
    """Is a sentence of a user worth knowing later?"""
    sentences = [sentence for message in messages(folder) for sentence in message.sentences][::part]
    labels = np.array([int(is_durable) for _, is_durable in sentences])
    plan = Plan(classes=("passing", "durable"))
    seen = table([observe(text) for text, _ in sentences])
    return Task("durable", plan, seen, labels, np.ones(len(labels)), len(labels))


def worth(folder: Path = DATA, part: int = 1) -> Task:
    """Is what an agent offers worth keeping?"""
    lines = offers(folder)[::part]
    stated = [text for pair in pairs(folder)[:: 2 * part] for text in (pair.old, pair.new)]  # memories, as they are
    labels = np.array([int(line.worth) for line in lines] + [1] * len(stated))
    weights = np.concatenate([np.ones(len(lines)), np.full(len(stated), 0.5)])
    plan = Plan(classes=("junk", "worth"))
    seen = table([observe_offer(text) for text in [*(line.text for line in lines), *stated]])
    return Task("worth", plan, seen, labels, weights, len(lines))


def relation(folder: Path = DATA, part: int = 1) -> Task:
    """How does a newer statement stand to an older one?"""
    written = pairs(folder)[::part]
    made = strangers(written, STRANGERS // part) + lookalikes(written, LOOKALIKES // part)
    plan = Plan(classes=("supersede", "duplicate", "refine", "independent"), use_meaning=False)
    labels = np.array([plan.classes.index(pair.relation) for pair in [*written, *made]])
    weights = np.concatenate([np.ones(len(written)), np.full(len(made), _MADE_WEIGHT)])
    seen = table([observe_pair(pair.old, pair.new) for pair in [*written, *made]])
    return Task("relation", plan, seen, labels, weights, len(written))


def recollection(folder: Path = DATA, part: int = 1) -> Task:
    """Does a prompt ask for something of this person's past? Read without numpy, so it has no hidden layer."""
    lines = labelled_prompts(folder)[::part]
    labels = np.array([int(line.recollects) for line in lines])
    plan = Plan(classes=("other", "recollection"), words=1e-3, use_meaning=False, layers=0, hidden=0)
    seen = table([observe_prompt(line.text) for line in lines])
    return Task("recollection", plan, seen, labels, np.ones(len(labels)), len(labels))


TASKS = (durable, worth, relation, recollection)


def train(task: Task) -> bytes:
    """The bytes of the weights."""
    return encode(task.plan.classes, task.examples.names, fit(task.plan, task.examples, task.labels, task.weights))


def validated(task: Task, folds: int = 5) -> np.ndarray:
    """The shares of the classes that examples get from classifiers that were not trained on them."""
    shares = np.zeros((len(task.labels), len(task.plan.classes)))
    for fold in range(folds):
        held = np.flatnonzero(np.arange(len(task.labels)) % folds == fold)
        rest = np.flatnonzero(np.arange(len(task.labels)) % folds != fold)
        arrays = fit(task.plan, task.examples.of(rest), task.labels[rest], task.weights[rest])
        shares[held] = predict(arrays, task.examples.of(held))
    return shares


def report(task: Task) -> str:
    shares, labels = validated(task)[: task.counted], task.labels[: task.counted]
    lines = [f"{task.name}: {len(labels)} lines, accuracy {(shares.argmax(axis=1) == labels).mean():.3f}"]
    if len(task.plan.classes) == 2:
        yes = shares[:, 1]
        lines.append(f"  average precision {average_precision(labels, yes):.3f}")
        for least in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98):
            right, wrong = (yes[labels == 1] >= least).mean(), (yes[labels == 0] >= least).mean()
            tenth = 0.1 * right / max(1e-9, 0.1 * right + 0.9 * wrong)
            lines.append(
                f"  at {least:.2f}: {right:.3f} of the {task.plan.classes[1]}, {wrong:.3f} of the others; "
                f"precision where one in ten is {task.plan.classes[1]}: {tenth:.2f}"
            )
        return "\n".join(lines)
    for about in task.plan.classes:
        place = task.plan.classes.index(about)
        for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
            of = ", ".join(
                f"{(shares[labels == number, place] >= least).mean():.3f} {name}"
                for number, name in enumerate(task.plan.classes)
            )
            lines.append(f"  called {about} at {least:.2f}: {of}")
    return "\n".join(lines)


def average_precision(labels: np.ndarray, shares: np.ndarray) -> float:
    order = np.argsort(-shares, kind="stable")
    hits = labels[order]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits == 1].mean())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--validate", action="store_true", help="cross-validation; writes nothing")
    parser.add_argument("--folder", type=Path, default=WEIGHTS, help="where the weights are written")
    parser.add_argument("--only", choices=[task.__name__ for task in TASKS])
    chosen = parser.parse_args(arguments)
    for made in TASKS:
        if chosen.only in (None, made.__name__):
            task = made()
            if chosen.validate:
                sys.stdout.write(report(task) + "\n")
                continue
            data = train(task)
            chosen.folder.mkdir(parents=True, exist_ok=True)
            (chosen.folder / f"{task.name}.bin").write_bytes(data)
            sys.stdout.write(f"{task.name}: {len(task.labels)} examples, {len(data):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
