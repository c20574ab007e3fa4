"""The classifiers are trained again to the same bytes, and the weights in the package belong to the lines and the code."""

from __future__ import annotations

import os

import numpy as np
from tests.cases import each_case

from picomem.light_dataclass import replace
from picomem.models.classifier import WEIGHTS, decode, load
from training.injection_sets import FITTED_TO, prompts_of
from training.relevance import recollections
from training.tasks import TASKS, fit_without, recollection, train

PART = 1 if os.environ.get("TRAIN_ALL") else 24  # every how-manieth line is trained on


@each_case("make", TASKS, ids=lambda make: make.__name__)
def test_the_same_lines_give_the_same_bytes(make) -> None:
    task = make(part=PART)
    data = train(task)
    assert data == train(task)
    again = decode(data)
    assert again.classes == task.plan.classes
    shipped = (WEIGHTS / f"{task.name}.bin").read_bytes()
    assert PART > 1 or data == shipped, "train them again: python -m training"
    assert len(shipped) < 200_000


@each_case("make", TASKS, ids=lambda make: make.__name__)
def test_every_signal_of_a_part_of_the_lines_is_one_that_the_weights_know(make) -> None:
    task = make(part=12)
    assert set(task.examples.names) <= set(load(task.name).names), "train them again: python -m training"


def test_weights_that_judge_a_developer_were_trained_without_that_one() -> None:
    task = recollection(part=PART)
    labels = np.where(task.writers == 2, 1 - task.labels, task.labels)
    told_otherwise = replace(task, labels=labels)

    without, with_other = fit_without(task, task.writers, 2), fit_without(told_otherwise, task.writers, 2)
    others = fit_without(task, task.writers, 1), fit_without(told_otherwise, task.writers, 1)

    assert all(np.array_equal(without[name], with_other[name]) for name in without)
    assert not all(np.array_equal(others[0][name], others[1][name]) for name in without)


def test_each_prompt_is_judged_without_its_developer() -> None:
    task = recollection(part=PART)
    prompts = prompts_of(FITTED_TO[2])[:5]
    labels = np.where(task.writers == 2, 1 - task.labels, task.labels)

    assert recollections(prompts, 2, task) == recollections(prompts, 2, replace(task, labels=labels))
    assert recollections(prompts, 1, task) != recollections(prompts, 1, replace(task, labels=labels))
