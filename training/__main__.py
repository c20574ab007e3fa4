"""Trains the classifiers of the write side from the labelled lines, and validates them.

    python -m training              writes the weights into the package
    python -m training --validate   five-fold cross-validation over the lines; writes nothing
    python -m training --by-writer  the lines of five writers, by weights from everybody else's; writes nothing

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
_FOLDS = 5
WRITERS = ("office", "private", "software", "chinese", "life")  # each wrote a file of each kind, and saw no other's


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
    writers: np.ndarray  # whose line each counted example is: a place in WRITERS, or -1


def _writers(files: Sequence[str]) -> np.ndarray:
    """Who wrote the lines of these files."""
    names = [Path(file).stem.rpartition("_")[2] for file in files]
    return np.array([WRITERS.index(name) if name in WRITERS else -1 for name in names])


def durable(folder: Path = DATA, part: int = 1) -> Task:
    """Is a sentence of a user worth knowing later?"""
    sentences = [(*sentence, message.file) for message in messages(folder) for sentence in message.sentences][::part]
    labels = np.array([int(is_durable) for _, is_durable, _ in sentences])
    plan = Plan(classes=("passing", "durable"))
    seen = table([observe(text) for text, _, _ in sentences], plan.buckets)
    writers = _writers([file for _, _, file in sentences])
    return Task("durable", plan, seen, labels, np.ones(len(labels)), len(labels), writers)


def worth(folder: Path = DATA, part: int = 1) -> Task:
    """Is what an agent offers worth keeping?"""
    lines = offers(folder)[::part]
    stated = [text for pair in pairs(folder)[:: 2 * part] for text in (pair.old, pair.new)]  # memories, as they are
    labels = np.array([int(line.worth) for line in lines] + [1] * len(stated))
    weights = np.concatenate([np.ones(len(lines)), np.full(len(stated), 0.5)])
    plan = Plan(classes=("junk", "worth"))
    seen = table([observe_offer(text) for text in [*(line.text for line in lines), *stated]], plan.buckets)
    return Task("worth", plan, seen, labels, weights, len(lines), _writers([line.file for line in lines]))


def relation(folder: Path = DATA, part: int = 1) -> Task:
    """How does a newer statement stand to an older one?"""
    written = pairs(folder)[::part]
    made = strangers(written, STRANGERS // part) + lookalikes(written, LOOKALIKES // part)
    plan = Plan(classes=("supersede", "duplicate", "refine", "independent"), use_meaning=False)
    labels = np.array([plan.classes.index(pair.relation) for pair in [*written, *made]])
    weights = np.concatenate([np.ones(len(written)), np.full(len(made), _MADE_WEIGHT)])
    seen = table([observe_pair(pair.old, pair.new) for pair in [*written, *made]], plan.buckets)
    return Task("relation", plan, seen, labels, weights, len(written), _writers([pair.file for pair in written]))


def recollection(folder: Path = DATA, part: int = 1) -> Task:
    """Does a prompt ask for something of this person's past? Read without numpy, so it has no hidden layer."""
    lines = labelled_prompts(folder)[::part]
    labels = np.array([int(line.recollects) for line in lines])
    plan = Plan(classes=("other", "recollection"), words=1e-3, use_meaning=False, layers=0, hidden=0)
    seen = table([observe_prompt(line.text) for line in lines], plan.buckets)
    writers = _writers([line.file for line in lines])
    return Task("recollection", plan, seen, labels, np.ones(len(labels)), len(labels), writers)


TASKS = (durable, worth, relation, recollection)


def train(task: Task) -> bytes:
    """The bytes of the weights."""
    return encode(task.plan.classes, task.examples.names, fit(task.plan, task.examples, task.labels, task.weights))


def validated(task: Task, parts: np.ndarray) -> np.ndarray:
    """The shares of the classes that examples get from classifiers that were not trained on their part. `parts` says
    which part each example is of; those of part -1 are always trained on and get no shares."""
    shares = np.zeros((len(task.labels), len(task.plan.classes)))
    for part in range(parts.max() + 1):
        held, rest = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        if len(held):
            arrays = fit(task.plan, task.examples.of(rest), task.labels[rest], task.weights[rest])
            shares[held] = predict(arrays, task.examples.of(held))
    return shares


def report(task: Task, *, by_writer: bool = False) -> str:
    """The errors on written lines: in a cross-validation of five folds, or writer by writer."""
    parts = np.arange(len(task.labels)) % _FOLDS
    if by_writer:
        parts = np.concatenate([task.writers, np.full(len(task.labels) - task.counted, -1)])
    chosen = np.flatnonzero(parts[: task.counted] >= 0)
    if not len(chosen):
        return f"{task.name}: no lines of these writers"
    shares, labels = validated(task, parts)[chosen], task.labels[chosen]
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
        for least in (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
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
    parser.add_argument("--by-writer", action="store_true", help="validation writer by writer; writes nothing")
    parser.add_argument("--folder", type=Path, default=WEIGHTS, help="where the weights are written")
    parser.add_argument("--only", choices=[task.__name__ for task in TASKS])
    chosen = parser.parse_args(arguments)
    for made in TASKS:
        if chosen.only in (None, made.__name__):
            task = made()
            if chosen.validate or chosen.by_writer:
                sys.stdout.write(report(task, by_writer=chosen.by_writer) + "\n")
                continue
            data = train(task)
            chosen.folder.mkdir(parents=True, exist_ok=True)
            (chosen.folder / f"{task.name}.bin").write_bytes(data)
            sys.stdout.write(f"{task.name}: {len(task.labels)} examples, {len(data):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
