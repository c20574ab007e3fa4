"""The bench of the write gate: what it counts, and the rates that must not rise."""

from __future__ import annotations

import pytest
from tests.cases import each_case

from benchmarks import gate
from benchmarks.gate import GateReport, Rate


@pytest.fixture(scope="module")
def report() -> GateReport:
    return gate.run()


def wrong(report: GateReport, part: str, name: str) -> float:
    (rate,) = (candidate for candidate in report.rates if (candidate.part, candidate.name) == (part, name))
    return rate.wrong / rate.n


@pytest.mark.requirement("X6")
@each_case("source", gate.SOURCES)
@each_case(
    "name",
    ["as it is", "as a list item", "in capitals", "without function words", "the whole reply", "a line of the reply",
     "the hit as JSON", "the index page"],
)  # fmt: skip
def test_what_recall_handed_out_does_not_come_back(report: GateReport, source: str, name: str) -> None:
    assert wrong(report, f"loops let in, {source}", name) == 0


@pytest.mark.requirement("X6", "O2")
def test_duplicates_do_not_rise_and_no_news_is_lost(report: GateReport) -> None:
    assert wrong(report, "duplicates let in", "the same words") == 0
    assert wrong(report, "news lost as a duplicate", "alike but different") == 0


def test_the_report_is_a_table_with_a_line_for_each_rate() -> None:
    printed = gate.render(GateReport([Rate("junk let in", "fresh", 38, 19)]))
    assert printed.splitlines()[1].split() == ["junk", "let", "in", "fresh", "38", "19", "50.0%"]
