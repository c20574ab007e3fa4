"""What the prompt hook weighs is what the training makes of the sets and lines that are there."""

from __future__ import annotations

import json

import pytest

from picomem.injection.relevance import WEIGHTS, observe_prompt
from picomem.models.classifier import decode, load
from training.injection_sets import FITTED_TO, prompts_of
from training.relevance import fit, observe
from training.tasks import recollection, train

_NEARLY = 0.02  # by which sums differ between machines, at most


def test_the_classifier_of_prompts_is_what_its_lines_and_sets_make() -> None:
    made, shipped = decode(train(recollection())), load("recollection")

    observed = [observe_prompt(prompt.text) for prompt in prompts_of(FITTED_TO[0])]
    again = made.probabilities(observed, "recollection")
    assert again == pytest.approx(shipped.probabilities(observed, "recollection"), abs=_NEARLY), (
        "train it again: python -m training --only recollection"
    )


def test_the_weights_of_the_prompt_hook_are_what_its_sets_make() -> None:
    made, shipped = fit(observe()), json.loads(WEIGHTS.read_bytes())

    for function, weights in made.items():
        assert shipped[function] == pytest.approx(weights, abs=_NEARLY), "fit them: python -m training.relevance"
