"""The classifiers are trained again to the same bytes, and the weights in the package belong to the lines and the code."""

from __future__ import annotations

import os

import pytest

from picomem.models.classifier import WEIGHTS, decode, load
from training.tasks import TASKS, train

PART = 1 if os.environ.get("TRAIN_ALL") else 24  # every how-manieth line is trained on


@pytest.mark.parametrize("make", TASKS, ids=lambda make: make.__name__)
def test_the_same_lines_give_the_same_bytes(make) -> None:
    task = make(part=PART)
    data = train(task)
    assert data == train(task)
    again = decode(data)
    assert again.classes == task.plan.classes
    shipped = (WEIGHTS / f"{task.name}.bin").read_bytes()
    assert PART > 1 or data == shipped, "train them again: python -m training"
    assert len(shipped) < 200_000


@pytest.mark.parametrize("make", TASKS, ids=lambda make: make.__name__)
def test_every_signal_of_a_part_of_the_lines_is_one_that_the_weights_know(make) -> None:
    task = make(part=12)
    assert set(task.examples.names) <= set(load(task.name).names), "train them again: python -m training"
