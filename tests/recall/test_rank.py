"""Ranking, on signals that are given."""

from __future__ import annotations

import pytest

from picomem.recall.rank import Signals, fuse


@pytest.mark.parametrize("reads_sentences", [False, True])
def test_a_time_that_is_asked_for_is_worth_a_perfect_match_with_any_model(reads_sentences: bool) -> None:
    def scores(within: float) -> dict[int, float]:
        words = {1: {"boat": 1.0}, 2: {"boat": 0.3}}
        signals = Signals(
            {doc: each["boat"] for doc, each in words.items()}, words, meaning={1: 1.0, 2: 0.5}, in_window={2: within}
        )
        return fuse([1, 2], signals, {"boat": 1.0}, reads_sentences=reads_sentences)

    certainly, perhaps = scores(1.0), scores(0.3)
    assert certainly[2] > 1 >= certainly[1]
    assert perhaps[1] > perhaps[2]
