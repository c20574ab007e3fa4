from __future__ import annotations

import pytest

from benchmarks import memory_growth


@pytest.fixture(scope="module")
def report() -> memory_growth.GrowthReport:
    return memory_growth.measure((60, 20), "none", lambda _: None, rounds=2)


def test_each_verb_is_measured_at_each_size_beside_the_smallest(report):
    for kind in ("everyday prose", "few words"):
        costs = [cost for cost in report.costs if cost.kind == kind]
        assert {(cost.verb, cost.memories) for cost in costs} == {
            (verb, size) for verb in ("recall", "remember") for size in (20, 60)
        }
        least = {cost.verb: cost.ms for cost in costs if cost.memories == 20}
        for cost in costs:
            assert cost.ms > 0
            assert cost.times == pytest.approx(cost.ms / least[cost.verb])


def test_the_report_is_a_table(report):
    lines = memory_growth.render(report).splitlines()
    assert len(lines) == 2 + len(report.costs)
    assert lines[2].startswith("| everyday prose | recall | 20 | ")
