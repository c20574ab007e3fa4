"""Trains the classifiers of the write side from the labelled lines, and validates them.

    python -m training              writes the weights into the package
    python -m training --validate   five-fold cross-validation over the lines; writes nothing
    python -m training --by-writer  the lines of each writer, by weights from everybody else's; writes nothing

The same lines give the same bytes. Thresholds are chosen from the validation, and stand beside the code that uses them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from picomem.models.classifier import WEIGHTS
from training.tasks import TASKS, Task, train, validated

_FOLDS = 5


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
