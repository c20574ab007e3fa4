"""`python -m benchmarks record` measures what it says."""

from __future__ import annotations

import pytest

from benchmarks.record_speed import measure, render


@pytest.mark.requirement("X12")
def test_the_share_of_the_link_and_the_changes_a_second_are_told() -> None:
    """The amounts are small, so only what does not depend on the machine is compared."""
    report = measure(200, lambda _: None)
    assert report.changes >= 500
    assert 0 < report.link_us < report.write_us
    assert report.share == pytest.approx(report.link_us / report.write_us)
    assert "changes verified a second" in render(report)
