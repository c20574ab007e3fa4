"""What each classifier is trained on, and how: its labelled lines as numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from picomem.injection.prompt_context import without_pleasantries
from picomem.injection.relevance import observe_prompt
from picomem.light_dataclass import dataclass
from picomem.models.classifier import STEP
from picomem.policy.durability import observe
from training.examples import DATA, labelled_prompts, messages
from training.fitting import Plan, Table, fit, joined, predict, table
from training.injection_sets import FITTED_TO, prompts_of
from training.labelled_sentences import BUCKETS
from training.labelled_sentences import load as load_labelled

_MADE_WEIGHT = 0.1  # of a sentence that a writer made up
_HARD_WEIGHT = 0.3  # of a line that was written to be hard; for both see `python -m training --by-writer`
_TYPED_WEIGHT = 3.0  # of a prompt as people type


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
    writers: np.ndarray  # a number for whoever wrote each counted example; -1 for one that is always trained on


def durable(folder: Path = DATA, part: int = 1) -> Task:
    """Is a sentence of a user worth knowing later?

    Lines that writers made up flatter: they count little beside the sentences of real sessions, which are validated
    person by person.
    """
    real = load_labelled(folder, part)
    made = [sentence for message in messages(folder) for sentence in message.sentences][::part]
    plan = Plan(classes=("passing", "durable"), buckets=BUCKETS)
    seen = joined(real.observed, table(observe(text for text, _ in made), plan.buckets))
    labels = np.concatenate([real.is_durable, [int(is_durable) for _, is_durable in made]])
    weights = np.concatenate([np.ones(len(real.is_durable)), np.full(len(made), _MADE_WEIGHT)])
    return Task("durable", plan, seen, labels, weights, len(real.is_durable), real.person)


def recollection(folder: Path = DATA, part: int = 1) -> Task:
    """Does a prompt ask for something of this person's past? Read without numpy, so it uses no vectors.

    Beside the labelled lines it is trained on the prompts of the sets that the prompt hook is fitted to, which are as
    people type; of the lines, those that were written to be hard weigh less. An order that needs something of the past
    without saying so looks like any other order, so it is left out.
    """
    lines = labelled_prompts(folder)[::part]
    typed = [
        (prompt, developer)
        for developer, path in enumerate(FITTED_TO)
        for prompt in prompts_of(folder / path.name)[::part]
        if prompt.kind != "order" or not prompt.answers
    ]
    texts = [*(line.text for line in lines), *(prompt.text for prompt, _ in typed)]
    labels = [*(line.recollects for line in lines), *(prompt.recollects for prompt, _ in typed)]
    hard = [line.file.endswith("_hard.txt") for line in lines]
    weights = np.where(
        hard + [False] * len(typed), _HARD_WEIGHT, np.repeat([1.0, _TYPED_WEIGHT], [len(lines), len(typed)])
    )
    plan = Plan(classes=("other", "recollection"), buckets=1 << 15, words=2e-4, use_meaning=False)
    seen = table([observe_prompt(without_pleasantries(text)) for text in texts], plan.buckets)
    writers = np.array([-1] * len(lines) + [developer for _, developer in typed])
    return Task("recollection", plan, seen, np.array(labels, int), weights, len(labels), writers)


TASKS = (durable, recollection)


def train(task: Task) -> bytes:
    """The bytes of the weights."""
    return encode(task.plan.classes, task.examples.names, fit(task.plan, task.examples, task.labels, task.weights))


def validated(task: Task, parts: np.ndarray) -> np.ndarray:
    """The shares of the classes that examples get from classifiers that were not trained on their part. `parts` says
    which part each example is of; those of part -1 are always trained on and get no shares."""
    shares = np.zeros((len(task.labels), len(task.plan.classes)))
    for part in range(parts.max() + 1):
        held = np.flatnonzero(parts == part)
        if len(held):
            shares[held] = predict(fit_without(task, parts, part), task.examples.of(held))
    return shares


def fit_without(task: Task, parts: np.ndarray, part: int) -> dict[str, np.ndarray]:
    """The arrays of a classifier that was not trained on one part of the examples."""
    rest = np.flatnonzero(parts != part)
    return fit(task.plan, task.examples.of(rest), task.labels[rest], task.weights[rest])


def encode(classes: Sequence[str], names: Sequence[str], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Weights as the bytes of their file."""
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    head = {"classes": list(classes), "names": list(names), "step": STEP, "arrays": shapes}
    body = [np.clip(np.rint(array / STEP), -32768, 32767).astype("<i2").tobytes() for array in arrays.values()]
    return json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" + b"".join(body)
