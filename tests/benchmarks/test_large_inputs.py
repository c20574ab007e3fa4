"""Issue 37, 2.7: each large input is read to its end, in memory that does not grow with it, and with progress."""

from __future__ import annotations

import pytest

from benchmarks import large_inputs
from picomem.errors import InvalidInput

_MOST_GROWTH_MB = 40


@pytest.fixture(scope="module")
def report() -> large_inputs.LargeReport:
    return large_inputs.measure(0.0008, lambda _: None)


def test_each_input_is_read_at_a_quarter_and_in_full_in_bounded_memory(report):
    pairs = list(zip(report.inputs[::2], report.inputs[1::2], strict=True))
    assert [large.unit for _, large in pairs] == [unit for _, unit, _ in large_inputs._INPUTS.values()]
    for small, large in pairs:
        assert large.units == large_inputs.PART * small.units
        assert large.peak_mb < small.peak_mb + _MOST_GROWTH_MB, large
        assert large.progress > 0, large


def test_the_report_is_a_table(report):
    lines = large_inputs.render(report).splitlines()
    assert len(lines) == 2 + len(report.inputs)
    assert lines[2].startswith("| 60 rows of claude-mem | ")


def test_an_unknown_input_is_told():
    with pytest.raises(InvalidInput, match="there are rows, chain, document, blanks"):
        large_inputs.measure(1, lambda _: None, ("columns",))
