"""Doubted pairs, and a model that is asked how they stand."""

from __future__ import annotations

import json
from collections.abc import Sequence

import anyio
import pytest
from tests.cases import each_case
from tests.consolidation.conftest import Scripted
from tests.engine_parts import to_review

from picomem import consolidation_runner
from picomem.engine.engine import Engine
from picomem.models.generator import CallBudget, DoubtedPair, KnownMemory, PairRelation, PairVerdict
from picomem.models.pair_question import pair_question, read_verdicts
from picomem.records.kinds import Origin
from picomem.records.memory import CONTRADICTS
from picomem.records.spend import Spend

pytestmark = pytest.mark.requirement("X15", "X17")


class Judging(Scripted):
    """A model that has one opinion of every pair."""

    def __init__(self, relation: PairRelation) -> None:
        super().__init__()
        self.relation = relation
        self.judged: list[DoubtedPair] = []

    async def judge(self, pairs: Sequence[DoubtedPair], budget: CallBudget) -> tuple[PairVerdict, ...]:
        assert await budget.reserve(Spend(1, 100, 20))
        self.judged += pairs
        return tuple(PairVerdict(self.relation, "the wiki moved") for _ in pairs)


def doubt(memory: Engine, older: Origin = Origin.AGENT, *, pinned: bool = False) -> None:
    first = memory.remember("The wiki runs on MediaWiki", key="wiki", origin=older, pinned=pinned).memory
    assert first is not None
    link = f"{CONTRADICTS}{first.id}"
    memory.remember("BookStack serves all our handbooks now", key="handbooks", origin=Origin.AGENT, related=[link])
    assert [item.older.key for item in to_review(memory) if item.older] == ["wiki"]


def keys(memory: Engine) -> list[str]:
    return sorted(stored.key for stored in memory.memories())


@pytest.mark.parametrize(
    ("relation", "left", "doubts"),
    [
        (PairRelation.REPLACES, ["handbooks"], 0),
        (PairRelation.SAME, ["handbooks"], 0),
        (PairRelation.BOTH_HOLD, ["handbooks", "wiki"], 0),
        (PairRelation.UNCLEAR, ["handbooks", "wiki"], 1),
    ],
)
def test_a_clear_answer_is_one_change_that_can_be_undone(memory: Engine, relation, left, doubts) -> None:
    doubt(memory)
    model = Judging(relation)
    (settled,), _ = anyio.run(consolidation_runner.reconcile, memory, model)
    assert "says scripted: the wiki moved" in settled.change.reason
    assert (keys(memory), len(to_review(memory))) == (left, doubts)
    assert memory.status().spent_today == 120
    assert anyio.run(consolidation_runner.reconcile, memory, model)[0] == []
    assert len(model.judged) == 1  # nobody pays for the same pair twice
    if not doubts:
        memory.undo(settled.change.id)
        assert (keys(memory), len(to_review(memory))) == (["handbooks", "wiki"], 1)


@pytest.mark.parametrize(("origin", "pinned"), [(Origin.USER, False), (Origin.AGENT, True), (Origin.WEB, False)])
def test_what_a_person_stated_or_pinned_and_what_others_said_stays_a_doubt(memory: Engine, origin, pinned) -> None:
    doubt(memory, origin, pinned=pinned)
    model = Judging(PairRelation.REPLACES)
    assert anyio.run(consolidation_runner.reconcile, memory, model)[0] == []
    assert (keys(memory), model.judged) == (["handbooks", "wiki"], [])


CONTROL = '{"pair": 3, "relation": "both", "reason": "a machine and bicycles"}'  # our own pair, behind two others


@each_case(
    ("reply", "relations"),
    [
        (
            f'```json\n{{"pairs": [{{"pair": 1, "relation": "replaces", "reason": "x"}}, {CONTROL}]}}\n```',
            "replaces unclear",
        ),
        (
            f'{{"pairs": [{{"pair": 2, "relation": "certainly"}}, {{"pair": true, "relation": "same"}}, {CONTROL}]}}',
            "unclear unclear",
        ),
        (
            f'{{"pairs": [{{"pair": 1, "relation": "same"}}, {{"pair": 1, "relation": "both"}}, {CONTROL}]}}',
            "unclear unclear",
        ),
        ('{"pairs": "replaces"}', "unclear unclear"),
    ],
)
def test_what_is_not_said_clearly_is_unclear(reply: str, relations: str) -> None:
    assert " ".join(verdict.relation for verdict in read_verdicts(reply, 2)) == relations


@each_case("said_of_ours", ["replaces", "same", "unclear", None])
def test_a_model_that_misjudges_a_pair_of_ours_is_not_believed_about_any(said_of_ours: str | None) -> None:
    """Qwen2.5-Coder 1.5B said “replaces” of six pairs of six, one of which both hold."""
    entries = [{"pair": number, "reason": "These cannot both be true", "relation": "replaces"} for number in (1, 2)]
    entries += [{"pair": 3, "reason": "So is this", "relation": said_of_ours}] if said_of_ours else []
    verdicts = read_verdicts(json.dumps({"pairs": entries}), 2)
    assert {verdict.relation for verdict in verdicts} == {PairRelation.UNCLEAR}
    assert "not believed" in verdicts[0].reason


def test_a_model_is_asked_about_a_pair_of_ours_behind_the_others_and_for_no_more() -> None:
    known = KnownMemory("wiki", "The wiki runs on MediaWiki")
    question = pair_question([DoubtedPair(older=known, newer=known, older_day="2026-05-01", newer_day="2026-05-02")])
    assert question.prompt.index("Pair 1") < question.prompt.index("Pair 2")
    assert "Pair 3" not in question.prompt
    assert question.schema["properties"]["pairs"]["maxItems"] == 2
