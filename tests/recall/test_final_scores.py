"""The final scores of memories and episodes together."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from picomem.engine.engine import Engine
from picomem.recall.final_scores import DURABLE, score_within_one, weight_of_memories, with_final_scores
from picomem.records.hit import Hit
from picomem.records.kinds import Origin

SHARES = st.lists(st.integers(1, 100).map(lambda hundredths: hundredths / 100), max_size=6)


def made(source: str, share: float) -> Hit:
    name = f"{source} {share}"
    return Hit(source=source, id=name, text=name, score=share, why="", origin=Origin.USER, tokens=1, at=None)


def test_scores_fall_with_the_share_and_those_below_the_shoulder_are_the_share() -> None:
    scores = [score_within_one(share) for share in (1.1, 1.0, 0.97, 0.95, 0.92, 0.5, 0.0)]
    assert scores == sorted(set(scores), reverse=True)
    assert scores[:2] == [1.0, 0.95]
    assert scores[-2:] == [0.5, 0.0]


@given(SHARES, SHARES)
def test_final_scores_keep_the_order_and_lie_within_one(of_memories: list[float], of_episodes: list[float]) -> None:
    weight = weight_of_memories(of_memories)
    hits = [made("memory", round(weight * share, 4)) for share in of_memories]
    hits += [made("episode", share) for share in of_episodes]
    hits.sort(key=lambda hit: (-hit.score, hit.source != "memory"))
    final = with_final_scores(hits, weight)
    assert [hit.id for hit in sorted(final, key=lambda hit: (-hit.score, hit.source != "memory"))] == [
        hit.id for hit in hits
    ]
    assert all(0 <= hit.score <= 1 for hit in final)


def test_memories_that_fit_nearly_alike_keep_scores_that_differ() -> None:
    shares = (0.97, 0.95, 0.92, 0.5, 0.0)
    weight = weight_of_memories(shares)
    final = [hit.score for hit in with_final_scores([made("memory", weight * share) for share in shares], weight)]
    assert final == sorted(set(final), reverse=True)
    assert weight_of_memories([0.5, 0.2]) == weight_of_memories([0.5]) == DURABLE
    assert weight_of_memories([]) == weight_of_memories([0.0]) == 1.0


def test_a_memory_and_an_episode_that_both_hold_the_whole_question_differ_in_score(
    engine: Engine, tmp_path: Path
) -> None:
    said = "The badge printer stands on the fourth floor."
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "assistant", "content": said, "timestamp": "2026-03-02T10:00:00Z"}) + "\n")
    engine.ingest([path])
    engine.remember(said, key="printer")
    memory, episode = engine.recall("badge printer fourth floor").hits
    assert (memory.source, memory.score) == ("memory", 1.0)
    assert (episode.source, episode.score) == ("episode", 0.95)
    assert sum(value for _, value in episode.parts) == episode.score
